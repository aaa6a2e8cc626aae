"""What must hold after any fault, checked by one function.

Owns: the ten invariants.
Must not: know which fault came before.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hub.domain.audit import ChainState
from hub.domain.contract import verify
from hub.errors import Code
from hub.io.audit.journal import verify_file
from hub.io.processes.control import find_by_env
from hub.io.project.lock import project_lock
from hub.io.project.places import Places, load_or_create_key
from tests.faults.harness import Project, git, until

_PARTIAL = (".tmp", ".partial")


def check_invariants(project: Project, oracle: Path) -> None:
    """All ten, on a project whose daemon has just been stopped in order.

    I9 (a fault during recovery changes nothing) is a test of its own: it runs this function after the second fault.
    """
    record = project.fsm()
    os.environ["HUB_STATE_DIR"] = str(project.state)
    try:
        _no_work_lost(project, oracle)
        _no_double_dispatch(project)
        _audit_holds(project, record)
        _contract_holds(project, record)
        _session_is_somewhere(record)
        _no_orphan(project)
        _free_again(project)
        _faces_agree(project, record)
        _nothing_half_written(project)
    finally:
        del os.environ["HUB_STATE_DIR"]


def ends(project: Project, oracle: Path, *, starts: int | None = None, **fields: Any) -> dict[str, Any]:
    """The last record of a session that ends by itself, and completed unless another state is named; all ten hold.

    Args:
        project: Its daemon is stopped behind the session.
        oracle: The outside record.
        starts: How many agents were ever started.
        fields: Members of the record, as they must be.
    """
    record: dict[str, Any] = until(project.ended, "the session ends by itself")
    assert project.stop() == 0
    wanted = {"sessionState": "completed", **fields}
    assert {name: record[name] for name in wanted} == wanted, record["error"]
    assert starts in (None, len(project.starts()))
    check_invariants(project, oracle)
    return record


def check_many(project: Project, rows: Sequence[Mapping[str, Any]]) -> None:
    """The same of several sessions at once, after an ordered stop; and no account was used by two of them at a time.

    Args:
        project: Theirs.
        rows: What `GET /api/sessions` told of each.
    """
    oracle = (project.root.parent / "oracle").read_text().split()
    os.environ["HUB_STATE_DIR"] = str(project.state)
    try:
        for row in rows:
            for name, digest in set(zip(oracle[::2], oracle[1::2], strict=True)):
                content = git(project.root, "show", f"{row['branch']}:{name}") + "\n"
                assert hashlib.sha256(content.encode()).hexdigest() == digest, (
                    f"I1: {name} of {row['branch']}"
                )
        _no_double_dispatch(project)
        _chain_holds(project)
        _no_orphan(project)
        _free_again(project)
        project.start()
        _no_account_shared(project.events())
        project.stop()
        _nothing_half_written(project)
    finally:
        del os.environ["HUB_STATE_DIR"]


def _no_account_shared(events: Sequence[Mapping[str, Any]]) -> None:
    """I11: between the first and the last word of an agent, no agent of another session speaks with its account."""
    spans: dict[tuple[str, str], list[tuple[int, int, str]]] = {}
    words: dict[tuple[str, str, str], list[int]] = {}
    for event in events:
        meta = event["meta"]
        if meta.get("dispatchId") and meta.get("account"):
            key = (f"{meta['provider']}/{meta['account']}", meta["sessionId"], meta["dispatchId"])
            words.setdefault(key, []).append(event["id"])
    for (account, session, dispatch), ids in words.items():
        spans.setdefault((account, dispatch), []).append((min(ids), max(ids), session))
    found = [(account, *span) for (account, _), all_ in spans.items() for span in all_]
    assert found, "I11: nobody has spoken"
    for account, first, last, session in found:
        clash = [
            other
            for other in found
            if other[0] == account and other[3] != session and other[1] <= last and first <= other[2]
        ]
        assert not clash, f"I11: {account} of {session} was used by {clash} at the same time"


def _no_work_lost(project: Project, oracle: Path) -> None:
    """I1: each byte the agents have on the outside record is on the session's branch; the user's HEAD did not move."""
    session = project.fsm()["sessionId"]
    for line in oracle.read_text().splitlines():
        name, digest = line.split()
        content = git(project.root, "show", f"hub/{session}:{name}") + "\n"
        assert hashlib.sha256(content.encode()).hexdigest() == digest, (
            f"I1: {name} is not what the agent wrote"
        )
    assert git(project.root, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert git(project.root, "log", "--format=%s", "main") == "start"


def _no_double_dispatch(project: Project) -> None:
    """I2: no dispatch id was started twice."""
    starts = project.starts()
    assert len(starts) == len(set(starts)), f"I2: {starts}"


def _audit_holds(project: Project, record: dict[str, object]) -> None:
    """I3: the chain is whole; each handoff's moves are there once, each after the one before it."""
    places = Places(project.root)
    _chain_holds(project)
    moves: dict[str, list[tuple[str, str]]] = {}
    intents: set[str] = set()
    told: list[tuple[str, str]] = []
    # Not splitlines: that would also split at U+2028, which JSON leaves as it is.
    for line in places.audit.read_bytes().split(b"\n")[:-1]:
        entry = json.loads(line)
        data = entry["data"]
        if entry["event"] == "handoff":
            # With its dispatch: where a receiver cannot take over, the next one is given the work by the same move.
            step = f"{data['from']}>{data['to']}", data["dispatch"]
            moves.setdefault(data["handoffId"], []).append(step)
        if entry["event"] in ("session_started", "session_ended"):
            told.append((entry["event"], data["sessionId"]))
        if entry["event"] == "dispatch":
            intents.add(data["dispatchId"])
    assert len(told) == len(set(told)), f"I3: a session starts and ends once: {told}"
    assert told[-1] == ("session_ended", record["sessionId"]), f"I3: the end is not on record: {told}"
    for handoff, steps in moves.items():
        assert len(steps) == len(set(steps)), f"I3: a move of {handoff} stands twice: {steps}"
        assert steps[-1][0].endswith(">RUNNING"), f"I3: {handoff} has no end: {steps}"
    assert set(project.starts()) <= intents, "I3: an agent was started without an intent on record"


