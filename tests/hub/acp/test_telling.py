"""Records of the event log as updates: nothing of an agent is changed, and hub's own words are told from its."""

import time
from pathlib import PurePath

import pytest

from hub.acp.telling import Teller, kind_of
from hub.domain.wallclock import moment

AGENT = {"provider": "claude", "account": "work", "dispatchId": "d-1", "sessionId": "s-1"}


@pytest.fixture
def teller():
    return Teller(PurePath("/tree"))


def record(tag, msg, **meta):
    return {"id": 1, "ts": "12:00:00.000", "tag": tag, "msg": msg, "meta": meta}


def said(teller, msg, **meta):
    return teller.tell(record("text", msg, **{"type": "text", **AGENT, **meta}))


def words(updates):
    return "".join(update["content"]["text"] for update in updates)


def test_texts_of_an_agent_are_paragraphs(teller):
    assert words(said(teller, "One.")) == "One."
    assert words(said(teller, "Two.")) == "\n\nTwo."


def test_a_long_text_in_parts_stays_one(teller):
    """Parts of 8 kB come one after the other; a gap could split a word."""
    assert words(said(teller, "hal", more=True) + said(teller, "ves")) == "halves"


def test_pieces_that_are_told_again_as_a_whole_are_not_told_twice(teller):
    assert words(said(teller, "Zero.")) == "Zero."
    assert words(said(teller, "On", delta=True) + said(teller, "e.", delta=True)) == "\n\nOne."
    assert said(teller, "One.") == []
    assert words(said(teller, "Two.")) == "\n\nTwo."


def test_of_pieces_that_were_lost_the_rest_is_told(teller):
    """A daemon that dies takes with it what was not on record."""
    said(teller, "On", delta=True)
    assert words(said(teller, "One and two.")) == "e and two."


def test_pieces_that_are_not_the_whole_s_beginning_lose_nothing(teller):
    said(teller, "Ome", delta=True)
    assert words(said(teller, "One.")).strip() == "One."


def test_what_stands_between_two_texts_keeps_them_apart(teller):
    said(teller, "One.")
    teller.tell(record("tool_use", "read a", type="tool_use", tool="read", toolId="1", **AGENT))
    assert words(said(teller, "Two.")) == "Two."
    assert words([teller.note("x")]) == "\n\n> x\n\n"
    assert words(said(teller, "Three.")) == "Three."
    assert words(said(teller, "hm", type="thinking")) == "hm"
    assert words(said(teller, "hm hm", type="thinking")) == "\n\nhm hm"


@pytest.mark.parametrize("kind", ["usage", "quota", "retry"])
def test_figures_are_no_conversation(teller, kind):
    assert teller.tell(record("quota", "50 % used", type=kind, **AGENT)) == []


def test_the_result_is_told_where_it_is_not_what_was_said_last(teller):
    said(teller, "All  done.")
    assert teller.tell(record("system", "All done.", type="result", **AGENT)) == []
    assert words(teller.tell(record("system", "Summary.", type="result", **AGENT))) == "\n\nSummary."


def test_a_question_that_was_said_is_not_asked_twice(teller):
    said(teller, "Which?")
    assert teller.tell(record("waiting", "Which?", type="waiting", needsInput=True, **AGENT)) == []
    asked = teller.tell(record("waiting", "Or what?", type="waiting", needsInput=True, **AGENT))
    assert words(asked).strip() == "Or what?"


def test_the_agents_own_request_for_permission_is_told_once(teller):
    """hub's record of it is the one that is asked."""
    assert teller.tell(record("waiting", "rm", type="waiting", approvalId="n-1", **AGENT)) == []
    [call] = teller.tell(
        record("waiting", "approval needed: rm", approvalId="a-1", needsApproval=True, action="rm")
    )
    assert (call["toolCallId"], call["status"], call["title"]) == ("a-1", "pending", "rm")
    [update] = teller.tell(record("waiting", "denied: rm (no)", approvalId="a-1", approved=False))
    assert (update["toolCallId"], update["status"]) == ("a-1", "failed")


