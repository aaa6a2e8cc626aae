"""Handoffs as users ask for them: one at a time, at any moment, and always to an end."""

import os
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hub.actors.session.context import LiveAgent, PendingCommand, SharedState
from hub.actors.session.contract import refuse_known_secrets, warn_of_secrets
from hub.actors.session.handoff_steps import HandoffSteps
from hub.domain.handoff import State
from hub.domain.routing import Target
from hub.errors import Code
from hub.io.git import check, progress
from hub.io.git.check import tree_matches
from hub.messages.session import RequestHandoff, StartRun
from tests.faults.harness import PATIENCE, git
from tests.hub.actors.daemon import daemon_of
from tests.hub.actors.session.parts import parts_of
from tests.refusals import refuses


async def test_a_receiver_that_the_user_has_paused_is_not_given_up(autojump_clock):
    """It was taken for dead: a pause right after a handoff cost the receiver its turn."""
    context = SimpleNamespace(
        shared=SharedState(), config=SimpleNamespace(session=SimpleNamespace(resume_timeout=120.0))
    )
    handoff = HandoffSteps(context, *[None] * (len(attrs.fields(HandoffSteps)) - 1))
    live = LiveAgent("d-1", adapter_up=True, heard_at=trio.current_time(), paused=True)
    began = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(handoff._first_sign, live)
        with trio.move_on_after(1000):  # of the virtual clock
            await trio.sleep_forever()
        live.paused, live.heard_at = False, trio.current_time()
        assert len(nursery.child_tasks) == 1, "it is waited for"
    assert 1120 <= trio.current_time() - began <= 1240


async def test_a_manual_handoff_passes_the_work_on_once(made, monkeypatch):
    """The wish is over with the handoff it led to: the receiver is not handed over in turn."""
    made.script("demo-first", {"say": "working"}, {"ask": "what next?"})
    made.script("demo-second", {"say": "going on"}, {"sleep": 0.2}, {"done": "finished"})
    made.configure()
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "the first agent asks")
        answer = await live.ask("sessions", RequestHandoff())
        assert answer.handoff_id
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

    monkeypatch.setattr(check, "tree_matches", spy)
    return found


async def handed_over(made, monkeypatch, extra="", verify=None):
    made.script("demo-first", {"say": "working"}, {"limit": {}})
    made.script("demo-second", {"done": "finished"})
    made.configure(extra)
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write", verify=verify))
        return await live.until_ended()


async def test_a_worktree_that_nobody_touched_is_what_was_snapshotted(made, monkeypatch, looks):
    """It is compared once."""
    status = await handed_over(made, monkeypatch)
    assert (status["handoffsDone"], status["hfsHistory"][0] > 0) == (1, True)
    assert looks == [True]


@pytest.mark.parametrize(("file", "same"), [("README.md", False), ("behind.txt", True)])
async def test_the_tree_is_compared_after_the_acceptance_commands(made, monkeypatch, looks, file, same):
    """What they change is found by the receiver but is in no snapshot: the handoff's score says so. What they leave
    behind is nobody's work: in the worktree, in no snapshot, and no reason to doubt the tree.
    """
    await handed_over(made, monkeypatch, verify=[f"echo left > {file}"])
    assert looks == [same]


_FAILS_ONCE = """#!/bin/sh
if [ ! -e {folder}/tried ]; then : > {folder}/tried; echo more > more.txt; exit 3; fi
exec {python} "$@"
"""


async def test_a_second_receiver_gets_a_look_of_its_own(made, monkeypatch, looks):
    """The first one may have written something before it failed without a sign of life."""
    program = made.program("agent", _FAILS_ONCE.format(folder=made.root.parent, python=sys.executable))
    accounts = "".join(f'[[providers.demo-second.accounts]]\nlabel = "{label}"\n' for label in "ab")
    status = await handed_over(made, monkeypatch, f'program = "{program}"\n{accounts}')
    assert status["handoffsDone"] == 1
    assert looks == [True, False]


GITHUB = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
HELD = "account-token-93hf7fj2kd"


def holding(made, token=HELD):
    """Both agents are there, and hub holds a token for one of them."""
    made.script("demo-first", {"say": "working"}, {"limit": {}})
    made.script("demo-second", {"done": "finished"})
    made.configure(f'[providers.demo-first.env]\nDEMO_TOKEN = "{token}"\n')


async def test_another_provider_is_not_given_secrets_in_the_work_unsaid(made, monkeypatch):
    """Snapshots are the work, byte for byte: what they give away is told before, once, by kind and not by value.

    The user's uncommitted work came along, and in it the token of his hub.toml. Bug: a line `++ x`, which is `+++ x` in a
    difference, was taken for a file's name.
    """
    holding(made)
    made.script("demo-first", {"write": {"path": "notes.txt", "text": f"++ {GITHUB}\n"}}, {"limit": {}})
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        status = await live.until_ended()
        told = [record.msg for record in await live.events()]
    assert (status["sessionState"], status["handoffsDone"]) == ("completed", 1)
    (warning,) = [msg for msg in told if "looks like secrets" in msg]
    kinds = "demo-token:1, github:1"
    assert warning == f"the work holds what looks like secrets ({kinds}), and demo-second is given it"
    (given,) = [number for number, msg in enumerate(told) if msg.startswith("ENVELOPE_BUILT -> DISPATCHED")]
    assert told.index(warning) < given
    assert GITHUB not in "".join(told)


