"""A run: what may run next, what a failure leads to, and what a later one takes over."""

import attrs
import pytest

from hub.domain.config.model import PipelineNode, PipelineSettings
from hub.domain.failure import ErrorNote
from hub.domain.pipeline.run import (
    bases,
    begin,
    finished,
    halted,
    in_words,
    next_node,
    taken_up,
    under_way,
)
from hub.domain.pipeline.state import NodeOutcome, NodeState, RunState
from hub.errors import Code


def node(name, *needs, task="do it"):
    return PipelineNode(name, "claude", task, needs)


DIAMOND = PipelineSettings("p", (node("d", "b", "c"), node("a"), node("b", "a"), node("c", "a")))
NOTE = ErrorNote(Code.VERIFY_FAILED, "it failed", "read the output")


def fresh(pipeline=DIAMOND):
    return attrs.evolve(begin("p-1", pipeline, "now"), base="b" * 40)


def ended(run, name, state=NodeState.COMPLETED):
    how = NodeOutcome.HALTED if state is NodeState.HALTED else NodeOutcome.EXECUTED
    return run.changed(name, state=state, how=how, snapshot=name * 40)


def test_nodes_run_in_dependency_order_one_at_a_time():
    """Specification: nodes run in dependency order under the single-session guard."""
    run, seen = fresh(), []
    assert run.active
    while (found := next_node(run)) is not None:
        seen.append(found.id)
        running = run.changed(found.id, state=NodeState.RUNNING)
        assert [node.id for node in under_way(running)] == [found.id]
        run = ended(running, found.id)
    assert seen == ["a", "b", "c", "d"]
    assert under_way(run) == []
    done = finished(halted(run), "later")
    assert not done.active
    assert (done.state, done.ended_at, in_words(done)) == (RunState.COMPLETED, "later", "4 executed")


def test_a_node_begins_at_the_work_of_what_it_depends_on():
    run = ended(ended(fresh(), "b"), "c")
    assert bases(run, run.definition("d")) == ["b" * 40, "c" * 40]
    assert bases(run, run.definition("a")) == [run.base]


def test_a_dependency_named_twice_is_one_base():
    run = ended(fresh(PipelineSettings("p", (node("a"), node("b", "a", "a")))), "a")
    assert bases(run, run.definition("b")) == ["a" * 40]


@pytest.mark.parametrize("state", [NodeState.FAILED, NodeState.STOPPED])
def test_what_depends_on_a_lost_node_is_halted_and_the_rest_goes_on(state):
    run = halted(ended(ended(fresh(), "a"), "b", state))
    assert run.node("d").state is NodeState.HALTED
    assert run.node("d").how is NodeOutcome.HALTED
    assert next_node(run).id == "c"


def test_a_loss_halts_all_that_is_behind_it():
    run = halted(ended(fresh(), "a", NodeState.FAILED))
    assert {name: run.node(name).state for name in "bcd"} == dict.fromkeys("bcd", NodeState.HALTED)
    assert finished(run, "t").state is RunState.FAILED
    assert in_words(run) == "1 failed, 3 halted"


def test_a_stop_halts_all_that_has_not_begun():
    run = halted(attrs.evolve(ended(fresh(), "a"), stopping=True))
    assert next_node(run) is None
    assert finished(run, "t").state is RunState.STOPPED


def test_a_stop_that_comes_after_the_last_node_changes_nothing():
    run = attrs.evolve(ended(fresh(PipelineSettings("p", (node("a"),))), "a"), stopping=True)
    assert finished(halted(run), "t").state is RunState.COMPLETED


def test_nothing_to_halt_is_the_same_value():
    run = fresh()
    assert halted(run) is run


def test_a_restart_says_what_is_replayed():
    """Each node is replayed, executed or halted, and it says which."""
    run = ended(fresh(), "a").changed("b", state=NodeState.RUNNING, how=NodeOutcome.EXECUTED)
    again = taken_up(run)
    assert [again.node(name).how for name in "abc"] == [
        NodeOutcome.REPLAYED,
        NodeOutcome.EXECUTED,
        NodeOutcome.OPEN,
    ]
    assert (again.resumed, again.seq) == (1, run.seq + 1)


def test_a_run_that_resumes_takes_over_what_is_complete_and_unchanged():
    before = attrs.evolve(ended(ended(ended(fresh(), "a"), "b"), "c", NodeState.FAILED), head="h")
    run = begin("p-2", DIAMOND, "now", before)
    assert [run.node(name).how for name in "abcd"] == [
        NodeOutcome.REPLAYED,
        NodeOutcome.REPLAYED,
        NodeOutcome.OPEN,
        NodeOutcome.OPEN,
    ]
    assert (run.base, run.head) == (before.base, "h")
    assert next_node(run).id == "c"


def test_a_changed_node_and_all_behind_it_run_again():
    before = fresh()
    for name in "abcd":
        before = ended(before, name)
    changed = PipelineSettings("p", (*DIAMOND.nodes[:2], node("b", "a", task="another"), DIAMOND.nodes[3]))
    run = begin("p-2", changed, "now", before)
    assert [run.node(name).how for name in "abcd"] == [
        NodeOutcome.REPLAYED,
        NodeOutcome.OPEN,
        NodeOutcome.REPLAYED,
        NodeOutcome.OPEN,
    ]


def test_where_nothing_is_taken_over_the_run_begins_anew():
    run = begin("p-2", DIAMOND, "now", ended(fresh(), "a", NodeState.FAILED))
    assert run.base == ""
    other = begin("p-2", PipelineSettings("p", (node("z"),)), "now", ended(fresh(), "a"))
    assert other.node("z").how is NodeOutcome.OPEN


def test_the_tally_of_a_run_that_has_not_begun():
    assert in_words(fresh()) == "nothing run"
