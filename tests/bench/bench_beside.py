"""Three agents at full speed in one daemon: what the two others are made to wait while one of them is handed over.

Each agent is a real child process that writes lines at a set rate, each with the moment it was written. Half way the
first meets its limit, and the next account goes on for it. Told are the lines of the two others that were written between
the first's last line and its successor's first, on their way to ten WebSocket clients, and the longest that a client heard
nothing of one of them. A line is an event: at a thousand lines a second the daemon takes in three thousand events and
sends ten times as many. Told too is the processor time of the daemon and of the ten clients for an event, the handoff
included: beside other work it grows by a half, the delays a hundredfold.
Peer: the same two, in the same run, before the limit.

At a thousand lines a second two cores are what is short, and the daemon takes most of them: 137-154 us for an event at
full speed, 166-208 before what follows, in turns at load 10-18; all ten clients together 8-24 us, so it is not they who
are waited for (taken with agents that do not pause between lines, from a fifth of the lines to three quarters). All
agents are read at the same moments, once in four milliseconds: what is read of one at once becomes one batch, which
beside its events costs some 700 us at load 7, of which the log's transaction and the ten writes are 150 each, and what comes
to the log at once is told to the clients at once. An
agent's turn is sixteen lines, however many messages they came in: where the daemon lagged, one read of the runner's
socket was one step of 38 ms of processor time, now 2.5; in the graph's reader a long list was 14 ms, now 1.7. Half of
an event's cost was redaction: 33 us for a line of 150 letters, 61 before, when the end of the last message and the line
itself were searched a second time. The graph forgot a session at each event of another: 16 us, 41 before. The runner's
part of a line is 16 us and the sync, 34 before (its pump, spool and socket in one process): a megabyte was mapped, cut
and given back for each read. The frames are made once for all clients, and are 3 % of the daemon's time.

An event's processor time at a thousand lines a second each, ten events a batch, load 3, was 281 us in the event loop:
redaction 72, the log's row and its share of a transaction 26, the graph's fold 23, ten writes 13, the audit log's hash 12,
the chronicle's reading of the log 10, the frames 8, the agent's protocol 7, plain text 4, lines and messages 5; the rest,
some hundred, were turns of eighteen tasks that woke for each batch. In threads 42 more, 30 of them the chronicle. Since
then no three followers and four tasks of a session wake for a batch that tells them nothing, the end of the log is read
from memory without a lock, a row goes in by one statement, and of a message only what it may have begun is remembered:
26 us for a line of 150 letters, 35 before. In turns with the form before, at 300 lines a second and load 14-20, all lines
before the limit took 8-518 ms (p50) beside 119-919, 95-1,421 (p99) beside 383-1,783; an event no less of the processor,
since who lags less has smaller batches. Tried and left: the chronicle in the event loop, a turn at a time, instead of in
a thread: at load 16 the handoff took a third longer, and the others' lines no less.

What made the others wait longest was that thread: of half a second of three agents at once it had the interpreter for 45 ms,
and at each of its system calls the loop stood behind it. It reads twenty times a second now, and finds what the graph's
fold has made of the same text. In turns on a calm machine (load 1, a slow hour), before the limit and during the handoff,
p99: 83, 187, 123 and 39, 63, 72 ms; 48, 39, 38 and 31, 30, 30 since; with a read in two milliseconds instead of one and a
half 55, 22, 86 and 34, 23, 25.

They were read one after the other until then, each two milliseconds after the one before: as many wakeups as batches, and a
pass over the clients for each. With one event in a batch (100 lines a second) an event is 1.3 ms of processor time at load
10, of which the ten writes, the text and the turns around them are 166 us, and waiting for the kernel as much. In turns at
load 2-2.6, before the limit and during the handoff, p99: 217, 103 and 112, 53 ms; read at the same moments, once in four
milliseconds 61, 78 and 28, 66, in three 110, 54 and 49, 32, in five 164, 143 and 81, 145. With
that and all that comes at once told at once, in seven more turns at load 3-7, an event is 216-288 us (mean 255) for 248-306
(271), from a fifth of the lines on; during the handoff, in the four turns in which neither lagged, 18, 22, 39, 50 ms for 33,
81, 46, 37, before the limit 98, 84, 63, 82 for 38, 55, 210, 70. Since then the runners rest until these moments, not the
daemon: a line is 55-65 us of a runner's processor time, its start included, for 122-130; on a calm machine, in six and seven
turns, p99 during the handoff 22-34 ms for 21-35, p50 before it 7-14 for 9-25; a rest of ten milliseconds gained nothing
more. Tried and left: a contract's intent
beside git's look at its files, since two cores have no room for it (SNAPSHOTTED to ENVELOPE_BUILT 104, 53, 81 ms, and then
194, 120, 83, at load 8-26).

Of a processor at 1,000 lines a second each, before the handoff and during it, two turns at load 1: the daemon's event loop
65-72 and 71-72 %, its threads 13-15 and 17-19, the runners 13-15 and 19-20, the agents 11-13 and 7-10, the clients 7 and 5-7,
git, in what the daemon has waited for, 5-12 during it. A client takes apart what it was sent once all has come, 0.2 us a line
meanwhile for 0.7; an agent's line is 35-37 us of its processor time, 46-51 while `json` made it. In two turns of this form,
at load 2-3, before the handoff: agents 7 %, clients 4-5.

A line's redaction was 28 us where its last letters stand in a form of a key, and is 24, as of any other line. Of an event
all in all that is nothing to be seen: in ten turns, at load 10-20, 0.87-1.12 of the form before (median 0.99). The rest is
flat. Tried and left: to list of a sentence only those words with which a statement may begin, 2.7 us of prose.
"""

