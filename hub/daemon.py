"""One daemon of one project, from the lock to the last child's end.

Owns: the order of a start (lock, sweep, tree, announcement) and of a stop (session, tree, announcement taken back),
and what the signals mean: the first is an ordered stop, the second ends the process; and the stop when the disk failed
or the project is gone.
Must not: print, or know how the tree is made.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import attrs
import trio

from hub import __version__
from hub.actors.common.calls import call_until_answered
from hub.actors.common.outbox import Outbox
from hub.app import App
from hub.domain.config.reader import Config
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.installed import install_broken
from hub.io import failpoints, gc_policy
from hub.io.files.atomic import sweep_temps, write_atomic
from hub.io.files.sealed import NotSealed
from hub.io.log import scrubbed_log
from hub.io.project import daemons, hub_dir
from hub.io.project.lock import ProjectLock, project_lock
from hub.io.project.places import Places, make_private_dir
from hub.io.project.trust import Gate
from hub.io.runner.sweep import sweep_runs
from hub.io.shortage import shortage
from hub.messages.audit import AuditAppend, AuditEntry
from hub.messages.pipelines import StopPipeline
from hub.messages.session import Detach, StopAll
from hub.owners import Owners
from hub.providers.registry import signatures
from hub.web.doors import Bound, Doors
from supervisors import Ref, Root, Sent, SupEvent, run_root

_BREATH = 0.2
"""Seconds until the next try to import, where no file could be opened."""
_LOOK = 1.0
"""Seconds between two looks whether the project is still where it was."""
_WATCHDOG = 120.0
_STOP_TIMEOUT = 60.0
_CALL_TIMEOUT = 10.0
M = TypeVar("M")
T = TypeVar("T")


@attrs.define
class Daemon:
    """A running daemon, for whoever runs it in the same process."""

    app: App
    detach: bool = False
    stopping: trio.Event = attrs.field(factory=trio.Event)
    """Set once an end was asked for."""
    over: trio.Event = attrs.field(factory=trio.Event)
    """Set when everything has ended."""
    warnings: list[HubError] = attrs.field(factory=list)
    """What was found out of order at the start, and keeps nobody from working on."""

    @property
    def bound(self) -> Bound:
        """Where it listens; known from the end of its start on."""
        assert self.app.doors.bound is not None  # noqa: S101 - whoever is given a daemon is given one that listens
        return self.app.doors.bound

    @property
    def url(self) -> str:
        """The base address."""
        return self.bound.url

    @property
    def port(self) -> int:
        """The port of it."""
        return self.bound.port

    def request_stop(self, *, detach: bool = False) -> None:
        """Ask for an ordered end; with `detach` the agent stays for the next daemon. The first wish counts."""
        if not self.stopping.is_set():
            self.detach = detach
            self.stopping.set()


@attrs.frozen
class Order:
    """How a daemon is to be run."""

    places: Places
    config: Config
    load_config: Callable[[], Config]
    gate: Gate
    """The project's door."""
    host: str = "127.0.0.1"
    port: int = 4748
    elsewhere: bool = False
    """Whether any free port will do where that one is in use: nobody named it."""
    signals: bool = False
    """Whether the daemon takes the process's signals itself."""
    detach: bool = False
    """Whether a stop by signal leaves the agent to the next daemon."""
    on_event: Callable[[SupEvent], None] | None = None
    clock: Callable[[], float] = lambda: 0.0
    insist_on_trust: Callable[[str], None] = lambda _: None
    """Refuses what the user has not agreed to; given the digest of the set that he agrees to for this time, "" = none."""


