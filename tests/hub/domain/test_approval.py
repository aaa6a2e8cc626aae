"""Requests for permission: what is asked, and that an answer is the last word."""

from __future__ import annotations

import re

import attrs
import pytest

from hub.domain.approval import (
    Action,
    ApprovalRecord,
    ApprovalState,
    By,
    PermissionRequest,
    RuleVerdict,
    allowed_before,
    asked,
    decided,
    history,
    lasting,
    next_deadline,
    overdue,
    own,
    raised,
    request_id,
    scope,
    shown,
    spare,
)
from hub.domain.event import Event, EventType
from hub.errors import Code
from tests.hub.domain.permission.test_rules import shell
from tests.refusals import refuses

NOW = 1_000_000.0


def waiting(**fields) -> ApprovalRecord:
    return attrs.evolve(raised(shell("ls"), RuleVerdict("ask"), NOW), **fields)


# --- the request ------------------------------------------------------------------------------------------

OF = {"session_id": "s-1", "dispatch_id": "d-1", "provider": "claude", "account": "a"}


def test_a_request_is_made_of_an_agents_event():
    meta = {
        "approvalId": "r1",
        "tool": "Bash",
        "command": "rm x",
        "input": {"command": "rm x"},
        "toolId": "t",
    }
    found = asked(Event(EventType.WAITING, "Bash remove it", meta), **OF)
    assert found == PermissionRequest(
        id=request_id("d-1", "r1"),
        kind=Action.TOOL,
        native_id="r1",
        tool="Bash",
        subject="rm x",
        said="Bash remove it",
        context={"command": "rm x", "input": {"command": "rm x"}, "toolId": "t"},
        **OF,
    )
    assert found.action == "Bash: rm x"
    assert re.fullmatch(r"a-[0-9a-f]{12}", found.id), "fit for a path and to be typed"
    elsewhere = asked(Event(EventType.WAITING, "Bash remove it", meta), folder="/w", **OF)
    assert elsewhere == attrs.evolve(found, folder="/w")


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        ({"command": "ls", "path": "/a", "texts": ["t"]}, "ls"),
        ({"path": "/a", "texts": ["t"]}, "/a"),
        ({"texts": ["t", "u"]}, "t"),
        ({"texts": []}, ""),
        ({}, ""),
    ],
)
def test_a_request_is_about_its_command_its_file_or_its_first_words(given, subject):
    found = asked(Event(EventType.WAITING, "x", {"approvalId": "r1", **given}), **OF)
    assert (found.subject, found.tool) == (subject, "")


@pytest.mark.parametrize(
    "event",
    [
        Event(EventType.WAITING, "which?", {"approvalId": "q", "needsInput": True}),
        Event(EventType.WAITING, "which?", {"needsInput": True}),
        Event(EventType.SYSTEM, "Approved", {"approvalId": "r1"}),
    ],
    ids=["question", "question-without-id", "told"],
)
def test_other_events_are_no_requests(event):
    assert asked(event, **OF) is None


@pytest.mark.parametrize(
    ("fields", "action"),
    [
        ({"tool": "Write", "subject": "/w/a"}, "Write: /w/a"),
        ({"tool": "Write"}, "Write"),
        ({"subject": "/w/a"}, "/w/a"),
        ({"said": "may I?"}, "may I?"),
        ({}, "use a tool"),
        ({"kind": Action.START, "subject": "codex/default"}, "start codex/default"),
        ({"kind": Action.HANDOFF, "subject": "codex/b"}, "hand the work to codex/b"),
        (
            {"kind": Action.BUDGET, "subject": "codex/b", "said": "5 of 5 are used up"},
            "go on with codex/b: 5 of 5 are used up",
        ),
    ],
)
def test_every_request_has_words(fields, action):
    assert (
        PermissionRequest(
            **{"id": "a", "kind": Action.TOOL, "session_id": "s", "provider": "p", **fields}
        ).action
        == action
    )


_HUBS = {"session_id": "s-1", "provider": "codex", "account": "a"}


def test_hubs_own_requests_differ_by_their_occasion():
    """A second handoff to the same agent is another request; the same one told again is not."""
    one = own(Action.HANDOFF, occasion="h-1", **_HUBS)
    again = own(Action.HANDOFF, occasion="h-1", **_HUBS)
    other = own(Action.HANDOFF, occasion="h-2", **_HUBS)
    assert one == again
    assert len({one.id, other.id}) == 2
    assert one == PermissionRequest(
        id=one.id, kind=Action.HANDOFF, session_id="s-1", provider="codex", account="a", subject="codex/a"
    )
    for field, value in (("session_id", "s-2"), ("account", "b"), ("said", "5 of 5")):
        changed = own(**{"kind": Action.HANDOFF, "occasion": "h-1", **_HUBS, field: value})
        assert getattr(changed, field) == value
        assert (changed.id == one.id) is (field == "said")


# --- the record -------------------------------------------------------------------------------------------


def test_a_request_begins_as_the_rules_say():
    found = raised(shell("ls"), RuleVerdict("ask", "info", "why", 2.5), NOW)
    assert (found.state, found.severity, found.reason) == (ApprovalState.PENDING, "info", "why")
    assert (found.created_ms, found.expires_ms) == (NOW * 1000, NOW * 1000 + 2500)
    assert found.id == found.request.id
    assert raised(shell("ls", said="list it"), RuleVerdict("ask"), NOW).reason == "list it"
    assert raised(shell("ls"), RuleVerdict("ask"), NOW).reason == "claude asks"


@pytest.mark.parametrize(
    ("word", "state"), [("allow", ApprovalState.APPROVED), ("deny", ApprovalState.DENIED)]
)
def test_what_a_rule_decides_waits_for_nobody(word, state):
    found = raised(shell("ls"), RuleVerdict(word, reason="r", timeout=5.0), NOW)
    assert (found.state, found.by, found.note, found.expires_ms) == (state, By.POLICY, "r", 0)
    assert not found.pending


