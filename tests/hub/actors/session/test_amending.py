"""What an agent's stream leaves out and its own store has: the contract has it too, and no handoff waits or fails for it."""

import json
import threading

import pytest

from hub.actors.session import chronicle
from hub.actors.session.handoff_steps import HandoffSteps
from hub.errors import Code, HubError
from hub.messages.session import RequestStop, StartRun
from hub.providers import stores
from hub.providers.registry import load_all
from tests.faults.replayed import BUSY, replayed
from tests.hub.actors.daemon import daemon_of

SUM = "Gemini CLI's own session told how 7 commands ended and its list of tasks"
UNREAD = "Gemini CLI's own session, which tells more than its stream, was not read: "
HELD = "account-token-93hf7fj2kd"


@pytest.fixture
def made(made):
    made.script("demo-second", {"say": "going on"}, {"done": "finished"})
    return made


async def handed_over(made, monkeypatch):
    """The log of a session that was handed over, and its contract."""
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        status = await live.until_ended()
        assert (status["sessionState"], status["handoffsDone"]) == ("completed", 1), status["error"]
        return await live.events(), json.loads((made.hub / "envelope.json").read_text())


def amended(log):
    """The amendments of a log."""
    return [record for record in log if "amends" in record.meta]


async def test_the_contract_has_the_plan_and_every_exit_status(made, monkeypatch):
    """Gemini CLI's protocol tells neither. By the labels of the golden suite, which ask for both at this moment."""
    replayed(made, moment=12)
    log, contract = await handed_over(made, monkeypatch)
    assert contract["tasksRemaining"] == ["Mention it in NOTES.md"]
    assert contract["nextAction"] == "Mention it in NOTES.md"
    assert contract["doNotRedo"][:3] == [
        "Look at the bucket",
        "Limit each key by itself",
        "Cover a clock that goes backwards",
    ]
    commands = {one["text"]: one["exit_code"] for one in contract["evidence"] if one["kind"] == "command"}
    assert commands == {
        "ls": 0,
        "cat bucket.py": 0,
        "python3 -m unittest -q test_bucket && echo passed": 0,
        "python3 --version": 0,
        "python3 -m unittest -q test_clock": 0,
        "cat NOTES.md": 1,
    }
    assert "cat NOTES.md ended with exit status 1: cat: NOTES.md: No such file or directory" in [
        one["text"] for one in contract["evidence"] if one["kind"] == "failed_attempt"
    ]
    told = {record.id: record for record in log}
    late = amended(log)
    assert {told[record.meta["amends"]].meta["toolId"] for record in late} == {r.meta["toolId"] for r in late}
    assert {record.meta["dispatchId"] for record in late} == {told[late[0].meta["amends"]].meta["dispatchId"]}
    assert {record.meta["provider"] for record in late} == {"gemini"}
    score = next(record for record in log if "hfs" in record.meta)
    assert score.meta["recallPermille"]["commands"] == 1000
    assert {line.partition(": ")[2] for line in score.meta["unsupported"]} <= {
        f"done {one['text'].casefold()}" for one in contract["evidence"] if one["kind"] == "claim"
    }


async def test_an_agent_is_not_looked_at_that_has_called_no_tool(made, monkeypatch):
    replayed(made, moment=1)
    log, _ = await handed_over(made, monkeypatch)
    assert not [record for record in log if "own session" in record.msg]


def lost(agent, monkeypatch):
    agent.session.unlink()
    return "it was not found."


def torn(agent, monkeypatch):
    head, *rest = agent.session.read_text().splitlines()
    agent.session.write_text("\n".join([head, *("{" + line for line in rest)]))
    return "records could not be understood"


def slow(agent, monkeypatch):
    """A disk that does not answer; the thread that waits for it is left alone."""
    monkeypatch.setattr(chronicle, "_PATIENCE", 0.01)
    answers = threading.Event()
    monkeypatch.setattr(stores, "search", lambda *_, **__: answers.wait())
    monkeypatch.setattr(slow, "answers", answers, raising=False)
    return "it took more than 0.01 s to read."


