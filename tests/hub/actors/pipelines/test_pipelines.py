"""Pipelines on a whole daemon: real sessions, real git, scripted agents as real processes."""

import contextlib
import json

import pytest
import trio

from hub.actors.common.calls import call_or_none, call_until_answered
from hub.actors.pipelines.answers import run_status
from hub.actors.pipelines.conductor import Conductor
from hub.actors.pipelines.store import PipelineRunStore
from hub.api.convert import unstructure
from hub.api.tables import read_pipelines
from hub.domain.failure import ErrorNote
from hub.domain.pipeline.run import begin
from hub.domain.pipeline.state import NodeState
from hub.errors import Code
from hub.io import failpoints
from hub.io.git.merge import merge_bases, run_base
from hub.messages.audit import AuditHistory
from hub.messages.pipelines import GetPipelineRun, GetPipelines, ReplacePipelines, RunPipeline, StopPipeline
from hub.messages.session import RequestHandoff, SessionEnd, StartRun
from supervisors import ActorDied
from tests.faults.harness import git
from tests.hub.actors.daemon import daemon_of
from tests.waiting import PATIENCE, answered

DONE = {"done": "x"}


@pytest.fixture
def made(made):
    """Both providers make a file each."""
    made.script("demo-first", {"append": {"path": "one.txt", "text": "one\n"}}, DONE)
    made.script("demo-second", {"append": {"path": "two.txt", "text": "two\n"}}, DONE)
    made.configure()
    return made


def node(name, *needs, provider="demo-first", fallback=(), verify=(), task="make it"):
    return {
        "id": name, "provider": provider, "task": task, "dependsOn": list(needs), "fallback": list(fallback),
        "verify": list(verify),
    }  # fmt: skip


def store(made, *nodes, name="p"):
    """Pipelines as an earlier daemon left them."""
    made.put("pipelines.json", json.dumps([{"name": name, "nodes": nodes}]).encode())


async def ended(live):
    """The run, once it is over."""

    async def ask():
        return unstructure(await call_until_answered(live.daemon.app.slots.pipelines.ref, GetPipelineRun()))

    return await answered(ask, lambda run: run and run["state"] != "running")


async def run_to_end(live, name="p", *, resume=False):
    await live.ask("pipelines", RunPipeline(name, resume))
    return await ended(live)


def by_id(run):
    return {n["id"]: n for n in run["nodes"]}


async def listed(live, message):
    return unstructure(await live.ask("pipelines", message))


async def test_a_chain_builds_on_the_work_before_it(made, monkeypatch):
    """Each node is a full session on its own branch, which begins at the snapshot of the one before."""
    store(
        made, node("b", "a", provider="demo-second", verify=["test -f one.txt && test -f two.txt"]), node("a")
    )
    async with daemon_of(made, monkeypatch) as live:
        run = await run_to_end(live)
        nodes = by_id(run)
        assert (run["state"], nodes["b"]["verified"]) == ("completed", True)
        assert nodes["b"]["base"] == nodes["a"]["snapshot"]
        assert nodes["a"]["branch"] != nodes["b"]["branch"]
        assert git(made.root, "show", f"{nodes['b']['branch']}:one.txt") == "one"
        told = [r.msg for r in await live.events() if r.meta.get("nodeState")]
        assert [text.split()[1:3] for text in told] == [
            ["a", "running"], ["a", "completed,"], ["b", "running"], ["b", "completed,"],
        ]  # fmt: skip
        names = [row.event for row in await live.ask("audit", AuditHistory())]
        assert names.count("pipeline_node") == 4
        assert [n for n in names if n in ("pipeline_started", "pipeline_ended")] == [
            "pipeline_started", "pipeline_ended",
        ]  # fmt: skip


async def test_the_users_uncommitted_work_comes_along_once(made, monkeypatch):
    """All roots begin at one commit of it, taken at the start; the user's own tree and index stay."""
    (made.root / "mine.txt").write_text("mine\n")
    before = git(made.root, "status", "--porcelain")
    store(
        made, node("a"), node("b", provider="demo-second"), node("c", "a", "b", verify=["test -f mine.txt"])
    )
    async with daemon_of(made, monkeypatch) as live:
        run = await run_to_end(live)
        nodes = by_id(run)
        assert run["state"] == "completed"
        assert nodes["a"]["base"] == nodes["b"]["base"] == run["base"] != run["head"]
        assert git(made.root, "log", "--format=%s", f"{run['head']}..{run['base']}") == "work in progress"
    assert git(made.root, "status", "--porcelain") == before
    assert git(made.root, "rev-parse", "HEAD") == run["head"]


