"""How the acceptance commands ended, and what an agent is told whose work they refused.

Owns: the result of one command and of all, and the words of a refusal, with how much output is in them.
Must not: run a command, decide how often an agent is asked, or redact (who gives the output has done so).
"""

from __future__ import annotations

from typing import Final

import attrs

from hub.domain.contract import Evidence, EvidenceKind
from hub.domain.text.safe import clean

MOST_OUTPUT: Final = 8192
"""Bytes of the commands' output, all together."""
_HEAD = (
    "You said that the task is done, but hub ran its acceptance commands in the working directory, and they failed. "
    "Find the cause and correct it. Leave the commands and what they check as they are. When you are done, hub runs "
    "them again."
)
_MISSING = "It ended with no output."


@attrs.frozen
class Check:
    """The result of one acceptance command."""

    command: str
    exit_code: int | None
    output: str
    """Without secrets."""
    duration_ms: int
    timed_out: bool
    how: str
    """How it ended, in words."""
    source: int = 0
    """Event id of the result."""
    changed: tuple[str, ...] = ()
    """Files the command is made of that are not what the session began with."""

    @property
    def passed(self) -> bool:
        """Only exit status 0 is a pass."""
        return self.exit_code == 0


@attrs.frozen
class GateResult:
    """The results of all acceptance commands over one tree."""

    checks: tuple[Check, ...]
    tree: str

    @property
    def passed(self) -> bool:
        """Every command passed; also true of none, which the caller must tell apart."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """Those that did not."""
        return tuple(check for check in self.checks if not check.passed)

    def evidence(self) -> tuple[Evidence, ...]:
        """The same for a contract."""
        return tuple(
            Evidence(EvidenceKind.VERIFY, c.command, c.source, c.exit_code, "" if c.passed else c.output)
            for c in self.checks
        )

    def text(self) -> str:
        """Each command that failed, how it ended, and the end of its output."""
        failed = self.failed
        share = MOST_OUTPUT // max(1, len(failed))
        return "\n\n".join(f"$ {c.command}\n({c.how})\n{_end(clean(c.output), share)}" for c in failed)


def correction(refused: str) -> str:
    """The prompt for another try, with the text of what refused the work."""
    return f"{_HEAD}\n\n{refused}"


def _end(text: str, most: int) -> str:
    """The last lines of a text that fit; errors tend to stand at the end."""
    text = text.strip()
    if not text:
        return _MISSING
    data = text.encode()
    if len(data) <= most:
        return text
    return data[-most:].decode("utf-8", "ignore").partition("\n")[2] or data[-most:].decode("utf-8", "ignore")
