"""Agents that run and sessions they left become one list, in which nobody is twice."""

from __future__ import annotations

from hub.domain.detection.detected import Gap, Kept, account_label, combine
from hub.domain.detection.intel import SessionIntel, StoreHit, Turn
from hub.domain.detection.lineup import Confidence
from tests.hub.domain.detection.test_lineup import lineup, one


def kept(session_id, *, provider="codex", cwd="/w", root="/h/sessions", at=2000.0, **intel):
    hit = StoreHit(provider=provider, path=f"{root}/{session_id}", cwd=cwd, root=root, mtime_ns=int(at * 1e9))
    return Kept(hit, SessionIntel(session_id=session_id, **intel))


def label(_provider, folder):
    return folder


def test_an_agent_and_its_session_are_one():
    intel = {
        "initial_prompt": "Do it.",
        "model": "m",
        "recent_turns": (Turn("user", "Do it."),),
        "tokens_in": 3,
    }
    [found] = combine(lineup(one(10, home="/h")), [kept("s-1", **intel)], label)
    told = found.to_json("Codex")
    assert (told["id"], found.prompt) == ("codex:s-1", "Do it.")
    assert (told["pid"], told["pids"], told["running"], told["workDir"]) == (10, [10], True, "/w")
    assert (told["detectedVia"], told["confidence"]) == (["process", "transcript"], "likely")
    assert (told["account"], told["owner"], told["lastActive"]) == ("/h", "user", 2000)
    assert told["session"]["recentTurns"] == [{"role": "user", "text": "Do it."}]
    assert told["session"]["tokensIn"] == 3


def test_an_agent_without_a_session_is_named_by_its_process():
    [found] = combine(lineup(one(10, cwd="")), [], label)
    told = found.to_json("Codex")
    assert (told["id"], told["session"], told["detectedVia"]) == ("codex:pid:10", None, ["process"])
    assert found.prompt == ""
    assert (told["workDir"], told["lastActive"]) == ("", 1000)


def test_a_session_whose_transcript_is_not_there_yet_has_its_id():
    """Claude's registry names the session before the first line is written."""
    [found] = combine(lineup(one(10, session_id="s-1")), [], label)
    assert (found.id, found.kept, found.choice.confidence) == ("codex:s-1", None, Confidence.EXACT)


def test_a_store_that_was_not_searched_to_its_end_is_told_last_and_once():
    gap = Gap("codex", "/h/sessions", "/h/sessions took too long to search.")
    *_, found = combine(lineup(one(10)), [kept("s-1", at=1.0)], label, [gap, gap])
    told = found.to_json("Codex")
    assert (told["alarm"], told["account"], told["lastActive"]) == (gap.why, "/h/sessions", 0)
    assert (told["workDir"], told["pids"], told["detectedVia"], told["session"]) == ("", [], [], None)
    assert told["id"].startswith("codex:skipped:")
    assert "/" not in told["id"]


def test_a_session_that_nobody_works_on_is_told_as_left():
    [found] = combine([], [kept("s-1", cwd="/v")], label)
    told = found.to_json("Codex")
    assert (told["running"], told["pid"], told["workDir"], told["account"]) == (False, 0, "/v", "/h/sessions")
    assert (told["detectedVia"], told["confidence"]) == (["transcript"], "exact")


def test_an_ambiguous_session_names_who_may_be_at_it():
    found = combine(lineup(one(10)), [kept("a"), kept("b", at=3000.0)], label)
    agent, newer, older = found
    assert (agent.id, agent.choice.candidates, agent.kept) == ("codex:pid:10", ("b", "a"), None)
    assert [(item.id, item.choice.confidence) for item in (newer, older)] == [
        ("codex:b", Confidence.AMBIGUOUS),
        ("codex:a", Confidence.AMBIGUOUS),
    ]
    assert newer.contenders == older.contenders == (agent.agent,)


def test_what_hub_runs_itself_is_told_as_hubs():
    running = combine(lineup(one(10, run_id="d-1")), [], label)
    left = combine([], [kept("s", cwd="/p/.hub/worktrees/s-1"), kept("t", cwd="/p")], label)
    assert [item.hubs for item in (*running, *left)] == [True, True, False]


def test_one_session_in_two_files_is_told_once_by_the_newer():
    """A session that was moved to an archive, or resumed into another file."""
    [found] = combine([], [kept("s", at=3000.0, cwd="/new"), kept("s", cwd="/old")], label)
    assert found.work_dir == "/new"


def test_a_file_without_any_id_is_no_session():
    assert combine([], [kept("")], label) == ()


def test_an_account_is_named_by_the_home_the_folder_lies_in():
    homes = [("/h", "default"), ("/h/work", "work"), ("", "nowhere")]
    assert account_label(homes, "/h/work/sessions") == "work"
    assert account_label(homes, "/h/projects") == "default"
    assert account_label(homes, "/other") == "/other"
    assert account_label([], "") == ""