async def test_bases_in_conflict_fail_the_node_with_the_files(made, monkeypatch):
    """A clear coded failure, never half a merge; what depends on it is halted, the rest goes on."""
    made.script("demo-first", {"write": {"path": "same.txt", "text": "mine\n"}}, DONE)
    made.script("demo-second", {"write": {"path": "same.txt", "text": "yours\n"}}, DONE)
    store(
        made, node("a"), node("b", provider="demo-second"), node("c", "a", "b"), node("d", "c"), node("e", "a"),
    )  # fmt: skip
    async with daemon_of(made, monkeypatch) as live:
        run = await run_to_end(live)
        nodes = by_id(run)
        assert {name: n["state"] for name, n in nodes.items()} == {
            "a": "completed", "b": "completed", "c": "failed", "d": "halted", "e": "completed",
        }  # fmt: skip
        assert (run["state"], nodes["c"]["how"], nodes["d"]["how"]) == ("failed", "halted", "halted")
        assert nodes["c"]["error"]["code"] == "merge_conflict"
        assert "same.txt" in nodes["c"]["error"]["detail"]
        assert nodes["c"]["sessionId"] == ""
        (said,) = [r for r in await live.events() if r.tag == "error"]
        assert said.meta["code"] == "merge_conflict"
        await live.ask("sessions", StartRun("another"))  # the place is free again


async def test_a_fallback_takes_over_and_nobody_else(made, monkeypatch):
    """Specification: fallback providers take over on failure; the same chain as a handoff's."""
    made.script("demo-first", {"limit": {"resetsIn": 3600}})
    store(made, node("a", fallback=["demo-second"], verify=["test -f two.txt"]))
    async with daemon_of(made, monkeypatch) as live:
        run = await run_to_end(live)
        a = by_id(run)["a"]
        assert (a["state"], a["provider"], a["handoffs"], a["verified"]) == (
            "completed",
            "demo-second",
            1,
            True,
        )
        status = await live.status()
        assert status["role"] == "a", "decisions: the role is the node's id"


async def test_a_node_at_work_tells_who_has_it_now(made, monkeypatch):
    """It told the agent that it was defined with until its end, hours after a handoff."""
    made.script("demo-first", {"limit": {"resetsIn": 3600}})
    made.script("demo-second", {"say": "at work"}, {"ask": "go on?"}, DONE)
    store(made, node("a", fallback=["demo-second"]))
    async with daemon_of(made, monkeypatch) as live:
        await live.post("/api/pipelines/run", {"name": "p"})
        await live.until(lambda s: s["needsInput"] and s["activeProvider"] == "demo-second", "it has it")
        a = by_id(await live.get("/api/pipelines/run"))["a"]
        assert (a["state"], a["provider"], a["handoffs"]) == ("running", "demo-second", 1)
        await live.post("/api/session/reply", {"reply": "yes"})


async def test_nodes_at_work_are_asked_side_by_side(made, monkeypatch):
    """Bug: one after another, five seconds of patience each, while who asks for the run has five himself."""
    made.script("demo-first", {"ask": "go on?"}, DONE)
    made.script("demo-second", {"ask": "go on?"}, DONE)
    made.configure(session="concurrent = 2\n")
    store(made, node("a"), node("b", provider="demo-second"))
    both, met = trio.Event(), []

    async def together(*given):
        met.append(given)
        if len(met) == 2:
            both.set()
        with trio.fail_after(5):
            await both.wait()
        return await call_or_none(*given)

    async with daemon_of(made, monkeypatch) as live:
        await live.ask("pipelines", RunPipeline("p"))

        async def nodes():
            return [n["state"] for n in unstructure(await live.ask("pipelines", GetPipelineRun()))["nodes"]]

        await answered(nodes, lambda states: states == ["running", "running"])
        monkeypatch.setattr("hub.actors.pipelines.actor.call_or_none", together)
        assert await nodes() == ["running", "running"]
        await live.ask("pipelines", StopPipeline())


