"""Session intel: what is said again counts once, every record is accounted for, a drifted format alarms."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.detection.intel import Accounting, StoredTurn, StoreHit, drift
from hub.domain.detection.intel_fold import MAX_ITEMS, IntelDraft, mcp_of

HIT = StoreHit(provider="p", path="/s/1.jsonl", session_id="s-1", cwd="/repo")


def test_an_empty_draft_is_what_the_hit_tells():
    intel = IntelDraft().finish(HIT)
    assert (intel.session_id, intel.cwd, intel.message_count, intel.alarm) == ("s-1", "/repo", 0, "")
    assert intel.tokens_exact


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text()), max_size=60))
def test_the_recent_turns_are_the_last_sixteen_oldest_first(said):
    """The specification: a verbatim tail, the last 16 turns, oldest first."""
    draft = IntelDraft()
    for role, text in said:
        draft.said(role, text)
    spoken = [StoredTurn(role, text) for role, text in said if text.strip()]
    intel = draft.finish(HIT)
    assert list(intel.recent_turns) == spoken[-16:]
    assert intel.message_count == len(spoken)
    assert intel.initial_prompt == next((turn.text for turn in spoken if turn.role == "user"), "")


def test_a_message_in_several_records_is_one_turn():
    draft = IntelDraft()
    draft.said("assistant", "First.", key="m1", join=True)
    draft.said("assistant", "Second.", key="m1", join=True)
    draft.said("assistant", "Second.", key="m1", join=True)
    assert draft.finish(HIT).recent_turns == (StoredTurn("assistant", "First.\n\nSecond."),)
    assert draft.finish(HIT).message_count == 1


def test_a_message_written_again_replaces_its_words():
    draft = IntelDraft()
    draft.said("user", "Go", key="a")
    draft.said("assistant", "Draft", key="b")
    draft.said("assistant", "Final", key="b")
    assert draft.finish(HIT).recent_turns == (StoredTurn("user", "Go"), StoredTurn("assistant", "Final"))
    assert draft.prompt == "Go"


def test_a_message_written_again_after_its_turn_is_no_more_recent_counts_once():
    draft = IntelDraft()
    for number in range(20):
        draft.said("assistant", f"{number}", key=f"{number}")
    draft.said("assistant", "again", key="0")
    assert draft.finish(HIT).message_count == 20
    assert draft.finish(HIT).recent_turns[-1].text == "19"


def test_a_rewound_history_leaves_no_recent_turns():
    draft = IntelDraft()
    draft.said("user", "Go")
    draft.forget_turns()
    assert draft.finish(HIT).recent_turns == ()
    assert draft.finish(HIT).initial_prompt == "Go"


def test_usage_counts_once_a_request_and_a_total_counts_more():
    """Claude repeats one usage in each record of a message."""
    draft = IntelDraft()
    for _ in range(3):
        draft.used("m1:r1", 100, 10)
    draft.used("", 1, 1)
    draft.used("", 1, 1)
    assert (draft.finish(HIT).tokens_in, draft.finish(HIT).tokens_out) == (102, 12)
    draft.skipped(10)
    assert not draft.finish(HIT).tokens_exact
    draft.total(7, 8)
    assert (draft.finish(HIT).tokens_in, draft.finish(HIT).tokens_out) == (7, 8)
    assert draft.finish(HIT).tokens_exact


def test_the_plan_is_the_newest_and_what_is_done_does_not_remain():
    draft = IntelDraft()
    draft.planned([("old", "pending")])
    draft.planned([("write", "completed"), ("check", "in_progress"), ("tell", "pending"), (" ", "pending")])
    intel = draft.finish(HIT)
    assert intel.plan == ("write", "check", "tell")
    assert intel.tasks_remaining == ("check", "tell")


def test_tasks_by_number_change_their_state_and_keep_their_words():
    draft = IntelDraft()
    draft.task("1", "write", "pending")
    draft.task("2", "check", "pending")
    draft.task("3", "tell", "pending")
    draft.task("1", "", "Completed")
    draft.task("3", "", "deleted")
    draft.task("4", "", "pending")
    assert draft.finish(HIT).plan == ("write", "check")
    assert draft.finish(HIT).tasks_remaining == ("check",)


def test_files_are_named_below_the_sessions_folder_once():
    """Codex names the same file relative in the patch and absolute in the event."""
    draft = IntelDraft()
    for path in ("a.py", "/repo/a.py", "./a.py", "/etc/hosts", ""):
        draft.touched(path)
    assert draft.finish(HIT).files_touched == ("a.py", "/etc/hosts")
    assert draft.finish(StoreHit(provider="p", path="/x")).files_touched == (
        "a.py",
        "/repo/a.py",
        "/etc/hosts",
    )


def test_lists_are_bounded():
    draft = IntelDraft()
    for number in range(MAX_ITEMS + 5):
        draft.touched(f"{number}")
        draft.task(f"{number}", f"{number}", "pending")
    draft.skill("s")
    draft.mcp("m")
    intel = draft.finish(HIT)
    assert len(intel.files_touched) == len(intel.plan) == MAX_ITEMS
    assert (intel.skills, intel.mcps) == (("s",), ("m",))


def test_a_record_with_something_strange_in_it_is_unknown_as_that():
    draft = IntelDraft()
    draft.took()
    draft.took("block/dream")
    account = draft.finish(StoreHit(provider="x", path="/x")).accounting
    assert (account.parsed, account.unknown, account.unknown_kinds) == (1, 1, ("block/dream",))


def test_every_record_is_accounted_for():
    draft = IntelDraft()
    draft.took()
    draft.ignored()
    draft.repeated()
    draft.damaged()
    for number in range(20):
        draft.unknown(f"kind\x1b{number}")
    draft.unknown("\x00")
    draft.skipped(5)
    account = draft.finish(HIT).accounting
    assert account.records == 25
    assert account.skipped_bytes == 5
    assert len(account.unknown_kinds) == 8
    assert account.unknown_kinds[0] == "kind0"


def test_a_kind_without_a_name_has_a_mark():
    draft = IntelDraft()
    draft.unknown("")
    assert draft.finish(HIT).accounting.unknown_kinds == ("?",)


@pytest.mark.parametrize(
    ("account", "said", "alarm"),
    [
        (Accounting(), False, False),
        (Accounting(parsed=10), True, False),
        (Accounting(parsed=1), False, False),
        (Accounting(ignored=4), False, True),
        (Accounting(parsed=10, damaged=1), True, False),
        (Accounting(parsed=10, unknown=2), True, False),
        (Accounting(parsed=10, unknown=3), True, True),
        (Accounting(parsed=100, unknown=3), True, False),
        (Accounting(parsed=2, damaged=3), True, True),
        (Accounting(parsed=10, unknown=1), False, True),
        (Accounting(parsed=1, ignored=2), False, False),
    ],
)
def test_a_drifted_format_alarms_instead_of_an_empty_session(account, said, alarm):
    assert bool(drift(account, said=said)) is alarm


def test_the_alarm_names_the_kinds_nobody_knows():
    assert "(turn.v2)" in drift(Accounting(parsed=1, unknown=9, unknown_kinds=("turn.v2",)), said=True)


@pytest.mark.parametrize(
    ("tool", "server"), [("mcp__git__log", "git"), ("Write", ""), ("mcp__x", ""), ("a__b__c", "")]
)
def test_a_tools_name_tells_its_server(tool, server):
    assert mcp_of(tool) == server


def test_a_plan_counts_once_its_call_has_ended_well():
    """The tool may be switched off or refuse what it was given: then the list is as it was."""
    draft = IntelDraft()
    draft.planned([("a", "pending")])
    for key in ("fails", "exits", "stays open", "well", *map(str, range(MAX_ITEMS))):
        draft.plans(key, [(key, "pending")])
    draft.ended("fails", "disabled for this session", failed=True)
    draft.ended("exits", exit_code=1)
    draft.ended(str(MAX_ITEMS - 1))  # one call too many to wait for
    assert draft.finish(HIT).plan == ("a",)
    draft.ended("well")
    assert draft.finish(HIT).plan == ("well",)


def test_files_count_once_their_call_has_ended_well():
    """A call that failed has changed nothing, whoever says so; and calls that never end take no room for ever."""
    draft = IntelDraft()
    for key in ("well", "failed", "status", "open"):
        draft.touches(key, [f"{key}.py"])
    draft.touches("well", ["more.py"])
    draft.ended("well", exit_code=0)
    draft.ended("failed", failed=True)
    draft.ended("status", exit_code=1)
    draft.settled("nobody's", well=True)
    for number in range(2 * MAX_ITEMS):
        draft.touches(str(number), ["x.py"])
    draft.touches("open", ["open.py"])
    draft.settled("open", well=True)
    draft.settled(str(2 * MAX_ITEMS - 1), well=True)
    assert draft.finish(HIT).files_touched == ("well.py", "more.py", "open.py")


def test_a_transcript_that_tells_no_calls_end_has_none_to_wait_for():
    """Not every program that writes a format writes its results down, and a session may be left at its first calls."""
    draft = IntelDraft()
    draft.plans("p", [("a", "completed"), ("b", "pending")])
    draft.touches("f", ["a.py"])
    assert not draft.finish(HIT).files_touched  # the user may be asked about it at this moment
    draft.said("assistant", "Done.")
    intel = draft.finish(HIT)
    assert (intel.plan, intel.tasks_remaining, intel.files_touched) == (("a", "b"), ("b",), ("a.py",))
    draft.plans("q", [("c", "pending")])
    draft.touches("g", ["b.py"])
    draft.ended("f")
    assert draft.finish(HIT).files_touched == ("a.py",)
    assert draft.finish(HIT).plan == ("a", "b")


def test_a_call_that_its_user_broke_off_has_changed_nothing():
    """Bug: "no, stop!" was words after the call, as an agent's own are, and its file counted as written."""
    draft = IntelDraft()
    draft.touches("f", ["a.py"])
    draft.said("user", "no, stop!")
    draft.said("assistant", "I have stopped.")
    assert not draft.finish(HIT).files_touched
    draft.touches("g", ["b.py"])
    draft.said("assistant", "Done.")
    assert draft.finish(HIT).files_touched == ("b.py",)


