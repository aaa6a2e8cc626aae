"""Detection and usage over 2,000 Claude Code sessions of one gigabyte, 15 of them active: whole processes, in turns.

Detection is measured as a user meets it: `hub detect --json` in a project without a daemon, which scans the machine each
time, and in one with a daemon, which looks at everything anew but knows what has not changed. Beside it the daemon's answer
alone, its look, and the re-poll of its ambient mode. `hub usage` sums the totals in as many processes
as there are processors, the peer in as many threads.

Peer: ccusage (pinned, offline), of the same corpus: `--since` today for the detection, everything for the totals. The
totals must be its own, to the token. Where there is no npm to install it there is no peer.

Most bytes of `hub usage` are results of tools. A record longer than 2 kB shows before its first nested object that it is no
answer; then only its newline is looked for. One process per processor reads the files, the largest first, while the command
itself looks for accounts and other agents' sessions. An answer may stand in the files of two processes: each sends all of
its answers, and they are merged where the command itself is. Decoding the answers is half of what a process does. Pieces of
256 kB, read to their exact size, cost a third of pieces of 1 MB.

Tried and left: eight bytes per answer, and asking again for those that two processes seem to have (1,590-1,750 ms of
processor time beside 1,630-1,770, and 43 instead of 101 MB), not decoding records that repeat a usage to the byte (a tenth
of the counting, but a torn record would pass unseen), splitting into lines (four times as long as looking for newlines).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.agents import cache_dir
from tests.bench.table import Row, at_least, run
from tests.faults.harness import project

FILES = 2_000
FOLDERS = 40
ACTIVE = 15
BYTES = 1_000_000_000
DAY = 86_400
ROUNDS = 5
CCUSAGE = "ccusage@20.0.24"

_SCRIPT = "from hub.cli.main import main; main()"
"""What the installed command does."""
_WARM = """
import sys, time, json
from pathlib import Path
from hub.actors.detector.scanner import Scanner
from hub.domain.config.reader import Config
from hub.providers.registry import load_all
scanner = Scanner(Path(sys.argv[1]), load_all(Config), Config())
since = int(sys.argv[2]) / 1e9
def fastest(act, rounds):
    spent = []
    for _ in range(rounds):
        start = time.perf_counter()
        act()
        spent.append((time.perf_counter() - start) * 1000)
    return min(spent)
scanner.scan(since)
print(json.dumps([fastest(lambda: scanner.scan(since), 5), fastest(scanner.glance, 40)]))
"""


def ccusage() -> Path | None:
    """The peer's program, installed when it is first needed; None where there is no npm."""
    prefix = cache_dir() / "ccusage"
    program = prefix / "node_modules" / ".bin" / "ccusage"
    npm = shutil.which("npm")
    if not program.exists() and npm is not None:
        prefix.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [npm, "install", "--prefix", prefix, "--no-fund", "--no-audit", CCUSAGE],
            capture_output=True,
            check=False,
        )
    return program if program.exists() else None


def message(draw: random.Random, session: str, number: int, at: str) -> list[dict[str, object]]:
    """One answer: three records that repeat its usage, and the result of its tool."""
    name = f"msg_{draw.getrandbits(80):020x}"
    usage = {
        "input_tokens": draw.randrange(1, 500),
        "output_tokens": draw.randrange(1, 900),
        "cache_creation_input_tokens": draw.randrange(3000),
        "cache_read_input_tokens": draw.randrange(90_000),
        "service_tier": "standard",
    }
    base = {
        "cwd": "/home/dev/repo",
        "sessionId": session,
        "version": "2.1.329",
        "gitBranch": "main",
        "timestamp": at,
    }
    blocks: list[dict[str, object]] = [
        {"type": "thinking", "thinking": "t" * draw.randrange(50, 600), "signature": "c2ln"},
        {"type": "text", "text": f"Step {number}. " + "w" * draw.randrange(20, 900)},
        {
            "type": "tool_use",
            "id": f"toolu_{number}",
            "name": "Edit",
            "input": {"file_path": f"/home/dev/repo/f{number % 9}.py"},
        },
    ]
    found: list[dict[str, object]] = [
        {
            **base,
            "type": "assistant",
            "uuid": f"{draw.getrandbits(128):032x}",
            "requestId": f"req_{name}",
            "message": {
                "id": name,
                "role": "assistant",
                "model": "claude-sonnet-4-5-20250929",
                "content": [block],
                "usage": usage,
            },
        }
        for block in blocks
    ]
    # A few results are longer than the tail that is read.
    long = 400_000 if draw.random() < 0.0005 else draw.randrange(200, 12_000)
    result = [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "r" * long}]
    uuid = f"{draw.getrandbits(128):032x}"
    found.append(
        {
            **base,
            "type": "user",
            "uuid": uuid,
            "message": {"role": "user", "content": result},
            "toolUseResult": {},
        }
    )
    return found