async def test_a_failed_gate_is_a_failed_node(made, monkeypatch):
    """Specification: verify commands gate acceptance; a failure is surfaced with its code."""
    store(made, node("a", fallback=["demo-first"], verify=["false"]), node("b", "a"))
    async with daemon_of(made, monkeypatch) as live:
        run = await run_to_end(live)
        nodes = by_id(run)
        assert (run["state"], nodes["a"]["state"], nodes["b"]["state"]) == ("failed", "failed", "halted")
        assert nodes["a"]["error"]["code"] == "verify_failed"


async def test_a_node_without_a_gate_of_its_own_has_the_sessions(made, monkeypatch):
    """`[session] verify` holds for every node that names no commands itself."""
    text = (
        (made.root / "hub.toml")
        .read_text()
        .replace("[session]\n", '[session]\nverify = ["test -f one.txt"]\n')
    )
    (made.root / "hub.toml").write_text(text)
    store(made, node("a"))
    async with daemon_of(made, monkeypatch) as live:
        assert by_id(await run_to_end(live))["a"]["verified"] is True


async def test_what_failed_is_run_again_and_what_was_done_is_replayed(made, monkeypatch):
    """A resumed run takes over completed nodes that are still the same."""
    made.script("demo-second", {"say": "nothing"}, DONE)
    store(
        made,
        node("a"),
        node("b", "a", provider="demo-second", fallback=["demo-second"], verify=["test -f two.txt"]),
    )
    async with daemon_of(made, monkeypatch) as live:
        first = await run_to_end(live)
        assert by_id(first)["b"]["state"] == "failed"
        made.script("demo-second", {"write": {"path": "two.txt", "text": "two\n"}}, DONE)
        second = await run_to_end(live, resume=True)
        nodes = by_id(second)
        assert (second["state"], nodes["a"]["how"], nodes["b"]["how"]) == (
            "completed",
            "replayed",
            "executed",
        )
        assert nodes["a"]["sessionId"] == by_id(first)["a"]["sessionId"]
        assert nodes["b"]["base"] == nodes["a"]["snapshot"]
        assert len(made.starts()) == 5, "what was refused was given back twice"
        anew = await run_to_end(live)
        assert {n["how"] for n in anew["nodes"]} == {"executed"}, "without the wish everything runs"


async def test_a_run_that_begins_while_the_last_ones_end_is_told_goes_on(made, monkeypatch):
    """Whoever sees the end may ask at once; nodes of the same names were once taken for those of the run before."""
    made.script("demo-first", DONE)
    store(made, node("a"))
    plain, slow = PipelineRunStore._once, []

    async def once(run_store, run, what, *words, **meta):
        await plain(run_store, run, what, *words, **meta)
        if what == "ended" and not slow:
            slow.append(await run_store.wait_for(lambda: run_store.now.run_id != run.run_id, PATIENCE))

    monkeypatch.setattr(PipelineRunStore, "_once", once)
    async with daemon_of(made, monkeypatch) as live:
        first = await run_to_end(live)
        second = await run_to_end(live)
    assert slow == [True]
    assert (second["state"], second["runId"] != first["runId"]) == ("completed", True)


async def test_one_session_at_a_time(made, monkeypatch):
    """Specification: a run while a session is active is an error that says so, and the other way round."""
    made.script("demo-first", {"ask": "go on?"}, DONE)
    store(made, node("a"))
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("mine"))
        error = await live.refusal(RunPipeline("p"), actor="pipelines")
        assert error.code is Code.SESSION_ALREADY_RUNNING
        assert "session is already running" in error.detail
        assert "--queue" not in error.hint, "there is none for pipelines"
        assert await live.ask("pipelines", GetPipelineRun()) is None
        await live.until(lambda s: s["needsInput"], "it asks")
        await live.post("/api/session/stop")
        await live.ask("pipelines", RunPipeline("p"))
        await live.refusal(StartRun("mine"), Code.SESSION_ALREADY_RUNNING)
        await live.refusal(RunPipeline("p"), Code.SESSION_ALREADY_RUNNING, actor="pipelines")
        await live.post("/api/session/stop")


