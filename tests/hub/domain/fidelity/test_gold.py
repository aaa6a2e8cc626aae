"""The fold of facts where what is told late meets what was told since."""

from hub.domain.event import EventType
from hub.domain.fidelity.fact import Facet
from tests.hub.domain.fidelity.test_score import agent, facts_of, hub, numbered


def ran(number, command, code=None):
    told = {"exitCode": code} if code is not None else {}
    return agent(EventType.TOOL_RESULT, "boom", toolId=str(number), command=command, **told)


def late(target, command, code):
    return agent(
        EventType.TOOL_RESULT, "boom", command=command, exitCode=code, isError=bool(code), amends=target
    )


def of(facts, facet):
    return {text: sorted(fact.sources) for (kind, text), fact in facts.by_key.items() if kind is facet}


def test_a_run_that_is_told_late_to_have_passed_proves_only_what_failed_before_it():
    log = numbered(
        [ran(1, "make a", 1), ran(2, "make a && make b"), ran(3, "make b", 1), late(2, "make a && make b", 0)]
    )
    facts = facts_of(log)
    assert of(facts, Facet.COMMANDS) == {"make b -> 1": [3], "make a && make b -> 0": [2]}
    assert of(facts, Facet.FAILED_ATTEMPTS) == {"make b ended with exit status 1: boom": [3]}


def test_a_run_that_is_told_late_to_have_failed_is_a_failure_until_it_works():
    log = [ran(1, "make"), late(1, "make", 2)]
    assert of(facts_of(numbered(log)), Facet.FAILED_ATTEMPTS) == {"make ended with exit status 2: boom": [1]}
    assert of(facts_of(numbered([*log, ran(3, "make", 0)])), Facet.FAILED_ATTEMPTS) == {}
    other = numbered([ran(1, "make"), ran(2, "make", 0), late(1, "make", 2), late(9, "never run", 1)])
    assert of(facts_of(other), Facet.COMMANDS) == {"make -> 0": [2]}, "it has run again since"


def test_a_plan_that_is_told_late_gives_way_to_a_newer_one_and_its_done_steps_stay():
    newer = agent(EventType.SYSTEM, "", plan=["c"], tasksRemaining=["c"])
    told = agent(EventType.SYSTEM, "", plan=["a", "b", "c"], tasksRemaining=["b"], amends=1)
    facts = facts_of(numbered([agent(EventType.TEXT, "x"), newer, told]))
    assert of(facts, Facet.NEXT) == {"plan c": [2], "left c": [2], "done a": [1]}


def test_an_acceptance_command_that_failed_supports_to_make_it_pass():
    log = numbered(
        [
            hub("error", "verify failed", command="make test", exitCode=1),
            hub("system", "ok", command="ls", exitCode=0),
        ]
    )
    assert facts_of(log).supports((Facet.NEXT, "next make this pass: make test"), None)
    assert not facts_of(log).supports((Facet.NEXT, "next make this pass: ls"), None)
