"""The session's inbox: one session at a time, what is refused, and with which words."""

import pytest
import trio

from hub.actors.session.agent_control import AgentControl
from hub.domain.event import Event, EventType
from hub.errors import Code
from hub.messages.agent import AgentBatch, AgentEvent
from hub.messages.session import RequestHandoff, RequestReply, RequestStop, StartRun
from tests.hub.actors.daemon import daemon_of
from tests.hub.actors.session.parts import parts_of
from tests.waiting import Gate


@pytest.fixture
def made(made):
    made.script("demo-first", {"say": "working"}, {"ask": "go on?"}, {"done": "finished"})
    made.configure()
    return made


async def test_one_session_at_a_time(made, monkeypatch):
    """Specification 6; and the next one starts when the first has ended."""
    async with daemon_of(made, monkeypatch) as live:
        first = await live.ask("sessions", StartRun("write"))
        await live.refusal(StartRun("write"), Code.SESSION_ALREADY_RUNNING)
        await live.ask("sessions", RequestStop())
        second = await live.ask("sessions", StartRun("write"))
        assert second.session_id != first.session_id
        assert second.branch == f"hub/{second.session_id}"


async def test_a_start_answers_before_the_worktree_is_there(made, monkeypatch):
    """`starting` until the agent runs, then `running`."""
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        assert (await live.status())["sessionState"] == "starting"
        assert (await live.until(lambda s: s["needsInput"], "it asks"))["sessionState"] == "running"


async def test_a_handoff_with_nobody_left_is_refused_and_the_agent_works_on(made, monkeypatch):
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "it asks")
        refused = await live.refusal(RequestHandoff(), Code.NO_FALLBACK)
        assert "demo-first/default: it has the work already" in refused.detail
        status = await live.status()
        assert (status["sessionState"], status["fsmState"], status["handoffsDone"]) == (
            "running",
            "RUNNING",
            0,
        )
        await live.ask("sessions", RequestReply("yes"))
        assert (await live.until_ended())["sessionState"] == "completed"


async def test_a_handoff_asked_for_before_the_first_agent_runs_is_refused_where_nobody_is_left(
    made, monkeypatch
):
    """Not taken and then forgotten: the one who asks is told at once, and the session goes on."""
    made.script("demo-first", {"say": "working"}, {"done": "finished"})
    made.configure()
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        assert (await live.status())["sessionState"] == "starting"
        await live.refusal(RequestHandoff(), Code.NO_FALLBACK)
        assert (await live.until_ended())["handoffsDone"] == 0


async def test_an_early_handoff_is_done_once_the_agent_runs(made, monkeypatch):
    """With somebody left it is a promise."""
    made.script("demo-first", {"say": "working"}, {"ask": "go on?"}, {"done": "finished"})
    made.script("demo-second", {"done": "finished"})
    made.configure()
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        answer = await live.ask("sessions", RequestHandoff())
        assert answer.waiting is True
        status = await live.until_ended()
        assert (status["handoffsDone"], status["activeProvider"]) == (1, "demo-second")


async def test_a_handoff_while_the_work_is_verified_is_refused(made, monkeypatch, tmp_path):
    """The agent is done: whether somebody else gets the work is the verifier's to say."""
    with Gate(tmp_path / "gate") as gate:
        status = await handoff_refused_while_verifying(made, monkeypatch, gate)
    assert (status["sessionState"], status["verified"], status["fsmState"]) == ("completed", True, "RUNNING")


async def handoff_refused_while_verifying(made, monkeypatch, gate):
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write", verify=[gate.command]))
        await live.until(lambda s: s["needsInput"], "it asks")
        await live.ask("sessions", RequestReply("yes"))
        await live.until(lambda s: s["sessionState"] == "verifying", "the verifier works")
        await live.refusal(RequestHandoff(), Code.HANDOFF_IN_PROGRESS)
        gate.open()
        return await live.until_ended()


async def test_unknown_names_are_refused_before_anything_is_made(made, monkeypatch):
    async with daemon_of(made, monkeypatch) as live:
        await live.refusal(StartRun("x", provider="nobody"), Code.INVALID)
        await live.refusal(StartRun("x", profile="nobody"), Code.INVALID)
        assert (await live.status())["sessionState"] == "idle"
    assert not (made.hub / "fsm.json").exists()