async def test_a_session_that_takes_the_place_meanwhile_is_told_too(made, monkeypatch):
    """Bug: both asked for at once, the run waited for the session's end, and so did whoever had asked for the run."""
    made.script("demo-first", {"ask": "go on?"}, DONE)
    store(made, node("a"), node("b", "a"))
    async with daemon_of(made, monkeypatch) as live:

        async def after_another(*given):
            await live.ask("sessions", StartRun("mine"))
            return await run_base(*given)

        monkeypatch.setattr("hub.actors.pipelines.actor.run_base", after_another)
        error = await live.refusal(RunPipeline("p"), Code.SESSION_ALREADY_RUNNING, actor="pipelines")
        assert "is running" in error.detail
        assert (await ended(live))["state"] == "failed"
        await live.until(lambda s: s["needsInput"], "it asks")
        await live.post("/api/session/stop")


async def test_a_first_node_waits_for_a_session_that_began_during_a_restart(made, monkeypatch):
    """Bug: nobody waited for the run's answer any more, and it failed for good."""
    made.script("demo-first", {"ask": "go on?"}, DONE)
    store(made, node("a", provider="demo-second"))
    async with daemon_of(made, monkeypatch) as live:
        other = []

        async def after_another(*given):
            if not other:
                other.append(await live.ask("sessions", StartRun("mine")))
                live.kill("pipelines")
            return await merge_bases(*given)

        monkeypatch.setattr("hub.actors.pipelines.conductor.merge_bases", after_another)
        with pytest.raises(ActorDied):
            await live.ask("pipelines", RunPipeline("p"))
        await live.until_event(f"Session {other[0].session_id} is running")
        await live.until(lambda s: s["needsInput"], "it asks")
        await live.post("/api/session/reply", {"reply": "yes"})
        assert (await ended(live))["state"] == "completed"


async def test_a_stop_ends_the_session_and_the_run(made, monkeypatch):
    """`hub stop`: no further node starts, every byte is on the branch, and the place is free."""
    made.script("demo-first", {"write": {"path": "half.txt", "text": "half\n"}}, {"ask": "go on?"}, DONE)
    store(made, node("a"), node("b", "a"), node("z"))
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("pipelines", RunPipeline("p"))
        await live.until(lambda s: s["needsInput"], "the node asks")
        answer = await live.post("/api/session/stop")
        run = unstructure(await live.ask("pipelines", GetPipelineRun()))
        nodes = by_id(run)
        assert (answer["runId"], answer["state"]) == (run["runId"], "stopped")
        assert {name: n["state"] for name, n in nodes.items()} == {
            "a": "stopped",
            "b": "halted",
            "z": "halted",
        }
        assert git(made.root, "show", f"{nodes['a']['branch']}:half.txt") == "half"
        assert await live.ask("pipelines", StopPipeline()) is None
        await live.ask("sessions", StartRun("another"))
        await live.post("/api/session/stop")


async def test_a_handoff_by_hand_is_the_sessions(made, monkeypatch):
    """A node is a full session: what a user may ask of a session works for it too."""
    made.script("demo-first", {"write": {"path": "a.txt", "text": "a\n"}}, {"ask": "go on?"}, DONE)
    store(made, node("a", fallback=["demo-second"]))
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("pipelines", RunPipeline("p"))
        await live.until(lambda s: s["needsInput"], "the node asks")
        await live.ask("sessions", RequestHandoff())
        a = by_id(await ended(live))["a"]
        assert (a["state"], a["provider"], a["handoffs"]) == ("completed", "demo-second", 1)


async def test_a_session_asked_for_twice_is_started_once(made, monkeypatch):
    """What dies between the wish and the answer asks again: that must not be a second session."""
    made.script("demo-first", {"ask": "go on?"}, DONE)
    made.configure()
    async with daemon_of(made, monkeypatch) as live:
        order = StartRun("mine", session_id="s-mine", run_id="p-1", role="a")
        first = await live.ask("sessions", order)
        assert await live.ask("sessions", order) == first
        assert first.branch == "hub/s-mine"
        await live.refusal(SessionEnd("s-other"), Code.NOT_FOUND)
        await live.until(lambda s: s["needsInput"], "it asks")
        await live.post("/api/session/stop")
        assert await live.ask("sessions", order) == first, "also once it has ended"
        assert (await live.ask("sessions", SessionEnd("s-mine"))).session_state == "stopped"
        held = await live.refusal(StartRun("another"))
        assert "between two nodes" in held.detail
        assert len(made.starts()) == 1