def _chain_holds(project: Project) -> None:
    verdict = verify_file(Places(project.root), load_or_create_key("audit"))
    assert verdict.state is ChainState.INTACT, f"I3: {verdict}"


def _contract_holds(project: Project, record: dict[str, object]) -> None:
    """I4: the contract on disk verifies, bound to its session and snapshot."""
    path = project.hub / "envelope.json"
    handoff = record["handoff"]
    assert isinstance(handoff, dict)
    if path.exists() and handoff["contractId"]:
        verify(path.read_bytes(), load_or_create_key("contract"), session_id=str(record["sessionId"]))


def _session_is_somewhere(record: dict[str, object]) -> None:
    """I5: no session stays in between; one that failed says why in the closed list's words."""
    assert record["sessionState"] in ("completed", "failed", "stopped"), f"I5: {record['sessionState']}"
    assert record["state"] == "RUNNING", f"I5: {record['state']}"
    if record["sessionState"] == "failed":
        error = record["error"]
        assert isinstance(error, dict)
        assert Code(error["code"])
        assert error["detail"]


def _no_orphan(project: Project) -> None:
    """I6: no process of any run is alive, two seconds after the daemon's end at the latest."""
    runs = [path.name for path in (project.hub / "run").iterdir() if path.is_dir()]
    until(lambda: not list(find_by_env(runs)), "I6: the last process of every run is gone", patience=12)


def _free_again(project: Project) -> None:
    """I7: the port can be bound and the lock be taken; another test's daemon may have been given that port meanwhile."""
    until(lambda: _is_free(project.port), "I7: the port is free")
    with project_lock(project.hub / "lock"):
        pass


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _nothing_half_written(project: Project) -> None:
    """I8: no temporary file is left once a daemon has begun again, and nobody else may read what hub wrote."""
    for path in project.hub.rglob("*"):
        inside = path.relative_to(project.hub).parts
        if inside[0] == "worktrees" and len(inside) > 1:
            continue
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            continue
        assert not path.name.endswith(_PARTIAL), f"I8: {path}"
        assert not mode & 0o077, f"I8: {path} has mode {mode & 0o777:o}"


def _faces_agree(project: Project, record: dict[str, object]) -> None:
    """I10: a fresh daemon tells the same as the file."""
    api = project.start()
    status = api.get("/api/status")
    events = project.events()
    project.stop()
    assert status["sessionId"] == record["sessionId"]
    assert status["sessionState"] == record["sessionState"]
    assert status["fsmState"] == record["state"]
    assert [event["id"] for event in events] == list(range(1, len(events) + 1)), "I10: a gap in the event ids"