@pytest.mark.parametrize("first", ["call", "request"])
def test_a_permission_is_asked_at_the_very_call_that_it_is_about(teller, first):
    """One line for both, whichever of them an agent tells first; and the call goes on where it was allowed."""
    call = {"tool": "Bash", "toolId": "t-1", "command": "rm -rf /tree/build", **AGENT}
    began = record("tool_use", "run rm", type="tool_use", **call)
    action = "Bash: rm -rf /tree/build"
    about = {"approvalId": "a-1", "callId": "d-1:t-1", "action": action, "sessionId": "s-1"}
    asked = record("waiting", "approval needed", needsApproval=True, **about)
    if first == "call":
        updates = teller.tell(began) + teller.tell(asked)
        assert (updates[-1]["status"], updates[-1]["title"]) == ("pending", "Bash: rm -rf build")
    else:
        updates = teller.tell(asked) + teller.tell(began)
        assert (updates[-1]["status"], updates[-1]["kind"]) == ("pending", "execute")
    assert teller.tell(record("waiting", "Bash rm", type="waiting", approvalId="n-1", **call)) == []
    updates += teller.tell(record("waiting", "approved", approved=True, **about))
    assert (updates[-1]["status"], updates[-1]["content"]) == ("in_progress", [])
    updates += teller.tell(record("tool_result", "gone", type="tool_result", **call))
    assert updates[-1]["status"] == "completed"
    assert {update["toolCallId"] for update in updates} == {teller.call_of("a-1")}
    kinds = [update["sessionUpdate"] for update in updates]
    assert kinds == ["tool_call", *["tool_call_update"] * (len(updates) - 1)]


def test_what_the_rules_forbid_is_the_failure_of_its_call(teller):
    call = {"tool": "Bash", "toolId": "t-1", "command": "make", **AGENT}
    teller.tell(record("tool_use", "run make", type="tool_use", **call))
    about = {"approvalId": "a-1", "callId": "d-1:t-1", "action": "Bash: make"}
    [denied] = teller.tell(record("waiting", "denied: Bash: make", approved=False, **about))
    assert (denied["toolCallId"], denied["status"]) == ("d-1:t-1", "failed")
    assert "denied" in denied["content"][0]["content"]["text"]


def test_what_a_command_printed_is_no_markup(teller):
    """Editors read the content of a call as Markdown: a line of `#` is no heading."""
    call = {"tool": "Bash", "toolId": "1", "command": "ls", **AGENT}
    teller.tell(record("tool_use", "run ls", type="tool_use", **call))
    [update] = teller.tell(record("tool_result", "# a\n```\n", type="tool_result", **call))
    assert update["content"][0]["content"]["text"] == "````\n# a\n```\n````"


def test_two_agents_may_number_their_calls_alike(teller):
    first = teller.tell(record("tool_use", "read a", type="tool_use", tool="read", toolId="1", **AGENT))
    other = {**AGENT, "dispatchId": "d-2"}
    second = teller.tell(record("tool_use", "read b", type="tool_use", tool="read", toolId="1", **other))
    assert first[0]["toolCallId"] != second[-1]["toolCallId"]


@pytest.mark.parametrize("over", ["the end", "the next agent"])
def test_a_call_that_its_agent_left_open_goes_on_no_longer(teller, over):
    """Else an editor shows it at work for ever."""
    use = {"tool": "read", "type": "tool_use", **AGENT}
    [left] = teller.tell(record("tool_use", "read a", toolId="1", **use))
    teller.tell(record("tool_use", "read b", toolId="2", **use))
    teller.tell(record("tool_result", "b", tool="read", type="tool_result", toolId="2", **AGENT))
    if over == "the end":
        [update, _] = teller.tell(record("system", "session x", ended="stopped"))
    else:
        [update, _] = said(teller, "Two.", dispatchId="d-2")
    call = left["toolCallId"]
    assert update == {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "failed"}
    assert (
        teller.tell(record("system", "session x", ended="stopped"))[0]["sessionUpdate"] != "tool_call_update"
    )


def test_who_takes_over_is_said_before_the_first_word(teller):
    said(teller, "One.")
    updates = said(teller, "Two.", provider="codex", account="default", dispatchId="d-2")
    assert "> **hub:** codex goes on with the work." in words(updates[:1])
    assert words(updates[1:]) == "Two."


def test_the_wall_is_said_in_peoples_words(teller):
    moved = {"from": "RUNNING", "to": "PAUSING", "reason": "five_hour at 100 %"}
    [update] = teller.tell(record("handoff", "RUNNING -> PAUSING", **AGENT, **moved))
    assert "**hub:** handing the work over: 5-hour quota at 100 %" in update["content"]["text"]
    assert teller.tell(record("handoff", "x", **AGENT, **{"from": "PAUSING", "to": "SNAPSHOTTED"})) == []
    assert teller.tell(record("handoff", "fidelity 100 of 100", sessionId="s-1", hfs=100)) == []


