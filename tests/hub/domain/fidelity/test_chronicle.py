"""The chronicle of a session: fed event by event, it tells what one fed from scratch tells."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.contract import EvidenceKind
from hub.domain.event import Event, EventType, Record
from hub.domain.fidelity.chronicle import Chronicle, Subject
from hub.domain.intent.fold import IntentFold
from tests.hub.domain.fidelity.test_score import agent, facts_of, hub, moves, numbered

SUBJECT = Subject(
    session_id="s-1",
    goal="Fix the parser. Do not touch the schema.",
    acceptance=("make test",),
    skills=("pdf",),
    root="/w",
)
MADE = hub("handoff", "SNAPSHOTTED -> ENVELOPE_BUILT", to="ENVELOPE_BUILT", handoffId="h-1")


def amendment(number, target):
    meta = {
        "toolId": "1",
        "command": "make",
        "exitCode": number % 2,
        "isError": bool(number % 2),
        "amends": target,
    }
    return Event(EventType.TOOL_RESULT, "late", meta)


def plan(target):
    meta = {"plan": ["one", "two"], "tasksRemaining": ["two"], "amends": target}
    return Event(EventType.SYSTEM, "", meta)


late = st.one_of(
    st.builds(amendment, st.integers(0, 3), st.integers(1, 9)), st.builds(plan, st.integers(1, 9))
)
logs = st.lists(st.one_of(moves, late), max_size=16).map(numbered)


def scratch(log, handoff_id=""):
    return facts_of(
        log,
        goal=SUBJECT.goal,
        acceptance=SUBJECT.acceptance,
        skills=SUBJECT.skills,
        handoff_id=handoff_id,
        root="/w",
    )


@given(logs, st.data())
@settings(max_examples=120)
def test_what_is_fed_event_by_event_is_what_is_read_from_scratch(log, data):
    """Whatever was asked in between, and however often an event was told again."""
    chronicle, fold = Chronicle(SUBJECT), IntentFold(SUBJECT.goal, "/w")
    asked = data.draw(st.sets(st.integers(1, 16)), label="asked after")
    for number, event in log:
        chronicle.feed(number, event)
        chronicle.feed(number, event)
        fold.feed(number, event)
        if number in asked:
            assert chronicle.facts("") == scratch(log[:number])
            assert chronicle.intent() == fold.intent()
    assert chronicle.facts("") == scratch(log)
    assert chronicle.intent() == fold.intent()


@given(logs, st.integers(0, 16))
@settings(max_examples=60)
def test_the_facts_of_a_handoff_are_those_of_the_moment_its_contract_was_written(log, at):
    events = [event for _, event in log]
    whole = numbered([*events[:at], MADE, *events[at:], MADE])
    chronicle = Chronicle(SUBJECT)
    for number, event in whole:
        chronicle.feed(number, event)
    assert chronicle.facts("h-1") == scratch(whole, "h-1") == scratch(whole[: min(at, len(events))])


def test_the_facts_of_a_few_handoffs_are_kept():
    chronicle = Chronicle(SUBJECT)
    for number in range(1, 6):
        chronicle.feed(number, hub("handoff", "", to="ENVELOPE_BUILT", handoffId=f"h-{number}"))
    assert [chronicle.facts(f"h-{n}").events for n in (3, 4, 5)] == [2, 3, 4]
    assert chronicle.facts("h-1").events == 5, "long over; nobody asks for it"


def test_records_are_fed_by_their_ids():
    chronicle = Chronicle(SUBJECT)
    records = [Record(n, "", "text", f"Decision: {n}", {"type": "text", "dispatchId": "d-1"}) for n in (3, 7)]
    chronicle.feed_all(records)
    chronicle.feed_all(records)
    assert chronicle.last_id == 7
    assert [(item.text, item.source) for item in chronicle.intent().decisions] == [("3", 3), ("7", 7)]
    assert [(w.kind, w.source) for w in chronicle.words()] == [(EvidenceKind.TURN, 3), (EvidenceKind.TURN, 7)]


def test_an_event_takes_no_longer_for_what_came_before_it():
    """A handoff after a hundred thousand events costs what one after a hundred costs: one event is a few steps, always."""
    chronicle, took = Chronicle(SUBJECT), []
    for page in range(8):
        begun = time.process_time()
        for n in range(page * 500 + 1, page * 500 + 501):
            call = {
                "tool": "Bash",
                "toolId": str(n // 2),
                "command": f"make part-{n // 2}",
                "exitCode": n % 4 // 2,
            }
            chronicle.feed(n, agent(EventType.TOOL_RESULT if n % 2 else EventType.TOOL_USE, "x", **call))
        took.append(time.process_time() - begun)
    assert min(took[-3:]) < 4 * min(took[:3])
