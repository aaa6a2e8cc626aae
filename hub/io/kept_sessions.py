"""What the last look was told by each session, for a look that finds some of them as they were.

Owns: the reading of a session with notes of what it asked, and the judgement whether asking again gives the same answers.
Must not: keep anything that was not redacted, or read a session itself.

What a session tells is a pure function of its hit and of what the reading asked (files, and what lies beside them), as a
look is of all that it asked: see `hub.io.looks`. What is kept is what was shown, after redaction. A session is matched
with an agent by its id and folder as they are; one in which these are not shown as they are is not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hub.domain.detection.detected import intel_of
from hub.io.questions import ask
from hub.io.walk import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hub.domain.detection.intel import SessionIntel, StoreHit
    from hub.io.notes import Notes
    from hub.io.questions import Answer, Question

    Name = tuple[str, str, str]
    """Of a session: its provider, its file and its id."""
    Asked = Sequence[tuple[Question, Answer]]
    Memory = tuple[tuple[Any, ...], Asked, str, str, dict[str, Any]]
    """The hit's fields, what was asked with the answers, the session's id and folder, and what was shown."""


class Sessions:
    """The sessions of one look.

    Args:
        notes: The look's.
        kept: Those of the last look.
    """

    def __init__(self, notes: Notes, kept: Iterable[Memory] = ()) -> None:
        self._notes = notes
        self._kept = {_name(one[0]): one for one in kept}
        self._read: dict[Name, tuple[tuple[Any, ...], Asked, SessionIntel]] = {}
        self._same: dict[Name, dict[str, Any]] = {}

    def read(self, hit: StoreHit, read: Callable[[], SessionIntel]) -> SessionIntel:
        """What the session tells: as the last look was told where that holds, else as `read` is told."""
        given = hit.values()
        name = _name(given)
        before, asked, session_id, cwd, shown = self._kept.get(name, ((), (), "", "", {}))
        if before == given and self._holds(asked):
            self._same[name], intel = shown, intel_of(shown, session_id, cwd)
        else:
            with self._notes.heard() as asked:
                intel = read()
        self._read[name] = (given, asked, intel)
        return intel

    def shown(self, hit: StoreHit) -> dict[str, Any] | None:
        """What was shown of a session that is as it was, as that is shown; None where it is not."""
        return self._same.get(_name(hit.values()))

    def kept(self, shown: Mapping[Name, dict[str, Any]], redacted: Callable[[str], str]) -> list[Memory]:
        """What the next look may be told.

        Args:
            shown: What each session was shown as.
            redacted: A text as it is shown.
        """
        return [
            (given, list(asked), intel.session_id, intel.cwd, shown[name])
            for name, (given, asked, intel) in self._read.items()
            if name in shown
            and not intel.alarm
            and all(text == redacted(text) for text in (intel.session_id, intel.cwd))
        ]

    def _holds(self, asked: Sequence[tuple[Question, Answer]]) -> bool:
        try:
            found = [(question, ask(question, self._notes.since_ns)) for question, _ in asked]
        except (OSError, OutOfTime):
            return False
        if found != list(asked):
            return False
        for question, answer in asked:
            self._notes.note(question, answer)
        return True


def _name(given: Sequence[Any]) -> Name:
    provider, path, session_id, *_ = given
    return provider, path, session_id