@pytest.mark.parametrize("trouble", [lost, torn, slow])
async def test_a_store_that_cannot_be_read_is_said_and_stops_nothing(made, monkeypatch, trouble):
    why = trouble(replayed(made, moment=12), monkeypatch)
    try:
        log, contract = await handed_over(made, monkeypatch)
    finally:
        getattr(trouble, "answers", threading.Event()).set()
    (said,) = [record.msg for record in log if "own session" in record.msg]
    assert said.startswith(UNREAD)
    assert why in said
    assert amended(log) == []
    assert contract["tasksRemaining"] == []


async def test_an_agent_whose_assignment_is_gone_is_handed_over(made, monkeypatch):
    """Where it was started is then not known, so neither is where its store lies."""
    replayed(made, moment=12)

    def gone(self, record):
        raise FileNotFoundError(2, "No such file", "assignment.json")

    monkeypatch.setattr("hub.actors.session.agent_control.AgentControl.surroundings", gone)
    log, _ = await handed_over(made, monkeypatch)
    assert [record.msg.startswith(UNREAD) for record in log if "own session" in record.msg] == [True]


async def test_a_session_of_the_same_folder_that_is_another_is_not_taken_for_it(made, monkeypatch):
    """A user may run the agent too; what that one did is not this one's doing."""
    agent = replayed(made, moment=12)
    other = agent.session.with_name("session-2026-11-21T19-31-00000000.jsonl")
    text = agent.session.read_text()
    own = json.loads(text.splitlines()[0])["sessionId"]
    other.write_text(
        text.replace(own, "00000000-0000-4000-8000-000000000000").replace("Exit Code: 1", "Exit Code: 9")
    )
    log, _ = await handed_over(made, monkeypatch)
    assert {record.meta["exitCode"] for record in amended(log) if "exitCode" in record.meta} == {0, 1}


async def test_what_a_store_tells_is_redacted_as_what_a_stream_tells(made, monkeypatch):
    agent = replayed(made, moment=12, extra=f'[providers.demo-second.env]\nDEMO_TOKEN = "{HELD}"\n')
    for secret in ("cat: NOTES.md:", "Mention it in"):
        agent.session.write_text(agent.session.read_text().replace(secret, f"{secret} {HELD}"))
    log, contract = await handed_over(made, monkeypatch)
    assert contract["tasksRemaining"][0].startswith("Mention it in [REDACTED:")
    assert HELD not in json.dumps([record.to_json() for record in log]) + json.dumps(contract)


async def test_before_a_wait_it_is_told_as_well(made, monkeypatch):
    """The same agent goes on under another dispatch: what the first one left out is told of that one's events."""
    replayed(made, moment=12, error=BUSY)
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await live.until_event("; waiting")
        log = await live.events()
        await live.ask("sessions", RequestStop())
        await live.until_ended()
    assert SUM in [record.msg for record in log]


async def test_what_was_told_is_not_told_again(made, monkeypatch):
    """PAUSING is done again where its snapshot could not be made."""
    replayed(made, moment=12)
    snapshot, tries = HandoffSteps.snapshot, []

    async def once(self, *args, **named):
        tries.append(1)
        if len(tries) == 1:
            raise HubError(Code.NO_SPACE, "full")
        return await snapshot(self, *args, **named)

    monkeypatch.setattr(HandoffSteps, "snapshot", once)
    monkeypatch.setattr("hub.actors.session.driver._TROUBLE_PAUSE", 0.01)
    log, _ = await handed_over(made, monkeypatch)
    late = [record.meta["amends"] for record in amended(log)]
    assert (len(tries) > 1, len(late), len(set(late))) == (True, 8, 8)
    assert [record.msg for record in log].count(SUM) == 1


def test_what_leaves_something_out_has_a_store():
    """Whoever declares it without one would be looked for in vain at every handoff."""
    lacking = {name for name, provider in load_all().items() if provider.untold}
    assert lacking == {"gemini"}
    assert lacking <= set(stores.names())
