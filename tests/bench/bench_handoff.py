"""From the line that says the limit is reached to the next agent's first instruction, in a large repository.

A real daemon, real worktrees, scripted agents: each changes twenty files and adds one, says that its limit is
reached, and the next account takes over. The clock starts when the agent's line reached the spool and stops when
the next agent's process runs; its first line, an interpreter's start later, is told too.
Peer: `git add -A && git commit` of the same kind of change, with which a handoff by hand would begin.

Once more where the first agent has said 100,000 texts before: neither the handoffs nor the daemon's memory may grow
with a session. Peer: the same handoffs without them.

With 50,000 files, on a calm machine, PAUSING to SNAPSHOTTED takes 135-141 ms. Its floor is git's look at the files: 120
ms of processor time on both cores, and it is done twice, for the snapshot and for whether the next agent finds what is
in that. The first look cannot begin while the agent still ends, because no watch reports bytes written through a
mapping. The second begins when the snapshot is made and is over before the dispatch: contract, three records and the
claim are written beside it. In turns with a form in which it was over before ENVELOPE_BUILT, SNAPSHOTTED to
ENVELOPE_BUILT takes 64-66 ms for 116-121, DISPATCHED to RESUMING 41-53 for 29-35, the whole 267-285 for 314-319.
One handoff starts 14-15 gits, 18 where the next agent is another provider's (23 before), and waits for 41-43
syncs of the daemon (about five for each change of state: the record's two, audit, events), four of the runner and
four of git, each 0.3-0.8 ms on a calm disk. `breakers.json` is written twice, once for what the wallet knows and once
for the failure.

The launcher of the next agent begins while the handoff is put on record, when one core is idle; beside the contract,
where it began at first, it only took time from others. Its interpreter spends 22 ms on `enum`, `re` and `socket`;
`ctypes` (1.5) and a codec are imported before it waits, not when its word has come. The handoff itself imports
nothing, the first one neither. Beside a code scan of 15,000 files the contract takes 24 ms, down from 32. A
contract's intent out of the graph takes 1.2, 1.4 and 4.7 ms in sessions of 50, 1,000 and 5,000 events; out of the log
2.3, 50 and 507 ms.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil

from tests.bench.bench_snapshot import CHANGED, change, plant
from tests.bench.table import Row, at_least, run
from tests.faults.harness import Project, git, until

STATES = ("PAUSING", "SNAPSHOTTED", "ENVELOPE_BUILT", "DISPATCHED", "RESUMING", "RUNNING")


SAID = 100_000
TEXT = "a text of an agent that works, and says what it does in some eighty characters, ok"


def script(said: int = 1) -> list[dict[str, Any]]:
    """What each agent does: it says so many texts, twenty changed files and a new one, then the wall."""
    files = [f"pkg0/mod{number}/file{number * 100}.py" for number in range(CHANGED - 1)]
    steps = [{"append": {"path": path, "text": "# changed\n"}} for path in files]
    return [
        {"say": TEXT, "times": said},
        *([{"ask": "go on?"}] if said > 1 else []),  # once all of it is on record
        *steps,
        {"append": {"path": "new.py", "text": "x\n"}},
        {"sleep": 1},
        {"limit": {}},
    ]


class Starts(threading.Thread):
    """Notes when each start line appears: the file's own time of change is too coarse."""

    def __init__(self, log: Path) -> None:
        super().__init__(daemon=True)
        self._log = log
        self.times: list[float] = []
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.001):
            lines = self._log.read_bytes().count(b"\n") if self._log.exists() else 0
            self.times += [time.time()] * (lines - len(self.times))


def instant(text: str) -> float:
    """Epoch milliseconds of an event's time."""

    return datetime.fromisoformat(text).timestamp() * 1000


