"""A whole daemon in the test's own process: real files, real git, real scripted agents, no socket needed.

Owns: the start and the end of that daemon, and the questions a test asks of its actors.
Must not: replace a part of hub by a double.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import attrs
import pytest
import trio

from hub.actors.common.calls import call_until_answered
from hub.api.convert import unstructure
from hub.cli.local.serve import order_for
from hub.daemon import Daemon, run_daemon
from hub.domain.event import Record
from hub.errors import Code, HubError
from hub.messages.events import EventsSince
from hub.messages.session import GetStatus
from supervisors import Root
from tests import trees
from tests.described import DescribedApi, described_meta
from tests.faults.harness import PATIENCE, Project
from tests.left import users_umask
from tests.refusals import refusal
from tests.waiting import answered

EVER = 1_000_000


@attrs.define
class Live:
    """A running daemon and its project."""

    made: Project
    daemon: Daemon

    def kill(self, actor: str) -> None:
        """End an incarnation of a named actor, or of the newest session's."""
        kill(self.daemon.app.picture.__self__, actor)

    async def ask(self, actor: str, message: object) -> Any:
        """One call to a named actor."""
        return await getattr(self.daemon.app.slots, actor).ref.call(message, timeout=PATIENCE)

    async def refusal(
        self, message: object, code: Code | None = None, *, actor: str = "sessions"
    ) -> HubError:
        """Why a named actor refuses a call, with this code if one is given."""
        return await refusal(self.ask(actor, message), code)

    async def get(self, path: str, query: Mapping[str, str | int] | None = None) -> Any:
        """What the API serves."""
        return await trio.to_thread.run_sync(DescribedApi(self.made.port, PATIENCE).get, path, query)

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """What a request made or changed."""
        return await trio.to_thread.run_sync(DescribedApi(self.made.port, PATIENCE).post, path, body)

    async def status(self) -> dict[str, Any]:
        """What the session tells of itself; an actor that is just restarting is asked again."""
        found = await call_until_answered(self.daemon.app.slots.sessions.ref, GetStatus())
        status: dict[str, Any] = unstructure(found)
        return status

    async def events(self) -> list[Record]:
        """The whole event log; each event is as it is described."""
        found = await call_until_answered(self.daemon.app.slots.events.ref, EventsSince(0, EVER))
        for record in found:
            described_meta(record.meta)
        return found

    async def until(self, condition: Callable[[dict[str, Any]], object], what: str) -> dict[str, Any]:
        """The first status that fits; the session is another task, so this is a bounded poll."""
        try:
            return await answered(self.status, condition)
        except trio.TooSlowError:
            raise AssertionError(f"not within {PATIENCE:g} s: {what}; {await self.status()}") from None

    async def until_event(self, text: str) -> Record:
        """The first event whose message holds the text."""
        try:
            records = await answered(self.events, lambda records: any(text in r.msg for r in records))
        except trio.TooSlowError:
            told = [record.msg for record in await self.events()]
            raise AssertionError(f"never said: {text!r}; {told}") from None
        return next(record for record in records if text in record.msg)

    async def until_ended(self) -> dict[str, Any]:
        """The status once the session is over."""
        over = ("completed", "failed", "stopped")
        return await self.until(lambda s: s["sessionState"] in over, "the session ends")


def kill(root: Root, actor: str) -> None:
    """End an incarnation of a named actor, or of the newest session's.

    Raises:
        KeyError: It is down.
    """
    running = root.tree().find("running").children if actor == "session" else ()
    trees.kill(root, running[-1].path if running else actor)


@asynccontextmanager
async def daemon_of(made: Project, monkeypatch: pytest.MonkeyPatch, **env: str) -> AsyncIterator[Live]:
    """Run the project's daemon for the length of the block, and stop it in order."""
    monkeypatch.chdir(made.root)
    for name, value in made.environ(**env).items():
        monkeypatch.setenv(name, value)
    with users_umask():
        async with trio.open_nursery() as nursery:
            daemon = await nursery.start(run_daemon, order_for(made.root, flags={"port": 0}))
            made.port = daemon.port
            try:
                yield Live(made, daemon)
            finally:
                daemon.request_stop(detach=daemon.detach)
