"""A whole daemon finds agents that it did not start, tells of each once, and is quiet when nothing changes."""

import json
import os
import threading
import time
from datetime import UTC, datetime

import pytest

from hub.actors.detector import actor
from hub.messages.quota import GetWallet
from tests.faults.harness import project
from tests.hub.actors.daemon import daemon_of
from tests.hub.io.agents import new_session, register, running, transcript
from tests.waiting import answered

PATIENCE = 20.0
SESSION = new_session()
OTHER = new_session()
SECRET = "sk-ant-api03-" + "a1B2c3D4" * 11 + "-AAAA"


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setattr(actor, "_FIRST_LOOK", 0.0)
    with project(tmp_path) as found:
        found.configure("[detect]\ninterval = 0.2\n")
        yield found


@pytest.fixture
def home(tmp_path):
    """Where the agents of this user keep their sessions."""
    return tmp_path / "home" / ".claude"


def daemon(made, monkeypatch, home, *, ambient=False):
    return daemon_of(made, monkeypatch, HOME=str(home.parent), HUB_AMBIENT=str(int(ambient)))


async def detected(live, hours=24):
    """What the API serves of this test's own agents; other tests may run some beside.

    A store has two seconds to be searched and a session to be read. A machine that stands still for longer makes one
    answer tell that instead (an alarm, no folder), and the next one the session.
    """

    async def answer():
        return await live.get("/api/detect", {"sinceHours": hours})

    found = await answered(answer, lambda found: "took too long" not in str(found))
    return [one for one in found if one["workDir"].startswith(str(live.made.root.parent))]


async def test_a_running_agent_is_told_with_all_that_its_store_knows(made, monkeypatch, home):
    with running(made.root.parent, cwd=made.root) as pid:
        register(home, pid, SESSION)
        transcript(home, SESSION, made.root, f"Use {SECRET} to write a.py")
        async with daemon(made, monkeypatch, home) as live:
            [found] = await detected(live)
    assert found["id"] == f"claude:{SESSION}"
    assert (found["pid"], found["pids"], found["running"], found["owner"]) == (pid, [pid], True, "user")
    assert (found["workDir"], found["account"], found["surface"]) == (
        str(made.root),
        "default",
        "command-line",
    )
    assert (found["detectedVia"], found["confidence"]) == (["process", "transcript"], "exact")
    assert found["adoptable"]
    assert time.time() - found["lastActive"] < 120
    session = found["session"]
    assert (session["sessionId"], session["model"]) == (SESSION, "claude-sonnet-5-5")
    assert session["filesTouched"][0].endswith("a.py")
    assert (session["tokensIn"], session["tokensOut"], session["messageCount"]) == (100, 20, 2)
    assert SECRET not in str(found)
    assert session["initialPrompt"].startswith("Use [REDACTED:")
    assert [turn["role"] for turn in session["recentTurns"]] == ["user", "assistant"]


async def test_the_window_leaves_out_what_is_old_but_never_what_runs(made, monkeypatch, home):
    old = transcript(home, SESSION, made.root, "Old.")
    os.utime(old, (time.time() - 7200,) * 2)
    transcript(home, OTHER, made.root / "elsewhere", "New.")
    async with daemon(made, monkeypatch, home) as live:
        assert [one["id"] for one in await detected(live, 1)] == [f"claude:{OTHER}"]
        assert {one["id"] for one in await detected(live, 3)} == {f"claude:{OTHER}", f"claude:{SESSION}"}
        with running(made.root.parent, cwd=made.root):
            found = await detected(live, 0)
            assert [(one["running"], one["session"]["sessionId"]) for one in found] == [(True, "")]


async def test_an_account_of_hubs_own_is_named_by_its_label(made, monkeypatch, home, tmp_path):
    work = tmp_path / "work-account"
    made.configure(f'[[providers.claude.accounts]]\nlabel = "work"\nconfigDir = "{work}"\n')
    transcript(work, SESSION, tmp_path, "Outside of the project.")
    async with daemon(made, monkeypatch, home) as live:
        [found] = await detected(live)
    assert (found["account"], found["running"], found["adoptable"]) == ("work", False, False)


