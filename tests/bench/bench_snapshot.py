"""A snapshot in a large repository.

Peer: `git add -A && git commit` in the same repository, in the same run, taking turns; both must store the same tree.

Half is git's look at 50,000 files by `diff-files`: 38-55 ms, both cores, nearly all of it the kernel's `lstat` (85 ms
of processor time). Beside it run `ls-files` for new files (37) and hub's own look for pipes and the like (25, nearly
all of it the listing of folders). The next largest part is the index that the agent finds afterwards: `git
update-index` spends 19-25 ms of processor time on 50,000 entries, beside the pack and the refs. That index begins as
a second name of hub's own: there is no copy to write (5 ms), nor to wait for until the files are read. git renames
the new one into the place of that name, so ext4 writes it out then and not at the rename into the worktree (6 -> 2
ms). Four syncs: pack, its index, two refs.

Processor time of all processes, 50,000 / 10,000 files, least of 25 rounds in turns at load 7-9: 196-199 / 59-70 ms,
the peer's 228-235 / 53-58; with the copy 202-205 / 61-72. hub itself has 20 ms of it with 10,000 files: seven gits at
0.7, and the listing.

Tried and left: a writer of the index of our own, which copied the bytes between the changed entries (beside the peer,
in turns: 0.49 x with it, 0.44 x without, of 10,000 files 0.93 and 0.83: not to be told apart), an index for several
readers (`index.threads`, within the noise), one git for both looks (`ls-files -m -o`: 116 ms of processor time in one
thread; `status`: 164), no deltas and less compression in the pack (no faster), loose objects in place of a pack (four
times as long).
"""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import trio

from hub.io.git.snapshot import snapshot
from hub.io.git.worktree import add_worktree
from hub.io.project.places import Places
from tests.bench.table import Row, at_least, run

CHANGED = 21


def _git(*args: str, cwd: Path) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=e@x")
    return subprocess.run(
        ("git", *identity, *args), cwd=cwd, check=True, capture_output=True, text=True
    ).stdout


def plant(root: Path, files: int) -> None:
    """`files` small files in folders of a hundred."""
    _git("init", "-qb", "main", cwd=root)
    for number in range(files):
        folder = root / f"pkg{number // 2500}" / f"mod{number // 100 % 25}"
        if number % 100 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file{number}.py").write_text(f"# {number}\n" * 20)
    _git("add", "-A", cwd=root)
    _git("commit", "-qm", "start", cwd=root)


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
    base = _git("rev-parse", "HEAD", cwd=root).strip()
    ours, theirs = places.worktree("ours"), places.worktree("theirs")
    await add_worktree(root, ours, "hub/ours", base)
    await add_worktree(root, theirs, "hub/theirs", base)
    mine: list[float] = []
    peer: list[float] = []
    for turn in range(rounds):
        change(ours, turn)
        change(theirs, turn)
        start = time.perf_counter()
        await snapshot(ours, "ours", f"h{turn}", {}, root=root)
        mine.append(time.perf_counter() - start)
        start = time.perf_counter()
        _git("add", "-A", cwd=theirs)
        _git("commit", "-qm", "turn", cwd=theirs)
        peer.append(time.perf_counter() - start)
        same = _git("rev-parse", "hub/ours^{tree}", "hub/theirs^{tree}", cwd=root).split()
        assert same[0] == same[1], "both must store the same tree"
    return mine, peer


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """The ratio of the pairs, as a time beside the peer's."""
    root, files = folder / "repo", at_least(2500, 50_000, scale)
    root.mkdir()
    plant(root, files)
    mine, peer = trio.run(measure, root, at_least(2, 9, scale))
    ratio = statistics.median(a / b for a, b in zip(mine, peer, strict=True))
    commit = statistics.median(peer) * 1e3
    what = f"snapshot of {files} files, {CHANGED} changed"
    yield Row(what, ratio * commit, "ms", "<= 0.7 x peer", "`git add -A && git commit`", commit)


if __name__ == "__main__":
    run(rows)
