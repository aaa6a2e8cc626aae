"""Being at a project's daemon: the one that runs, else one in this process for as long as it is needed.

Owns: joining or being the daemon, and what Ctrl-C means meanwhile: once an ordered stop, twice at once; a closed terminal is
an ordered stop too, but beside another's daemon the session works on.
Must not: know what the session does.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

import attrs
import click
import trio

from hub.api.session import Run, Started, Stopped, Which
from hub.api.sessions import Sessions
from hub.api.status import Status
from hub.cli.ending import debugging
from hub.cli.local.background import running
from hub.cli.local.report import report
from hub.cli.local.serve import in_a_job, order_for
from hub.cli.terminal.keys import restore
from hub.cli.terminal.width import columns, hung
from hub.client.place import root_of
from hub.client.quick import Api
from hub.daemon import Daemon, Order, StopSignals, run_daemon
from hub.errors import Code, HubError
from hub.io.project.trust import Gate

T = TypeVar("T")

START_TIMEOUT = 130.0
"""Seconds a start may take: in a large repository, uncommitted work takes its time."""
_LOOK = 2.0
"""Seconds between two looks at other sessions."""
STOP_TIMEOUT = 300.0
"""Seconds an ordered stop may take: the agent's grace, the snapshot, a last run of the acceptance commands."""


_GOES_ON = (
    "left at once; every byte is kept, and an agent that has not stopped yet works on for a while. "
    "See to the end of its session: hub daemon"
)
_STARTS = "starting hub ..."
_BESIDE = "left at once; the daemon ends the session in order. Make sure: hub status"


@attrs.define
class Joined:
    """A daemon, and whether the user has asked to leave."""

    _api: Api | None = None
    farewell: str = "left at once"
    """What is said to whoever does not wait for the end."""
    leaving: trio.Event = attrs.field(factory=trio.Event)
    session_id: str = ""
    """The session that was started; "" = none was, or a pipeline."""
    begun: bool = False
    """Whether anything was started here."""
    own: bool = False
    """Whether the daemon is of this process."""
    left: bool = False
    """Whether the user has left the session at work: a daemon of our own gives it to the next one."""

    @property
    def api(self) -> Api:
        """The way to it. Nobody has a `Joined` before there is one, but whoever listens for Ctrl-C."""
        assert self._api is not None  # noqa: S101  # set before the block begins
        return self._api

    def found(self, api: Api, farewell: str) -> Joined:
        """The daemon is there."""
        self._api, self.farewell = api, farewell
        return self

    @property
    def beside(self) -> bool:
        """Whether the daemon is another process's, where the session works on though its watcher's terminal is closed."""
        return self._api is not None and not self.own

    async def start_session(self, body: Run) -> Started:
        """Start a session; see `start`."""
        started = await self.start(Started, "/api/run", body)
        self.session_id = started.session_id
        return started

    async def start(self, kind: type[T], path: str, body: object) -> T:
        """Give an order that begins sessions. A Ctrl-C from here on finds either no session or one that it can stop.

        Raises:
            HubError: `interrupted`, or what the daemon says.
        """
        if self.leaving.is_set():
            raise HubError(Code.INTERRUPTED)
        patient = self.api.within(START_TIMEOUT)
        started = await trio.to_thread.run_sync(patient.order, kind, path, body)
        self.begun = True
        if self.leaving.is_set():
            await self.stop_session()
        return started

    async def others_end(self) -> None:
        """Wait until no other session runs in this daemon, or waits for its turn: it ends when its owner does."""
        told = False
        while not self.leaving.is_set():
            found = await trio.to_thread.run_sync(self.api.read, Sessions, "/api/sessions")
            others = [one.session_id for one in found.sessions if not one.ended_at]
            if not others:
                return
            if not told:
                words = (
                    f"other sessions go on in this process: {', '.join(others)}; Ctrl-C stops them in order"
                )
                click.echo(words, err=True)
                told = True
            with trio.move_on_after(_LOOK):
                await self.leaving.wait()

    async def end_of_old(self) -> None:
        """Wait for the end of a session whose stop an earlier daemon was asked for, and did not live to see."""
        status = await trio.to_thread.run_sync(self.api.read, Status, "/api/status")
        if status.stopping:
            click.echo(f"the earlier session {status.session_id} is being stopped in order", err=True)
            await self.stop_session()

    async def stop_session(self) -> None:
        """Ask for an ordered end of what was started here; in a daemon of others nothing else is anybody's to stop."""
        if self._api is None or not (self.own or self.begun):
            return
        slow = self.api.within(STOP_TIMEOUT)
        try:
            await trio.to_thread.run_sync(
                slow.order,
                Stopped,
                "/api/session/stop",
                Which(session_id=self.session_id),
                abandon_on_cancel=True,
            )
        except HubError as error:
            if error.code is not Code.NO_ACTIVE_SESSION:
                _tell(f"hub: {error.detail}")


