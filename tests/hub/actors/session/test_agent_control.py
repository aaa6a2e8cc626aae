"""The session's hand on its agent: one start for each dispatch, found again, and brought to its end."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

import hub.daemon
from hub.app import App
from hub.domain.handoff import State
from hub.domain.routing import Target
from hub.domain.session import Handoff
from hub.errors import Code
from hub.io.processes.control import find_by_env, identity_of
from hub.io.runner import launcher
from hub.messages.session import StartRun
from tests.hub.actors.daemon import daemon_of
from tests.hub.actors.session.parts import Parts, fresh_parts, parts_of
from tests.refusals import refuses
from tests.waiting import ends


@pytest.fixture
def kept(monkeypatch):
    """The parts of the daemon's own session actor, newest last."""
    found = []

    class Keeping(App):
        def _hire(self, context, session):
            found.append((context, super()._hire(context, session)))
            return found[-1][1]

    monkeypatch.setattr(hub.daemon, "App", Keeping)
    return found


async def asked(live, kept) -> Parts:
    """The parts of a session whose agent is up and waits for an answer."""
    await live.ask("sessions", StartRun("write the files"))
    await live.until(lambda s: s["needsInput"], "the agent asks")
    return Parts(live, *kept[-1])


def mode_of(path: Path) -> int:
    """Who may do what."""
    return path.stat().st_mode & 0o777


def runner_of(parts) -> dict[str, int]:
    """Its process and its guardian's."""
    path = parts.context.places.run_dir / parts.store.now.dispatch_id / "claim"
    return json.loads(path.read_text())


async def test_a_dispatch_is_started_once_however_often_it_is_asked_for(two, monkeypatch, kept):
    """I2: the second call takes hold of the agent that the first one started."""
    async with daemon_of(two, monkeypatch) as live:
        parts = await asked(live, kept)
        record = parts.store.now
        before = parts.context.shared.agent
        again = await parts.driver.control.dispatch(record, parts.fresh(record))
        assert again is before
        assert again.alive
        assert two.starts() == [record.dispatch_id]


async def test_an_agent_that_was_let_go_lives_on_and_is_found_again(two, monkeypatch, kept):
    """Letting go ends the adapter, never the agent: a daemon's end costs no paid turn."""
    async with daemon_of(two, monkeypatch) as live:
        parts = await asked(live, kept)
        control, record, runner = parts.driver.control, parts.store.now, runner_of(parts)
        await control.release()
        assert parts.context.shared.agent is None
        assert identity_of(runner["pid"]) is not None
        assert control.has_run(record)
        held = await control.hold()
        assert held is not None
        assert held.dispatch_id == record.dispatch_id
        # Its adapter reads from the start: what the agent said before its question is heard first.
        await parts.context.shared.wait_for(lambda: held.alive and held.needs_input, 30)
        assert held.needs_input
        assert two.starts() == [record.dispatch_id]


async def test_the_keys_of_an_account_are_in_no_file_of_its_run(two, monkeypatch, kept):
    """security: the assignment that a later daemon reads holds no secret; it takes them from the settings."""
    account = '[[providers.demo-first.accounts]]\nlabel = "default"\nenv = { DEMO_API_KEY = "canary-51f0" }\n'
    two.configure(account)
    async with daemon_of(two, monkeypatch) as live:
        parts = await asked(live, kept)
        folder = parts.context.places.run_dir / parts.store.now.dispatch_id
        assert (folder / "assignment.json").exists()
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert not [path for path in files if b"canary-51f0" in path.read_bytes()]


async def test_a_stop_returns_when_no_process_is_left(two, monkeypatch, kept):
    async with daemon_of(two, monkeypatch) as live:
        parts = await asked(live, kept)
        runner = runner_of(parts)
        agent = json.loads(
            (parts.context.places.run_dir / parts.store.now.dispatch_id / "agent.json").read_text()
        )["pid"]
        await parts.driver.control.stop("test", hard=True)
        assert identity_of(agent) is None
        await ends(runner["pid"], runner["guardianPid"])


async def test_a_kill_ends_every_process_without_a_word(two, monkeypatch, kept):
    async with daemon_of(two, monkeypatch) as live:
        parts = await asked(live, kept)
        record, runner = parts.store.now, runner_of(parts)
        await parts.driver.control.kill(record)
        assert list(find_by_env([record.dispatch_id])) == []
        assert identity_of(runner["pid"]) is None


async def test_a_safe_point_without_an_agent_is_the_end_of_its_turn(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        await parts.begin(dispatch_id="")
        assert await parts.driver.control.safe_point(1) == "turn_over"
        assert await parts.driver.control.hold() is None


async def test_a_dispatch_that_was_never_claimed_certainly_did_not_start(two, monkeypatch):
    """P4: so it may be dispatched, and cannot be found again."""
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin()
        control = parts.driver.control
        assert not control.has_run(record)
        with refuses(Code.DISPATCH_FAILED):
            await control.reattach(record)
        control.insist_known(record)


async def test_a_runner_that_died_before_a_word_leaves_what_nobody_can_know(two, monkeypatch, kept, tmp_path):
    """X11: `dispatch_ambiguous`, never a second start."""
    two.configure(programs={"demo-first": two.program("mute", "exec tail -f /dev/null")})
    async with daemon_of(two, monkeypatch) as live:
        await live.ask("sessions", StartRun("write the files"))
        await live.until(lambda s: s["sessionState"] == "running", "the agent was let go")
        parts = Parts(live, *kept[-1])
        runner = runner_of(parts)
        os.kill(runner["pid"], signal.SIGKILL)
        await ends(runner["pid"], runner["guardianPid"])
        await live.until(lambda s: s["error"], "the session says so")
        following = fresh_parts(live)  # those of the session's next life
        following.store.load()
        record = following.store.now
        with refuses(Code.DISPATCH_AMBIGUOUS):
            await following.driver.control.dispatch(record, following.fresh(record))
        assert await following.driver.control.hold() is None


async def test_the_owner_is_the_receiver_between_dispatch_and_heartbeat(two, monkeypatch):
    from hub.actors.session.context import owner

    async with parts_of(two, monkeypatch) as parts:
        fields = {"handoff": Handoff(receiver=Target("demo-second", "b"))}
        for state in State:
            receiving = state in (State.DISPATCHED, State.RESUMING)
            expected = ("demo-second", "b") if receiving else ("demo-first", "default")
            assert owner(parts.record(state=state, **fields)) == expected


async def test_an_account_with_a_place_of_its_own_gets_it_made(two, monkeypatch, kept, tmp_path):
    """Some agents refuse to start where their directory is not there; nobody else may look into it."""
    home = tmp_path / "deep" / "home"
    two.configure(f'[[providers.demo-first.accounts]]\nlabel = "default"\nconfigDir = "{home}"\n')
    async with daemon_of(two, monkeypatch) as live:
        await asked(live, kept)
    assert mode_of(home) == 0o700


async def test_a_launcher_is_ready_under_the_next_dispatchs_id(two, monkeypatch):
    """One launcher a handoff, and each id is given once: a second receiver does not get the first one's."""
    async with parts_of(two, monkeypatch) as parts:
        control = parts.driver.control
        await parts.begin()
        await control.make_ready()
        await control.make_ready()
        (ready,) = launcher._ready.values()
        made = control.next_id()
        assert ready.run_dir == parts.context.places.run_dir / made
        assert control.next_id() != made
        await control.drop_ready()
        assert ready.process.returncode is not None
        assert launcher._ready == {}