def corpus(home: Path, scale: float) -> int:
    """Writes the sessions; how many bytes they have."""
    draw = random.Random(20)
    count = at_least(60, FILES, scale)
    size = at_least(3_000_000, BYTES, scale) // count
    now = time.time()
    written = 0
    for number in range(count):
        session = f"{draw.getrandbits(128):032x}"
        age = 60 * number if number < ACTIVE else DAY * (3 + number % 300)
        at = datetime.fromtimestamp(now - age, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        folder = home / ".claude" / "projects" / f"-home-dev-p{number % FOLDERS}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{session}.jsonl"
        prompt = {
            "type": "user",
            "uuid": session,
            "cwd": "/home/dev/repo",
            "sessionId": session,
            "timestamp": at,
        }
        lines = [
            json.dumps(
                {**prompt, "message": {"role": "user", "content": f"Task {number}"}}, separators=(",", ":")
            )
        ]
        held = 0
        while held < size:
            new = [
                json.dumps(record, separators=(",", ":")) for record in message(draw, session, len(lines), at)
            ]
            held += sum(map(len, new))
            lines += new
        written += path.write_text("\n".join(lines) + "\n")
        os.utime(path, (now - age, now - age))
    return written


def timed(command: list[object], env: dict[str, str], where: Path | None = None) -> tuple[float, str]:
    """Milliseconds of the whole process, and what it said."""
    start = time.perf_counter()
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=True, env=env, cwd=where
    )
    return (time.perf_counter() - start) * 1000, done.stdout


def active(said: str) -> int:
    """How many of Claude's sessions were found that nobody works on."""
    return sum(one["provider"] == "claude" and not one["running"] for one in json.loads(said))


def usages(env: dict[str, str], peer: Path | None) -> tuple[list[float], list[float]]:
    """The rounds of `hub usage` and of the peer, whose totals are the same."""
    totals: list[float] = []
    peers: list[float] = []
    for _ in range(ROUNDS):
        spent, said = timed([sys.executable, "-c", _SCRIPT, "usage", "--json"], env)
        totals.append(spent)
        if peer is not None:
            spent, theirs = timed([peer, "claude", "daily", "--json", "--offline"], env)
            peers.append(spent)
            their = json.loads(theirs)["totals"]
            spent_in = their["inputTokens"] + their["cacheCreationTokens"] + their["cacheReadTokens"]
            claude = [row for row in json.loads(said)["usage"] if row["provider"] == "claude"]
            told = [sum(row[name] for row in claude) for name in ("tokensIn", "tokensOut")]
            assert told == [spent_in, their["outputTokens"]], (said, their)
    return totals, peers


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """The sessions of the last day, and the tokens of all."""
    written = corpus(folder, scale)
    places = {"HOME": str(folder), "CLAUDE_CONFIG_DIR": str(folder / ".claude")}
    env = {**os.environ, **places, "NO_COLOR": "1", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    since = time.time_ns() - DAY * 10**9
    today = datetime.now(UTC).strftime("%Y%m%d")
    peer = ccusage()
    detect: list[float] = []
    alone: list[float] = []
    served: list[float] = []
    peers: list[float] = []
    with project(folder) as made:
        made.configure()
        daemon = made.start(**env, PYTHONDONTWRITEBYTECODE="")
        mine = {**made.environ(), **env, "PYTHONDONTWRITEBYTECODE": ""}
        ask = [sys.executable, "-c", _SCRIPT, "detect", "--json"]
        timed(ask, mine, made.root)  # the daemon reads them once, and the bytecode is compiled
        lone = folder / "lone"
        subprocess.run(["git", "init", "-q", lone], check=True)
        timed(ask, mine, lone)
        for _ in range(ROUNDS):
            spent, said = timed(ask, mine, made.root)
            detect.append(spent)
            assert active(said) == ACTIVE, said
            spent, said = timed(ask, mine, lone)
            alone.append(spent)
            assert active(said) == ACTIVE, said
            start = time.perf_counter()
            daemon.get("/api/detect?sinceHours=24")
            served.append((time.perf_counter() - start) * 1000)
            if peer is not None:
                spent, _ = timed([peer, "claude", "daily", "--json", "--offline", "--since", today], env)
                peers.append(spent)
        _, said = timed([sys.executable, "-c", _WARM, made.root, since], env)
        warm, glance = json.loads(said)
    totals, peers_total = usages(env, peer)
    name = "ccusage" if peer is not None else ""
    since_peer, total_peer = min(peers, default=0.0), min(peers_total, default=0.0)
    since_name = name and f"{name} --since"
    yield Row("`hub detect --json`, no daemon", min(alone), "ms", "<= 350", since_name, since_peer)
    yield Row("the same, daemon running", min(detect), "ms", "", since_name, since_peer)
    yield Row("`GET /api/detect`, warm", min(served), "ms", "<= 60")
    yield Row("the daemon's look at all", warm, "ms", "<= 10")
    yield Row("re-poll, nothing changed", glance, "ms", "<= 0.5")
    yield Row("`hub usage --json`, all sessions", min(totals), "ms", "<= 0.6 of the peer", name, total_peer)
    yield Row("tokens of all sessions", written / min(totals) / 1000, "MB/s")


if __name__ == "__main__":
    run(rows)
