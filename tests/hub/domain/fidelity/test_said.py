"""The user's answers and the agent's last turns: whose they are, how many, and how much of each."""

from hub.domain.contract import EvidenceKind
from hub.domain.event import Event, EventType, Record
from hub.domain.fidelity.said import MAX_DECIDED, MAX_TURN, MAX_TURNS, Words, turn
from hub.domain.intent.activity import read


def told(*events, task="the task"):
    words = Words(task=bool(task))
    for number, event in enumerate(events, 1):
        words.take(event, read(number, event))
    return words


def says(text, dispatch="d-1", **meta):
    return Event(EventType.TEXT, text, {"dispatchId": dispatch, **meta})


def decided(state, by="user", **meta):
    return Record(
        0,
        "",
        "waiting",
        "x",
        {"approvalId": "a-1", "state": state, "by": by, "action": "run rm -rf build", **meta},
    )


def test_replies_stand_with_the_question_that_was_asked():
    words = told(
        Event(EventType.WAITING, "Which port?", {"needsInput": True}),
        says("8080", role="user"),
        says("And be quick.", role="user"),
    )
    assert [(e.text, e.source) for e in words.decided] == [
        ('asked "Which port?", the user said: 8080', 2),
        ("the user said: And be quick.", 3),
    ]
    assert words.turns == ()


def test_without_a_task_the_users_first_words_are_that_and_no_answer():
    words = told(says("Write it.", role="user"), says("In C.", role="user"), task="")
    assert [e.text for e in words.decided] == ["the user said: In C."]


def test_who_decided_a_request_and_how():
    words = told(
        decided("approved"),
        decided("denied", note="keep it"),
        decided("denied", by="timeout"),
        decided("approved", by="policy"),
        decided("denied", by="hub"),
        decided("withdrawn", by="hub"),
        decided("pending"),
        Event(EventType.WAITING, "may I?", {"approvalId": "a-1", "state": "approved"}),
    )
    assert [e.text for e in words.decided] == [
        "the user approved: run rm -rf build",
        "the user denied: run rm -rf build (keep it)",
        "nobody answered in time, so hub denied: run rm -rf build",
        "a rule approved: run rm -rf build",
        "hub denied: run rm -rf build",
    ]


def test_the_newest_turns_of_who_spoke_last():
    words = told(*(says(f"word {n}") for n in range(9)))
    assert [e.text for e in words.turns] == [f"word {n}" for n in range(9 - MAX_TURNS, 9)]
    other = told(says("one"), says("two", dispatch="d-2"), Event(EventType.THINKING, "hm", {}), says("  "))
    assert [(e.text, e.source) for e in other.turns] == [("two", 2)]
    assert [e.text for e in told(says("hub's", dispatch=7)).turns] == ["hub's"]


def test_streamed_words_are_one_turn_and_the_last_words_are_told_once():
    pieces = [says("It is ", delta=True), says("done.", delta=True)]
    assert [e.text for e in told(*pieces).turns] == ["It is done."]
    ended = told(*pieces, Event(EventType.RESULT, "It is done.", {"dispatchId": "d-1"}))
    assert [(e.text, e.source) for e in ended.turns] == [("It is done.", 2)]
    failed = told(Event(EventType.RESULT, "no", {"isError": True}))
    assert failed.turns == ()
    cut = told(says("half ", delta=True), says("whole", dispatch="d-2"))
    assert [e.text for e in cut.turns] == ["whole"]


def test_of_a_long_turn_the_end_is_kept():
    found = turn("x" * MAX_TURN + "the end")
    assert (found.kind, len(found.text), found.source) == (EvidenceKind.TURN, MAX_TURN, 0)
    assert found.text.endswith("the end")
    assert len(told(says("y" * 9999, delta=True), says("z", delta=True)).turns[0].text) == MAX_TURN


def test_only_so_many_answers_are_kept():
    words = told(*(says(str(n), role="user") for n in range(MAX_DECIDED + 5)))
    assert len(words.decided) == MAX_DECIDED
    assert words.decided[-1].text == f"the user said: {MAX_DECIDED + 4}"
