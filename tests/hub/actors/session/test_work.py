"""RUNNING: what the end of an agent leads to."""

from contextlib import asynccontextmanager
from functools import partial

import attrs
import pytest

from hub.actors.session.context import SharedState
from hub.actors.session.routing import Routing
from hub.domain.quota.window import QuotaReading
from hub.domain.retry import Wait
from hub.domain.session import SessionState
from hub.messages.claims import GetClaims
from hub.messages.quota import QuotaSeen
from hub.messages.session import RequestHandoff, StartRun
from hub.providers.base import Outcome
from tests.faults.harness import until
from tests.hub.actors.daemon import daemon_of
from tests.hub.actors.session.parts import parts_of
from tests.waiting import answered


def test_an_agent_that_was_stopped_for_want_of_a_daemon_goes_on(made):
    """A daemon that stays away longer than `orphanGrace` costs no session: the agent's own one is taken up again."""
    made.script(
        "demo-first",
        {"write": {"path": "a.txt", "text": "one\n"}},
        {"ask": "go on?"},
        {"done": "finished"},
    )
    made.configure()
    config = made.root / "hub.toml"
    config.write_text(config.read_text().replace("orphanGrace = 90", "orphanGrace = 0.2"))
    api = made.start()
    api.post("/api/run", {"task": "write", "verify": ["test -f a.txt"]})
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    made.kill()
    until(lambda: list((made.hub / "run").glob("*/verdict.json")), "its runner has stopped it")
    api = made.start()
    until(lambda: len(made.starts()) == 2 and api.get("/api/status")["needsInput"], "it asks again")
    api.post("/api/session/reply", {"reply": "yes"})
    record = until(made.ended, "the session ends")
    assert (record["sessionState"], record["verified"], record["handoffsDone"]) == ("completed", True, 0)


def test_an_agent_that_somebody_else_interrupted_is_told_in_words_that_stand_once(made):
    """It said `for a reason that hub does not know: It stopped by itself.: It stopped by itself.`"""
    made.script("demo-first", {"raw": '{"type": "interrupted"}'})
    made.configure()
    made.start().post("/api/run", {"task": "write"})
    error = until(made.ended, "the session ends")["error"]
    assert error["code"] == "agent_exited"
    assert error["detail"].endswith("for a reason that hub does not know: It was interrupted.")


async def test_an_interrupted_turn_is_told_as_that_and_not_by_the_last_words_of_the_agent(made, monkeypatch):
    """`for a reason that hub does not know: I'll look at the tests next.`: no reason at all."""
    last_words = partial(Outcome, text="I'll look at the tests next.")
    monkeypatch.setattr("hub.providers.demo.stream.Outcome", last_words)
    made.script("demo-first", {"raw": '{"type": "interrupted"}'})
    made.configure()
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        status = await live.until(lambda status: status["error"], "the session ends")
        assert status["error"]["detail"].endswith("a reason that hub does not know: It was interrupted.")


@pytest.fixture
def looks(monkeypatch):
    """Whether each look around of a session that waits ended it; it looks around fifty times a second."""
    found = []
    plain = Routing.look

    async def looking(self, record, wait):
        stands = await plain(self, record, wait)
        found.append(stands is None)
        return stands

    monkeypatch.setattr(Routing, "look", looking)
    monkeypatch.setattr("hub.actors.session.work._LOOK", 0.02)
    return found


@pytest.mark.parametrize("order", [{"on_limit": "wait"}, {"max_handoffs": 0}])
@pytest.mark.parametrize("work", [[{"say": "working"}], []])
async def test_who_is_to_wait_for_its_own_reset_is_ended_by_nobody_else(
    made, monkeypatch, looks, work, order
):
    """Another agent is free all the time, and none of its business.

    After ten seconds of a wait for an hour it began in place of one that had met its limit at once.
    """
    made.script("demo-first", *work, {"limit": {"resetsIn": 3600}})
    made.script("demo-second", {"done": "finished"})
    made.configure()
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write", **order))
        status = await live.until(lambda _: len(looks) >= 5, "it looks around")
        assert (status["sessionState"], status["activeProvider"]) == ("waiting", "demo-first")
        assert not any(looks)


