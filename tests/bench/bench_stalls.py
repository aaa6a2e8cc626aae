"""How long the daemon's event loop is ever kept from everybody else, while much is asked of it at once.

A daemon as a process of its own times each step of each task, from one wait to the next. A session's agent writes lines
and one megabyte, the graph reads a repository of some thousand files, and clients ask for the difference, the status
and the events again and again. Steps before the first answer are left out. A step's time is wall time: it holds what
other threads and processes took meanwhile.
The longest by its processor time is 8-11 ms at load 5, the first of a session's own task; it was 22-24, a session's
first text, while what that is searched with was compiled there and not in the thread that loads it.
Peer: nobody; beside it is told how many steps were longer than a frame of a screen, 16 ms.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hub.client.quick import Api
from tests.bench.bench_snapshot import plant
from tests.bench.table import Row, at_least, run
from tests.faults import harness
from tests.waiting import until

LINES = 2000
TIMED = """
import atexit, functools, json, os, time, trio

def standing(task):
    where, names = task.coro, []
    while hasattr(where, "cr_frame") and where.cr_frame is not None:
        if "/hub/" in where.cr_code.co_filename:
            names.append(f"{where.__qualname__}:{where.cr_frame.f_lineno}")
        where = where.cr_await
    return " > ".join(names[-3:])

class Steps(trio.abc.Instrument):
    def __init__(self):
        self.found = []
    def before_task_step(self, task):
        self.from_ = standing(task)
        self.begun = time.perf_counter()
    def after_task_step(self, task):
        took = time.perf_counter() - self.begun
        if took > 0.005:
            self.found.append((time.time(), took, f"{self.from_} -> {standing(task)}"))
    def tell(self):
        with open(os.environ["STEPS"], "w") as file:
            json.dump(self.found, file)

steps = Steps()
atexit.register(steps.tell)
trio.run = functools.partial(trio.run, instruments=[steps])
from hub.cli.main import main
main()
"""


class Asking(threading.Thread):
    """A client that asks one thing again and again."""

    def __init__(self, ask: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._ask = ask
        self.over = threading.Event()
        self.answers = 0

    def run(self) -> None:
        while not self.over.is_set():
            self._ask()
            self.answers += 1


def script(lines: int) -> list[dict[str, Any]]:
    """A megabyte of work, then words."""
    text = "".join(f"line {number} of a file that was generated\n" for number in range(25_000))
    return [
        {"write": {"path": "big.txt", "text": text}},
        {"say": "working", "times": lines},
        {"ask": "more?"},
    ]


def measure(folder: Path, files: int, lines: int) -> list[tuple[float, str]]:
    """Each long step: seconds, and from where to where in the code it went; the longest first."""
    with harness.project(folder) as made:
        (made.root / "code").mkdir()
        plant(made.root / "code", files)
        made.script("demo-first", *script(lines))
        made.configure()
        made.forked = False
        told = folder / "steps.json"
        usual, harness.HUB[1:] = harness.HUB[1:], ["-c", TIMED]
        try:
            api = made.start(STEPS=str(told)).within(60)
        finally:
            harness.HUB[1:] = usual
        begun = time.time()
        api.post("/api/run", {"task": "write"})
        until(lambda: made.fsm().get("worktreeReady"), "the worktree is there")
        clients = [Asking(ask) for ask in questions(api)]
        for client in clients:
            client.start()
        until(lambda: api.get("/api/status")["needsInput"], "the agent has said all")
        for client in clients:
            client.over.set()
            client.join()
        assert all(client.answers for client in clients)
        made.stop()
        steps = json.loads(told.read_text())
    return sorted(((took, way) for at, took, way in steps if at > begun), reverse=True)


def questions(api: Api) -> list[Callable[[], object]]:
    """What is asked all the time, and a new scan of the code."""
    return [
        lambda: api.get("/api/session/diff"),
        lambda: api.get("/api/status"),
        lambda: api.get("/api/events", {"limit": 1000}),
        lambda: api.post("/api/graph/scan"),
    ]


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """The longest step, and how many were longer than a frame of a screen."""
    steps = measure(folder, at_least(100, 5_000, scale), at_least(20, LINES, scale))
    longest, way = steps[0] if steps else (0.0, "")
    yield Row(f"longest step of the event loop: {way}", longest * 1e3, "ms", "<= 50")
    yield Row("- steps longer than 16 ms", sum(took > 0.016 for took, _ in steps), "steps")


if __name__ == "__main__":
    run(rows)
