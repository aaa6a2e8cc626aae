"""A snapshot against `git add -A && git commit`, in the same repository, in the same run, taking turns.

Run: python tests/bench/bench_snapshot.py [files] [rounds]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import trio

from hub.io.git import add_worktree, snapshot
from hub.io.places import Places

CHANGED = 21


def run(*args: str, cwd: Path) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=e@x")
    return subprocess.run(
        ("git", *identity, *args), cwd=cwd, check=True, capture_output=True, text=True
    ).stdout


def plant(root: Path, files: int) -> None:
    """`files` small files in folders of a hundred."""
    run("init", "-qb", "main", cwd=root)
    for number in range(files):
        folder = root / f"pkg{number // 2500}" / f"mod{number // 100 % 25}"
        if number % 100 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file{number}.py").write_text(f"# {number}\n" * 20)
    run("add", "-A", cwd=root)
    run("commit", "-qm", "start", cwd=root)


def change(tree: Path, turn: int) -> None:
    """Twenty changed files and a new one, as an agent leaves them."""
    folder = tree / "pkg0"
    for number in range(CHANGED - 1):
        with (folder / f"mod{number}" / f"file{number * 100}.py").open("a") as file:
            file.write(f"# turn {turn}\n")
    (folder / f"new{turn}.py").write_text(f"# {turn}\n")


async def measure(root: Path, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of each snapshot, and of each `git add -A && git commit`."""
    places = Places(root)
    places.ensure()
    base = run("rev-parse", "HEAD", cwd=root).strip()
    ours = await add_worktree(root, places.worktree("ours"), "hub/ours", base)
    theirs = await add_worktree(root, places.worktree("theirs"), "hub/theirs", base)
    mine: list[float] = []
    peer: list[float] = []
    for turn in range(rounds):
        change(ours.path, turn)
        change(theirs.path, turn)
        start = time.perf_counter()
        taken = await snapshot(ours.path, "ours", f"h{turn}", {}, ours.kept_index)
        mine.append(time.perf_counter() - start)
        assert len(taken.files) == CHANGED
        start = time.perf_counter()
        run("add", "-A", cwd=theirs.path)
        run("commit", "-qm", "turn", cwd=theirs.path)
        peer.append(time.perf_counter() - start)
        same = run("rev-parse", "hub/ours^{tree}", "hub/theirs^{tree}", cwd=root).split()
        assert same[0] == same[1], "both must store the same tree"
    return mine, peer


def show(mine: list[float], peer: list[float]) -> None:
    """Prints both and their ratio."""
    ratio = statistics.median(a / b for a, b in zip(mine, peer, strict=True))
    best = min(mine) / min(peer)
    print(f"snapshot              {statistics.median(mine) * 1e3:7.1f} ms")
    print(f"add -A && commit      {statistics.median(peer) * 1e3:7.1f} ms")
    print(f"ratio (median of {len(mine)} pairs) {ratio:.2f}, of the best {best:.2f}   (goal 0.5)")


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    with tempfile.TemporaryDirectory() as directory:
        os.environ["HUB_STATE_DIR"] = f"{directory}/state"
        root = Path(directory) / "repo"
        root.mkdir()
        plant(root, files)
        show(*trio.run(measure, root, rounds))


if __name__ == "__main__":
    main()
