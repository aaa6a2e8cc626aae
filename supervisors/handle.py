"""How the rest of a program speaks to a supervisor: a handle outlives the supervisor's incarnations.

Owns: the administration vocabulary (OTP's) and its errors. Must not: know how a supervisor does it.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import StrEnum
from typing import Protocol

import attrs

from supervisors.call import Reply
from supervisors.exits import Exit
from supervisors.ref import ActorDied
from supervisors.spec import ChildSpec, Kind, Restart


class AdminCode(StrEnum):
    """Why a supervisor says no."""

    NOT_FOUND = "not_found"
    RUNNING = "running"
    RESTARTING = "restarting"
    ALREADY_STARTED = "already_started"
    ALREADY_PRESENT = "already_present"
    MAX_CHILDREN = "max_children"
    START_FAILED = "start_failed"
    STUCK = "stuck"


class AdminError(Exception):
    """A supervisor refused.

    Args:
        code: One of the closed list.
        child: The id in question.
        exit: For `start_failed`: how the incarnation ended.
    """

    def __init__(self, code: AdminCode, child: Hashable, exit: Exit | None = None) -> None:
        super().__init__(f"child {child!r}: {code.value}" + (f" ({exit})" if exit else ""))
        self.code = code
        self.child = child
        self.exit = exit


@attrs.frozen
class ChildInfo:
    """One row of `which_children`."""

    id: Hashable
    kind: Kind
    restart: Restart
    state: str
    """`starting`, `running`, `stopping`, `stuck`, `restarting` or `stopped` (OTP's `undefined`: declined,
    ended or stopped)."""
    generation: int


@attrs.frozen
class Counts:
    """OTP's `count_children`."""

    specs: int
    """Specs held."""
    active: int
    """Children that run."""
    supervisors: int
    """Specs of supervisors, running or not."""
    workers: int
    """Specs of workers, running or not."""


class Op(StrEnum):
    """What can be asked of a running supervisor."""

    START = "start"
    TERMINATE = "terminate"
    RESTART = "restart"
    DELETE = "delete"


class Administered(Protocol):
    """What a handle needs of a supervisor."""

    def ask(self, op: Op, argument: Hashable | ChildSpec) -> Reply:
        """Queue a request; the reply comes when it is done."""

    def which(self) -> tuple[ChildInfo, ...]:
        """All children, in start order."""

    def count(self) -> Counts:
        """How many."""

    def child_spec(self, child: Hashable) -> ChildSpec:
        """One spec."""


class Handle:
    """What both kinds of supervisor answer.

    Requests that change something go through the supervisor's own queue and are done one after the other;
    queries are
    answered at once from its state, even while it waits for a child.

    Args:
        name: Said in errors.
    """

    __slots__ = ("_target", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._target: Administered | None = None

    def bind(self, target: Administered | None) -> None:
        """Point to the incarnation of the moment; None while there is none."""
        self._target = target

    @property
    def alive(self) -> bool:
        """Whether the supervisor is there."""
        return self._target is not None

    def _live(self) -> Administered:
        if self._target is None:
            raise ActorDied(self.name)
        return self._target

    async def start_child(self, spec: ChildSpec) -> ChildInfo:
        """Start a child and return when it is ready, or has declined (`state` is then `stopped`).

        Raises:
            AdminError: `already_started`, `already_present`, `start_failed`, `max_children`.
            SpecError: Another one than its supervisor takes.
            ActorDied: The supervisor is not there, or ended meanwhile.
        """
        info: ChildInfo = await self._live().ask(Op.START, spec).wait()
        return info

    async def terminate_child(self, child: Hashable) -> None:
        """Stop a child and return when it is gone. A pending restart is called off; twice is no error.

        Raises:
            AdminError: `not_found`, `stuck`.
            ActorDied: The supervisor is not there, or ended meanwhile.
        """
        await self._live().ask(Op.TERMINATE, child).wait()

    def which_children(self) -> tuple[ChildInfo, ...]:
        """All children. Raises ActorDied when the supervisor is not there."""
        return self._live().which()

    def count_children(self) -> Counts:
        """How many. Raises ActorDied when the supervisor is not there."""
        return self._live().count()

    def get_childspec(self, child: Hashable) -> ChildSpec:
        """One spec. Raises ActorDied when the supervisor is not there, AdminError `not_found`."""
        return self._live().child_spec(child)


class SupervisorHandle(Handle):
    """For a supervisor with a list of children."""

    __slots__ = ()

    async def restart_child(self, child: Hashable) -> ChildInfo:
        """Start a child that is down.

        Raises:
            AdminError: `not_found`, `running`, `restarting`, `start_failed`.
            ActorDied: The supervisor is not there, or ended meanwhile.
        """
        info: ChildInfo = await self._live().ask(Op.RESTART, child).wait()
        return info

    async def delete_child(self, child: Hashable) -> None:
        """Forget the spec of a child that is down.

        Raises:
            AdminError: `not_found`, `running`, `restarting`.
            ActorDied: The supervisor is not there, or ended meanwhile.
        """
        await self._live().ask(Op.DELETE, child).wait()


class DynamicHandle(Handle):
    """For a supervisor whose children come and go. When it is restarted its children are gone."""

    __slots__ = ()
