"""The routes over a whole daemon: each answers with what the API promises, from the real actors."""

import pytest
import trio

from hub.errors import Code
from tests.faults.harness import git
from tests.hub.actors.daemon import daemon_of
from tests.hub.web.wire import ask
from tests.refusals import refusal


@pytest.fixture
def made(made):
    made.script("demo-first", {"write": {"path": "a.txt", "text": "one\n"}}, {"limit": {"resetsIn": 3600}})
    made.script(
        "demo-second", {"write": {"path": "b.txt", "text": "two\n"}}, {"ask": "go on?"}, {"done": "ok"}
    )
    made.configure()
    return made


RUN = {"task": "write the files", "verify": ["test -f b.txt"]}


async def test_a_whole_session_over_the_api(made, monkeypatch):
    async with daemon_of(made, monkeypatch) as live:
        await refusal(live.get("/api/session/diff"), Code.NO_ACTIVE_SESSION)
        await refusal(live.get("/api/contract"), Code.NOT_FOUND)
        begun = await live.post("/api/run", RUN)
        await refusal(live.post("/api/run", RUN), Code.SESSION_ALREADY_RUNNING)
        await live.until(lambda s: s["needsInput"], "the second agent asks")
        await live.post("/api/session/reply", {"reply": "yes"})
        ended = await live.until_ended()
        assert (ended["sessionState"], ended["verified"]) == ("completed", True)
        diff = await live.get("/api/session/diff")
        assert "a.txt" in diff["summary"]
        assert "+two" in diff["diff"]
        contract = await live.get("/api/contract")
        assert (contract["sessionId"], contract["version"]) == (begun["sessionId"], 2)
        served = await ask(made.port, "GET", "/api/contract")
        assert served.body == (made.hub / "envelope.json").read_bytes(), "whoever has the key can check it"
        assert [b["name"] for b in await live.get("/api/circuit") if b["state"] == "open"] == [
            "demo-first/default"
        ]
        assert (await live.get("/api/system/tree"))["name"] == "root"
        assert (await live.get("/api/audit/head"))["seq"] > 0


async def test_the_history_is_the_newest_of_the_audit_log(made, monkeypatch):
    """`limit` counts from the end; what is left is oldest first, without a gap."""
    async with daemon_of(made, monkeypatch) as live:
        await live.post("/api/run", RUN)
        await live.until(lambda s: s["needsInput"], "the second agent asks")
        await live.post("/api/session/stop")
        full = await live.get("/api/history", {"limit": 10_000})
        assert [entry["seq"] for entry in full] == list(range(len(full)))
        assert [entry["event"] for entry in full][:2] == ["daemon_started", "session_started"]
        for limit in (1, 3, len(full), len(full) + 5):
            assert await live.get("/api/history", {"limit": limit}) == full[-limit:]
        session = next(entry["sessionId"] for entry in full if entry["event"] == "session_started")
        mine = [entry for entry in full if entry["sessionId"] == session]
        assert await live.get("/api/history", {"sessionId": session[:-2], "event": "handoff"}) == [
            entry for entry in mine if entry["event"] == "handoff"
        ]
        assert await live.get("/api/history", {"sessionId": session, "limit": 10_000}) == mine
        moves = [entry["summary"] for entry in full if entry["event"] == "handoff"]
        assert [move.partition(",")[0] for move in moves] == [
            "RUNNING -> PAUSING",
            "PAUSING -> SNAPSHOTTED",
            "SNAPSHOTTED -> ENVELOPE_BUILT",
            "ENVELOPE_BUILT -> DISPATCHED",
            "DISPATCHED -> RESUMING",
            "RESUMING -> RUNNING",
        ]


async def views_of(live):
    """Every view of a session that reads git or files."""
    assert await live.get("/api/history/commits") == []
    await refusal(live.get("/api/contract"), Code.NOT_FOUND)
    assert (await live.get("/api/session/cost"))["tokensIn"] == 0
    assert (await live.get("/api/history", {"limit": 1}))[0]["seq"] > 0
    return await live.get("/api/session/diff")


async def test_a_session_without_its_branch_yet_has_no_work(made, monkeypatch):
    """Found by orders in any order: while the branch is being made, and after a stop meanwhile, it was called gone."""
    reached = trio.Event()

    async def slow(*_args, **_more):
        reached.set()
        await trio.sleep_forever()

    async with daemon_of(made, monkeypatch) as live:
        monkeypatch.setattr("hub.actors.session.commands.add_worktree", slow)
        await live.post("/api/run", RUN)
        await reached.wait()
        assert await views_of(live) == {"summary": "", "diff": "", "truncated": False}
        await live.post("/api/session/stop")
        assert (await live.status())["sessionState"] == "stopped"
        assert await views_of(live) == {"summary": "", "diff": "", "truncated": False}