def test_what_was_said_run_and_planned_is_an_intent():
    """An adopted session is told like one of hub's own: one reading of prose and of calls."""
    draft = IntelDraft()
    draft.said("user", "Fix it. Do not touch b.py.")
    draft.planned([("Look", "completed"), ("Mend", "pending")])
    draft.said("assistant", "Decision: mend a.py.\nNext: run the check.")
    draft.planned([("Look", "completed"), ("Mend", "pending")])
    draft.began("1", "shell", command="make test")
    draft.ended("1", "no rule", exit_code=2, failed=True)
    draft.began("2", "write", path="a.py")
    draft.ended("2", "cannot", failed=True)
    draft.ended("3", "nobody called")
    intent = draft.finish(HIT).intent
    assert [said.text for said in intent.constraints] == ["Do not touch b.py."]
    assert [said.text for said in intent.decisions] == ["mend a.py."]
    assert [done.text for done in intent.do_not_redo] == ["Look"]
    assert [(ran.command, ran.exit_code) for ran in intent.commands] == [("make test", 2)]
    assert [failed.text for failed in intent.failed_attempts] == [
        "make test ended with exit status 2: no rule",
        "write a.py ended with an error: cannot",
    ]
    assert intent.next_action.text == "run the check.", "a plan that is only told again is no newer"


