"""One supervisor under test, as the child `sup` of a root that never restarts it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

import attrs
import pytest

from supervisors import (
    ChildSpec,
    Counts,
    DynamicHandle,
    EventKind,
    Exit,
    Restart,
    Root,
    SupervisorHandle,
    SupervisorSpec,
    dynamic_spec,
    supervisor_spec,
)
from tests.trees import Recorder, running


@attrs.frozen
class Under:
    """What a test sees of the supervisor under test."""

    handle: Any
    recorder: Recorder
    root: Root

    def trace(self) -> list[tuple[str, str, str]]:
        """Starts and exits in order, without the start of the supervisor and of its root."""
        return [
            step for step in self.recorder.trace() if step[1] != "root" and step != ("start", "sup", "ok")
        ]

    def states(self) -> dict[Any, str]:
        """The state of each child, in start order."""
        return {info.id: info.state for info in self.handle.which_children()}

    def counts(self) -> tuple[int, int, int, int]:
        """Specs, active, supervisors, workers: as the OTP suite writes them."""
        counts: Counts = self.handle.count_children()
        return attrs.astuple(counts)

    async def exit(self) -> Exit:
        """How the supervisor ended, once it has."""
        event = await self.recorder.wait(EventKind.EXITED, "sup")
        assert event.exit is not None
        return event.exit


class Supervise(Protocol):
    def __call__(self, *children: ChildSpec, **flags: Any) -> AbstractAsyncContextManager[Under]: ...


@asynccontextmanager
async def _under(child: ChildSpec, handle: Any) -> AsyncIterator[Under]:
    recorder = Recorder()
    async with running(SupervisorSpec(children=[child]), on_event=recorder) as root:
        yield Under(handle, recorder, root)


@pytest.fixture
def supervise() -> Supervise:
    """Run a static supervisor for the length of a `with` block; flags are those of SupervisorSpec."""

    def start(*children: ChildSpec, **flags: Any) -> AbstractAsyncContextManager[Under]:
        handle = SupervisorHandle("sup")
        spec = SupervisorSpec(children=children, **({"intensity": 5} | flags))
        return _under(supervisor_spec("sup", spec, restart=Restart.TEMPORARY, handle=handle), handle)

    return start


@pytest.fixture
def supervise_dynamic() -> Callable[..., AbstractAsyncContextManager[Under]]:
    """Run a dynamic supervisor for the length of a `with` block; options are those of dynamic_spec."""

    def start(**options: Any) -> AbstractAsyncContextManager[Under]:
        handle = DynamicHandle("sup")
        spec = dynamic_spec("sup", handle, **({"intensity": 5, "restart": Restart.TEMPORARY} | options))
        return _under(spec, handle)

    return start