async def test_the_list_is_replaced_whole(made, monkeypatch):
    """Specification: POST takes the full array and persists it to .hub/pipelines.json."""
    async with daemon_of(made, monkeypatch) as live:
        assert await listed(live, GetPipelines()) == []
        one, two = ({"name": name, "nodes": [node("a")]} for name in ("one", "two"))
        assert await listed(live, ReplacePipelines(read_pipelines([one, two]))) == [one, two]
        assert json.loads((made.hub / "pipelines.json").read_bytes()) == [one, two]
        assert await listed(live, ReplacePipelines(read_pipelines([two]))) == [two]
        assert await listed(live, GetPipelines()) == [two]
        assert (made.hub / "pipelines.json").stat().st_mode & 0o777 == 0o600


async def test_an_invalid_list_changes_nothing(made, monkeypatch):
    """Specification: a pipeline that does not validate is rejected; decisions: every problem with its path."""
    async with daemon_of(made, monkeypatch) as live:
        good = [{"name": "one", "nodes": [node("a")]}]
        await live.ask("pipelines", ReplacePipelines(read_pipelines(good)))
        bad = [{"name": "two", "nodes": [node("a", "b"), node("b", "a", provider="nobody")]}]
        error = await live.refusal(ReplacePipelines(read_pipelines(bad)), actor="pipelines")
        assert error.code is Code.INVALID
        assert [e["path"] for e in error.extra["errors"]] == [
            "$[0].nodes[1].provider",
            "$[0].nodes[0].dependsOn",
        ]
        assert await listed(live, GetPipelines()) == good


async def test_pipelines_of_the_users_file_stay_the_users(made, monkeypatch):
    """What GET gives may be sent back; what hub.toml defines is changed there only."""
    text = '[[pipelines]]\nname = "mine"\nnodes = [{ id = "a", provider = "demo-first", task = "x" }]\n'
    made.configure(text)
    async with daemon_of(made, monkeypatch) as live:
        (mine,) = await listed(live, GetPipelines())
        other = {"name": "other", "nodes": [node("a")]}
        assert await listed(live, ReplacePipelines(read_pipelines([mine, other]))) == [mine, other]
        assert json.loads((made.hub / "pipelines.json").read_bytes()) == [other]
        changed = {**mine, "nodes": [node("b")]}
        error = await live.refusal(ReplacePipelines(read_pipelines([changed])), actor="pipelines")
        assert error.extra["errors"][0]["message"].startswith(
            "'mine' is defined in hub.toml; change it there: "
        )
        assert (await run_to_end(live, "mine"))["state"] == "completed"


async def test_a_damaged_list_is_said_and_kept_aside_when_it_is_replaced(made, monkeypatch):
    made.put("pipelines.json", b'[{"name": 5}]')
    async with daemon_of(made, monkeypatch) as live:
        await live.refusal(GetPipelines(), Code.STATE_CORRUPT, actor="pipelines")
        assert await live.ask("pipelines", ReplacePipelines(())) == []
        (kept,) = made.hub.glob("pipelines.json.corrupt-*")
        assert b'[{"name": 5}]' in kept.read_bytes()


async def test_a_damaged_run_is_kept_aside_and_nothing_runs(made, monkeypatch):
    """A record that cannot be believed is never guessed at: a node might run twice."""
    store(made, node("a"))
    made.put("pipeline-run.json", b'{"v":1,"run":{},"crc":"0"}')
    async with daemon_of(made, monkeypatch) as live:
        said = await live.until_event("The pipeline run")
        assert (said.tag, said.meta["code"]) == ("error", "state_corrupt")
        assert list(made.hub.glob("pipeline-run.json.corrupt-*"))
        assert made.starts() == []
        assert (await run_to_end(live))["state"] == "completed"


async def test_what_cannot_run_is_refused_before_anything_is_done(made, monkeypatch):
    store(made, name="empty")
    async with daemon_of(made, monkeypatch) as live:
        missing = await live.refusal(RunPipeline("nope"), actor="pipelines")
        assert (missing.code, missing.hint) == (Code.NOT_FOUND, "There are: empty.")
        await live.refusal(RunPipeline("empty"), Code.INVALID, actor="pipelines")
        assert not (made.hub / "pipeline-run.json").exists()


