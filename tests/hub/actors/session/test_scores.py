"""The score of a handoff: owed from the moment the receiver works, computed once, and told in two logs."""

from __future__ import annotations

import errno
import hashlib
import json

import attrs
import pytest

from hub.actors.session import chronicle
from hub.domain.contract import Contract, encode, sign
from hub.domain.session import Unscored
from hub.errors import Code, HubError
from hub.io.files.atomic import write_atomic
from hub.io.git.snapshot import snapshot
from tests.faults.harness import project, until
from tests.hub.actors.session.parts import parts_of
from tests.refusals import refuses

OWED = Unscored("h-1", "", "", "", still=True)


async def owing(parts, **changes):
    """A session that has handed over, with the contract it handed over with."""
    record = await parts.begin(handoffs_done=1)
    taken = await snapshot(
        parts.context.places.worktree("s-1"), "s-1", "h-1", {}, root=parts.context.places.root
    )
    made = Contract(
        contract_id="c-h-1",
        session_id="s-1",
        task_id="t-1",
        task_goal=record.task,
        snapshot_commit_sha=taken.sha,
        handoff_id="h-1",
    )
    data = encode(sign(made, parts.context.keys.contract))
    write_atomic(parts.context.places.envelope_json, data)
    digest = hashlib.sha256(data).hexdigest()
    owed = attrs.evolve(OWED, snapshot=taken.sha, tree=taken.tree, sha256=digest, **changes)
    return await parts.store.update(unscored=owed)


async def test_it_is_computed_once_and_both_logs_have_it(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        await owing(parts)
        for _ in range(2):
            await parts.driver.scores.settle()
        assert (parts.store.now.unscored, parts.store.now.hfs_history) == (None, (100,))
        assert [entry["data"]["hfs"] for entry in parts.audited("fidelity")] == [100]
        assert (await parts.told()).count("fidelity 100 of 100") == 1


async def test_what_was_told_before_a_crash_is_not_told_again(two, monkeypatch):
    """Between the telling and the record."""
    async with parts_of(two, monkeypatch) as parts:
        owed = (await owing(parts)).unscored
        await parts.driver.scores.settle()
        await parts.store.update(unscored=owed, hfs_history=())
        await parts.driver.scores.settle()
        assert parts.store.now.hfs_history == (100,)
        assert len(parts.audited("fidelity")) == 1
        assert (await parts.told()).count("fidelity 100 of 100") == 1


@pytest.mark.parametrize("flaw", [{"still": False}, {"sha256": "0" * 64}])
async def test_another_tree_or_another_contract_than_the_audited_one_is_0(two, monkeypatch, flaw):
    async with parts_of(two, monkeypatch) as parts:
        record = await owing(parts)
        await parts.store.update(unscored=attrs.evolve(record.unscored, **flaw))
        await parts.driver.scores.settle()
        assert parts.store.now.hfs_history == (0,)


@pytest.mark.parametrize("bytes_", [b"{}", None])
async def test_a_contract_that_is_false_or_gone_is_0(two, monkeypatch, bytes_):
    async with parts_of(two, monkeypatch) as parts:
        await owing(parts)
        if bytes_ is None:
            parts.context.places.envelope_json.unlink()
        else:
            parts.context.places.envelope_json.write_bytes(bytes_)
        await parts.driver.scores.settle()
        assert parts.store.now.hfs_history == (0,)


async def test_a_full_disk_leaves_it_owed_and_what_cannot_be_known_is_said(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        await owing(parts)

        async def failing(*_, **__):
            raise HubError(code)

        monkeypatch.setattr(chronicle, "manifest", failing)
        code = Code.NO_SPACE
        with pytest.raises(HubError):
            await parts.driver.scores.settle()
        assert parts.store.now.unscored is not None
        code = Code.GIT_FAILED
        await parts.driver.scores.settle()
        assert (parts.store.now.unscored, parts.store.now.hfs_history) == (None, ())
        assert "the fidelity of the last handoff is not known: git failed" in await parts.told()
        assert [entry["data"].get("hfs") for entry in parts.audited("fidelity")] == [None]


async def test_a_mistake_in_the_score_ends_no_session(two, monkeypatch, caplog):
    """Nor a daemon: it is said, and the session goes on. Too many open files are waited out."""
    async with parts_of(two, monkeypatch) as parts:
        await owing(parts)
        wrong: list[Exception] = [OSError(errno.EMFILE, "too many"), ZeroDivisionError()]

        def failing(*_, **__):
            raise wrong.pop(0)

        monkeypatch.setattr(chronicle, "weigh", failing)
        with refuses(Code.UNAVAILABLE):
            await parts.driver.scores.settle()
        await parts.driver.scores.settle()
        assert (parts.store.now.unscored, parts.store.now.hfs_history) == (None, ())
        assert "cannot be scored" in caplog.text


async def test_where_the_audit_log_takes_nothing_the_session_may_still_end(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        await owing(parts)

        async def broken(*_, **__):
            raise HubError(Code.AUDIT_BROKEN)

        monkeypatch.setattr(type(parts.store), "note", broken)
        await parts.driver.scores.settle()
        assert parts.store.now.unscored is None


def test_a_daemon_that_dies_behind_a_handoff_owes_its_successor_the_score(tmp_path):
    """kill -9 right after RUNNING: the next daemon reads the log anew, computes it once, and the session goes on."""
    with project(tmp_path) as made:
        made.script("demo-first", {"say": "Decision: keep it."}, {"limit": {"resetsIn": 3600}})
        made.script("demo-second", {"say": "going on"}, {"ask": "more?"}, {"done": "x"})
        made.configure()
        api = made.start()
        api.post("/api/run", {"task": "write", "maxHandoffs": 1})
        until(lambda: made.fsm().get("handoffsDone") == 1, "the receiver works")
        made.kill()
        record = made.fsm()
        api = made.start()
        until(
            lambda: not api.get("/api/status")["hfsPending"] and api.get("/api/status")["hfsHistory"],
            "it is scored",
        )
        assert api.get("/api/status")["hfsHistory"] == [100]
        assert record["unscored"] is None or record["unscored"]["handoff"] == made.fsm()["handoffId"]
        until(lambda: api.get("/api/status")["needsInput"], "it asks")
        api.post("/api/session/reply", {"reply": "no"})
        until(made.ended, "the session ends")
        audit = [json.loads(line) for line in (made.hub / "audit.jsonl").read_bytes().splitlines()]
        assert [r["data"]["hfs"] for r in audit if r["event"] == "fidelity"] == [100]