@pytest.mark.parametrize("first", [ApprovalState.APPROVED, ApprovalState.DENIED, ApprovalState.WITHDRAWN])
@pytest.mark.parametrize("second", [ApprovalState.APPROVED, ApprovalState.DENIED, ApprovalState.WITHDRAWN])
def test_an_answer_is_the_last_word(first, second):
    """Rule 4."""
    found = decided(waiting(), first, By.USER, "n")
    assert (found.state, found.note, found.by) == (first, "n", By.USER)
    with refuses(Code.APPROVAL_RESOLVED) as caught:
        decided(found, second, By.USER, "")
    told = {"approved": "was approved already (by user)", "denied": "was denied already (by user)"}
    assert told.get(first, "has ended") in caught.value.detail


def test_time_runs_out_for_those_that_wait_alone():
    soon, late = waiting(expires_ms=int(NOW * 1000) + 10), waiting(expires_ms=int(NOW * 1000) + 5000)
    ever, done = waiting(), waiting(expires_ms=1, state=ApprovalState.DENIED)
    everything = [ever, late, soon, done]
    assert overdue(everything, NOW) == []
    assert overdue(everything, soon.expires_ms / 1000) == [soon], "in the very moment it is told"
    assert overdue(everything, NOW + 1) == [soon]
    assert next_deadline(everything) == pytest.approx(NOW + 0.01)
    assert next_deadline([ever, done]) is None


def test_a_decision_is_kept_as_long_as_it_may_be_asked_for():
    """The run that asked may be read again from its start; when the next run asks, it is over."""
    told = spare(waiting(state=ApprovalState.APPROVED, note="n"))
    assert not history(told, shell("x"))
    assert history(told, shell("x", dispatch_id="d-2"))
    assert history(told, shell("x", session_id="s-2"))
    start = own(Action.START, session_id="s-1", occasion="start", provider="p", account="a")
    assert not history(told, start)
    assert not history(attrs.evolve(told, told=False), shell("x", dispatch_id="d-2"))
    assert told == waiting(
        state=ApprovalState.APPROVED,
        note="n",
        told=True,
        reason="",
        request=attrs.evolve(shell("ls"), context={}, subject="", said=""),
    )


def test_a_person_sees_what_the_agent_would_do_and_not_how_it_is_judged():
    request = attrs.evolve(shell("ls"), context={"command": "ls", "texts": ["x"], "cwd": "/", "cut": True})
    assert shown(request) == {"command": "ls", "cut": True}


# --- a yes for the rest of the session --------------------------------------------------------------------


def always(**fields) -> ApprovalRecord:
    """A request that was allowed for good, as it is kept."""
    approved = decided(lasting(waiting(**fields)), ApprovalState.APPROVED, By.USER, "")
    return spare(approved)


def test_a_lasting_yes_covers_the_very_same_and_nothing_else():
    kept = always()
    again = shell("ls", id="a-2", dispatch_id="d-2")
    assert allowed_before([kept], again)
    assert not allowed_before([kept], shell("ls -a"))
    assert not allowed_before([kept], attrs.evolve(again, tool="Write"))
    assert not allowed_before([kept], attrs.evolve(again, session_id="s-2"))
    assert not allowed_before([kept], attrs.evolve(again, context={**again.context, "cwd": "/etc"}))
    assert not allowed_before([kept], attrs.evolve(again, context={**again.context, "paths": ["/etc/x"]}))
    assert not allowed_before([attrs.evolve(kept, state=ApprovalState.DENIED)], again)
    assert not allowed_before([spare(decided(waiting(), ApprovalState.APPROVED, By.USER, ""))], again)


@pytest.mark.parametrize(
    "vague",
    [
        attrs.evolve(shell("ls"), kind=Action.HANDOFF),
        attrs.evolve(shell("ls"), subject=""),
        attrs.evolve(shell("ls"), context={"unseen": True}),
        attrs.evolve(shell("ls"), context={"cut": True}),
        shell("x" * 65_536),
    ],
)
def test_what_does_not_say_what_it_covers_is_allowed_once(vague):
    """A start, a tool without a subject, and what was cut on its way."""
    assert scope(vague) == ""
    assert not allowed_before([always()], vague)
    with refuses(Code.INVALID) as refused:
        lasting(waiting(request=vague))
    assert "only be allowed once" in refused.value.detail
    assert refused.value.hint == f"Run: hub approve {vague.id}"


def test_a_lasting_yes_is_kept_as_long_as_its_session():
    """An agent's next run is another dispatch: a yes that held once is dropped then."""
    kept = always()
    assert not history(kept, shell("pwd", dispatch_id="d-2"))
    assert history(kept, shell("pwd", session_id="s-2"))


def test_a_lasting_yes_covers_no_other_input():
    """A query is not the one that was shown, a sandbox that is off is another call; a new description is not."""
    first = {"command": "ls", "description": "look", "sandbox": True, "sql": "SELECT 1"}

    def given(**fields) -> PermissionRequest:
        context = {"command": "ls", "input": {**first, **fields}, "named": ["sandbox", "sql"]}
        return attrs.evolve(shell("ls"), context=context)

    kept = attrs.evolve(lasting(waiting(request=given())), state=ApprovalState.APPROVED)
    assert allowed_before([kept], given(description="look again"))
    assert not allowed_before([kept], given(sandbox=False))
    assert not allowed_before([kept], given(sql="DROP TABLE users"))
    assert not allowed_before([kept], attrs.evolve(given(), context={"command": "ls", "named": ["sql"]}))
