"""The top of a tree: where it meets the rest of the program.

Owns: starting and stopping a whole tree, its handle, the last-resort watchdog: a thread
that does not depend on the event loop, which may be what hangs.
Must not: restart the root (who runs it decides what its end means).
"""

from __future__ import annotations

import os
import threading
from typing import Final

import trio

from supervisors.child import Child, ChildState
from supervisors.events import Hook, System
from supervisors.exits import IntensityReached, Shutdown
from supervisors.handle import SupervisorHandle
from supervisors.life import Life
from supervisors.spec import SupervisorSpec
from supervisors.supervisor import Supervisor, supervisor_spec
from supervisors.tree import NodeInfo

EXIT_STUCK: Final = 70
"""Exit status of a process ended by its watchdog (EX_SOFTWARE)."""


def _end_process(patience: float) -> None:
    os.write(2, f"supervisors: not stopped after {patience} s, ending the process\n".encode())
    os._exit(EXIT_STUCK)


class Root:
    """A running tree, for the outside."""

    __slots__ = ("_child", "_over", "admin", "system")

    def __init__(self, child: Child, system: System, admin: SupervisorHandle) -> None:
        self._child = child
        self._over = trio.Event()
        self.system = system
        """Its environment."""
        self.admin = admin
        """For adding, stopping and restarting top-level children."""

    def tree(self) -> NodeInfo:
        """The whole tree at this instant, as plain data. It answers even when every actor is stuck."""
        return self._child.node(trio.current_time())

    def request_stop(self) -> None:
        """Ask for an ordered stop and return at once. Idempotent."""
        if self._child.life is not None:
            self._child.state = ChildState.STOPPING
            self._child.life.request_stop()

    async def stop(self) -> None:
        """Stop in order and wait until all is gone. An actor of the tree must use `request_stop` instead."""
        self.request_stop()
        await self._over.wait()

    async def wait(self) -> None:
        """Wait until the tree is gone."""
        await self._over.wait()

    def life_at(self, path: str) -> Life:
        """The incarnation with this path, or with this name when only one node bears it.

        Raises:
            KeyError: Nobody, or more than one, answers to it, or it is down.
        """
        child = self._child.find(self.tree().find(path).path)
        if child is None or child.life is None:
            raise KeyError(f"{path!r} is down")
        return child.life

    def over(self) -> None:
        """The tree is gone."""
        self._child.down()
        self._over.set()


async def run_root(
    spec: SupervisorSpec,
    *,
    name: str = "root",
    on_event: Hook | None = None,
    watchdog: float | None = None,
    task_status: trio.TaskStatus[Root] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Run a tree until it is stopped, cancelled, or gives up. No child is left when this returns or raises.

    An outer cancellation is an ordered stop too. KeyboardInterrupt and SystemExit raised by a child are never
    supervised:
    the tree stops in order and they are raised here. Returns normally after `Root.stop()` and after an
    `auto_shutdown`.

    Args:
        spec: The root supervisor.
        name: The root's own, first in every path.
        on_event: Called for every event of the tree; see `System`.
        watchdog: Seconds from the beginning of a stop after which the process ends itself with status 70:
        Trio cannot kill
            code that shields itself or sits in a thread. Off when None.
        task_status: Given the `Root` once every child is ready.

    Raises:
        StartFailed: A child did not start.
        IntensityReached: The root gave up.
    """
    system = System(on_event)
    handle = SupervisorHandle(name)
    child = Child(supervisor_spec(name, spec), name, ChildState.STARTING, generation=1)
    root = Root(child, system, handle)
    life = child.life = Life(child.spec, name, 1, system)

    def ready() -> None:
        child.state = ChildState.RUNNING
        task_status.started(root)

    life.on_ready = ready
    supervisor = Supervisor(life, spec, handle)
    if watchdog is not None:
        guard = threading.Timer(watchdog, _end_process, [watchdog])
        guard.daemon = True
        supervisor.on_stopping = guard.start

    try:
        with life.scope:
            await supervisor.run()
    except IntensityReached:
        raise
    except Shutdown:
        return
    finally:
        if watchdog is not None:
            guard.cancel()
        root.over()