@asynccontextmanager
async def daemon_for(
    project: Path,
    port: int | None,
    *,
    quiet: bool,
    alone: Callable[[], None] = lambda: None,
    gate: Gate | None = None,
) -> AsyncIterator[Joined]:
    """The project's daemon for as long as the block lasts; one of our own ends in order when the block does.

    Args:
        project: A folder of the project.
        port: Where the daemon listens; None = wherever it does.
        quiet: Whether nothing is said about it.
        alone: Asked before one of our own is started, which it may refuse.
        gate: The project's door, where its user was asked at it already.
    """
    async with _listening() as joined:
        there = await trio.to_thread.run_sync(running, project, port)
        if there is not None:
            yield joined.found(there, _BESIDE)
            return
        alone()
        if not quiet:
            click.echo(_STARTS, err=True)
        async with _serving(project, port, quiet=quiet, gate=gate) as daemon:
            try:
                token = daemon.app.config.server.token
                mine = Api(daemon.port, token=token, project=root_of(project))
                joined.found(mine, _GOES_ON).own = True
                await joined.end_of_old()
                yield joined
                if joined.left:
                    daemon.request_stop(detach=True)
                else:
                    await joined.others_end()
            except HubError as error:
                # Nobody asked for an end of the sessions that this daemon found: they stay for the next one.
                daemon.request_stop(detach=not joined.begun)
                if error.code is not Code.SESSION_ALREADY_RUNNING:
                    raise
                raise _unfinished(error) from error


def _unfinished(error: HubError) -> HubError:
    """What refuses a task where an earlier daemon has left a session behind."""
    hint = "Go on with it: hub daemon   Then watch it: hub logs -f   Or end it: hub stop"
    return HubError(error.code, f"{error.detail} An earlier daemon left it unfinished.", hint=hint)


@asynccontextmanager
async def _serving(
    project: Path, port: int | None, *, quiet: bool, gate: Gate | None
) -> AsyncIterator[Daemon]:
    # Nobody else looks for this daemon at a fixed place, so any free port will do unless one was named.
    in_a_job()
    told = report if debugging() else None  # a live view has the terminal
    order = order_for(project, flags={"port": port}, port=0, on_event=told, gate=gate)
    ended = trio.Event()
    async with trio.open_nursery() as nursery:
        daemon: Daemon = await nursery.start(_serve, order, ended)
        for warning in daemon.warnings:
            click.echo(f"hub: {warning.detail}\n     {warning.hint}", err=True)
        if not quiet:
            click.echo(hung(f"hub serves this session on {daemon.url}", columns(sys.stderr), 2), err=True)
        try:
            yield daemon
        finally:
            with trio.CancelScope(shield=True):
                daemon.request_stop()
                await ended.wait()


async def _serve(order: Order, ended: trio.Event, *, task_status: trio.TaskStatus[Daemon]) -> None:
    try:
        await run_daemon(order, task_status=task_status)
    finally:
        ended.set()


@asynccontextmanager
async def _listening() -> AsyncIterator[Joined]:
    """From the first moment: a Ctrl-C during the daemon's start is obeyed as soon as there is what can stop."""
    joined = Joined()
    try:
        async with trio.open_nursery() as nursery:
            await nursery.start(_on_signal, joined)
            yield joined
            nursery.cancel_scope.cancel(reason="the session has been watched to its end")
    except* BrokenPipeError:  # nobody watches: what was begun here has ended in order, and is not done
        if joined.own and joined.begun:
            raise HubError(Code.INTERRUPTED) from None
        raise


async def _on_signal(joined: Joined, *, task_status: trio.TaskStatus[None]) -> None:
    with trio.open_signal_receiver(*StopSignals.meant()) as signals:
        task_status.started()
        told = StopSignals()
        async with trio.open_nursery() as nursery:
            async for number in signals:
                beside = number == signal.SIGHUP and joined.beside
                if beside or told.again(number, trio.current_time()):
                    restore()
                    with suppress(OSError):
                        click.echo(joined.farewell, err=True)  # below all: nothing is drawn any more
                    os._exit(128 + number)
                if joined.leaving.is_set():
                    continue
                joined.leaving.set()
                _tell("\nstopping in order, with a snapshot; Ctrl-C again leaves at once")
                nursery.start_soon(joined.stop_session)


def _tell(words: str) -> None:
    """On the terminal, if it is still there; above what is drawn there, which `err=True` would write into."""
    with suppress(OSError):
        click.echo(words, file=sys.stderr)