async def test_what_is_said_of_a_wait_is_what_is_known_now(made, monkeypatch, looks):
    """Until its end the status told why nobody could go on when it began; the log has the wait once.

    The record is left as it is: when it was written last is when who has the work met its limit.
    """
    made.script("demo-first", {"say": "working"}, {"limit": {"resetsIn": 3600}})
    made.script("demo-second", {"done": "finished"})
    made.configure()
    config = made.root / "hub.toml"
    there = config.read_text()
    section = "[providers.demo-second]\n"
    config.write_text(there.replace(f"{section}enabled = true\n", f"{section}enabled = false\n"))
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        first = await live.until(lambda status: status["sessionState"] == "waiting", "it waits")
        assert "demo-second/default: turned off in hub.toml" in first["waitReason"]
        on_record = made.fsm()
        config.write_text(there.replace(section, f'{section}program = "/nowhere/at/all"\n'))
        now = await live.until(
            lambda status: "not installed" in status["waitReason"], "it says what is so now"
        )
        assert (now["sessionState"], now["waitUntil"]) == ("waiting", first["waitUntil"])
        assert "turned off" not in now["waitReason"]
        assert made.fsm() == on_record
        assert [event.tag for event in await live.events()].count("waiting") == 1
        assert not any(looks)
        live.daemon.detach = True
    async with daemon_of(made, monkeypatch) as live:  # the next daemon's session looks for itself
        await live.until(lambda status: "not installed" in status["waitReason"], "it says so again")
        assert [event.tag for event in await live.events()].count("waiting") == 1


@pytest.mark.parametrize("order", [{"on_limit": "wait"}, {"max_handoffs": 0}])
async def test_who_waits_for_its_own_account_is_told_of_no_other(made, monkeypatch, looks, order):
    """`demo-second: not installed`, then `Next: add a login`: neither would have ended the wait, and each look told another."""
    made.script("demo-first", {"say": "working"}, {"limit": {"resetsIn": 3600}})
    made.configure()
    config = made.root / "hub.toml"
    section = "[providers.demo-second]\n"
    config.write_text(config.read_text().replace(section, f'{section}program = "/nowhere/at/all"\n'))
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write", **order))
        status = await live.until(lambda _: len(looks) >= 2, "it looks around")
        assert status["waitReason"] == "the usage limit is reached; waiting for its reset"
        [told] = [event.msg for event in await live.events() if event.tag == "waiting"]
        assert told.startswith("the usage limit is reached; waiting for its reset; waiting 3")


async def test_a_wait_that_gets_shorter_is_over_in_time(made, monkeypatch):
    """It slept for what had been left before it looked, up to ten seconds past its end."""
    async with parts_of(made, monkeypatch) as parts:
        shared, now, slept = parts.context.shared, parts.context.clock(), []
        wait = Wait(now + 3600, "nobody", ender="anybody")
        await parts.begin(session_state=SessionState.WAITING, wait=wait, dispatch_id="")
        shorter = attrs.evolve(wait, until=now + 5)

        async def look(*_):
            return shorter

        async def wait_for(_, seconds):
            slept.append(seconds)
            shared.detached = True

        monkeypatch.setattr(Routing, "look", look)
        monkeypatch.setattr(SharedState, "wait_for", lambda _, of, seconds=0.0: wait_for(of, seconds))
        await parts.driver.work.step(parts.store.now)
        assert 0 < slept[0] <= shorter.until - now


async def test_a_handoff_that_is_asked_for_ends_the_wait_of_one_that_met_its_limit_at_once(made, monkeypatch):
    """Nothing was done, so nothing is handed over: another one begins."""
    made.script("demo-first", {"limit": {"resetsIn": 3600}})
    made.script("demo-second", {"done": "finished"})
    made.configure()
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write", on_limit="wait"))
        await live.until(lambda status: status["sessionState"] == "waiting", "it waits")
        await live.ask("sessions", RequestHandoff())
        status = await live.until(lambda status: status["endedAt"], "it is over")
        assert (status["activeProvider"], status["handoffsDone"]) == ("demo-second", 0)