async def test_a_bad_configuration_refuses_a_start_and_leaves_a_running_session_alone(made, monkeypatch):
    """CONFIG_INVALID with its place; the session that runs keeps the configuration it began with."""
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "it asks")
        good = (made.root / "hub.toml").read_text()
        (made.root / "hub.toml").write_text("[session\n")
        await live.ask("sessions", RequestReply("yes"))
        assert (await live.until_ended())["sessionState"] == "completed"
        await live.refusal(StartRun("again"), Code.CONFIG_INVALID)
        (made.root / "hub.toml").write_text(good)
        await live.ask("sessions", StartRun("again"))


async def test_a_batch_of_another_dispatch_changes_nothing(made, monkeypatch):
    """An adapter that is on its way out may still speak."""
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "it asks")
        before = await live.events()
        (session,) = live.daemon.app._sessions.values()
        await session[1].call(AgentBatch("d-other", [], alive=True))
        assert await live.events() == before


async def test_what_an_agent_once_said_does_not_answer_what_it_asks_now(made, monkeypatch):
    """After a daemon's restart `needsInput` was false for as long as the spool of a living agent was read."""
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "it asks")
        record = made.fsm()
        (session,) = live.daemon.app._sessions.values()
        once = [AgentEvent(9_000_000, 0, 1, Event(EventType.TEXT, "I look at the folder first."))]
        await session[1].call(AgentBatch(record["dispatchId"], once, alive=True, current=False))
        assert made.fsm() == record
        await session[1].call(AgentBatch(record["dispatchId"], [], alive=True))
        assert not made.fsm().get("needsInput")


async def test_what_led_to_a_request_is_told_before_it(made, monkeypatch):
    """ "Approval needed" stood above the words with which the agent had announced the command."""
    made.configure('\n[[approvals]]\ntool = "shell"\n')
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "it asks")
        dispatch = made.fsm()["dispatchId"]
        (session,) = live.daemon.app._sessions.values()
        said = (
            Event(EventType.TEXT, "I look at the folder first."),
            Event(
                EventType.WAITING, "wants to run ls", {"approvalId": "7", "tool": "shell", "command": "ls"}
            ),
            Event(EventType.TEXT, "Meanwhile I think."),
        )
        events = [AgentEvent(9_000_000, index, 1, event) for index, event in enumerate(said)]
        for _ in range(2):  # a batch that was not answered comes again
            await session[1].call(AgentBatch(dispatch, events, alive=True))
        *_, words, asked, request, more = [event.msg for event in await live.events()]
        assert (words, request, more) == tuple(event.content for event in said)
        assert asked.startswith("approval needed: ")


async def test_every_one_who_asks_for_a_stop_is_answered(made, monkeypatch):
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        answers = []

        async def stop():
            answers.append((await live.ask("sessions", RequestStop())).state)

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(stop)
    assert answers == ["stopped"] * 3


async def test_a_stop_on_record_is_a_stop_to_whoever_reads_it(made, monkeypatch):
    """What an earlier daemon was asked for is done by the next one, before it does anything else."""
    async with parts_of(made, monkeypatch) as parts:
        await parts.begin(dispatch_id="", stopping="user")
    async with daemon_of(made, monkeypatch) as live:
        ended = await live.until_ended()
    assert (ended["sessionState"], ended["stopping"]) == ("stopped", False)
    assert made.starts() == []


async def test_a_stop_is_on_record_with_who_asked(made, monkeypatch):
    """On record before the agent hears of it: what comes after it finds the mark."""
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "it asks")
        seen = []
        safe_point = AgentControl.safe_point

        async def watched(control, grace):
            seen.append((made.fsm()["stopping"], (await live.status())["stopping"]))
            return await safe_point(control, grace)

        monkeypatch.setattr(AgentControl, "safe_point", watched)
        await live.ask("sessions", RequestStop("daemon"))
    assert seen == [("daemon", True)]


async def test_who_answers_a_session_without_an_agent_hears_what_it_does(made, monkeypatch):
    """All day long of a wait for tomorrow it said that the agent is being changed, and to try again in a moment."""
    made.script("demo-first", {"say": "working"}, {"limit": {"resetsIn": 3600}})
    made.configure()
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write", on_limit="wait"))
        refused = await live.refusal(RequestReply("blue"), Code.HANDOFF_IN_PROGRESS)
        assert refused.detail == "The agent is being started; try again in a moment."
        await live.until(lambda status: status["sessionState"] == "waiting", "it waits")
        refused = await live.refusal(RequestReply("blue"), Code.HANDOFF_IN_PROGRESS)
        assert refused.detail == "The session waits, and no agent runs."
