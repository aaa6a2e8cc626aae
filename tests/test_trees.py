"""The helpers for tests do what they say."""

from __future__ import annotations

import pytest
import trio

from supervisors import Actor, EventKind, ExitKind, Slot, SupervisorSpec, actor_spec
from tests.trees import ROOMY, Recorder, Scripted, kill, restarted, running


async def test_the_recorder_finds_events_by_kind_name_and_path() -> None:
    recorder = Recorder()
    async with running(
        SupervisorSpec(children=[Scripted("a").spec(), Scripted("b").spec()]), on_event=recorder
    ):
        assert len(recorder.of()) == 3
        assert [event.path for event in recorder.of(EventKind.STARTED)] == ["root/a", "root/b", "root"]
        assert len(recorder.of(name="a")) == len(recorder.of(name="root/a")) == 1
        assert recorder.of(EventKind.EXITED, name="a") == []


async def test_the_recorder_waits_for_what_has_not_happened_yet() -> None:
    recorder, child = Recorder(), Scripted("a")
    async with (
        running(SupervisorSpec(children=[child.spec()]), on_event=recorder),
        trio.open_nursery() as nursery,
    ):
        seen: list[int] = []

        async def wait() -> None:
            event = await recorder.wait(EventKind.STARTED, "a", count=2)
            seen.append(event.generation)

        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        assert seen == []
        child.end()
    assert seen == [2]


async def test_restarted_gives_up_in_time(autojump_clock) -> None:
    slot: Slot[object] = Slot("a", ROOMY)
    async with running(SupervisorSpec(children=[actor_spec("a", Actor, slot)])):
        with pytest.raises(trio.TooSlowError):
            await restarted(slot.ref, lambda: None, timeout=1)
        assert slot.watchers == {}


async def test_running_stops_the_tree_when_the_body_fails() -> None:
    recorder = Recorder()
    with pytest.RaisesGroup(ZeroDivisionError):
        async with running(SupervisorSpec(children=[Scripted("a").spec()]), on_event=recorder):
            raise ZeroDivisionError
    assert recorder.trace()[-1] == ("exit", "a", "shutdown")


async def test_a_kill_is_by_path_or_by_name() -> None:
    slot: Slot[object] = Slot("echo", ROOMY)
    spec = SupervisorSpec(intensity=9, children=[actor_spec("echo", Actor, slot)])
    recorder = Recorder()
    async with running(spec, on_event=recorder) as root:
        await restarted(slot.ref, lambda: kill(root, "echo"))
        await restarted(slot.ref, lambda: kill(root, "root/echo"))
        assert [event.exit.kind for event in recorder.of(EventKind.EXITED)] == [ExitKind.KILLED] * 2
        with pytest.raises(KeyError):
            kill(root, "nobody")
