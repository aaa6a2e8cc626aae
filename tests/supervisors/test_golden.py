"""Replays what a real OTP supervisor did: 34 traces of starts and exits, recorded with OTP 25, compared event by event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    BRUTAL_KILL,
    AutoShutdown,
    Restart,
    Shutdown,
    Strategy,
    SupervisorHandle,
    SupervisorSpec,
    supervisor_spec,
)
from tests.trees import Recorder, Scripted, running

GOLDEN = {
    row["name"]: [tuple(step) for step in row["trace"]]
    for row in map(json.loads, (Path(__file__).parent / "golden.jsonl").read_text().splitlines())
}
TEMPORARY, TRANSIENT = Restart.TEMPORARY, Restart.TRANSIENT
ANY, ALL = AutoShutdown.ANY_SIGNIFICANT, AutoShutdown.ALL_SIGNIFICANT
SIGNIFICANT = {"restart": TRANSIENT, "significant": True}


class BoomError(Exception):
    """How a child dies in the traces."""


def scenario(name: str) -> tuple[dict[str, dict[str, Any]], dict[str, Any], list[tuple[str, str]]]:
    """The children, the supervisor's flags and what is done to it, as the recording's name says."""
    abc: dict[str, dict[str, Any]] = {"a": {}, "b": {}, "c": {}}
    for strategy in Strategy:
        for child in abc:
            if name == f"{strategy.value}_die_{child}":
                return abc, {"strategy": strategy, "intensity": 5}, [("boom", child)]
    for restart in Restart:
        for how in ("normal", "shutdown", "boom"):
            if name == f"{restart.value}_{how}":
                return {"a": {"restart": restart}}, {"intensity": 5}, [(how, "a")]
    one_for_all, rest_for_one = (
        {"strategy": strategy, "intensity": 5} for strategy in (Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE)
    )
    temporary, transient = {"restart": TEMPORARY}, {"restart": TRANSIENT}
    return {
        "order": (abc, {}, []),
        "intensity_2_of_1": ({"a": {}, "b": {}}, {"intensity": 1}, [("boom", "a"), ("boom", "b")]),
        "intensity_0": ({"a": {}, "b": {}}, {"intensity": 0}, [("boom", "a")]),
        "one_for_all_temporary_bystander": ({"a": {}, "t": temporary, "b": {}}, one_for_all, [("boom", "a")]),
        "rest_for_one_temporary_bystander": ({"a": {}, "t": temporary}, rest_for_one, [("boom", "a")]),
        "one_for_all_transient_bystander": ({"a": {}, "t": transient}, one_for_all, [("boom", "a")]),
        "brutal": ({"a": {}, "b": {"shutdown": BRUTAL_KILL}}, {}, []),
        "auto_any_normal": ({"a": SIGNIFICANT, "b": {}, "z": {}}, {"auto_shutdown": ANY}, [("normal", "a")]),
        "auto_any_abnormal_transient": ({"a": SIGNIFICANT, "z": {}}, {"auto_shutdown": ANY}, [("boom", "a")]),
        "auto_any_abnormal_temporary": (
            {"a": SIGNIFICANT | temporary, "z": {}},
            {"auto_shutdown": ANY},
            [("boom", "a")],
        ),
        "auto_all_two": (
            {"a": SIGNIFICANT, "b": SIGNIFICANT, "z": {}},
            {"auto_shutdown": ALL},
            [("normal", "a"), ("normal", "b")],
        ),
        "auto_bystander": (
            {"a": SIGNIFICANT, "z": {}},
            one_for_all | {"auto_shutdown": ANY},
            [("boom", "z")],
        ),
        "terminate_child_significant": (
            {"a": SIGNIFICANT, "z": {}},
            {"auto_shutdown": ANY},
            [("terminate", "a")],
        ),
        "terminate_then_restart": (abc, {}, [("terminate", "b"), ("restart", "b")]),
        "one_for_all_after_terminated_child": (abc, one_for_all, [("terminate", "b"), ("boom", "a")]),
        "rest_for_one_after_terminated_child": (abc, rest_for_one, [("terminate", "c"), ("boom", "b")]),
    }[name]


async def replay(name: str) -> list[tuple[str, str, str]]:
    children, flags, actions = scenario(name)
    scripted = {child: Scripted(child) for child in children}
    spec = SupervisorSpec(**flags, children=[scripted[child].spec(**children[child]) for child in children])
    handle, recorder = SupervisorHandle("sup"), Recorder()
    root_spec = SupervisorSpec(children=[supervisor_spec("sup", spec, restart=TEMPORARY, handle=handle)])
    endings = {"boom": BoomError("boom"), "shutdown": Shutdown(), "normal": None}
    with trio.fail_after(5):
        async with running(root_spec, on_event=recorder):
            for action, child in actions:
                match action:
                    case "terminate":
                        await handle.terminate_child(child)
                    case "restart":
                        await handle.restart_child(child)
                    case how:
                        scripted[child].end(endings[how])
                await wait_all_tasks_blocked()
    return [step for step in recorder.trace() if step != ("start", "sup", "ok") and step[1] != "root"]


def test_all_34_traces_are_here() -> None:
    assert len(GOLDEN) == 34


@pytest.mark.parametrize("name", GOLDEN)
async def test_golden(name: str) -> None:
    """The same starts and exits, with the same reasons, in the same order as OTP."""
    assert await replay(name) == GOLDEN[name]


async def test_the_replay_can_fail() -> None:
    """A trace of another scenario does not match: the comparison compares."""
    assert await replay("one_for_one_die_a") != GOLDEN["one_for_all_die_a"]
