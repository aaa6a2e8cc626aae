"""Pipelines as graphs: every problem is told at once, and the order respects every dependency."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.api.convert import unstructure
from hub.api.tables import read_pipelines
from hub.domain.config.model import PipelineNode, PipelineSettings
from hub.domain.config.profiles import together
from hub.domain.config.schema import MAX_PROBLEMS
from hub.domain.pipeline.graph import (
    MAX_NODES,
    check_runnable,
    contradictions,
    named,
    order,
    problems,
    refuse,
)
from hub.errors import Code, HubError
from tests.refusals import refuses

KNOWN = ("claude", "codex")


def node(name, *needs, provider="claude", fallback=(), task="do it", verify=()):
    return PipelineNode(name, provider, task, needs, tuple(fallback), tuple(verify))


def pipeline(*nodes, name="p"):
    return PipelineSettings(name, nodes)


def told(*pipelines):
    """The problems as path and message."""
    with refuses(Code.INVALID) as caught:
        refuse(problems(pipelines, KNOWN))
    return {entry["path"]: entry["message"] for entry in caught.value.extra["errors"]}


dags = (
    st.integers(0, 8)
    .flatmap(
        lambda size: st.tuples(
            *(
                st.sets(st.sampled_from([f"n{k}" for k in range(i)] or ["n0"]) if i else st.nothing())
                for i in range(size)
            )
        )
    )
    .flatmap(lambda needs: st.permutations([node(f"n{i}", *sorted(want)) for i, want in enumerate(needs)]))
)


@given(dags)
def test_each_node_comes_after_all_it_depends_on(nodes):
    """Specification: nodes run in dependency order."""
    found = order(nodes)
    assert sorted(found) == sorted(n.id for n in nodes)
    for each in nodes:
        assert all(found.index(want) < found.index(each.id) for want in each.depends_on)
    refuse(problems([pipeline(*nodes)], KNOWN))


@given(dags, st.data())
def test_one_edge_back_is_always_found_as_a_cycle(nodes, data):
    """Specification: no cycles, whatever else the graph holds."""
    if not nodes:
        return
    first = data.draw(st.sampled_from(nodes))
    behind = {first.id}
    for name in order(nodes):
        each = next(n for n in nodes if n.id == name)
        if behind & set(each.depends_on):
            behind.add(name)
    last = data.draw(st.sampled_from(sorted(behind)))
    bent = [
        node(n.id, *n.depends_on, *([last] if n.id == first.id else [])) if n.id == first.id else n
        for n in nodes
    ]
    found = [problem.text for problem in problems([pipeline(*bent)], KNOWN)]
    assert len(found) == 1
    assert "is a cycle" in found[0]


def test_free_nodes_run_as_they_are_listed():
    assert order([node("c"), node("a"), node("b", "a")]) == ("c", "a", "b")


def test_every_problem_is_told_at_once_with_its_place_and_what_is_allowed():
    """Decisions: 422 with each problem's JSON path."""
    bad = pipeline(
        node("a", "b"),
        node("b", "a"),
        node("b"),
        node("c", "zz", provider="nobody", fallback=["codex", "who"]),
        node("d", "d"),
    )
    assert told(bad, pipeline(name="q"), pipeline(name="q")) == {
        "$[0].nodes[2].id": "the id 'b' is used twice; each node of a pipeline needs an id of its own",
        "$[0].nodes[3].provider": "there is no provider 'nobody'; known are claude, codex",
        "$[0].nodes[3].fallback[1]": "there is no provider 'who'; known are claude, codex",
        "$[0].nodes[3].dependsOn[0]": "there is no node 'zz'; the pipeline's nodes are a, b, c, d",
        "$[0].nodes[0].dependsOn": "is a cycle: a -> b -> a; no node may wait for itself",
        "$[0].nodes[4].dependsOn": "is a cycle: d -> d; no node may wait for itself",
        "$[2].name": "the name 'q' is used twice; each pipeline needs a name of its own",
    }


def test_two_cycles_of_one_knot_with_no_node_in_common_are_both_told():
    found = told(pipeline(node("a", "b"), node("b", "a", "c"), node("c", "d"), node("d", "c")))
    assert sorted(found) == ["$[0].nodes[0].dependsOn", "$[0].nodes[2].dependsOn"]