def test_an_instant_is_said_as_the_users_clock_has_it(teller):
    """`until 2026-01-01 20:05:43 UTC`; every other face said 20:05. What an agent says is not changed."""
    text = "demo-first is left out of the chain: its usage limit is reached until 2026-01-01 20:05:43 UTC."
    at = moment("2026-01-01T20:05:43Z", time.time())
    for tag in ("system", "error"):
        assert f"is reached until {at}." in words(teller.tell(record(tag, text, sessionId="s-1")))
    assert text in words(teller.tell(record("error", text, type="error", **AGENT)))


def test_the_same_agent_that_is_started_again_takes_nothing_over(teller):
    said(teller, "One.")
    assert words(said(teller, "Two.", dispatchId="d-2")) == "\n\nTwo."


def test_a_plan_is_told_with_what_is_done(teller):
    [update] = teller.tell(
        record("system", "Plan", type="system", plan=["a", "b", "c"], tasksRemaining=["b", "c"], **AGENT)
    )
    assert [(one["content"], one["status"]) for one in update["entries"]] == [
        ("a", "completed"),
        ("b", "in_progress"),
        ("c", "pending"),
    ]


def test_a_plan_that_is_kept_by_a_tool_is_told_as_well(teller):
    """Claude Code's comes with a tool's result; no editor was shown it."""
    done = record(
        "tool_result", "Updated", type="tool_result", toolId="1", plan=["a"], tasksRemaining=[], **AGENT
    )
    plan, call = teller.tell(done)
    assert (plan["sessionUpdate"], plan["entries"][0]["status"]) == ("plan", "completed")
    assert call["status"] == "completed"


def test_an_acceptance_command_is_one_call_to_its_verdict(teller):
    [began] = teller.tell(record("system", "verify: make", command="make", at="2026-01-01T00:00:00.000Z"))
    [over] = teller.tell(
        record("error", "verify failed (exit 1): make", command="make", exitCode=1, output="no")
    )
    assert (began["title"], began["kind"], began["status"]) == ("verify: make", "execute", "in_progress")
    assert (over["toolCallId"], over["status"]) == (began["toolCallId"], "failed")
    assert over["content"][0]["content"]["text"] == "verify failed (exit 1): make\n\n```\nno\n```"
    [lost] = teller.tell(record("system", "verify passed: true", command="true", exitCode=0))
    assert (lost["sessionUpdate"], lost["title"]) == ("tool_call", "verify passed: true")


def test_an_error_has_its_next_step(teller):
    [update] = teller.tell(record("error", "The disk is full.", hint="Make room."))
    assert update["content"]["text"].strip() == "> The disk is full.\n> Make room."


@pytest.mark.parametrize(
    ("ended", "verified", "says"),
    [
        ("completed", True, "the acceptance commands say so"),
        ("completed", None, "no acceptance command"),
        ("failed", False, "failed"),
        ("stopped", None, "Stopped"),
        ("strange", None, "strange"),
    ],
)
def test_the_end_is_said_as_it_was(teller, ended, verified, says):
    [update] = teller.tell(record("system", "session x", ended=ended, verified=verified))
    assert says in update["content"]["text"]


@pytest.mark.parametrize(
    ("tool", "meta", "kind"),
    [
        ("Bash", {}, "execute"),
        ("x", {"command": "ls"}, "execute"),
        ("str_replace_editor", {}, "edit"),
        ("apply_patch", {}, "edit"),
        ("Read", {}, "read"),
        ("Grep", {}, "search"),
        ("WebFetch", {}, "fetch"),
        ("TodoWrite", {}, "edit"),
        ("strange", {}, "other"),
        ("", {}, "other"),
    ],
)
def test_the_kind_of_a_tool(tool, meta, kind):
    assert kind_of(tool, meta) == kind


def test_a_file_is_named_from_the_root_and_remembered_to_the_end(teller):
    use = {"tool": "Write", "toolId": "1", **AGENT}
    [call] = teller.tell(
        record("tool_use", "Write /tree/src/a.py", type="tool_use", path="/tree/src/a.py", **use)
    )
    assert (call["title"], call["locations"]) == ("Write src/a.py", [{"path": "/tree/src/a.py"}])
    [update] = teller.tell(record("tool_result", "ok", type="tool_result", **use))
    assert update["locations"] == call["locations"]


def test_an_error_that_is_repeated_as_the_result_is_told_once(teller):
    teller.tell(record("error", "You've hit your limit", type="error", **AGENT))
    assert teller.tell(record("system", "You've hit your limit", type="result", isError=True, **AGENT)) == []


def test_an_agent_that_repeats_its_user_is_not_shown_twice(teller):
    assert teller.tell(record("text", "go on", type="text", role="user", **AGENT)) == []
    assert words(teller.tell(record("text", "go on", role="user", sessionId="s-1"))) == "go on"