async def test_a_session_that_could_not_begin_has_no_work(made, monkeypatch):
    """The user's branch `hub` leaves no room for `hub/<session>`: that is the failure, not that a branch is gone."""
    git(made.root, "branch", "hub")
    async with daemon_of(made, monkeypatch) as live:
        await live.post("/api/run", RUN)
        ended = await live.until_ended()
        assert (ended["sessionState"], ended["error"]["code"]) == ("failed", "git_failed")
        assert await views_of(live) == {"summary": "", "diff": "", "truncated": False}


async def test_a_branch_that_was_made_and_is_gone_is_told(made, monkeypatch):
    async with daemon_of(made, monkeypatch) as live:
        begun = await live.post("/api/run", RUN)
        await live.until(lambda s: s["needsInput"], "the second agent asks")
        await live.post("/api/session/stop")
        git(made.root, "update-ref", "-d", f"refs/heads/{begun['branch']}")
        await refusal(live.get("/api/session/diff"), Code.BRANCH_MISSING)


async def test_the_time_machine(made, monkeypatch):
    """Each snapshot is shown, its diff can be read, and a rewind makes a branch and moves nothing else."""
    async with daemon_of(made, monkeypatch) as live:
        await live.post("/api/run", RUN)
        await live.until(lambda s: s["needsInput"], "the second agent asks")
        await live.post("/api/session/stop")
        commits = await live.get("/api/history/commits")
        assert len(commits) == 2
        by_file = {
            name: c["sha"]
            for c in commits
            for name in ("a.txt", "b.txt")
            if name in (await live.get("/api/history/diff", {"sha": c["sha"]}))["diff"]
        }
        assert set(by_file) == {"a.txt", "b.txt"}
        before = git(made.root, "rev-parse", "main", "HEAD")
        made_branch = await live.post("/api/history/rewind", {"sha": by_file["a.txt"]})
        assert git(made.root, "rev-parse", made_branch["branch"]) == by_file["a.txt"]
        assert git(made.root, "rev-parse", "main", "HEAD") == before
        again = await live.post("/api/history/rewind", {"sha": by_file["a.txt"][:12]})
        assert again["sha"] == by_file["a.txt"], "however short it was asked for"
        assert (await live.get("/api/history", {"limit": 1}))[0]["event"] == "rewind"
        await refusal(live.get("/api/history/diff", {"sha": "0" * 40}), Code.NOT_FOUND)


async def test_a_subscription_ends_with_its_block(made, monkeypatch):
    async with daemon_of(made, monkeypatch) as live:
        async with live.daemon.app.context().subscribe(0) as view:
            await live.post("/api/run", RUN)
            got = []
            with trio.fail_after(20):
                while not any("go on?" in r.msg for r in got):
                    got += await view.channel.receive()
        assert [r.id for r in got] == list(range(1, len(got) + 1))
        assert await live.get("/api/events", {"since": got[-3].id, "limit": 2}) == [
            r.to_json() for r in got[-2:]
        ]
        await live.post("/api/session/stop")


async def test_the_logs_take_the_beginning_of_an_id(made, monkeypatch):
    """As every route of a session; the whole id of one that is on record no more finds what the log still has."""
    async with daemon_of(made, monkeypatch) as live:
        session_id = (await live.post("/api/run", RUN))["sessionId"]
        await live.until(lambda s: s["needsInput"], "the second agent asks")
        of_it = await live.get("/api/events", {"sessionId": session_id})
        asked = {"sessionId": session_id[:6], "until": of_it[-1]["id"]}
        assert of_it == await live.get("/api/events", asked) != []
        some = await live.get("/api/graph/detail", {"sessionId": session_id[:6]})
        more = await live.get("/api/graph/detail", {"sessionId": session_id})  # the graph is still learning
        assert {node["id"] for node in some["nodes"]} <= {node["id"] for node in more["nodes"]}
        assert await live.get("/api/events", {"sessionId": "s-00000000-0000"}) == []
        await live.post("/api/session/stop")


async def test_every_read_answers_on_an_idle_daemon(made, monkeypatch):
    async with daemon_of(made, monkeypatch) as live:
        for path in (
            "status",
            "providers",
            "config/providers",
            "session/cost",
            "redactions",
            "circuit",
            "quota/wallet",
        ):
            assert await live.get(f"/api/{path}") is not None
        assert await live.get("/api/history/commits") == []
        await refusal(live.post("/api/handoff"), Code.NO_ACTIVE_SESSION)
        await refusal(live.post("/api/session/pause", {"pause": True}), Code.NO_ACTIVE_SESSION)
        await refusal(live.post("/api/session/reply", {"reply": "x"}), Code.NO_ACTIVE_SESSION)
        await refusal(live.post("/api/session/stop"), Code.NO_ACTIVE_SESSION)
