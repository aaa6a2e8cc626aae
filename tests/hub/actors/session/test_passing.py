"""Handoffs as users ask for them: one at a time, at any moment, and always to an end."""

from __future__ import annotations

import sys

import pytest

from hub.actors.session import passing
from hub.io.git_check import tree_matches
from hub.messages import RequestHandoff, StartRun
from tests.faults.harness import project
from tests.hub.actors.kit import daemon_of


@pytest.fixture
def made(tmp_path):
    with project(tmp_path) as found:
        yield found


async def test_a_manual_handoff_passes_the_work_on_once(made, monkeypatch):
    """The wish is over with the handoff it led to: the receiver is not handed over in turn."""
    made.script("demo-first", {"say": "working"}, {"ask": "what next?"})
    made.script("demo-second", {"say": "going on"}, {"sleep": 0.2}, {"done": "finished"})
    made.configure()
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("session", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "the first agent asks")
        answer = await live.ask("session", RequestHandoff())
        assert answer["handoffId"]
        status = await live.until_ended()
    assert (status["sessionState"], status["handoffsDone"], status["activeProvider"]) == (
        "completed",
        1,
        "demo-second",
    )
    assert len(made.starts()) == 2


@pytest.fixture
def looks(monkeypatch):
    """What each comparison of the worktree with its snapshot found."""
    found = []

    async def spy(*args, **more):
        found.append(await tree_matches(*args, **more))
        return found[-1]

    monkeypatch.setattr(passing, "tree_matches", spy)
    return found


async def handed_over(made, monkeypatch, extra="", verify=None):
    made.script("demo-first", {"say": "working"}, {"limit": {}})
    made.script("demo-second", {"done": "finished"})
    made.configure(extra)
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("session", StartRun("write", verify=verify))
        return await live.until_ended()


async def test_the_tree_is_compared_once_and_beside_the_contract(made, monkeypatch, looks):
    """The look takes as long as all else between a limit and the next agent; it must not be made twice."""
    status = await handed_over(made, monkeypatch)
    assert status["handoffsDone"] == 1
    assert looks == [True]


async def test_the_tree_is_compared_after_the_acceptance_commands(made, monkeypatch, looks):
    """What they leave behind is found by the receiver but is in no snapshot: the handoff's score says so."""
    await handed_over(made, monkeypatch, verify=["echo left > behind.txt"])
    assert looks == [False]


_FAILS_ONCE = """#!/bin/sh
if [ ! -e {folder}/tried ]; then : > {folder}/tried; echo more > more.txt; exit 3; fi
exec {python} "$@"
"""


async def test_a_second_receiver_gets_a_look_of_its_own(made, monkeypatch, looks):
    """The first one may have written something before it failed without a sign of life."""
    program = made.root.parent / "agent"
    program.write_text(_FAILS_ONCE.format(folder=made.root.parent, python=sys.executable))
    program.chmod(0o755)
    accounts = "".join(f'[[providers.demo-second.accounts]]\nlabel = "{label}"\n' for label in "ab")
    status = await handed_over(made, monkeypatch, f'program = "{program}"\n{accounts}')
    assert status["handoffsDone"] == 1
    assert looks == [True, False]
