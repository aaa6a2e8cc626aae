"""Watching sessions while they work: what `run`, `attach`, `demo` and `pipeline run` show.

Owns: the way from the log's records to a view, the keys that are read meanwhile, and the wait for a daemon that is gone.
Must not: know whether the daemon runs in this process, or how anything looks.
Tests: tests/hub/cli/test_terminal.py
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import attrs
import click
import trio

from hub.api.events import EventRecord
from hub.api.status import Status
from hub.cli.terminal import plain
from hub.cli.terminal.conversation import Conversation
from hub.cli.terminal.items import ConversationView, Item, ToldItem
from hub.cli.terminal.side_by_side import SideBySide
from hub.cli.terminal.width import columns, hung
from hub.client.live import LinkState, follow
from hub.client.quick import Api, Query
from hub.domain.event import RecordJson
from hub.domain.meta import EventMeta
from hub.domain.terminal import supports_ansi
from hub.errors import Code, HubError

PATIENCE = 120.0
"""Seconds to look for a daemon that has gone, where nobody looks on: as long as an agent waits for the next one."""
_HANG = 4

T = TypeVar("T")


class Plain(ConversationView):
    """Plain lines on standard error."""

    def show(self, items: Iterable[Item]) -> None:
        """Each item's lines."""
        width = columns(sys.stderr)
        for item in items:
            for line in plain.lines(item):
                click.echo(hung(line, width, _HANG), err=True)

    def waiting(self, note: str) -> None:
        """On a line of its own."""
        click.echo(note or "the daemon is back; going on", err=True)


async def ask(api: Api, kind: type[T], path: str, query: Query | None = None) -> T:
    """One GET, off the event loop."""
    return await trio.to_thread.run_sync(api.read, kind, path, query, abandon_on_cancel=True)


async def last_event(api: Api) -> int:
    """The id after which news begin."""
    newest = await ask(api, list[EventRecord], "/api/events", {"newest": 1, "limit": 1})
    return newest[-1].id if newest else 0


async def watch(
    api: Api,
    session_id: str,
    since: int,
    *,
    quiet: bool = False,
    verbose: bool = False,
    keys: bool = False,
    seen: Sequence[RecordJson] = (),
    ended: bool = False,
) -> Status | None:
    """Show a session until it has ended, and return its last status; None where the user has left it at work.

    Args:
        api: The way to its daemon.
        session_id: Which one.
        since: Show what comes after this record.
        quiet: Whether nothing is shown.
        verbose: Whether handoffs are shown state by state.
        keys: Whether single keys are read, where there is a terminal for it.
        seen: The session's earlier records: what they left behind is known, the newest of them are shown.
        ended: Whether it was over before.
    """

    def ends(meta: EventMeta) -> bool:
        return bool(meta.get("ended")) and meta.get("sessionId") == session_id

    known = Conversation(verbose=verbose)
    watching = Watching(api, known, quiet=quiet, only=session_id, keys=keys and not ended)
    if await watching.until(since, ends, seen, at_once=ended):
        return None
    try:
        return await ask(watching.api, Status, "/api/status", {"sessionId": session_id})
    except HubError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        raise HubError(Code.INTERRUPTED, "The session was taken out of the queue and never began.") from None


async def watch_run(api: Api, run_id: str, since: int, *, quiet: bool = False) -> Api:
    """Show the sessions of a pipeline's run until it has ended; answers the way to the daemon that is there then."""

    def ends(meta: EventMeta) -> bool:
        return bool(meta.get("runEnded")) and meta.get("runId") == run_id

    watching = Watching(api, SideBySide(run_id), quiet=quiet)
    await watching.until(since, ends)
    return watching.api


