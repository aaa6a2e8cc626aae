"""The tree as plain data (row 30), and its events (row 31)."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    Actor,
    DynamicHandle,
    EventKind,
    MailboxSpec,
    NodeInfo,
    Overflow,
    Restart,
    Slot,
    SupervisorSpec,
    SupEvent,
    actor_spec,
    dynamic_spec,
    supervisor_spec,
)
from tests.trees import ROOMY, Recorder, Scripted, restarted, running


class Pause(Actor[Any]):
    async def handle(self, message: Any) -> None:
        await message.wait()


async def test_the_tree_is_plain_data(autojump_clock) -> None:
    """Row 30: every field, on a tree of three levels."""
    slot: Slot[Any] = Slot("pause", MailboxSpec(7, Overflow.BLOCK))
    handle = DynamicHandle("jobs")
    inner = SupervisorSpec(
        intensity=5, children=[actor_spec("pause", Pause, slot), dynamic_spec("jobs", handle)]
    )
    idle = Scripted("idle")
    spec = SupervisorSpec(children=[supervisor_spec("sup", inner), idle.spec(restart=Restart.TRANSIENT)])
    async with running(spec, name="hub") as root:
        await handle.start_child(Scripted("job").spec())
        await restarted(slot.ref, slot.life.kill)
        gate = trio.Event()
        for _ in range(3):
            slot.ref.try_cast(gate)
        idle.end()
        await wait_all_tasks_blocked()
        await trio.sleep(10)
        tree = root.tree()
        assert [node.path for node in tree.walk()] == [
            "hub",
            "hub/sup",
            "hub/sup/pause",
            "hub/sup/jobs",
            "hub/sup/jobs/job",
            "hub/idle",
        ]
        pause = tree.find("hub/sup/pause")
        assert (pause.kind, pause.state, pause.generation, pause.restarts) == ("worker", "running", 2, 1)
        assert (pause.depth, pause.peak, pause.capacity, pause.dead_letters) == (2, 2, 7, 0)
        assert (pause.current, pause.blocked_in, pause.uptime) == ("Event", None, pytest.approx(10))
        assert (tree.find("job").kind, tree.find("jobs").kind, tree.kind) == (
            "worker",
            "supervisor",
            "supervisor",
        )
        assert (tree.find("idle").state, tree.find("idle").uptime) == ("stopped", 0)
        assert json.loads(json.dumps(attrs.asdict(tree)))["children"][0]["name"] == "sup"
        gate.set()


async def test_a_node_is_found_by_path_or_by_a_name_of_its_own() -> None:
    inner = SupervisorSpec(children=[Scripted("worker").spec()])
    spec = SupervisorSpec(children=[supervisor_spec("a", inner), supervisor_spec("b", inner)])
    async with running(spec) as root:
        assert root.tree().find("root/b/worker").path == "root/b/worker"
        assert root.tree().find("b").path == "root/b"
        for wrong in ("worker", "nobody"):
            with pytest.raises(KeyError, match=wrong):
                root.tree().find(wrong)


async def test_the_tree_answers_while_everything_is_stuck(autojump_clock) -> None:
    """Row 30: it is a question to nobody."""
    stuck = Scripted("stuck", stubborn=True)
    async with running(SupervisorSpec(stuck_after=1, children=[stuck.spec(shutdown=1)])) as root:
        root.request_stop()
        await trio.sleep(10)
        assert [(node.name, node.state) for node in root.tree().walk()] == [
            ("root", "stopping"),
            ("stuck", "stuck"),
        ]
        stuck.release()
    assert root.tree() == NodeInfo("root", "root", "supervisor", "stopped", 1, 0, 0.0)


async def test_format_log(supervise) -> None:
    """format_log_1/2: a report has all a reader needs, as data: who, which incarnation, how, how often, when."""
    child = Scripted("child")
    async with supervise(child.spec(), intensity=1) as sup:
        child.end(ValueError("boom"))
        await sup.recorder.wait(EventKind.STARTED, "child", count=2)
        child.end(ValueError("boom"))
        await sup.exit()
    events = [event for event in sup.recorder.events if event.path.startswith("root/sup")]
    assert [(event.kind.value, event.path, event.generation, event.attempt) for event in events] == [
        ("started", "root/sup/child", 1, 0),
        ("started", "root/sup", 1, 0),
        ("exited", "root/sup/child", 1, 0),
        ("restarting", "root/sup/child", 1, 1),
        ("started", "root/sup/child", 2, 0),
        ("exited", "root/sup/child", 2, 0),
        ("intensity", "root/sup", 1, 0),
        ("exited", "root/sup", 1, 0),
    ]
    assert [event.time for event in events] == sorted(event.time for event in events)
    assert str(events[2].exit) == "boom"
    assert "boom" in repr(events[2])


async def test_a_hook_that_raises_is_counted(supervise) -> None:
    """Row 31: exceptions are swallowed and counted."""

    def hook(event: SupEvent) -> None:
        raise ValueError(event.kind)

    async with running(SupervisorSpec(children=[Scripted("a").spec()]), on_event=hook) as root:
        assert root.system.hook_errors == 2


async def test_a_tree_without_a_hook_tells_nobody() -> None:
    slot: Slot[Any] = Slot("pause", ROOMY)
    async with running(SupervisorSpec(children=[actor_spec("pause", Pause, slot)])) as root:
        await restarted(slot.ref, slot.life.kill)
        assert root.system.hook_errors == 0


async def test_events_of_lost_messages_name_their_type() -> None:
    """Row 31: dead_letter and mailbox_full are those of the incarnation; after its end they are only counted."""
    slot: Slot[Any] = Slot("pause", MailboxSpec(1, Overflow.BLOCK))
    recorder = Recorder()
    async with running(SupervisorSpec(children=[actor_spec("pause", Pause, slot)]), on_event=recorder):
        gate = trio.Event()
        slot.ref.try_cast(gate)
        await wait_all_tasks_blocked()
        slot.ref.try_cast(gate)
        assert not slot.ref.try_cast("one too many")
        slot.life.kill()
        assert not slot.ref.try_cast("late")
    lost = recorder.of(EventKind.MAILBOX_FULL, EventKind.DEAD_LETTER)
    assert [(event.kind.value, event.detail) for event in lost] == [
        ("mailbox_full", "str"),
        ("dead_letter", "str"),
        ("dead_letter", "Event"),
    ]
    assert (slot.dead_letters, slot.gauge().depth) == (2, 0)