async def run_daemon(
    order: Order, *, task_status: trio.TaskStatus[Daemon] = trio.TASK_STATUS_IGNORED
) -> None:
    """Hold the project, run the tree, and end in order.

    Raises:
        HubError: `project_locked`, `port_in_use`, `no_permission`..., before anything was started; `disk_failed` at the
            end, when hub's own records could not be kept.
    """
    os.umask(0o077)
    order, made = _guarded(order)
    hub_dir.insist_usable(order.places.root)
    make_private_dir(order.places.hub_dir)
    with project_lock(order.places.lock, port=order.port) as lock, contextlib.ExitStack() as log:
        failpoints.hit("recover.lock")
        foreign = hub_dir.claim(order.places)
        order.places.ensure()
        for folder in order.places.written():
            sweep_temps(folder)
        runs = [entry for entry in order.places.run_dir.iterdir() if entry.is_dir()]
        if runs:
            await _end_dead_runs(runs)
            await trio.to_thread.run_sync(sweep_runs, order.places)
        failpoints.hit("recover.sweep")
        doors = _doors(order)
        app = App(
            order.places,
            order.config,
            order.load_config,
            doors,
            order.gate,
            insist_on_trust=order.insist_on_trust,
        )
        log.enter_context(scrubbed_log(app.secrets.value))
        log.callback(doors.close)
        async with trio.open_nursery() as nursery:
            daemon = Daemon(app, detach=order.detach)
            if order.signals:
                # Before the first answer, by which anybody can know that it is there: it may be signalled at once.
                await nursery.start(_listen, daemon)
            root = await _start(nursery, app, order)
            await app.listening.wait()
            lock.tell(daemon.port)
            broken = await _announced(daemon)
            daemon.warnings = [*foreign, *([broken] if broken else [])]
            await _warned(app, order, daemon.warnings)
            write_atomic(order.places.daemon_json, _announcement(daemon, order, made))
            log.callback(daemons.forget, daemons.note(order.places.root), order.places.daemon_json)
            task_status.started(daemon)
            nursery.start_soon(_end_on_request, daemon, root)
            nursery.start_soon(_end_on_failure, app, root)
            nursery.start_soon(_end_without_project, app, lock)
            nursery.start_soon(_load_agents, app)
            await root.wait()
            daemon.over.set()
            nursery.cancel_scope.cancel(reason="the tree has ended")
        if lock.kept():  # else it is the next daemon's
            order.places.daemon_json.unlink(missing_ok=True)
        if app.failure is not None:
            raise app.failure


def _doors(order: Order) -> Doors:
    unix = order.config.server.socket
    return Doors(
        order.host,
        order.port,
        elsewhere=order.elsewhere,
        unix=order.places.root / Path(unix).expanduser() if unix else None,
    )


async def _load_agents(app: App) -> None:
    """In a worker thread, while nobody waits for it: their code is a tenth of the daemon's."""
    try:
        await imported(lambda: [*app.providers.values(), signatures()])
    except ImportError as error:
        app.fails(install_broken(error))
    gc_policy.keep()


async def imported(load: Callable[[], T]) -> T:
    """What `load` imports, in a worker thread. While no file can be opened it waits: files come free."""
    while True:
        try:
            return await trio.to_thread.run_sync(load)
        except OSError as error:
            if shortage(error) is None:
                raise
        await trio.sleep(_BREATH)


async def _start(nursery: trio.Nursery, app: App, order: Order) -> Root:
    run = partial(run_root, app.tree(), on_event=order.on_event, watchdog=_WATCHDOG)
    try:
        root: Root = await nursery.start(run)
    except BaseExceptionGroup as group:
        raise _coded(group) from group
    except Exception as error:
        raise _coded(error) from error
    app.picture = root.tree
    return root


def _coded(error: BaseException) -> BaseException:
    """The coded error behind a failed start, else the failure itself."""
    seen: set[BaseException] = set()  # an error may be its own cause
    due: list[BaseException] = [error]
    while due:
        found = due.pop()
        if isinstance(found, HubError):
            return found
        if found in seen:
            continue
        seen.add(found)
        if isinstance(found, BaseExceptionGroup):
            due.extend(found.exceptions)
        due.extend(e for e in (found.__cause__, getattr(getattr(found, "exit", None), "error", None)) if e)
    return error


async def _announced(daemon: Daemon) -> HubError | None:
    """The first record of each daemon's life: a place in the chain that others can hold it to.

    Returns:
        Why the audit log refuses it; the daemon starts all the same, and says so.

    Raises:
        HubError: TIMEOUT.
    """
    data = {"version": __version__, "pid": os.getpid(), "port": daemon.port}
    try:
        await daemon.app.slots.audit.ref.call(
            AuditAppend([AuditEntry("daemon_started", data)]), timeout=_CALL_TIMEOUT
        )
    except trio.TooSlowError:
        raise HubError(
            Code.TIMEOUT,
            f"The audit log has not taken its first record within {_CALL_TIMEOUT:g} s.",
            hint="See whether the disk under .hub is slow or full, and start again.",
        ) from None
    except HubError as error:
        return error
    return None


async def _warned(app: App, order: Order, warnings: list[HubError]) -> None:
    """On the event log too: whoever comes later finds it there."""
    outbox = Outbox(app.slots.events.ref, order.clock, patience=_CALL_TIMEOUT)
    for error in warnings:
        await outbox.trouble(error)


