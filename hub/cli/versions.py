"""The installed programs, asked for their versions by a command: all at once, and none waited for longer than the rest.

Owns: the asking beside the command's own work, and who is waited for.
Must not: wait for a program that hangs; leave one running.
Tests: tests/hub/cli/commands/test_setup.py
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, wait

import attrs
import trio

from hub.cli.terminal.meanwhile import waiting_for
from hub.domain.config.reader import Config
from hub.io.processes.probe import ProgramProbe, probe
from hub.providers.provider import Provider

_GRACE = 0.3
"""Seconds that the end of a program may take once it is over its time."""


@attrs.frozen
class Versions:
    """What is known, and what is still to come."""

    _answers: Mapping[str, Future[ProgramProbe]]
    _until: float
    """When none is waited for any more, by the monotonic clock."""

    @classmethod
    def asked(cls, config: Config, providers: Iterable[Provider], limit: float) -> Versions:
        """Begin to ask; nothing waits for it yet.

        Args:
            config: Whose programs are meant.
            providers: Who is asked.
            limit: Seconds for all of them.
        """
        asked = list(providers)
        answers = {provider.name: Future[ProgramProbe]() for provider in asked}

        async def ask(provider: Provider) -> None:
            program = config.provider(provider.name).program or provider.program
            answers[provider.name].set_result(await probe(program, provider.version_args, limit))

        async def ask_all() -> None:
            async with trio.open_nursery() as nursery:
                for provider in asked:
                    nursery.start_soon(ask, provider)

        threading.Thread(target=trio.run, args=(ask_all,), daemon=True).start()
        return cls(answers, time.monotonic() + limit + _GRACE)

    def of(self, name: str) -> ProgramProbe | None:
        """This one's answer, waited for while a terminal says who is late; None if it comes too late."""
        answer = self._answers.get(name)
        if answer is None:
            return None
        while not answer.done() and (left := self._until - time.monotonic()) > 0:
            late = [name for name, other in self._answers.items() if not other.done()]
            with waiting_for(f"asking for versions: {', '.join(late)}"):
                wait([self._answers[name] for name in late], left, "FIRST_COMPLETED")
        return answer.result() if answer.done() else None
