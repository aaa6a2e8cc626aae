"""How an incarnation ended, and the exceptions by which a child says how it wants to end.

Owns: the four exit kinds, the classification of an exception (on the leaves of its group), the exceptions of
this package's
supervisors. Must not: import trio; decide what happens next (that is `plan`).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import attrs


class ExitKind(StrEnum):
    """The closed list of ways an incarnation ends."""

    NORMAL = "normal"
    """It returned by itself."""
    SHUTDOWN = "shutdown"
    """It was asked to stop and did, or raised `Shutdown`."""
    KILLED = "killed"
    """Its scope was cancelled: it would not stop in time, or somebody killed it."""
    ERROR = "error"
    """An exception left it."""


@attrs.frozen
class Exit:
    """The end of one incarnation."""

    kind: ExitKind
    """Which of the four ways."""
    reason: str = ""
    """A short text for people: OTP's reason atom, or the error's message."""
    error: BaseException | None = attrs.field(default=None, eq=False, repr=False)
    """The exception behind it, bare when it was alone in its group; with its traceback."""

    @property
    def abnormal(self) -> bool:
        """Whether a transient child is restarted after it."""
        return self.kind in (ExitKind.KILLED, ExitKind.ERROR)

    def __str__(self) -> str:
        return self.reason or self.kind.value


class Shutdown(Exception):
    """Raised by a child to end in order, as with OTP's `{shutdown, Term}`: normal for a transient child."""


class Ignore(Exception):
    """Raised by a child before it is ready: it declines to run, and that is no failure."""


class IntensityReached(Shutdown):
    """A supervisor gave up: more restarts than its intensity allows within its period."""


class StartFailed(Exception):
    """A child did not become ready.

    Args:
        child: The id of the child.
        exit: How its first incarnation ended.
    """

    def __init__(self, child: object, exit: Exit) -> None:
        super().__init__(f"child {child!r} did not start: {exit}")
        self.child = child
        self.exit = exit


class StartTimeout(Exception):
    """A child's init took longer than its `start_timeout`."""


class NotReady(Exception):
    """A child returned without ever saying that it was ready."""


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions inside a group, however deep; the exception itself when it is no group."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def fatal_leaf(error: BaseException) -> BaseException | None:
    """The first leaf that no supervisor may handle (KeyboardInterrupt, SystemExit, trio.Cancelled...)."""
    return next((leaf for leaf in leaves(error) if not isinstance(leaf, Exception)), None)


def all_leaves(error: BaseException, kinds: type[BaseException] | tuple[type[BaseException], ...]) -> bool:
    """Whether every leaf is of one of `kinds`."""
    return all(isinstance(leaf, kinds) for leaf in leaves(error))


def from_error(error: BaseException) -> Exit:
    """Classify an exception that left an incarnation: a shutdown if all its leaves are, else an error."""
    each = list(leaves(error))
    if len(each) == 1:
        error = each[0]
    worst = next((leaf for leaf in each if not isinstance(leaf, Shutdown)), None)
    if worst is None:
        return Exit(ExitKind.SHUTDOWN, str(each[0]) or "shutdown", error)
    return Exit(ExitKind.ERROR, str(worst) or type(worst).__name__, error)


NORMAL = Exit(ExitKind.NORMAL, "normal")
SHUTDOWN = Exit(ExitKind.SHUTDOWN, "shutdown")
KILLED = Exit(ExitKind.KILLED, "killed")
