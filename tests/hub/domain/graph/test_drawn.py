"""The intent that is drawn from a graph's nodes is the one that the log tells."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.graph.activity import MAX_SESSIONS, ActivityFold
from hub.domain.graph.drawn import DRAWN_FROM, drawn
from hub.domain.graph.vocabulary import NodeType, fact_id, file_id
from hub.domain.intent.fold import Intent, IntentFold
from hub.domain.intent.plan import MAX_ITEMS
from tests.hub.domain.graph.logs import LOGS, ROOT, SESSION, TASK, Known, Log, known, logged


def told(log: Log, task: str = TASK, session: str = SESSION) -> Intent:
    """The intent as the log tells it."""
    fold = IntentFold(task, f"/w/{session}")
    for record in log.records:
        if record.meta["sessionId"] == session:
            fold.feed(record.id, record)
    return fold.intent()


@settings(max_examples=200)
@given(LOGS, st.frozensets(st.integers(1, 16)))
def test_the_graph_says_what_the_log_says(steps, cuts):
    """Specification: the intent block is filled from graph nodes. Wherever a reader has ended and gone on, it is the same."""
    log = logged(steps)
    assert known(log, cuts).intent() == told(log)


def test_it_is_not_drawn_where_the_session_was_not_read_from_its_task_on():
    """What an adopted session was told before its task, or a log that was cut: the log itself is asked then."""
    assert known(Log().says("Decision: a.").began()).intent() is None
    assert known(Log().says("Decision: a.")).intent() is None
    assert Known().intent() is None


def test_it_is_not_drawn_where_a_node_is_missing():
    """A graph makes room by itself, and a database may lose rows: none of it may thin a contract out unseen."""
    log = Log().began().says("Decision: a.").calls("Edit", path=f"{ROOT}/a.py").answers("ok")
    whole = known(log)
    for lost in (fact_id(NodeType.DECISION, SESSION, "a."), file_id("a.py")):
        left = Known({k: v for k, v in whole.nodes.items() if k != lost}, owners=whole.owners)
        assert left.intent() is None
    assert whole.intent() == told(log)


@settings(max_examples=50)
@given(LOGS, st.frozensets(st.integers(1, 16)))
def test_sessions_whose_events_come_between_one_anothers_are_each_drawn_whole(steps, cuts):
    """Several run side by side in one daemon: of each the graph says what its own events say."""
    log = Log().began("y", "s-2").says("Decision: b.", session="s-2")
    for record in logged(steps).records:
        log.add(record.tag, record.msg, **{k: v for k, v in record.meta.items() if k != "at"})
        log.says(f"Decision: {record.id}.", session="s-2")
    found = known(log, cuts)
    assert found.intent() == told(log)
    assert found.intent("s-2") == told(log, "y", "s-2")


def test_a_session_that_all_others_have_spoken_after_is_over_and_not_drawn_when_it_comes_back():
    log = Log().began().says("Decision: a.", delta=True)
    for number in range(MAX_SESSIONS):
        log.began("next", f"t-{number}").says("Decision: b.", session=f"t-{number}")
    found = known(log)
    drawn_of = [[item.text for item in found.intent(session).decisions] for session in (SESSION, "t-0")]
    assert drawn_of == [["a."], ["b."]]
    assert known(log.says("Decision: c.", session=SESSION)).intent() is None


def test_of_sessions_that_are_over_no_memory_is_kept_beyond_the_next_ones_beginning():
    """It is written again with every half second of an agent's work; until then what is told behind an end is taken in."""
    fold = ActivityFold(lambda session: f"/w/{session}")
    log = Log().began().add("system", "session completed", ended="completed").says("Decision: a.")
    for record in log.records:
        fold.feed(record)
    left = ActivityFold(lambda session: f"/w/{session}", fold.pending)
    assert [one.session_id for one in left.pending] == [SESSION]
    for record in log.began("x", "s-2").began("y", "s-3").records[-2:]:
        left.feed(record)
    assert [one.session_id for one in left.pending] == ["s-2", "s-3"]
    assert [item.text for item in known(log).intent().decisions] == ["a."]


