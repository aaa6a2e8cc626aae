"""What a supervisor is told: child specs and supervisor specs, checked before anything starts.

Owns: the values, their defaults and their validation. Must not: run anything.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Hashable, Iterable
from enum import Enum, StrEnum
from typing import Any, Final

import attrs

from supervisors.backoff import Backoff
from supervisors.life import Life


class SpecError(ValueError):
    """A spec that cannot be run.

    Args:
        code: What is wrong, from a closed vocabulary (OTP's words: `invalid_restart_type`,
        `duplicate_child_name`...).
        detail: The value that is wrong, in words.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class Restart(StrEnum):
    """When a child that ended is started again."""

    PERMANENT = "permanent"
    """Always."""
    TRANSIENT = "transient"
    """Only after an abnormal exit (an error, or a kill)."""
    TEMPORARY = "temporary"
    """Never; its spec is forgotten when it ends."""


class Strategy(StrEnum):
    """Who is restarted when one child ends."""

    ONE_FOR_ONE = "one_for_one"
    ONE_FOR_ALL = "one_for_all"
    REST_FOR_ONE = "rest_for_one"


class AutoShutdown(StrEnum):
    """Whether the end of significant children ends the supervisor."""

    NEVER = "never"
    ANY_SIGNIFICANT = "any_significant"
    ALL_SIGNIFICANT = "all_significant"


class Kind(StrEnum):
    """What a child is, for counts and for the tree."""

    WORKER = "worker"
    SUPERVISOR = "supervisor"


class Brutal(Enum):
    """The type of `BRUTAL_KILL`."""

    KILL = "brutal_kill"


BRUTAL_KILL: Final = Brutal.KILL
"""A `shutdown` that does not ask: the child's scope is cancelled at once."""

StartFunction = Callable[[Life], Awaitable[None]]


def _duration(value: object, *, zero: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return False
    return value >= 0 if zero else value > 0


def _is(*kinds: type, code: str) -> Callable[[object, attrs.Attribute[Any], Any], None]:
    def check(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if not isinstance(value, kinds):
            raise SpecError(code, f"{attribute.name} is {value!r}")

    return check


def _seconds(*, code: str, endless: bool = True) -> Callable[[object, attrs.Attribute[Any], Any], None]:
    def check(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if not _duration(value, zero=False) or (value == math.inf and not endless):
            raise SpecError(code, f"{attribute.name} is {value!r}")

    return check


def _check_id(_: object, __: object, value: object) -> None:
    if value is None:
        raise SpecError("missing_id", "id is None")
    try:
        hash(value)
    except TypeError:
        raise SpecError("invalid_id", f"{value!r} is not hashable") from None


@attrs.frozen(kw_only=True, eq=False)
class ChildSpec:
    """One child: how to start it, how to stop it, when to start it again.

    Raises:
        SpecError: `missing_id`, `invalid_mfa`, `invalid_restart_type`, `invalid_shutdown`,
        `invalid_significant`,
            `invalid_child_type`, `invalid_backoff`, `invalid_start_timeout`.
    """

    id: Hashable = attrs.field(validator=_check_id)
    """Unique among the children of one supervisor."""
    start: StartFunction = attrs.field()
    """Runs one incarnation: `async def start(life)`; ready when it calls `life.ready()`, over when it
    returns."""
    restart: Restart = attrs.field(
        default=Restart.PERMANENT, validator=_is(Restart, code="invalid_restart_type")
    )
    """When it is started again."""
    kind: Kind = attrs.field(default=Kind.WORKER, validator=_is(Kind, code="invalid_child_type"))
    """Worker or supervisor."""
    shutdown: float | Brutal = attrs.field()
    """Seconds it may take to stop when asked, `math.inf`, or `BRUTAL_KILL`."""
    significant: bool = attrs.field(default=False, validator=_is(bool, code="invalid_significant"))
    """Whether its end counts for `auto_shutdown`; never for a permanent child."""
    backoff: Backoff | None = attrs.field(
        default=None, validator=_is(Backoff, type(None), code="invalid_backoff")
    )
    """How long to wait before a restart; None restarts at once."""
    start_timeout: float = attrs.field(default=30.0, validator=_seconds(code="invalid_start_timeout"))
    """Seconds its init may take (OTP has no such bound, so there a hung init hangs the tree)."""

    @start.validator
    def _check_start(self, _: object, value: object) -> None:
        if not callable(value):
            raise SpecError("invalid_mfa", f"start is {value!r}, which cannot be called")

    @shutdown.default
    def _default_shutdown(self) -> float:
        return math.inf if self.kind is Kind.SUPERVISOR else 5.0

    @shutdown.validator
    def _check_shutdown(self, _: object, value: object) -> None:
        if not isinstance(value, Brutal) and not _duration(value, zero=True):
            raise SpecError("invalid_shutdown", f"shutdown is {value!r}")

    def __attrs_post_init__(self) -> None:
        if self.significant and self.restart is Restart.PERMANENT:
            raise SpecError("bad_combination", f"child {self.id!r} is significant and permanent")


def _check_intensity(_: object, __: object, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise SpecError("invalid_intensity", f"intensity is {value!r}")


def check_children(children: Iterable[object], auto_shutdown: AutoShutdown) -> tuple[ChildSpec, ...]:
    """Check specs against each other and against their supervisor; the same specs, in order.

    Raises:
        SpecError: `invalid_child_spec`, `duplicate_child_name`, `bad_combination`.
    """
    seen: dict[Hashable, ChildSpec] = {}
    for child in children:
        if not isinstance(child, ChildSpec):
            raise SpecError("invalid_child_spec", f"{child!r} is not a ChildSpec")
        if child.id in seen:
            raise SpecError("duplicate_child_name", f"two children are named {child.id!r}")
        if child.significant and auto_shutdown is AutoShutdown.NEVER:
            raise SpecError(
                "bad_combination", f"child {child.id!r} is significant but auto_shutdown is never"
            )
        seen[child.id] = child
    return tuple(seen.values())


def _in_order(children: Iterable[ChildSpec]) -> tuple[ChildSpec, ...]:
    return tuple(children)


@attrs.frozen(eq=False)
class SupervisorSpec:
    """One supervisor: its children in start order, and what it does when one of them ends.

    Raises:
        SpecError: `invalid_strategy`, `invalid_intensity`, `invalid_period`, `invalid_auto_shutdown`,
        `invalid_stuck_after`,
            `invalid_child_spec`, `duplicate_child_name`, `bad_combination`.
    """

    strategy: Strategy = attrs.field(
        default=Strategy.ONE_FOR_ONE, validator=_is(Strategy, code="invalid_strategy")
    )
    """Who is restarted with a child that ended."""
    intensity: int = attrs.field(default=1, validator=_check_intensity)
    """Restarts allowed within `period`; one more and the supervisor gives up."""
    period: float = attrs.field(default=5.0, validator=_seconds(code="invalid_period", endless=False))
    """Seconds of the sliding window."""
    auto_shutdown: AutoShutdown = attrs.field(
        default=AutoShutdown.NEVER, validator=_is(AutoShutdown, code="invalid_auto_shutdown")
    )
    """Whether the end of significant children ends it."""
    children: tuple[ChildSpec, ...] = attrs.field(default=(), converter=_in_order)
    """Started in this order, stopped in reverse."""
    stuck_after: float = attrs.field(default=5.0, validator=_seconds(code="invalid_stuck_after"))
    """Seconds a killed child may take to go before it is reported as stuck and no longer waited for."""

    def __attrs_post_init__(self) -> None:
        check_children(self.children, self.auto_shutdown)