def session(made: Project, handoffs: int, said: int) -> tuple[list[dict[str, float]], float]:
    """One session; for each handoff the milliseconds from the limit's line to each state, and to the start line.

    And the daemon's memory after it, in MB.
    """
    starts = Starts(made.log)
    starts.start()
    api = made.start()
    api.post("/api/run", {"task": "append to the files", "maxHandoffs": handoffs})
    if said > 1:
        until(
            lambda: api.get("/api/status")["needsInput"], "the texts are taken in", patience=60 + said / 100
        )
        api.post("/api/session/reply", {"reply": "yes"})
    until(lambda: made.fsm().get("handoffsDone") == handoffs, "the last handoff", patience=60 + 10 * handoffs)
    memory = resident(made)
    api.post("/api/session/stop")  # the last agent would meet its limit and wait for it to go by
    starts.over.set()
    events = made.events()
    limits = [e for e in events if e["meta"].get("failure") == "usage_limit" and "dispatchId" in e["meta"]]
    rows = []
    for number, limit in enumerate(limits[:handoffs]):
        at = instant(limit["meta"]["at"])
        row = {"start": starts.times[number + 1] * 1000 - at}
        for event in events:
            state = event["meta"].get("to")
            if event["id"] > limit["id"] and event["tag"] == "handoff" and state and state not in row:
                row[state] = instant(event["meta"]["at"]) - at
                if state == "DISPATCHED":
                    row["spawned"] = spawned(made, event["meta"]["dispatch"]) - at
        rows.append(row)
    return rows, memory


def resident(made: Project) -> float:
    """Megabytes of memory that the daemon takes."""
    return psutil.Process(made.daemon.pid).memory_info().rss / 1e6


def spawned(made: Project, dispatch: str) -> float:
    """Epoch milliseconds at which the runner put on record that the agent's process runs."""
    record = made.root / ".hub" / "run" / dispatch / "agent.json"
    return record.stat().st_mtime_ns / 1e6


def by_hand(root: Path, rounds: int) -> float:
    """Milliseconds of `git add -A && git commit` of the same change."""
    took = []
    for turn in range(rounds):
        change(root, turn)
        begun = time.perf_counter()
        git(root, "add", "-A")
        git(root, "commit", "-qm", "turn")
        took.append((time.perf_counter() - begun) * 1000)
    return statistics.median(took)


def measure(folder: Path, files: int = 50_000, handoffs: int = 5, said: int = 1) -> dict[str, Any]:
    """The median of the handoffs, its parts, and the peer, in milliseconds; the daemon's memory in MB."""
    folder.mkdir(exist_ok=True)
    made = Project(folder / "repo", folder / "state", folder / "agents.log", forked=False)
    if not made.root.exists():
        made.root.mkdir()
        plant(made.root, files)
    with (made.root / ".git" / "info" / "exclude").open("a") as file:
        file.write(".hub/\nhub.toml\n")
    made.log.unlink(missing_ok=True)
    made.script("demo-first", *script(said))
    made.script("demo-second", *script())
    accounts = "".join(
        f'[[providers.demo-{name}.accounts]]\nlabel = "a{number}"\n'
        for name in ("first", "second")
        for number in range(handoffs // 2 + 1)
    )
    made.configure(accounts)
    try:
        rows, memory = session(made, handoffs, said)
    finally:
        made.stop()
    peer = by_hand(made.root, 3)
    middle = {
        key: statistics.median(row[key] for row in rows if key in row)
        for key in ("spawned", "start", *STATES)
    }
    steps = {f"{a}->{b}": middle[b] - middle[a] for a, b in pairwise(STATES)}
    return {
        "spawned": middle["spawned"],
        "start": middle["start"],
        "to_pausing": middle["PAUSING"],
        "steps": steps,
        "peer": peer,
        "memory": memory,
    }


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """The whole way, and its parts."""
    files = at_least(2500, 50_000, scale)
    found = measure(folder, files, at_least(1, 5, scale))
    what = f"limit's line to the next agent's process, {files} files"
    yield Row(what, found["spawned"], "ms", "<= 300", "`git add -A && git commit`", found["peer"])
    yield Row("- to that agent's first line (an interpreter's start)", found["start"], "ms")
    yield Row("- of it, to PAUSING on record", found["to_pausing"], "ms")
    for name, took in found["steps"].items():
        yield Row(f"- of it, {name}", took, "ms")
    few = at_least(2500, 10_000, scale)
    short = measure(folder / "short", few, at_least(1, 3, scale))
    said = at_least(100, SAID, scale)
    long = measure(folder / "long", few, 1, said)
    what = f"the same in {few} files, after {said:,} texts"
    yield Row(what, long["spawned"], "ms", "<= 450", "after one text", short["spawned"])
    yield Row("- the daemon's memory", long["memory"], "MB", "<= 150", "after one text", short["memory"])


if __name__ == "__main__":
    run(rows)