def test_a_list_of_sessions_lifts_no_intent_and_tells_the_same_otherwise():
    """It takes twice the time of all the rest, and no list shows it."""

    def told(*, lifts):
        draft = IntelDraft()
        draft.lifts = lifts
        draft.said("user", "Write a.py")
        draft.planned([("write it", "pending")])
        draft.began("t-1", "Write", path="a.py")
        draft.ended("t-1")
        draft.took()
        return draft.finish(HIT)

    whole, listed = told(lifts=True), told(lifts=False)
    assert whole.intent is not None
    assert attrs.evolve(whole, intent=None) == listed


def test_a_command_changes_the_files_its_output_goes_to_and_no_others():
    draft = IntelDraft()
    for key, command in (("1", "echo a > a.txt"), ("2", "make 2>&1"), ("3", "make")):
        draft.began(key, "shell", command=command)
        draft.ended(key)
    assert draft.finish(HIT).files_touched == ("a.txt",)


def test_how_calls_ended_is_told_by_their_ids():
    """What an agent's stream leaves out is found again by them."""
    draft = IntelDraft()
    draft.began("a", "sh", command="make")
    draft.ended("a", "boom" * 1000, exit_code=2)
    draft.plans("b", [(" x ", "Completed"), ("y", "in_progress"), (" ", "pending")])
    draft.ended("b", "ok")
    draft.plans("c", [("z", "pending")])
    draft.ended("c", "no", failed=True)
    ends = draft.finish(HIT).ends
    assert [(end.key, end.exit_code, end.plan) for end in ends] == [
        ("a", 2, None),
        ("b", None, (("x", True), ("y", False))),
        ("c", None, None),
    ]
    assert len(ends[0].text) == 2000


def test_of_too_many_calls_the_newest_are_told():
    draft = IntelDraft()
    for number in range(MAX_ITEMS + 1):
        draft.ended(f"{number}")
    assert [end.key for end in draft.finish(HIT).ends][:: MAX_ITEMS - 1] == ["1", f"{MAX_ITEMS}"]