async def test_who_has_just_not_taken_over_does_not_end_the_wait_for_somebody_else(made, monkeypatch, looks):
    """It is free whenever the session looks around; it was started anew several times a second."""
    made.script("demo-first", {"say": "working"}, {"limit": {"resetsIn": 3600}})
    made.script("demo-second")
    made.configure()
    config = made.root / "hub.toml"
    section = "[providers.demo-second]\n"
    config.write_text(config.read_text().replace(section, f'{section}program = "/bin/false"\n'))
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        status = await live.until(lambda _: len(looks) >= 10, "it looks around")
        assert (status["fsmState"], status["handoffsDone"]) == ("RUNNING", 0)
        assert "it did not take over" in status["waitReason"]
        assert "demo-first/default is free first, at" in status["waitReason"]
        events = await live.events()
        assert [e.meta.get("to") for e in events if e.tag == "handoff"].count("DISPATCHED") == 1
        assert any("did not take over" in e.msg for e in events if e.tag == "error")
        assert not any(looks)


@pytest.mark.parametrize("done", [[], [{"say": "working"}]])
async def test_who_cannot_go_on_waits_for_the_account_that_another_session_has(made, monkeypatch, done):
    """It ended as not logged in, "and there is nobody else", a minute before the other account came free."""
    made.script("demo-first", *done, {"auth": True})
    made.script("demo-second", {"say": "at work"}, {"ask": "go on?"}, {"done": "finished"})
    made.configure(session="concurrent = 2\n")
    async with daemon_of(made, monkeypatch) as live:
        other = await live.post("/api/run", {"task": "other", "provider": "demo-second"})
        await live.until(lambda s: s["needsInput"], "the account is in use")
        mine = await live.post("/api/run", {"task": "mine", "provider": "demo-first"})
        status = partial(live.get, "/api/status", {"sessionId": mine["sessionId"]})
        waiting = await answered(status, lambda s: s["sessionState"] == "waiting")
        assert "demo-second/default: another session works with it" in waiting["waitReason"]
        await live.post("/api/session/reply", {"reply": "yes", "sessionId": other["sessionId"]})
        await answered(status, lambda s: s["needsInput"])
        await live.post("/api/session/reply", {"reply": "yes", "sessionId": mine["sessionId"]})
        ended = await answered(status, lambda s: s["endedAt"])
        assert (ended["sessionState"], ended["activeProvider"]) == ("completed", "demo-second")
        assert ended["handoffsDone"] == len(done)


async def test_work_that_is_not_accepted_waits_for_the_account_that_another_session_has(made, monkeypatch):
    """It failed with `verify_failed` while its only fallback was at work for another session, a minute before it was free."""
    made.script("demo-first", {"say": "working"}, {"done": "I think so"})
    two = {"write": {"path": "two.txt", "text": "x\n"}}
    made.script("demo-second", {"say": "at work"}, {"ask": "go on?"}, two, {"done": "finished"})
    made.configure(session="concurrent = 2\nverifyTries = 0\n")
    async with daemon_of(made, monkeypatch) as live:
        other = await live.post("/api/run", {"task": "other", "provider": "demo-second"})
        await live.until(lambda s: s["needsInput"], "the account is in use")
        order = {"task": "mine", "provider": "demo-first", "verify": ["test -f two.txt"]}
        mine = await live.post("/api/run", order)
        status = partial(live.get, "/api/status", {"sessionId": mine["sessionId"]})
        waiting = await answered(status, lambda s: s["sessionState"] in ("waiting", "failed"))
        assert "demo-second/default: another session works with it" in waiting["waitReason"]
        await live.post("/api/session/reply", {"reply": "yes", "sessionId": other["sessionId"]})
        working = await answered(status, lambda s: s["needsInput"] and s["fsmState"] == "RUNNING")
        assert working["verified"] is None, "it may ask before it has taken over"
        await live.post("/api/session/reply", {"reply": "yes", "sessionId": mine["sessionId"]})
        ended = await answered(status, lambda s: s["endedAt"])
        assert (ended["sessionState"], ended["verified"]) == ("completed", True)
        assert (ended["activeProvider"], ended["handoffsDone"]) == ("demo-second", 1)
        brief = (made.hub / "sessions" / mine["sessionId"] / "envelope.md").read_text()
        assert "Make this pass: test -f two.txt" in brief