from __future__ import annotations

import gc
import re
import selectors
import socket
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from hub.providers.demo.script import FAILED
from tests.bench.bench_events import handshake
from tests.bench.bench_start import cpu_seconds
from tests.bench.table import Row, at_least, percentile, run
from tests.faults.harness import Project, project

RATES, SECONDS, CLIENTS, SESSIONS = (100, 1000), 8.0, 10, 3
WARM_UP = 0.25
"""The part of a session's lines that is written before anything is counted."""

AGENT = """
import json, os, sys, time
rate, lines, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for number in range(9):
    try:
        os.mkdir(os.path.join(folder, str(number)))
        break
    except FileExistsError:
        pass
out = sys.stdout
def say(**line):
    out.write(json.dumps(line) + "\\n")
say(type="start", session=f"bench-{number}", dispatchId="d", model="m", resumed=False, step=0)
out.flush()
while len(os.listdir(folder)) < int(sys.argv[4]):
    time.sleep(0.01)
lines = lines if 0 < number < int(sys.argv[4]) else lines // 2
start, rest = time.monotonic(), b"x" * 120
for sent in range(lines):
    os.write(1, b'{"type": "text", "text": "at=%b by=%d %b"}\\n' % (f"{time.monotonic_ns():,}".encode(), number, rest))
    left = start + (sent + 1) / rate - time.monotonic()
    if left > 0:
        time.sleep(left)
if not number:
    say(type="limit")
    out.flush()
    sys.exit(int(sys.argv[5]))
say(type="done", text="all sent")
"""
"""The agents are numbered as they start and begin together; the first says half and meets its limit, the one that goes on
for it says the other half."""
_BEGINS = b'"msg":"at='
_LINE = re.compile(rb"at=([\d,]+) by=(\d+) ")
"""Thousands stand apart: eight digits in a row may by chance be a piece of one of the daemon's own keys, and are hidden."""

Heard = dict[int, list[tuple[int, int]]]
"""By agent, when each of its lines was written and when it came."""


@attrs.define
class Client:
    """What one client was sent, and when it came: it is taken apart once all has come, not while others are measured."""

    _came: list[tuple[int, bytes]] = attrs.field(factory=list)
    _rest: bytes = b""

    def take(self, data: bytes) -> int:
        """How many lines were in it."""
        now = time.monotonic_ns()
        data = self._rest + data
        whole = data.rfind(b"}") + 1  # a number cut in two stays for the next read
        data, self._rest = data[:whole], data[whole:]
        self._came.append((now, data))
        return data.count(_BEGINS)

    def heard(self) -> Heard:
        """All of it."""
        found: Heard = defaultdict(list)
        for now, data in self._came:
            for at, by in _LINE.findall(data):
                found[int(by)].append((int(at.replace(b",", b"")), now))
        return found


def hear(socks: list[socket.socket], each: int, patience: float) -> list[Client]:
    """What the clients hear, until each has heard so many lines.

    Raises:
        AssertionError: One was sent away before, or it takes longer than `patience`.
    """
    clients = [Client() for _ in socks]
    missing = [each] * len(socks)
    late = time.monotonic() + patience
    with selectors.DefaultSelector() as ready:
        for number, sock in enumerate(socks):
            ready.register(sock, selectors.EVENT_READ, number)
        while any(left > 0 for left in missing):
            assert time.monotonic() < late, f"lines were lost: {missing}"
            for key, _ in ready.select(1.0):
                data = socks[key.data].recv(1 << 18)
                assert data, "a client was sent away"
                missing[key.data] -= clients[key.data].take(data)
    return clients


