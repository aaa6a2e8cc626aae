"""For tests of trees: a recorder of what happened, children that do as told, a kill, waiting for a state.

Owns: helpers that need no sleep and no mock.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, Never

import trio

from supervisors.events import EventKind, SupEvent
from supervisors.exits import Exit, ExitKind
from supervisors.life import Life
from supervisors.mailbox import MailboxSpec, Overflow
from supervisors.ref import Ref
from supervisors.root import Root, run_root
from supervisors.spec import ChildSpec, SupervisorSpec

ROOMY: Final = MailboxSpec(256, Overflow.BLOCK)
"""For a test that is not about mailboxes."""


class Recorder:
    """An `on_event` hook that keeps every event, and lets a test wait for one."""

    def __init__(self) -> None:
        self.events: list[SupEvent] = []
        self._more = trio.Event()

    def __call__(self, event: SupEvent) -> None:
        """Keep it."""
        self.events.append(event)
        self._more.set()
        self._more = trio.Event()

    def of(self, *kinds: EventKind, name: str | None = None) -> list[SupEvent]:
        """The events of these kinds (all when none is named), of one member of the tree or of all."""
        return [
            event
            for event in self.events
            if (not kinds or event.kind in kinds)
            and name in (None, event.path, event.path.rpartition("/")[2])
        ]

    def trace(self) -> list[tuple[str, str, str]]:
        """Starts and exits in order, in OTP's words: `("start", "a", "ok")`, `("exit", "a", "shutdown")`."""
        return [
            (
                "start" if event.exit is None else "exit",
                event.path.rpartition("/")[2],
                "ok" if event.exit is None else reason(event.exit),
            )
            for event in self.of(EventKind.STARTED, EventKind.EXITED)
        ]

    async def wait(self, kind: EventKind, name: str, *, count: int = 1) -> SupEvent:
        """Wait until `count` events of this kind about this member were seen; the last of them."""
        while len(found := self.of(kind, name=name)) < count:
            await self._more.wait()
        return found[count - 1]


def reason(end: Exit) -> str:
    """An exit in OTP's words: `normal`, `shutdown`, `killed`, or the text of the error."""
    return end.reason if end.kind is ExitKind.ERROR else end.kind.value


class Scripted:
    """A child that ends when and how it is told.

    Args:
        name: Its id.
        inits: How its first starts go, one each; None (and every start after these) succeeds, an exception is
            raised, an Event is waited for.
        deaf: Whether it takes no notice of a request to stop, so that only a kill ends it.
        stubborn: Whether it shields itself from a kill as well, until `release` is called.
    """

    def __init__(
        self,
        name: str,
        *inits: BaseException | trio.Event | None,
        deaf: bool = False,
        stubborn: bool = False,
    ) -> None:
        self.name = name
        self.inits = list(inits)
        self.deaf = deaf
        self.stubborn = stubborn
        self.starts = 0
        self._ending = trio.Event()
        self._released = trio.Event()
        self._how: BaseException | None = None

    def spec(self, **options: Any) -> ChildSpec:
        """Its spec."""
        return ChildSpec(id=self.name, start=self.start, **options)

    def end(self, error: BaseException | None = None) -> None:
        """Let the incarnation of the moment return, or raise `error`."""
        self._how = error
        self._ending.set()

    def release(self) -> None:
        """Give the shield up, in this incarnation and all that follow."""
        self._released.set()

    async def start(self, life: Life) -> None:
        """Run one incarnation."""
        self.starts += 1
        init = self.inits.pop(0) if self.inits else None
        if isinstance(init, trio.Event):
            await init.wait()
        elif init is not None:
            raise init
        self._ending = ending = trio.Event()
        self._how = None
        life.on_stop(_deaf if self.deaf or self.stubborn else ending.set)
        life.ready()
        try:
            await ending.wait()
        finally:
            if self.stubborn:
                with trio.CancelScope(shield=True):
                    await self._released.wait()
        if self._how is not None:
            raise self._how


def _deaf() -> None:
    """Take no notice."""


@asynccontextmanager
async def running(
    spec: SupervisorSpec, *, on_event: Callable[[SupEvent], None] | None = None, **options: Any
) -> AsyncIterator[Root]:
    """Run a tree for the length of a `with` block, and stop it in order at its end."""
    async with trio.open_nursery() as nursery:
        root: Root = await nursery.start(partial(run_root, spec, on_event=on_event, **options))
        try:
            yield root
        finally:
            root.request_stop()


def kill(root: Root, path: str) -> None:
    """Cancel a running member's scope: its exit is `killed`. KeyError when it is down.

    Args:
        root: What `run_root` gives.
        path: As in `"root/watch/breakers"`, or a name that only one member bears.
    """
    root.life_at(path).kill("killed by a test")


async def restarted(ref: Ref[Never], crash: Callable[[], object], *, timeout: float = 5.0) -> None:
    """Call `crash`, and wait until the actor's incarnation of the moment is gone and another one is ready.

    Raises:
        trio.TooSlowError: Not in time.
    """
    gone = trio.Event()
    monitor = ref.monitor(lambda _: gone.set())
    try:
        with trio.fail_after(timeout):
            crash()
            await gone.wait()
            await ref.wait_alive()
    finally:
        monitor.cancel()