@pytest.mark.parametrize("on_limit", ["handoff", "wait"])
@pytest.mark.parametrize("work", [[{"say": "working"}], []])
def test_work_that_is_not_accepted_keeps_its_verdict_where_nobody_comes_free(made, on_limit, work):
    """Bug: its end was `no_fallback`, without a verdict or the commands' output; a daemon's death is between the two."""
    made.script("demo-first", *work, {"done": "I think so"})
    made.script("demo-second", {"say": "at work"}, {"ask": "go on?"}, {"done": "finished"})
    made.configure(session="concurrent = 2\nverifyTries = 0\n")
    api = made.start()
    api.post("/api/run", {"task": "other", "provider": "demo-second"})
    until(lambda: api.get("/api/status")["needsInput"], "the account is in use")
    order = {"provider": "demo-first", "verify": ["echo not there; false"], "onLimit": on_limit}
    mine = api.post("/api/run", {"task": "mine", **order})["sessionId"]
    status = lambda: api.get(f"/api/status?sessionId={mine}")  # noqa: E731
    until(lambda: status()["sessionState"] == "waiting", "it waits")
    made.kill()
    config = made.root / "hub.toml"
    on = "[providers.demo-second]\nenabled = true"
    config.write_text(config.read_text().replace(on, on.replace("true", "false")))
    api = made.start()
    until(lambda: status()["sessionState"] == "waiting", "it waits again")
    api.post("/api/handoff", {"sessionId": mine})
    until(lambda: status()["endedAt"], "it is over")
    ended = status()
    assert (ended["sessionState"], ended["verified"], ended["error"]["code"]) == (
        "failed",
        False,
        "verify_failed",
    )
    assert "(exit 1)\nnot there\n" in ended["error"]["detail"]
    assert "demo-second/default: " in ended["error"]["detail"], "why nobody else has it"


@asynccontextmanager
async def freed_behind_its_back(made, monkeypatch):
    """A session at its threshold while the only other account was at work for another one, which is over now.

    Yields:
        The daemon, the session's id, and a way to ask for its status.
    """
    made.script("demo-second", {"say": "at work"}, {"ask": "go on?"}, {"done": "finished"})
    made.configure(session="concurrent = 2\n")
    async with daemon_of(made, monkeypatch) as live:
        other = await live.post("/api/run", {"task": "other", "provider": "demo-second"})
        await live.until(lambda s: s["needsInput"], "the account is in use")
        mine = (await live.post("/api/run", {"task": "mine", "provider": "demo-first"}))["sessionId"]
        status = partial(live.get, "/api/status", {"sessionId": mine})
        await answered(status, lambda s: s["needsInput"])
        await live.post("/api/session/reply", {"reply": "yes", "sessionId": other["sessionId"]})
        await answered(partial(live.ask, "claims", GetClaims(mine)), lambda taken: not taken)
        yield live, mine, status


async def test_a_quota_at_its_threshold_is_looked_at_again_as_it_rises(made, monkeypatch):
    """Nobody was free at 92 %; whoever came free afterwards was not asked, and the agent ran into its wall."""
    made.script(
        "demo-first", {"quota": {"used": 0.92}}, {"ask": "on?"}, {"quota": {"used": 0.95}}, {"ask": "on?"}
    )
    async with freed_behind_its_back(made, monkeypatch) as (live, mine, status):
        await live.post("/api/session/reply", {"reply": "yes", "sessionId": mine})
        found = await answered(status, lambda s: s["handoffsDone"] == 1)
        assert found["activeProvider"] == "demo-second"


async def test_a_window_at_its_threshold_is_looked_at_whatever_another_has_used(made, monkeypatch):
    """Bug: nobody was free when one window was at 95 %, and the other was not looked at until it was beyond that."""
    made.script("demo-first", {"quota": {"used": 0.95}}, {"ask": "on?"}, {"ask": "on?"})
    async with freed_behind_its_back(made, monkeypatch) as (live, mine, status):
        weekly = QuotaReading("demo-first", "default", "seven_day", 920)
        live.daemon.app._sessions[mine][1].try_cast(QuotaSeen([weekly]))
        found = await answered(status, lambda s: s["handoffsDone"] == 1)
        assert found["activeProvider"] == "demo-second"