async def test_a_provider_that_is_not_there_fails_its_node_only(made, monkeypatch):
    """A node whose session cannot start fails with the session's own code; what does not need it goes on."""
    made.configure('[providers.codex]\nprogram = "/nowhere/codex"\n')
    store(made, node("a", provider="codex"), node("b", "a"), node("c"))
    async with daemon_of(made, monkeypatch) as live:
        nodes = by_id(await run_to_end(live))
        assert nodes["a"]["error"]["code"] == "agent_missing"
        assert {name: n["state"] for name, n in nodes.items()} == {
            "a": "failed",
            "b": "halted",
            "c": "completed",
        }


async def test_a_full_disk_ends_no_run(made, monkeypatch):
    """What failed is said once and tried again until it works."""
    store(made, node("a"))
    async with daemon_of(made, monkeypatch) as live:
        await live.status()
        failpoints.arm("pipeline.running.pre_rename=enospc@1")
        try:
            run = await run_to_end(live)
        finally:
            failpoints.arm("")
        assert (run["state"], len(made.starts())) == ("completed", 1)
        said = [r for r in await live.events() if r.meta.get("code") == "no_space"]
        assert len(said) == 1


@pytest.mark.parametrize("step", ["_step", "_follow"])
async def test_a_mistake_that_comes_again_and_again_ends_the_run_and_not_the_daemon(made, monkeypatch, step):
    """A restart may heal an unforeseen error; one that does not go away takes the run, and nothing else."""
    store(made, node("a"), node("b", "a"))
    made.script("demo-first", {"ask": "go on?"}, DONE)
    calls = []

    async def broken(self, *_):
        calls.append(step)
        raise ValueError("a mistake of hub's own")

    async with daemon_of(made, monkeypatch) as live:
        monkeypatch.setattr(Conductor, step, broken)
        with contextlib.suppress(ActorDied):
            await live.ask("pipelines", RunPipeline("p"))
        run = await ended(live)
        assert {n["state"] for n in run["nodes"]} == {"failed", "halted"}
        assert run["nodes"][0]["error"]["code"] == "internal"
        assert 4 <= len(calls) <= 8
        monkeypatch.undo()


def test_a_run_is_shown_with_every_node():
    pipeline, at = (
        read_pipelines([{"name": "p", "nodes": [node("d", "b"), node("b")]}])[0],
        "2026-01-01T00:00:00.000Z",
    )
    run = begin("p-1", pipeline, at).changed(
        "b", state=NodeState.FAILED, error=ErrorNote(Code.VERIFY_FAILED, "it failed", "read the output")
    )
    first, second = unstructure(run_status(run))["nodes"]
    assert (first["id"], first["dependsOn"], first["error"]) == ("d", ["b"], None)
    assert second["error"] == {"code": "verify_failed", "detail": "it failed", "hint": "read the output"}


async def test_nodes_side_by_side_take_turns_with_one_account(made, monkeypatch):
    """With `onLimit = "stop"` the other one failed, as at a limit: its account only worked for the first."""
    made.script("demo-first", {"ask": "go on?"}, DONE)
    made.configure(session='concurrent = 2\nonLimit = "stop"\n')
    store(made, node("a"), node("b", provider="demo-second"), node("c", "b", fallback=["demo-first"]))
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("pipelines", RunPipeline("p"))
        asked: set[str] = set()

        async def nodes():
            return by_id(unstructure(await live.ask("pipelines", GetPipelineRun())))

        async def asks():
            there = (await live.get("/api/sessions"))["sessions"]
            return [
                one["sessionId"] for one in there if one["needs"] == "input" and one["sessionId"] not in asked
            ]

        await answered(nodes, lambda found: found["c"]["state"] != "pending")
        for _ in range(2):
            (session,) = await answered(asks, bool)
            asked.add(session)
            await live.post("/api/session/reply", {"reply": "yes", "sessionId": session})
        run = await ended(live)
    assert (run["state"], {n["state"] for n in run["nodes"]}) == ("completed", {"completed"})