def test_a_node_behind_a_cycle_is_not_called_part_of_it():
    found = told(pipeline(node("x", "a"), node("a", "b"), node("b", "a")))
    assert found == {"$[0].nodes[1].dependsOn": "is a cycle: a -> b -> a; no node may wait for itself"}


def test_a_pipeline_has_a_limit():
    nodes = [node(f"n{i}") for i in range(MAX_NODES + 1)]
    assert told(pipeline(*nodes)) == {"$[0].nodes": "has 201 nodes; at most 200 are allowed"}


def test_a_long_list_of_names_is_cut():
    nodes = [node(f"n{i}") for i in range(20)]
    found = told(pipeline(*nodes, node("x", "gone")))
    assert found["$[0].nodes[20].dependsOn[0]"].endswith("n11 and 9 more")


def test_one_problem_is_told_without_a_count():
    with pytest.raises(HubError, match=r"no node may wait for itself$"):
        refuse(problems([pipeline(node("a", "a"))], KNOWN))


def test_where_nothing_is_allowed_it_says_none():
    with pytest.raises(HubError, match="known are none"):
        refuse(problems([pipeline(node("a"))], ()))


def test_what_is_written_is_read_back():
    """The file and the API have the specification's shape, every key present."""
    some = (pipeline(node("a"), node("b", "a", fallback=["codex"], verify=["make test"])),)
    plain = json.loads(json.dumps(unstructure(some)))
    assert read_pipelines(plain) == some
    assert plain[0]["nodes"][0] == {
        "id": "a", "provider": "claude", "task": "do it", "dependsOn": [], "fallback": [], "verify": [],
    }  # fmt: skip


def test_fields_that_do_not_validate_are_told_with_their_paths():
    with pytest.raises(HubError) as caught:
        read_pipelines([{"name": "p", "nodes": [{"id": "", "provider": "claude", "nope": 1}]}, 5])
    paths = [entry["path"] for entry in caught.value.extra["errors"]]
    assert set(paths) == {"$[0].nodes[0].nope", "$[0].nodes[0].task", "$[0].nodes[0].id", "$[1]"}


def test_the_users_file_comes_first_and_keeps_its_names():
    """Pipelines of hub.toml can only be changed there."""
    mine, other, stored = pipeline(node("a")), pipeline(node("b")), pipeline(node("c"), name="q")
    assert together([mine], [other, stored]) == (mine, stored)
    assert list(contradictions([mine], [mine, stored])) == []
    (found,) = contradictions([mine], [stored, other])
    assert found.path == (1, "name")
    assert found.text == "'p' is defined in hub.toml; change it there: under [[pipelines]]"
    (found,) = contradictions([mine], [stored])
    assert found.path == ()
    assert found.text == "'p' is left out, and is defined in hub.toml; take it out there: under [[pipelines]]"


def test_a_pipeline_is_found_by_its_name():
    one = pipeline(node("a"))
    assert named([one], "p") is one
    with pytest.raises(HubError) as caught:
        named([one], "q")
    assert (caught.value.code, caught.value.hint) == (Code.NOT_FOUND, "There are: p.")


def test_only_a_valid_pipeline_with_nodes_runs():
    check_runnable(pipeline(node("a")), KNOWN)
    with pytest.raises(HubError) as empty:
        check_runnable(pipeline(), KNOWN)
    assert empty.value.extra["errors"] == [
        {"path": "$.nodes", "message": "'p' has no nodes; it needs at least one"}
    ]
    with pytest.raises(HubError) as knotted:
        check_runnable(pipeline(node("a", "a")), KNOWN)
    assert knotted.value.extra["errors"][0]["path"] == "$.nodes[0].dependsOn"


def test_a_list_that_is_wrong_everywhere_is_told_the_first_hundred_problems():
    """40,000 unknown names once took seconds to tell, in which nobody else was answered."""
    unknown = [f"gone{number}" for number in range(60)]
    with pytest.raises(HubError) as caught:
        refuse(problems([pipeline(*(node(f"n{number}", *unknown) for number in range(60)))], KNOWN))
    assert len(caught.value.extra["errors"]) == MAX_PROBLEMS
    assert caught.value.detail.endswith(f"(and at least {MAX_PROBLEMS} more)")