def configure(made: Project, rate: int, lines: int) -> None:
    """As many accounts as sessions, and one more to go on with."""
    folder = made.root.parent
    (folder / "starts").mkdir()
    (folder / "agent.py").write_text(AGENT)
    words = f"{folder}/agent.py {rate} {lines} {folder}/starts {SESSIONS} {FAILED}"
    program = folder / "agent"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -S -E {words}\n")
    program.chmod(0o755)
    accounts = "".join(
        f'[[providers.demo-first.accounts]]\nlabel = "a{number}"\n' for number in range(SESSIONS + 1)
    )
    (made.root / "hub.toml").write_text(
        f'[providers.demo-first]\nenabled = true\nprogram = "{program}"\n{accounts}'
        f'[session]\nchain = ["demo-first"]\nconcurrent = {SESSIONS}\n'
    )


def delays(clients: list[Heard], begun: int, over: int) -> list[float]:
    """Milliseconds from the agent's write to each client's read, of the others' lines written within these moments."""
    return [
        (came - at) / 1e6
        for client in clients
        for by in range(1, SESSIONS)
        for at, came in client[by]
        if begun <= at < over
    ]


def gap(clients: list[Heard], begun: int, over: int) -> float:
    """The most milliseconds in which a client heard nothing of one of the others, within these moments."""
    return max(
        (after - before) / 1e6
        for client in clients
        for by in range(1, SESSIONS)
        for (_, before), (_, after) in pairwise(client[by])
        if begun <= after and before < over
    )


def measure(folder: Path, rate: int, lines: int) -> dict[str, Any]:
    """Milliseconds: the handoff, and the others' p50, p99 and longest gap, before it and during it; microseconds an event."""
    folder.mkdir()
    with project(folder) as made:
        configure(made, rate, lines)
        api = made.start()
        socks = [socket.create_connection(("127.0.0.1", made.port)) for _ in range(CLIENTS)]
        for sock in socks:
            sock.sendall(handshake(made.port, batch=True))
        time.sleep(0.5)
        for number in range(SESSIONS):
            api.post("/api/run", {"task": f"emit {number}"})
        used, own = cpu_seconds(made.daemon.pid), time.process_time()
        gc.disable()  # to look through what the clients were sent took them 60 to 100 ms, once in each turn
        try:
            clients = hear(socks, SESSIONS * lines, 120 + 4 * lines / rate)
        finally:
            gc.enable()
        used, own = cpu_seconds(made.daemon.pid) - used, time.process_time() - own
        for sock in socks:
            sock.close()
        assert sum(row["handoffsDone"] for row in api.get("/api/sessions")["sessions"]) == 1
    heard = [client.heard() for client in clients]
    first = heard[0]
    limit, onward = first[0][-1][0], first[SESSIONS][0][0]
    calm = first[0][int(len(first[0]) * WARM_UP)][0]
    found: dict[str, Any] = {
        "handoff": (onward - limit) / 1e6,
        "daemon": used / (SESSIONS * lines) * 1e6,
        "clients": own / (SESSIONS * lines) * 1e6,
    }
    for name, begun, over in (("before", calm, limit), ("during", limit, onward)):
        taken = delays(heard, begun, over)
        found[name] = {
            "p50": percentile(taken, 0.5),
            "p99": percentile(taken, 0.99),
            "gap": gap(heard, begun, over),
        }
    return found


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """The handoff, and what it does to the others, at each rate."""
    for rate in RATES:
        found = measure(folder / str(rate), rate, at_least(rate, round(rate * SECONDS), scale))
        before, during = found["before"], found["during"]
        what = f"one of {SESSIONS} sessions, {rate} lines/s each, is handed over"
        yield Row(f"{what}: limit to its successor's first line", found["handoff"], "ms")
        others = "the others' lines to ten clients meanwhile"
        yield Row(f"- {others}: p50", during["p50"], "ms", "", "before it", before["p50"])
        yield Row(f"- {others}: p99", during["p99"], "ms", "<= 20", "before it", before["p99"])
        yield Row("- longest silence of one of them", during["gap"], "ms", "", "before it", before["gap"])
        of = "the clients", found["clients"]
        yield Row("- processor time of the daemon for an event, on average", found["daemon"], "us", "", *of)


if __name__ == "__main__":
    run(rows)