def test_a_file_is_the_sessions_that_touched_it_last():
    """A file has one node, whoever touches it: what an earlier session did with it is not this one's doing."""
    log = Log().began().calls("Edit", path=f"{ROOT}/a.py").answers("ok").began("Mind a.py.", "s-2")
    log.says("Decision: keep a.py.", session="s-2")
    intent = known(log).intent("s-2")
    assert intent == told(log, "Mind a.py.", "s-2")
    assert intent.files == ()


def test_what_gave_way_stays_in_the_graph_and_out_of_the_intent():
    """More statements than an intent holds: the graph knows them all, and draws the newest."""
    log = Log().began("x")
    for number in range(MAX_ITEMS + 3):
        log.says(f"Decision: take {number}.")
    found = known(log.says("Decision: take 5."))
    assert found.intent() == told(log, "x")
    assert len(found.intent().decisions) == MAX_ITEMS
    assert found.intent().decisions[-1].text == "take 5."
    assert len(found.texts(NodeType.DECISION)) == MAX_ITEMS + 3


def test_a_command_that_gave_way_does_not_come_back():
    log = Log().began("x")
    for number in range(MAX_ITEMS + 1):
        log.calls("Bash", command=f"make {number}").answers("no", exitCode=1)
    log.calls("Bash", command="make 9").answers("yes", exitCode=0)
    assert known(log).intent() == told(log, "x")


def test_a_file_that_gave_way_is_known_as_touched(monkeypatch):
    monkeypatch.setattr("hub.domain.intent.fold.MAX_FILES", 2)
    log = Log().began("x")
    for name in "abc":
        log.calls("Edit", name, path=f"{ROOT}/{name}.py")
    found = known(log)
    assert [file.path for file in found.intent().files] == ["b.py", "c.py"]
    assert found.nodes[file_id("a.py")]["touched"] is True


def test_a_step_that_is_said_and_planned_is_told_once_and_stays_said():
    """The plan takes it back, the agent's word does not."""
    log = Log().began("x").plans(["a", "b"], ["b"]).says("Done: a")
    assert [item.text for item in known(log).intent().do_not_redo] == ["a"]
    log.plans(["a", "b"], ["a", "b"])
    assert known(log).intent() == told(log, "x")
    assert known(log).texts(NodeType.DO_NOT_REDO) == {"a"}


def test_steps_that_are_finished_one_after_the_other_keep_their_order():
    log = Log().began("x").plans(["a", "b", "c"], ["a", "c"]).plans(["a", "b", "c"], ["c"])
    assert [item.text for item in known(log).intent().do_not_redo] == ["b", "a"]
    assert known(log).intent() == told(log, "x")


def test_the_outline_is_told_when_it_has_changed():
    fold = ActivityFold(lambda session: f"/w/{session}")
    assert fold.outline().nodes == ()
    log = Log().began().says("Next: b.").says("That is all.")
    fold.feed(log.records[0])
    assert len(fold.outline().nodes) == 1
    assert fold.outline().nodes == ()
    fold.feed(log.records[1])
    assert fold.outline().nodes[0].payload["intent"]["next_action"]["text"] == "b."
    fold.feed(log.records[2])
    assert fold.outline().nodes == ()


def test_nodes_of_code_are_none_of_its_matter():
    log = Log().began()
    nodes = [(node["type"], node) for node in known(log).nodes.values()]
    assert drawn([("module", {"path": "a.py"}), *nodes], SESSION) == told(log)
    assert NodeType.MODULE not in DRAWN_FROM


def test_a_status_that_is_told_late_fills_in_the_call_and_the_command():
    """A stopped agent's own store tells it: no new call, nothing that weighs more, and the command keeps its place."""
    log = (
        Log()
        .began("x")
        .calls("sh", "1", command="make")
        .answers("", "1")
        .calls("sh", "2", command="ls")
        .answers("", "2")
    )
    before = known(log)
    found = known(log.late(3, command="make", exitCode=2, isError=True))
    assert found.intent() == told(log, "x")
    assert [(c.command, c.exit_code) for c in found.intent().commands] == [("make", 2), ("ls", None)]
    (first, second) = found.of(NodeType.TOOL_USE)
    assert (first["exitCode"], first["failed"], first["result"]) == (2, True, 3)
    assert "exitCode" not in second
    assert found.nodes.keys() - before.nodes.keys() == {fact_id(NodeType.FAILURE, SESSION, "make")}
    assert {
        name: weight for name, weight in found.weights.items() if name in before.weights
    } == before.weights