@attrs.define
class Watching:
    """One look at a daemon's log, over its restarts.

    Attributes:
        api: The way to the daemon that is there now.
        known: What is known of what is watched.
        quiet: Whether nothing is shown.
        only: Of this session, and what is of none; "" = everything.
        keys: Whether keys are read.
    """

    api: Api
    known: Conversation | SideBySide
    quiet: bool = False
    only: str = ""
    keys: bool = False
    _view: ConversationView = attrs.field(factory=ConversationView)
    _lost: bool = False
    _answers: bool = False
    """Whether keys answer."""

    async def until(
        self,
        since: int,
        ends: Callable[[EventMeta], bool],
        seen: Sequence[RecordJson] = (),
        *,
        at_once: bool = False,
    ) -> bool:
        """Show what comes, up to the end; whether the user left before, and the session works on."""
        async with self._shown() as detached:
            self._recall(seen)
            if at_once:
                return False
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_cancels, detached, scope)
                    await self._follow(since, ends)
                    nursery.cancel_scope.cancel(reason="the end was seen")
            if not detached.is_set():
                self._view.show(self.known.rest())
            return detached.is_set()

    async def _follow(self, since: int, ends: Callable[[EventMeta], bool]) -> None:
        patience = math.inf if on_terminal() and not self.quiet else PATIENCE
        async with follow(
            self.api, since, patience=patience, notify=self._link, again=self._again
        ) as batches:
            async for batch in batches:
                for record in batch:
                    meta = record.get("meta", {})
                    if not self.only or meta.get("sessionId", self.only) == self.only:
                        self._view.show(self.known.take(record))
                        self._hint(meta)
                if any(ends(record.get("meta", {})) for record in batch):
                    return

    def _again(self) -> Api:
        """The way to the project's daemon, as it says of itself now: another one may have another port."""
        self.api = self.api.again()
        return self.api

    def _link(self, now: LinkState) -> None:
        if now is LinkState.LOST:
            self._view.waiting("the daemon is gone; the agent works on. Start it again: hub daemon")
        elif self._lost:
            self._view.waiting("")
        self._lost = now is LinkState.LOST

    def _recall(self, seen: Sequence[RecordJson]) -> None:
        """Take what was before, and show the newest of it."""
        items = [item for record in seen for item in self.known.take(record)]
        if len(items) > _RECALLED:
            self._view.show(
                [ToldItem(f"... {len(items) - _RECALLED} earlier: hub logs {self.only}".rstrip(), "dim")]
            )
        self._view.show(items[-_RECALLED:])
        for ask in self.known.asks:
            asked = bool(ask.approval)
            self._hint({"needsApproval": asked, "approvalId": ask.approval, "needsInput": not asked})

    def _hint(self, meta: EventMeta) -> None:
        """Where no key answers a question, the command that does."""
        run = self.known if isinstance(self.known, SideBySide) else None
        if run is not None and not run.has(meta.get("sessionId", "")):
            return
        how = how_to_answer(meta, several=run is not None)
        if how and not self._answers:
            self._view.show([ToldItem(f"answer it from another terminal: {how}", "warn")])

    @asynccontextmanager
    async def _shown(self) -> AsyncIterator[trio.Event]:
        """A view for as long as the block lasts, with its keys; answers what is set when the user leaves."""
        detached = trio.Event()
        if self.quiet:
            yield detached
        elif not can_draw():
            self._view = Plain()
            yield detached
        else:
            from hub.cli.terminal.cockpit import Cockpit

            self._answers = self.known.answers = self.keys and sys.stdin.isatty()
            cockpit = Cockpit(self.known, lambda: self.api, self.only, detached)
            self._view = cockpit
            async with cockpit.open(keys=self._answers):
                yield detached


_RECALLED = 20
"""Earlier items that are shown to whoever comes back."""


def how_to_answer(meta: EventMeta, *, several: bool = False) -> str:
    """The command that answers what an event asks, one of `several` sessions' by its id; "" when it asks nothing."""
    if meta.get("needsApproval"):
        number = meta["approvalId"]
        return f'hub approve {number}   or: hub deny {number} --note "..."'
    which = f" --session {meta['sessionId']}" if several else ""
    return f'hub reply{which} "..."' if meta.get("needsInput") else ""


async def _cancels(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel(reason="the user has left")


def on_terminal() -> bool:
    """Whether somebody looks on."""
    return sys.stderr.isatty()


def can_draw() -> bool:
    """Whether the terminal can do more than plain lines."""
    utf = (sys.stderr.encoding or "").lower().replace("-", "") == "utf8"
    return on_terminal() and utf and supports_ansi(os.environ)