async def test_a_new_agent_is_announced_once_and_what_it_leaves_is_no_news(made, monkeypatch, home):
    """With no client open; by the system event with what and where; also not again after a restart."""
    before = transcript(home, OTHER, made.root, "There before the daemon.")
    os.utime(before, (time.time() - 3600,) * 2)
    async with daemon(made, monkeypatch, home, ambient=True) as live:
        with running(made.root.parent, cwd=made.root) as pid:
            told = await live.until_event(f"Claude Code runs in {made.root} (pid {pid})")
            assert told.tag == "system"
            assert told.meta["detected"] == f"claude:pid:{pid}"
            assert (told.meta["workDir"], told.meta["running"]) == (str(made.root), True)
            register(home, pid, SESSION)
            transcript(home, new_session(), made.root, "By a process nobody saw")
            left = await live.until_event(f"Claude Code was in {made.root}: By a process nobody saw")
            assert left.meta["running"] is False
            assert [record.id for record in await announcements(live)] == [told.id, left.id]
    with running(made.root.parent, cwd=made.root) as pid:
        async with daemon(made, monkeypatch, home, ambient=True) as live:
            first = await live.until_event(f"(pid {pid})")
        async with daemon(made, monkeypatch, home, ambient=True) as live:
            with running(made.root.parent, cwd=made.root) as other:  # it has looked, once this is told
                await live.until_event(f"(pid {other})")
            transcript(home, new_session(), made.root / "sub", "The next one")
            await live.until_event("The next one")
            assert [r.id for r in await announcements(live) if f"(pid {pid})" in r.msg] == [first.id]


async def test_what_an_agent_is_asked_to_do_is_told_once_when_it_is_first_known(made, monkeypatch, home):
    """It is often started before it is asked anything; who watches wants to know what it does. Not again after a restart."""
    log = home / "projects" / "x" / f"{SESSION}.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(json.dumps({"type": "mode", "sessionId": SESSION, "cwd": str(made.root)}) + "\n")
    os.utime(log, (time.time() - 3600,) * 2)
    with running(made.root.parent, cwd=made.root) as pid:
        register(home, pid, SESSION)
        where = f"Claude Code runs in {made.root} (pid {pid})"
        async with daemon(made, monkeypatch, home, ambient=True) as live:
            first = await live.until_event(where)
            assert (first.msg, first.meta["prompt"], first.meta["absentAt"]) == (where, "", "")
            asked(log, "Write a.py")
            second = await live.until_event(f"{where}: Write a.py")
            assert (second.meta["prompt"], second.meta["nativeSession"]) == ("Write a.py", SESSION)
            assert second.meta["absentAt"] < second.meta["at"]
            asked(log, "And b.py")
            await another(live)
        async with daemon(made, monkeypatch, home, ambient=True) as live:
            await another(live)
            of_it = [record.id for record in await announcements(live) if f"(pid {pid})" in record.msg]
            assert of_it == [first.id, second.id]
            register(home, pid, OTHER)  # it was told to begin anew
            transcript(home, OTHER, made.root, "Write c.py")
            await live.until_event(f"{where}: Write c.py")


async def test_an_agent_that_was_asked_before_it_was_seen_is_told_of_once(made, monkeypatch, home):
    """Also when its next start goes on with the same session: that is another agent, and it runs."""
    async with daemon(made, monkeypatch, home, ambient=True) as live:
        for _ in range(2):
            transcript(home, SESSION, made.root, "Write a.py")
            with running(made.root.parent, cwd=made.root) as pid:
                await live.until_event(f"Claude Code runs in {made.root} (pid {pid}): Write a.py")
                await another(live)
                assert len([r for r in await announcements(live) if f"(pid {pid})" in r.msg]) == 1


async def test_a_session_that_one_of_several_agents_works_on_is_told_with_all_of_them(
    made, monkeypatch, home
):
    """Nobody can tell which of them was asked; that it `was` there would be wrong. Once one is left it is no news."""
    async with daemon(made, monkeypatch, home, ambient=True) as live:
        with running(made.root.parent, cwd=made.root) as one:
            with running(made.root.parent, cwd=made.root) as two:
                await live.until_event(f"(pid {two})")
                transcript(home, new_session(), made.root, "Write a.py")
                pids = f"{min(one, two)} or {max(one, two)}"
                told = await live.until_event(f"Claude Code runs in {made.root} (pid {pids}): Write a.py")
            await another(live)
            assert [r.id for r in await announcements(live) if "Write a.py" in r.msg] == [told.id]


def asked(log, prompt):
    """One more prompt of the session's."""
    record = {"type": "user", "uuid": prompt, "message": {"role": "user", "content": prompt}}
    with log.open("a") as file:
        file.write(json.dumps(record) + "\n")


async def another(live):
    """The daemon has looked again, once it has told of another agent."""
    elsewhere = live.made.root / "elsewhere"  # no place of the sessions that a test is about
    elsewhere.mkdir(exist_ok=True)
    with running(live.made.root.parent, cwd=elsewhere) as pid:
        await live.until_event(f"(pid {pid})")


