"""What the session tells of itself: idle, at work, ended, and the same after a restart."""

import pytest
import trio

from hub.errors import Code, HubError
from hub.io.runner.client import spawn_runner
from hub.messages.session import (
    GetCost,
    GetProviders,
    GetRedactions,
    GetSessionFacts,
    GetSessions,
    RequestPause,
    RequestReply,
    StartRun,
)
from tests.hub.actors.daemon import daemon_of
from tests.refusals import refuses
from tests.waiting import answered

USAGE = {"usage": {"tokensIn": 100, "tokensOut": 7}}


@pytest.fixture
def made(made):
    made.script(
        "demo-first",
        {"say": "ghp_" + "a1B2" * 9},
        USAGE,
        USAGE,
        {"ask": "go on?"},
        {"limit": {"resetsIn": 3600}},
    )
    made.script("demo-second", USAGE, {"done": "finished"})
    made.configure()
    return made


async def reply_when_held(live, text):
    """A session that was just restarted takes a reply once it has its agent in hand again."""

    async def answer():
        try:
            return await live.ask("sessions", RequestReply(text))
        except HubError as error:
            if error.code is not Code.HANDOFF_IN_PROGRESS:
                raise
            return None

    return await answered(answer, lambda given: given is not None)


async def test_the_idle_shape(made, monkeypatch):
    """Empty strings, role idle, fsmState RUNNING, and every field of the specification with its type."""
    async with daemon_of(made, monkeypatch) as live:
        status = await live.status()
        cost = await live.ask("sessions", GetCost())
        facts = await live.ask("sessions", GetSessionFacts())
    assert {
        name: status[name] for name in ("sessionId", "taskId", "taskGoal", "activeProvider")
    } == dict.fromkeys(("sessionId", "taskId", "taskGoal", "activeProvider"), "")
    assert (status["role"], status["fsmState"], status["sessionState"]) == ("idle", "RUNNING", "idle")
    assert (status["tokensUsed"], status["graphNodes"], status["handoffsDone"]) == (0, 0, 0)
    assert (status["hfsScore"], status["hfsHistory"]) == (0, [])
    assert (status["error"], status["waitUntil"], status["startedAt"], status["endedAt"]) == (None,) * 4
    assert (cost.session_usd, cost.tokens_in, cost.tokens_out, cost.provider) == (0, 0, 0, "")
    assert facts.active is False


async def test_counts_are_the_same_whatever_died(made, monkeypatch):
    """Tokens and redactions: once over replays, killed actors, a killed session and a new daemon."""
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        status = await live.until(lambda s: s["needsInput"], "the first agent asks")
        assert (status["sessionState"], status["role"], status["tokensUsed"]) == ("running", "primary", 214)
        redacted = await live.ask("sessions", GetRedactions())
        assert redacted.summary.endswith(":1")
        for victim in ("session", "events", "session"):
            live.kill(victim)
            await live.until(lambda s: s["needsInput"], "it is still asked")
            assert (await live.status())["tokensUsed"] == 214
            assert await live.ask("sessions", GetRedactions()) == redacted
        await reply_when_held(live, "yes")
        ended = await live.until_ended()
        cost = await live.ask("sessions", GetCost())
        assert (cost.tokens_in, cost.tokens_out, cost.provider) == (300, 21, "demo-second")
    async with daemon_of(made, monkeypatch) as live:
        assert [one.tokens_used for one in (await live.ask("sessions", GetSessions())).sessions] == [321]
        assert await live.status() == ended
        assert await live.ask("sessions", GetCost()) == cost
        assert await live.ask("sessions", GetRedactions()) == redacted
        assert [one.tokens_used for one in (await live.ask("sessions", GetSessions())).sessions] == [321]
        assert (ended["role"], ended["sessionState"], ended["tokensUsed"]) == ("receiver", "completed", 321)
        assert ended["verified"] is False
        assert (ended["reason"], ended["waitReason"]) == ("", ""), "those of a handoff that is over"
        assert made.fsm()["handoff"]["reason"], "on record it stays"
        await live.ask("sessions", StartRun("again", provider="demo-second"))
        fresh = await live.until_ended()
        assert fresh["sessionId"] != ended["sessionId"]
        assert (fresh["tokensUsed"], fresh["handoffsDone"], fresh["hfsHistory"]) == (107, 0, [])


async def test_who_is_active_exhausted_and_on_standby(made, monkeypatch):
    """Active while its agent is up, exhausted until the reset, standby before and after."""
    async with daemon_of(made, monkeypatch) as live:

        async def told():
            return {p.name: p.status for p in await live.ask("sessions", GetProviders()) if "demo" in p.name}

        assert await told() == {"demo-first": "standby", "demo-second": "standby"}
        await live.ask("sessions", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "the first agent asks")
        assert await told() == {"demo-first": "active", "demo-second": "standby"}
        await live.ask("sessions", RequestReply("yes"))
        await live.until_ended()
        assert await told() == {"demo-first": "exhausted", "demo-second": "standby"}
        first = next(p for p in await live.ask("sessions", GetProviders()) if p.name == "demo-first")
        assert first.resets_at > first.resets_at[:4]


async def test_what_is_refused_is_not_on_record(made, monkeypatch):
    """While its agent is being started nobody hears the user: what he says again afterwards he has said once."""
    begins, go_on = trio.Event(), trio.Event()

    async def slow(run_dir, launch):
        begins.set()
        await go_on.wait()
        return await spawn_runner(run_dir, launch)

    monkeypatch.setattr("hub.actors.adapter.actor.spawn_runner", slow)
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await begins.wait()
        with refuses(Code.HANDOFF_IN_PROGRESS):
            await live.ask("sessions", RequestReply("blue"))
        assert [record.msg for record in await live.events() if record.msg == "blue"] == []
        go_on.set()
        await live.until(lambda s: s["needsInput"], "the first agent asks")
        await live.ask("sessions", RequestReply("blue"))
        await live.until_ended()


async def test_a_paused_session_says_so_and_a_reply_is_on_record(made, monkeypatch):
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "the first agent asks")
        await live.ask("sessions", RequestPause(pause=True))
        status = await live.status()
        assert (status["sessionState"], status["paused"]) == ("paused", True)
        await live.ask("sessions", RequestPause(pause=False))
        assert (await live.status())["sessionState"] == "running"
        await live.ask("sessions", RequestReply("the user's own words"))
        said = await live.until_event("the user's own words")
        assert (said.tag, said.meta["role"]) == ("text", "user")
        await live.until_ended()
