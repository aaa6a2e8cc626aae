"""An agent is counted once, a subagent never, and a session is only claimed for it where nobody could mistake it."""

from hypothesis import given
from hypothesis import strategies as st

from hub.domain.detection.matching import Confidence, SessionCandidate, SessionMatch, agents, below, choose
from hub.domain.detection.processes import Process, ProcessEvidence, Recognised


def one(pid, parent=1, provider="codex", *, evidence=ProcessEvidence.EXECUTABLE, **more):
    began, cwd, run_id = more.pop("began", 1000.0), more.pop("cwd", "/w"), more.pop("run_id", "")
    process = Process(
        pid=pid,
        parent=parent,
        starttime=pid * 10,
        began=began,
        executable="x",
        argv=(),
        cwd=cwd,
        run_id=run_id,
    )
    return Recognised(process=process, provider=provider, evidence=evidence, **more)


def lineup(*found, parents=None):
    known = {item.process.pid: item.process.parent for item in found} | (parents or {})
    return agents(found, lambda pid: known.get(pid, 0))


def session(session_id, *, cwd="/w", home="/h", updated=2000.0):
    return SessionCandidate(session_id=session_id, cwd=cwd, home=home, updated=updated)


def test_a_launcher_and_its_child_are_one_agent():
    """npm's shim of Codex, Gemini's relaunch, Qwen's entry: the outermost counts, the child tells the session."""
    [found] = lineup(one(10), one(11, 10, evidence=ProcessEvidence.OPEN_FILE, session_id="s"), one(12, 11))
    assert found.pids == (10, 11, 12)
    assert found.key == (10, 100)
    assert found.best.session_id == "s"


def test_a_subagent_is_not_counted():
    """Claude runs `codex exec` in a shell; also where it starts it itself."""
    [through_shell] = lineup(one(10, provider="claude"), one(20, 15), parents={15: 10})
    [directly] = lineup(one(10, provider="claude"), one(20, 10))
    [own] = lineup(one(10), one(20, 15), parents={15: 10})
    assert (through_shell.pids, directly.pids, own.pids) == ((10,), (10,), (10,))


def test_helpers_and_what_they_start_are_not_counted():
    assert lineup(one(10, helper=True), one(11, 10)) == ()
    [found] = lineup(one(10), one(11, 10, helper=True))
    assert found.pids == (10,)


def test_what_hub_started_is_counted_although_hub_runs_below_an_agent():
    """A user may start hub from within an agent's shell; the subagents of hub's own agents stay uncounted."""
    found = lineup(
        one(10, provider="claude"),
        one(20, 15, run_id="d-1"),
        one(30, 25, run_id="d-1"),
        parents={15: 10, 25: 20},
    )
    assert [agent.pids for agent in found] == [(10,), (20,)]


def test_a_server_is_in_no_line_but_its_own_and_stands_for_what_it_holds():
    """Codex's screen starts the daemon that works for all its screens, and is outlived by it."""
    screen, server = one(10), one(11, 10, server=True, held=("s", "t"), session_id="t")
    first, second = lineup(screen, server, one(12, 11, server=True))
    assert (first.pids, first.serves, second.pids, second.serves) == ((10,), (), (11, 12), ("s", "t"))


def test_what_a_daemon_hosts_is_an_agent_of_its_own():
    """Claude's background sessions run below one daemon; each was told as that daemon, with its folder, and but one of them."""
    hosts = one(10, server=True), one(11, 10, server=True), one(12, 10, server=True)
    first, second = lineup(
        *hosts,
        one(21, 11, session_id="s", cwd="/v"),
        one(22, 12, session_id="t"),
        one(23, 10, server=True),
    )
    assert [(agent.pids, agent.best.session_id) for agent in (first, second)] == [((21,), "s"), ((22,), "t")]
    assert [agent.hosted for agent in (first, second, *lineup(one(30)))] == [True, True, False]


def test_a_server_that_holds_nothing_is_nobody():
    """Nor is what keeps it up to date."""
    [found] = lineup(one(10), one(11, 10, server=True), one(20, server=True))
    assert (found.pids, found.serves) == ((10,), ())


def test_a_line_of_parents_that_never_ends_is_left():
    """Numbers are reused while we look: a circle must not hang."""
    [found] = lineup(one(10, 20), parents={20: 21, 21: 20})
    assert found.pids == (10,)


@given(st.permutations([one(10), one(11, 10), one(12, 11), one(20), one(30, 20, helper=True)]))
def test_the_order_in_which_processes_are_seen_changes_nothing(found):
    assert [agent.pids for agent in lineup(*found)] == [(10, 11, 12), (20,)]


def chosen(running, *sessions):
    found = choose(running, {"codex": sessions})
    return [found[agent.key] for agent in running]


def test_a_session_that_is_told_is_exact():
    assert chosen(lineup(one(10, session_id="s-1")), session("s-2")) == [
        SessionMatch("s-1", Confidence.EXACT)
    ]


def test_the_only_one_that_fits_is_likely():
    running = lineup(one(10, home="/h"))
    others = (
        session("old", updated=990.0),
        session("elsewhere", cwd="/v"),
        session("another-account", home="/other"),
    )
    assert chosen(running, session("s", home="/h/sessions"), *others) == [
        SessionMatch("s", Confidence.LIKELY)
    ]
    assert chosen(running, *others) == [SessionMatch("", Confidence.NONE)]


def test_several_that_fit_are_candidates_and_none_is_claimed():
    running = lineup(one(10))
    found = chosen(running, session("a", updated=2000.0), session("b", updated=3000.0))
    assert found == [SessionMatch("", Confidence.AMBIGUOUS, ("b", "a"))]


def test_two_agents_for_one_session_are_told_as_such():
    running = lineup(one(10), one(20))
    assert chosen(running, session("a")) == [SessionMatch("", Confidence.AMBIGUOUS, ("a",))] * 2


def test_a_session_that_is_somebodys_is_nobody_elses():
    running = lineup(one(10, session_id="a"), one(20))
    assert chosen(running, session("a"), session("b")) == [
        SessionMatch("a", Confidence.EXACT),
        SessionMatch("b", Confidence.LIKELY),
    ]


def test_other_agents_sessions_do_not_matter():
    running = lineup(one(10, provider="claude"))
    assert choose(running, {"codex": [session("a")]})[running[0].key].confidence is Confidence.NONE


def test_a_folder_is_below_itself_and_where_none_is_known():
    assert below("/a", "/a")
    assert below("/a/b", "/a/")
    assert not below("/ab", "/a")
    assert below("/a", "")