async def test_what_a_client_was_shown_is_announced_all_the_same(made, monkeypatch, home):
    """Five real agents were asked for between two looks: nothing was new for the next one, and none was ever announced."""
    monkeypatch.setattr(actor.Scanner, "glance", lambda _: False)
    async with daemon(made, monkeypatch, home, ambient=True) as live:
        with running(made.root.parent, cwd=made.root) as pid:
            assert [one["pid"] for one in await detected(live)] == [pid]
            told = await live.until_event(f"Claude Code runs in {made.root} (pid {pid})")
            assert [record.id for record in await announcements(live)] == [told.id]


async def test_a_session_that_begins_before_the_first_look_is_news(made, monkeypatch, home):
    """The first look comes some seconds after the start: what was begun in between was taken for old, and never told."""
    begun, glance = threading.Event(), actor.Scanner.glance
    monkeypatch.setattr(actor.Scanner, "glance", lambda self: begun.wait(PATIENCE) and glance(self))
    before = transcript(home, OTHER, made.root, "There before the daemon.")
    os.utime(before, (time.time() - 3600,) * 2)
    async with daemon(made, monkeypatch, home, ambient=True) as live:
        transcript(home, SESSION, made.root, "Begun at once")
        begun.set()
        told = await live.until_event(f"Claude Code was in {made.root}: Begun at once")
        assert [record.id for record in await announcements(live)] == [told.id]


async def announcements(live):
    return [r for r in await live.events() if r.meta.get("workDir", "").startswith(str(live.made.root))]


async def test_what_hub_runs_itself_is_not_announced(made, monkeypatch, home):
    with running(made.root.parent, cwd=made.root, HUB_RUN_ID="d-1"):
        async with daemon(made, monkeypatch, home, ambient=True) as live:
            [found] = await detected(live)
            assert found["owner"] == "hub"
            with running(made.root.parent, cwd=made.root) as pid:
                told = await live.until_event(f"(pid {pid})")
            assert [r.id for r in await announcements(live)] == [told.id]


def spends(path, name, tokens):
    """One more answer of the session, now."""
    at = datetime.now(UTC).isoformat()
    usage = {"input_tokens": tokens, "output_tokens": 0}
    message = {"id": name, "role": "assistant", "model": "m", "content": [], "usage": usage}
    record = {"type": "assistant", "uuid": name, "requestId": name, "timestamp": at, "message": message}
    with path.open("a") as file:
        file.write(f"{json.dumps(record)}\n" * 2)


async def test_what_other_agents_spend_is_in_the_wallet_once_also_after_a_restart(made, monkeypatch, home):
    """Burn of foreign sessions feeds the wallet; hub's own sessions, known by their worktree, are in it already."""
    made.configure("[detect]\ninterval = 0.2\n[providers.claude]\ndeclaredCap = 10000\n")
    path = transcript(home, SESSION, made.root, "Write a.py")
    mine = transcript(home, OTHER, made.root / ".hub/worktrees/s-1", "Hub's own.")
    path.write_text(path.read_text().replace("2026-11-21T", "2026-01-02T"))  # another day's
    spends(path, "m-2", 300)
    spends(mine, "m-3", 5000)

    async def spent(live, tokens):
        async def entry():
            return next(row for row in await live.ask("quota", GetWallet()) if row.provider == "claude")

        found = await answered(entry, lambda row: row.tokens_elsewhere >= tokens)
        assert (found.tokens_today, found.tokens_elsewhere) == (tokens, tokens)
        assert (found.source, found.remaining) == ("declared", 10_000 - tokens)

    async with daemon(made, monkeypatch, home, ambient=True) as live:
        await spent(live, 300)
        spends(path, "m-4", 50)
        await spent(live, 350)
    spends(path, "m-5", 10)  # while no daemon runs
    async with daemon(made, monkeypatch, home, ambient=True) as live:
        await spent(live, 360)


async def test_what_works_on_another_project_is_no_news_here(made, monkeypatch, home):
    """Each project's log is about that project; `hub detect` still shows the whole machine."""
    (made.root.parent / "another").mkdir()
    async with daemon(made, monkeypatch, home, ambient=True) as live:
        with running(made.root.parent, cwd=made.root.parent / "another") as pid:
            await another(live)
            assert not any(f"(pid {pid})" in record.msg for record in await announcements(live))
            assert pid in [one["pid"] for one in await live.get("/api/detect")]


async def test_an_agent_in_a_worktree_of_hubs_is_no_news(made, monkeypatch, home):
    """Whoever opened it there: the session it belongs to has told of itself."""
    worktree = made.root / ".hub" / "worktrees" / "s-1"
    worktree.mkdir(parents=True)
    async with daemon(made, monkeypatch, home, ambient=True) as live:
        with running(made.root.parent, cwd=worktree) as pid:
            await another(live)
            assert not any(f"(pid {pid})" in record.msg for record in await announcements(live))
