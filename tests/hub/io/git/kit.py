"""A real repository with a session's worktree, and ways to look at both without hub."""

# ruff: noqa: PTH114, PTH115, PTH118, PTH123  # paths of bytes
from __future__ import annotations

import atexit
import functools
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import attrs

from hub.io.files.atomic import sweep_temps
from hub.io.git.worktree import add_worktree
from hub.io.project.places import Places

IDENTITY = ("-c", "user.name=agent", "-c", "user.email=agent@x", "-c", "commit.gpgSign=false")


def sh(where: Path, *args: str, check: bool = True) -> str:
    """Plain git, as a user or an agent runs it."""
    done = subprocess.run(["git", *IDENTITY, *args], cwd=where, check=False, capture_output=True)
    if check and done.returncode:
        raise AssertionError(f"git {args}: {done.stderr.decode()}")
    return done.stdout.decode("utf-8", "surrogateescape")


def make_repo(root: Path, *init: str) -> Path:
    """A repository with one commit: `a.txt`, `d/b.txt`, an executable, a link, and `*.o` ignored."""
    root.mkdir()
    sh(root, "init", "-q", "-b", "main", *init)
    (root / "a.txt").write_text("a\n")
    (root / "d").mkdir()
    (root / "d/b.txt").write_text("b\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("a.txt")
    (root / ".gitignore").write_text("*.o\n")
    sh(root, "add", "-A")
    sh(root, "commit", "-q", "-m", "first")
    Places(root).ensure()
    return root


@attrs.frozen
class Worktree:
    """A session's worktree."""

    path: Path
    branch: str
    head: str
    base: str
    carried: bool
    kept_index: Path


async def session(root: Path, name: str = "s1", *, carry_dirty: bool = False) -> Worktree:
    """A session's worktree at HEAD."""
    base = sh(root, "rev-parse", "HEAD").strip()
    places, branch = Places(root), f"hub/{name}"
    carried = await add_worktree(root, places.worktree(name), branch, base, carry_dirty=carry_dirty)
    head = sh(root, "rev-parse", branch).strip()
    return Worktree(places.worktree(name), branch, head, base, carried, places.kept_index(name))


def on_disk(tree: Path) -> dict[bytes, tuple[str, bytes]]:
    """Every file below `tree` as git would hold it: path -> (mode, bytes)."""
    found: dict[bytes, tuple[str, bytes]] = {}
    base = os.fsencode(tree)
    for folder, folders, files in os.walk(base):
        if b".git" in folders:
            folders.remove(b".git")
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*files, *links):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            key = os.path.relpath(path, base)
            if stat.S_ISLNK(mode):
                found[key] = ("120000", os.readlink(path))
            elif stat.S_ISREG(mode) and name != b".git":
                kind = "100755" if mode & 0o100 else "100644"
                with open(path, "rb") as file:
                    found[key] = (kind, file.read())
    return found


def in_commit(root: Path, name: str) -> dict[bytes, tuple[str, bytes]]:
    """Every blob of a commit: path -> (mode, bytes)."""
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "-z", name], cwd=root, check=True, capture_output=True
    ).stdout
    entries = [line.partition(b"\t") for line in listed.split(b"\0")[:-1]]
    heads = [head.split(b" ") for head, _, _ in entries]
    stdin = b"".join(head[2] + b"\n" for head in heads)
    rest = subprocess.run(
        ["git", "cat-file", "--batch"], cwd=root, check=True, capture_output=True, input=stdin
    ).stdout
    found: dict[bytes, tuple[str, bytes]] = {}
    for head, (_, _, path) in zip(heads, entries, strict=True):
        line, _, rest = rest.partition(b"\n")
        if line.endswith(b"missing"):
            found[path] = (head[0].decode(), b"")
            continue
        size = int(line.rsplit(b" ", 1)[1])
        found[path] = (head[0].decode(), rest[:size])
        rest = rest[size + 1 :]
    return found


def untouched(root: Path) -> dict[str, object]:
    """What hub must never change of the user's own: HEAD, its branch, the index, the tree, the configuration."""
    return {
        "head": (root / ".git/HEAD").read_bytes(),
        "main": sh(root, "rev-parse", "refs/heads/main"),
        "index": (root / ".git/index").read_bytes(),
        "config": (root / ".git/config").read_bytes(),
        "files": {key: value for key, value in on_disk(root).items() if not key.startswith(b".hub/")},
    }


_STEM = """
import json, os, sys, trio
from pathlib import Path
import hub.io.git.env as env
import hub.io.git.snapshot
import hub.io.git.taking
import hub.io.git.worktree

def act(root, what, spot, when, environ, errors):
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    os.environ.clear()
    os.environ.update(environ)
    real, count = env._run, 0

    async def run(*args, **more):
        nonlocal count
        count += 1
        mine = count
        if mine == spot and when == "before":
            os.kill(os.getpid(), 9)
        done = await real(*args, **more)
        if mine == spot and when == "after":
            os.kill(os.getpid(), 9)
        return done

    env._run = run
    exec(what, {**globals(), "root": Path(root)})

for line in sys.stdin:
    pid = os.fork()
    if not pid:
        act(**json.loads(line))
        break
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@functools.cache
def _stem() -> subprocess.Popen[str]:
    """A process that has imported what is killed, and forks for each death: a test has dozens. It ends with the tests."""
    stem = subprocess.Popen(
        [sys.executable, "-c", _STEM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(stem.communicate)
    return stem


def statuses(root: Path, sha: str) -> dict[str, str]:
    """What a commit changed against its first parent: path -> the letter of git's status."""
    words = sh(root, "diff-tree", "-r", "-z", "--no-renames", "--name-status", f"{sha}^1", sha).split("\0")
    return dict(zip(words[1::2], words[:-1:2], strict=True))


def first_parent(root: Path, sha: str) -> str:
    """A commit's first parent."""
    return sh(root, "rev-parse", f"{sha}^1").strip()


def swept(root: Path) -> list[str]:
    """What is there for a while in the folders that are hub's, before a start sweeps them; none of the dead's is there after it."""
    hub = root / ".hub"
    before = [path.name for path in hub.rglob(".*.tmp")]
    for folder in Places(root).written():
        sweep_temps(folder)
    assert not list(hub.rglob(".*.tmp"))
    return before


def killed_at(root: Path, what: str, spot: int, when: str) -> bool:
    """Runs code in a process that is killed -9 just before or after its `spot`-th git; False when it has fewer."""
    errors = root.with_name(f"{root.name}.errors")
    given = {"root": str(root), "what": what, "spot": spot, "when": when, "errors": str(errors)}
    stem = _stem()
    stem.stdin.write(json.dumps({**given, "environ": dict(os.environ)}) + "\n")
    stem.stdin.flush()
    status = int(stem.stdout.readline())
    assert status in {0, -9}, errors.read_text()
    return status == -9
