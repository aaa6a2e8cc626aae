"""Agents that run and sessions they left become one list, in which nobody is twice."""

from hub.domain.detection.detected import KeptSession, account_label, combine, meant_by
from hub.domain.detection.intel import Gap, SessionIntel, StoreHit
from hub.domain.detection.matching import Confidence
from hub.errors import Code
from tests.hub.domain.detection.test_matching import lineup, one
from tests.refusals import refuses


def kept(session_id, *, provider="codex", cwd="/w", root="/h/sessions", at=2000.0, **intel):
    hit = StoreHit(provider=provider, path=f"{root}/{session_id}", cwd=cwd, root=root, mtime_ns=int(at * 1e9))
    return KeptSession(hit, SessionIntel(session_id=session_id, **intel))


def label(_provider, folder):
    return folder


def test_an_agent_and_its_session_are_one():
    [found] = combine(lineup(one(10, home="/h")), [kept("s-1", initial_prompt="Do it.")], label)
    assert (found.id, found.prompt, found.pids, found.work_dir) == ("codex:s-1", "Do it.", (10,), "/w")
    assert (found.account, found.hubs, found.last_active) == ("/h", False, 2000.0)
    assert found.choice.confidence is Confidence.LIKELY


def test_an_agent_without_a_session_is_named_by_its_process():
    [found] = combine(lineup(one(10, cwd="")), [], label)
    assert (found.id, found.kept, found.prompt) == ("codex:pid:10", None, "")
    assert (found.work_dir, found.last_active) == ("", 1000)


def test_a_session_whose_transcript_is_not_there_yet_has_its_id():
    """Claude's registry names the session before the first line is written."""
    [found] = combine(lineup(one(10, session_id="s-1")), [], label)
    assert (found.id, found.kept, found.choice.confidence) == ("codex:s-1", None, Confidence.EXACT)


def test_a_store_that_was_not_searched_to_its_end_is_told_last_and_once():
    gap = Gap("codex", "/h/sessions", "/h/sessions took too long to search.")
    *_, found = combine(lineup(one(10)), [kept("s-1", at=1.0)], label, [gap, gap])
    assert (found.gap, found.account, found.last_active) == (gap, "/h/sessions", 0)
    assert (found.work_dir, found.pids, found.kept) == ("", (), None)
    assert found.id.startswith("codex:skipped:")
    assert "/" not in found.id


def test_a_session_that_nobody_works_on_is_told_as_left():
    [found] = combine([], [kept("s-1", cwd="/v")], label)
    assert (found.agent, found.pids, found.work_dir, found.account) == (None, (), "/v", "/h/sessions")
    assert found.choice.confidence is Confidence.EXACT


def test_an_ambiguous_session_names_who_may_be_at_it():
    found = combine(lineup(one(10)), [kept("a"), kept("b", at=3000.0)], label)
    agent, newer, older = found
    assert (agent.id, agent.choice.candidates, agent.kept) == ("codex:pid:10", ("b", "a"), None)
    assert [(item.id, item.choice.confidence) for item in (newer, older)] == [
        ("codex:b", Confidence.AMBIGUOUS),
        ("codex:a", Confidence.AMBIGUOUS),
    ]
    assert newer.contenders == older.contenders == (agent.agent,)


def test_who_works_for_an_agent_is_told_with_it():
    """Two screens of Codex share one daemon: each has its own folder and session, and the daemon's work is theirs."""
    daemon = one(11, 10, server=True, held=("s", "t", "u", "gone"), session_id="u", cwd="/first")
    running = lineup(one(10, cwd="/v"), daemon, one(20))
    sessions = [kept("s", at_work=True), kept("t", cwd="/v", at_work=True), kept("u", cwd="/x")]
    found = {item.id: item for item in combine(running, sessions, label)}
    assert [(name, item.pids, item.work_dir) for name, item in sorted(found.items())] == [
        ("codex:s", (20, 11), "/w"),
        ("codex:t", (10, 11), "/v"),
        ("codex:u", (), "/x"),
    ]
    assert (found["codex:s"].also, found["codex:t"].also, found["codex:u"].also) == (("t",), ("s",), ())


def test_what_a_server_goes_on_with_alone_runs_where_its_session_does():
    """The screen was left with "run in background"; what the server only holds open is over."""
    running = lineup(one(11, server=True, held=("s", "t"), cwd="/first"))
    first, second = combine(running, [kept("s", at_work=True), kept("t")], label)
    assert (first.id, first.pids, first.work_dir, first.also) == ("codex:s", (11,), "/w", ())
    assert first.choice.confidence is Confidence.EXACT
    assert (second.id, second.agent, second.pids) == ("codex:t", None, ())


def test_an_agent_that_has_answered_waits_without_its_server():
    """Ending the agent is enough then, and what the server works on for others goes on."""
    running = lineup(one(10), one(11, server=True, held=("s", "t")))
    sessions = [kept("s"), kept("t", cwd="/v", at_work=True), kept("t", provider="pi", at_work=True)]
    first, second, _ = combine(running, sessions, label)
    assert {first.id: first.pids, second.id: second.pids} == {"codex:s": (10,), "codex:t": (11,)}


def test_an_agent_that_waits_on_a_server_would_end_with_it():
    """Bug: `hub adopt --stop` of one screen ended the daemon that a second one, which waited for its user, hung on."""
    running = lineup(one(10, cwd="/v"), one(11, 10, server=True, held=("s", "t", "u")), one(20))
    sessions = [kept("s", at_work=True), kept("t", cwd="/v"), kept("u", cwd="/x"), kept("t", provider="pi")]
    found = {item.id: item for item in combine(running, sessions, label)}
    assert (found["codex:s"].pids, found["codex:t"].pids) == ((20, 11), (10,))
    assert (found["codex:s"].also, found["codex:t"].also) == (("t",), ())


def test_an_agent_is_meant_by_its_id_or_the_beginning_of_it():
    """As every other command takes an id."""
    found = combine([], [kept("s-1"), kept("s-12"), kept("t-1", provider="pi")], label, [Gap("pi", "/h", "")])
    given = ("codex:s-1", "codex:s-12", "s-12", "pi:t", "t", "pi")
    assert [meant_by(one, found).id for one in given] == [
        "codex:s-1",
        "codex:s-12",
        "codex:s-12",
        *["pi:t-1"] * 3,
    ]
    with refuses(Code.WHICH_SESSION, "codex:s-1, codex:s-12"):
        meant_by("s-1", found)
    for nobody in ("", "u", "pi:skipped", "codex:s-12/"):
        with refuses(Code.NOT_FOUND):
            meant_by(nobody, found)


def test_the_session_of_a_subagent_is_part_of_its_agents():
    """Codex's subagents have rollouts of their own, which the same process holds open; each could be adopted as left."""
    sessions = [kept("s"), kept("p", part_of="s", at_work=True), kept("q", part_of="left"), kept("left")]
    first, second = combine(lineup(one(10, session_id="p")), sessions, label)
    assert (first.id, first.pids, first.choice.confidence) == ("codex:s", (10,), Confidence.EXACT)
    assert first.kept.intel.at_work, "while its subagent is"
    assert (second.id, second.agent) == ("codex:left", None)
    assert [[part.session_id for part in item.parts] for item in (first, second)] == [["p"], ["q"]]


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