def _guarded(order: Order) -> tuple[Order, str]:
    """The order with a token, and this token, where the kernel does not tell whose a connection is.

    It lives as long as the daemon, in `.hub/daemon.json`, which this user alone can read.
    """
    with Owners() as owners:
        if owners.known or order.config.server.token:
            return order, ""
    token = secrets.token_urlsafe(32)

    def with_token(config: Config) -> Config:
        return (
            config
            if config.server.token
            else attrs.evolve(config, server=attrs.evolve(config.server, token=token))
        )

    load = order.load_config
    return attrs.evolve(order, config=with_token(order.config), load_config=lambda: with_token(load())), token


def _announcement(daemon: Daemon, order: Order, made: str) -> bytes:
    body = {"pid": os.getpid(), "port": daemon.port, "startedAt": iso(order.clock()), "version": __version__}
    if daemon.bound.socket:
        body["socket"] = daemon.bound.socket
    if order.config.server.token:
        body["guarded"] = True
    if made:
        body["token"] = made
    return json.dumps(body).encode() + b"\n"


async def _end_on_request(daemon: Daemon, root: Root) -> None:
    await daemon.stopping.wait()
    app = daemon.app
    if daemon.detach:
        app.slots.sessions.ref.try_cast(Detach())
        root.request_stop()
        return
    try:
        with trio.fail_after(_STOP_TIMEOUT):
            # First the run, so that no further node starts; then the sessions, its own and others.
            await _ended(app, app.slots.pipelines.ref, StopPipeline())
            # Asked again of what is just restarting: no agent must outlive an ordered stop.
            await _ended(app, app.slots.sessions.ref, StopAll("daemon"))
    except trio.TooSlowError:
        app.fails(HubError(Code.TIMEOUT, f"The sessions did not end within {_STOP_TIMEOUT:g} s."))
    root.request_stop()


async def _ended(app: App, ref: Ref[M], order: Sent[M, object]) -> None:
    """What keeps a session from ending, such as a full disk, is told at the end; it does not keep the daemon."""
    try:
        await call_until_answered(ref, order)
    except HubError as error:
        if error.code is not Code.NO_ACTIVE_SESSION:
            app.fails(error)


async def _end_on_failure(app: App, root: Root) -> None:
    """Stop before anything is done that could not be put on record; the agent stays with its runner.

    An fsync that failed is not tried again: the next daemon reads what the disk really holds, and goes on from there.
    """
    await app.failed.wait()
    app.slots.sessions.ref.try_cast(Detach())
    root.request_stop()


async def _end_without_project(app: App, lock: ProjectLock) -> None:
    while app.failure is None:
        await trio.sleep(_LOOK)
        if not lock.kept():
            app.fails(lock.lost())


async def _end_dead_runs(runs: list[Path]) -> None:
    """Runs whose runner is gone: what they left behind is ended, their files stay."""
    from hub.io.processes.control import sweep  # noqa: PLC0415  # as above
    from hub.io.runner.view import Dead, inspect  # noqa: PLC0415  # a project without a run starts without it

    def dead(run: Path) -> bool:
        with contextlib.suppress(NotSealed):  # its processes are not known to be a run's
            return isinstance(inspect(run), Dead)
        return False

    await sweep([run.name for run in runs if dead(run)])


_SAME = 0.5
"""Seconds in which a second SIGTERM or SIGHUP is the first one's echo."""
_ECHOED = {signal.SIGTERM, signal.SIGHUP}


@attrs.define
class StopSignals:
    """Which signals stop in order, and a second one told from the first one's echo.

    `timeout` sends SIGTERM to its child and then to the whole group; a closed terminal and its shell both send SIGHUP,
    the end of a login SIGTERM and SIGHUP.
    """

    _first: tuple[int, float] | None = None

    @staticmethod
    def meant() -> list[int]:
        """Those to listen for; whom `nohup` has started hears of no closed terminal."""
        deaf = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        return [signal.SIGINT, signal.SIGTERM, *([] if deaf else [signal.SIGHUP])]

    def again(self, number: int, now: float) -> bool:
        """Whether this one means: at once."""
        if self._first is None:
            self._first = (number, now)
            return False
        before, at = self._first
        return not ({number, before} <= _ECHOED and now - at < _SAME)


async def _listen(daemon: Daemon, *, task_status: trio.TaskStatus[None]) -> None:
    """The first signal is an ordered stop, after the start if need be; the second ends the process at once."""
    with trio.open_signal_receiver(*StopSignals.meant()) as signals:
        task_status.started()
        told = StopSignals()
        async for number in signals:
            if told.again(number, trio.current_time()):
                os._exit(128 + number)
            daemon.request_stop(detach=daemon.detach)
