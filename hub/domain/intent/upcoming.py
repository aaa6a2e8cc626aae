"""What an agent said it would do next, for as long as it is still to be done.

Owns: when such words lapse, and which failed command asks to be mended.
Must not: find the words (`statements` does).

Rules: words lapse when
 1. newer ones are said, or the same are said to be done;
 2. they tell what comes at once ("Now let me run the tests"), and a call of a tool after them has ended well;
 3. a file they name was written after them; where they name none, a file was written in a later answer than theirs;
 4. the agent has gone on after them and come to the end of its turn without saying them again.
"""

from __future__ import annotations

import re

import attrs

from hub.domain.contract import Sourced
from hub.domain.intent.activity import Activity
from hub.domain.intent.statements import alike, files_named, imminent
from hub.domain.text.patterns import late

_CHECK = late(
    r"(?<![A-Za-z])(?:tests?|check(?:s|er)?|lint|build|specs?|verify|compile|pytest|unittest|tox|nox|mypy|pyright|ruff|tsc"
    r"|eslint|jest|vitest|make|ctest|cmake|cargo|gradlew?|mvn|go vet|typecheck)(?![A-Za-z])",
    re.IGNORECASE,
)
_ASKS = late(
    r"(?:\w+=\S* )*(?:cat|ls|grep|rg|find|head|tail|stat|file|test|\[|which|type|command|wc|diff|cmp|sed -n)(?!\S)"
)


def is_check(command: str, prompt: str) -> bool:
    """Whether a failed command is work that is left: a check or a build, or about a file that the user named.

    Anything else may have been a question ("is this installed?") whose answer was no.
    """
    if _ASKS().match(command):
        return False
    return bool(_CHECK().search(command)) or bool(files_named(command) & files_named(prompt))


@attrs.define
class Upcoming:
    """The newest words, as of the last event."""

    said: Sourced | None = None
    answered: int = 0
    """The end of a call after the words: what is begun after it is of a later answer."""

    def say(self, text: str, source: int) -> None:
        """Rule 1."""
        self.said, self.answered = Sourced(text, source), 0

    def done(self, text: str) -> None:
        """Rule 1."""
        if self.said is not None and alike(self.said.text) == alike(text):
            self.said = None

    def ended(self, result: Activity) -> None:
        """Rules 2 and 3.

        Args:
            result: With all that its call told.
        """
        began = result.call or result.id
        if self.said is None or began <= self.said.source:
            return
        if not result.failed and self._fulfils(self.said.text, result, later=0 < self.answered < began):
            self.said = None
        self.answered = self.answered or result.id

    def rest(self) -> None:
        """Rule 4: the turn has ended by itself and well. What its last words say is to come stays."""
        if self.answered:
            self.said = None

    def _fulfils(self, text: str, result: Activity, *, later: bool) -> bool:
        if imminent(text):
            return True
        paths = {
            path.rpartition("/")[2]
            for path in (*result.redirected, *((result.path,) if result.writes else ()))
        }
        named = files_named(text)
        return bool(paths & named) if named else later and bool(paths)