async def test_the_same_provider_and_clean_work_are_no_reason_to_warn(made, monkeypatch):
    """Another account of the one who wrote it sees nothing new; a secret that was there before is the user's."""
    (made.root / "old.txt").write_text(f"{GITHUB}\n")
    holding(made)
    async with parts_of(made, monkeypatch) as parts:
        record = await parts.begin()
        await warn_of_secrets(parts.context, record, Target("demo-first", "b"))
        await warn_of_secrets(parts.context, record, Target("demo-second", "default"))
        assert not [msg for msg in await parts.told() if "secrets" in msg]


async def test_a_contract_with_a_key_of_hub_is_given_to_nobody(made, monkeypatch):
    """Redaction comes before; should it ever fail, the handoff stops in words and not in a leak."""
    holding(made)
    async with parts_of(made, monkeypatch) as parts:
        refuse_known_secrets(parts.context, "a plain text", GITHUB)
        for text in (HELD, HELD[::-1], HELD.encode().hex(), parts.context.keys.contract.hex()):
            with refuses(Code.CONTRACT_INVALID):
                refuse_known_secrets(parts.context, "plain", f"so {text} is")


@pytest.mark.parametrize("token", ["demo-second-x", "completed"])
async def test_a_key_made_of_words_stops_no_handoff(made, monkeypatch, token):
    """A key with an agent's name in it made every contract one that nobody was given: the name stands in each."""
    holding(made, token)
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write with demo-second"))
        status = await live.until_ended()
    assert (status["sessionState"], status["handoffsDone"]) == ("completed", 1)
    brief = (made.hub / "envelope.md").read_text()
    assert "write with demo-second" in brief
    assert token not in brief


async def test_a_file_named_like_a_key_does_not_carry_it_into_the_contract(made, monkeypatch):
    """The names of files are an agent's words too."""
    holding(made)
    made.script("demo-first", {"write": {"path": f"{HELD}.txt", "text": "x"}}, {"limit": {}})
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        status = await live.until_ended()
    assert (status["sessionState"], status["handoffsDone"]) == ("completed", 1)
    contract = (made.hub / "envelope.json").read_text()
    assert HELD not in contract + (made.hub / "envelope.md").read_text()
    assert "[REDACTED:demo-token:" in contract


async def test_each_handoff_tells_whom_it_passed_by(made, monkeypatch):
    """The first has nobody to pass by; the second cannot go back to who is at its limit."""
    accounts = "".join(f'[[providers.demo-second.accounts]]\nlabel = "{label}"\n' for label in "ab")
    made.script("demo-first", {"say": "working"}, {"limit": {"resetsIn": 3600}})
    made.script("demo-second", {"say": "going on"}, {"ask": "what next?"})
    made.configure(accounts)
    async with parts_of(made, monkeypatch) as parts:
        live = parts.live
        await live.ask("sessions", StartRun("write"))
        await live.until(lambda s: s["needsInput"] and s["handoffsDone"] == 1, "the second agent asks")
        await live.ask("sessions", RequestHandoff())
        await live.until(lambda s: s["handoffsDone"] == 2, "the third has it")
        audited = [e["data"] for e in parts.audited("handoff") if e["data"]["to"] == "ENVELOPE_BUILT"]
        events = [e.meta for e in await live.events() if e.meta.get("to") == "ENVELOPE_BUILT"]
    for first, second in (audited, events):
        assert "passedBy" not in first
        (one,) = second["passedBy"]
        assert (one["provider"], one["account"]) == ("demo-first", "default")
        assert "until" in one["reason"]


@pytest.mark.parametrize("state", [State.PAUSING, State.SNAPSHOTTED, State.DISPATCHED])
async def test_a_stop_does_not_wait_for_a_step_whose_git_waits(two, monkeypatch, state):
    """It waited until git was given up, and then for the last snapshot's: twice the time that one may stand still."""
    monkeypatch.setattr(progress, "STILL", 600)
    async with parts_of(two, monkeypatch) as parts:
        record = attrs.evolve(await parts.begin(verify=("true",)), handoff_id="h-1")
        tree = git(two.root, "rev-parse", "HEAD^{tree}")
        record = attrs.evolve(record, handoff=attrs.evolve(record.handoff, snapshot_tree=tree))
        pipe = Path(record.worktree) / "folder" / ".gitignore"
        pipe.parent.mkdir()
        (pipe.parent / "file").touch()
        os.mkfifo(pipe)
        steps = parts.driver.handoff
        step = {
            State.PAUSING: partial(steps._pausing, record),
            State.SNAPSHOTTED: partial(steps._snapshotted, record),
            State.DISPATCHED: partial(steps._same_tree, record),
        }[state]
        async with trio.open_nursery() as nursery:

            async def stopped():
                with trio.fail_after(PATIENCE), refuses(Code.INTERRUPTED):
                    await step()

            nursery.start_soon(stopped)
            await wait_all_tasks_blocked()
            parts.driver.context.shared.ask(PendingCommand.STOP)
        pipe.unlink()
        await parts.driver.ending.stopped(parts.store.now, "user")
        assert parts.store.now.snapshot_sha, "the last snapshot is made all the same"
