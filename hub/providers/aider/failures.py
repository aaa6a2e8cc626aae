"""Why Aider stopped: the errors of LiteLLM as it prints them -> failure class and reset.

Owns: what LiteLLM's exceptions are called that its makers' errors are not.
Must not: keep state, or believe an exit code (it is 0 after nearly every failure).

Order of belief: the words that say it plainly, for one exception stands for several things (a used-up quota and a
rate limit of a minute are both `RateLimitError`, a full context and a bad model both `BadRequestError`); then the
exception's name.
"""

from __future__ import annotations

import re

import attrs

from hub.domain.failure import Failure, FailureClass
from hub.providers.base import crash
from hub.providers.vendors import TYPES
from hub.providers.wording import Wording, failure

NO_ANSWER = "The model gave no answer: its safeguards blocked it, or it said nothing."
WORDING = Wording()
_NAMES = {**TYPES, "APIError": FailureClass.OVERLOAD, "Timeout": FailureClass.OVERLOAD}
_ERROR = re.compile(r"litellm\.(?:[a-z_]+\.)*([A-Z]\w{2,60}): ?(.*)", re.DOTALL)
_RETRY = re.compile(r"Retrying in (\d{1,5}(?:\.\d{1,3})?) seconds\.\.\.")


@attrs.frozen
class Trouble:
    """An error that LiteLLM raised, as Aider printed it."""

    name: str
    text: str

    def failure(self, now: float) -> Failure:
        """Its class and, where it tells one, the reset."""
        kind = WORDING.of_error(self.text) or _NAMES.get(self.name, FailureClass.UNKNOWN)
        return failure(kind, self.text, now)

    @property
    def hopeless(self) -> bool:
        """Whether it says that all is used up: Aider would try for another minute."""
        return WORDING.used_up(self.text)

    def with_line(self, line: str) -> Trouble:
        """With one more line of its words."""
        return attrs.evolve(self, text=f"{self.text}\n{line}"[:8_000])


def trouble(line: str) -> Trouble | None:
    """The error whose telling the line begins."""
    found = _ERROR.match(line)
    return Trouble(found[1], found[2] or found[1]) if found else None


def retry_delay(line: str) -> float | None:
    """Seconds until the next attempt, where the line tells them and nothing else."""
    found = _RETRY.fullmatch(line)
    return float(found[1]) if found else None


def from_exit(head: str, stderr: str, how: str) -> Failure:
    """The failure of a run that ended before it came to work: what it said until then, else a crash."""
    words = "\n".join(part.strip() for part in (head[-2_000:], stderr[-2_000:]) if part.strip())
    if "No LLM model was specified" in words:
        return Failure(FailureClass.AUTH, words)
    return crash(how, words)
