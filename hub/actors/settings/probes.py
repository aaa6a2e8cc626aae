"""What the installed programs say of themselves.

Owns: the answers of the programs, for as long as each is good.
Must not: wait for a program longer than it is told to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs
import trio

from hub.io.processes.probe import ProgramProbe, probe

FRESH = 60.0
"""Seconds after which a program is asked again."""


@attrs.frozen
class VersionQuestion:
    """A program and the arguments that make it tell its version."""

    program: str
    version_args: Sequence[str]


@attrs.define
class Probes:
    """One answer a provider. A program is asked once, however many wait for it."""

    clock: Callable[[], float]
    _found: dict[str, tuple[VersionQuestion, ProgramProbe]] = attrs.field(factory=dict)
    _asked: dict[str, trio.Event] = attrs.field(factory=dict)

    async def answers(
        self, nursery: trio.Nursery, questions: Mapping[str, VersionQuestion], patience: float
    ) -> Mapping[str, ProgramProbe]:
        """What is known within `patience` seconds; a program that takes longer is in a later answer.

        One that has told its version before is asked again beside, where that was long ago: nobody waits for it.

        Args:
            nursery: Where programs go on being asked when this has returned.
            questions: By the provider's name.
            patience: Seconds.
        """
        asked = {
            name: self._ask(nursery, name, it) for name, it in questions.items() if not self._good(name, it)
        }
        with trio.move_on_after(patience):
            for name, event in asked.items():
                if not self._known(name, questions[name]):
                    await event.wait()
        return {name: self._found[name][1] for name, it in questions.items() if self._known(name, it)}

    def forget(self, name: str) -> None:
        """Its answer is good no longer: it was installed, or logged in."""
        self._found.pop(name, None)

    def _good(self, name: str, question: VersionQuestion) -> bool:
        return self._known(name, question) and abs(self.clock() - self._found[name][1].checked_at) <= FRESH

    def _known(self, name: str, question: VersionQuestion) -> bool:
        """Whether it has ever told."""
        return name in self._found and self._found[name][0] == question

    def _ask(self, nursery: trio.Nursery, name: str, question: VersionQuestion) -> trio.Event:
        event = self._asked.get(name)
        if event is None:
            event = self._asked[name] = trio.Event()
            nursery.start_soon(self._run, name, question, event)
        return event

    async def _run(self, name: str, question: VersionQuestion, event: trio.Event) -> None:
        try:
            self._found[name] = (question, await probe(question.program, question.version_args))
        finally:
            del self._asked[name]
            event.set()
