"""How long a user waits for the first screen of `hub tui`, and what it costs to have it open: idle, and with events.

On a terminal of 120 by 40 that reads everything. Events come 20 times a second from a scripted agent, with its session in sight.
Peer: the smallest app of the same library, one line of text; with no events.

Of the first paint nearly all is importing the library; what talks to the daemon is imported after it. A repaint costs, an event
does not: whatever comes within a tenth of a second is one repaint.
"""

from __future__ import annotations

import fcntl
import os
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from tests.bench.table import Row, at_least, run
from tests.faults.harness import HUB, project, until

PEER = """
from textual.app import App
from textual.widgets import Static
class Peer(App):
    def compose(self):
        yield Static("[1 Board]", markup=False)
Peer().run()
"""
IDLE = 10.0
LIVE = 20.0
STEP = 0.05


class Terminal:
    """A program on a terminal whose other end is read and thrown away."""

    def __init__(self, argv: Sequence[str], where: Path, env: dict[str, str]) -> None:
        self.seen = bytearray()
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            argv, cwd=where, env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            while piece := os.read(self.master, 65536):
                self.seen += piece
        except OSError:
            return

    def until(self, word: bytes) -> float:
        """Milliseconds from its start until this was drawn."""
        until(lambda: word in self.seen, f"{word!r} on the screen")
        return (time.perf_counter() - self.begun) * 1000

    def cpu(self, seconds: float) -> float:
        """Percent of a processor over so many seconds."""
        seen = psutil.Process(self.process.pid)
        before = sum(seen.cpu_times()[:2])
        time.sleep(seconds)
        return (sum(seen.cpu_times()[:2]) - before) * 100 / seconds

    def memory(self) -> float:
        """Megabytes."""
        return float(psutil.Process(self.process.pid).memory_info().rss / 2**20)

    def key(self, keys: bytes) -> None:
        """Press it."""
        os.write(self.master, keys)

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """First paint beside the peer's in turns; then one that stays open."""
    with project(folder) as work:
        env = work.environ(
            TERM="xterm-256color", LANG="C.UTF-8", PYTHONPYCACHEPREFIX=str(folder / "bytecode")
        )
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # as some machines set it: what is installed is compiled
        steps = [
            step
            for _ in range(at_least(20, 800, scale))
            for step in ({"say": "a line of work"}, {"sleep": STEP})
        ]
        work.script(
            "demo-first", *steps, {"say": "many", "times": at_least(100, 10_000, scale)}, {"ask": "go on?"}
        )
        work.configure()
        api = work.start()
        ours, theirs = [], []
        for _ in range(1 + at_least(1, 7, scale)):  # the first compiles
            for found, argv in ((ours, [*HUB, "tui"]), (theirs, [sys.executable, "-c", PEER])):
                terminal = Terminal(argv, work.root, env)
                found.append(terminal.until(b"Board"))
                terminal.close()
        yield Row(
            "`hub tui`: first paint",
            statistics.median(ours[1:]),
            "ms",
            "<= 500",
            "bare Textual",
            statistics.median(theirs[1:]),
        )
        terminal = Terminal([*HUB, "tui"], work.root, env)
        try:
            terminal.until(b"no session yet")
            time.sleep(1)
            yield Row("`hub tui` idle: processor", terminal.cpu(IDLE * max(scale, 0.1)), "%", "<= 1")
            yield Row("`hub tui` idle: memory", terminal.memory(), "MB", "<= 90")
            api.post("/api/run", {"task": "work for a while"})
            terminal.until(b"Working (1)")
            terminal.key(b"\r")
            terminal.until(b"a line of work")
            yield Row(
                "`hub tui` at 20 events a second: processor",
                terminal.cpu(LIVE * max(scale, 0.05)),
                "%",
                "<= 20",
            )
            until(lambda: api.get("/api/status")["needsInput"], "all was said", 200)
            time.sleep(1)
            yield Row("`hub tui` after 10,000 events: memory", terminal.memory(), "MB", "<= 150")
        finally:
            terminal.close()


if __name__ == "__main__":
    run(rows)
