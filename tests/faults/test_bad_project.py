"""Projects as people have them, under a daemon: no commit yet, a detached HEAD, a dirty tree, a configuration that breaks.

What a command refuses before there is a daemon has its tests in `tests/hub/cli/commands/test_run.py`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hub.errors import RULES, Code
from tests.faults.harness import Project, git, until, write
from tests.faults.invariants import check_invariants
from tests.refusals import refuses


def simple(made: Project, oracle: Path) -> None:
    """One agent that writes one file."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"done": ""})
    made.configure()


def test_a_repository_without_a_commit(made, oracle, tmp_path):
    """`no_commit`, with the command that makes one; once it is there, the same daemon works."""
    shutil.rmtree(made.root / ".git")
    git(made.root, "init", "-q", "-b", "main")
    simple(made, oracle)
    api = made.start()
    with refuses(Code.NO_COMMIT) as caught:
        api.post("/api/run", {"task": "write"})
    assert "git commit" in caught.value.hint
    git(made.root, "commit", "-q", "--allow-empty", "-m", "start")
    api.post("/api/run", {"task": "write"})
    assert until(made.ended, "the session ends")["sessionState"] == "completed"
    made.stop()
    check_invariants(made, oracle)


def test_a_detached_head_works(made, oracle):
    """HEAD stays detached where it was."""
    git(made.root, "checkout", "-q", "--detach")
    before = (made.root / ".git/HEAD").read_bytes()
    simple(made, oracle)
    made.start().post("/api/run", {"task": "write"})
    assert until(made.ended, "the session ends")["sessionState"] == "completed"
    made.stop()
    assert (made.root / ".git/HEAD").read_bytes() == before
    assert made.show(f"{made.fsm()['branch']}:a.txt") == b"one\n"


def contents(root: Path) -> dict[str, bytes]:
    """Every file of the user's, with git's own index and refs of the user, byte for byte."""
    found = {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.relative_to(root).parts[0] not in (".git", ".hub")
    }
    return found | {
        name: (root / ".git" / name).read_bytes() for name in ("index", "HEAD", "refs/heads/main")
    }


def test_a_dirty_tree_comes_along_and_stays_as_it_is(made, oracle):
    """Staged, unstaged and untracked changes are in the session; ignored files are not; the user's are untouched."""
    root = made.root
    (root / ".gitignore").write_text("*.log\n/hub.toml\n")
    (root / "both.txt").write_text("committed\n")
    git(root, "add", ".gitignore", "both.txt")
    git(root, "commit", "-q", "-m", "more")
    (root / "both.txt").write_text("staged\n")
    (root / "staged.txt").write_text("staged only\n")
    git(root, "add", "both.txt", "staged.txt")
    (root / "both.txt").write_text("unstaged\r\n")
    (root / "untracked.txt").write_bytes(b"\x00untracked\xff")
    (root / "ignored.log").write_text("not for anybody\n")
    simple(made, oracle)
    before = contents(root)
    made.start().post(
        "/api/run", {"task": "write", "verify": ["grep -q unstaged both.txt", "test -f untracked.txt"]}
    )
    record = until(made.ended, "the session ends")
    made.stop()
    assert (record["sessionState"], record["verified"]) == ("completed", True)
    assert contents(root) == before
    branch = record["branch"]
    assert made.show(f"{branch}:both.txt") == b"unstaged\r\n"
    assert made.show(f"{branch}:untracked.txt") == b"\x00untracked\xff"
    assert made.show(f"{branch}:staged.txt") == b"staged only\n"
    assert "ignored.log" not in git(root, "ls-tree", "-r", "--name-only", branch).split()


def test_a_configuration_that_breaks_while_it_is_in_use(made, oracle, gate):
    """The running session keeps the last good one; a new session is refused until it is mended."""
    made.script(
        "demo-first",
        {"say": "ready"},
        {"run": gate.command},
        {"limit": {"resetsIn": 3600}},
    )
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": ""})
    made.configure()
    good = (made.root / "hub.toml").read_text()
    api = made.start()
    api.post("/api/run", {"task": "write", "verify": ["test -f b.txt"]})
    made.says("ready")
    (made.root / "hub.toml").write_text("[[[")
    gate.open()
    record = until(made.ended, "the session ends by itself")
    assert (record["sessionState"], record["handoffsDone"]) == ("completed", 1)
    with refuses(Code.CONFIG_INVALID, "hub.toml"):
        api.post("/api/run", {"task": "again"})
    (made.root / "hub.toml").write_text(good)
    oracle.write_text("")
    gate.open()
    api.post("/api/run", {"task": "again"})
    until(lambda: made.ended().get("task") == "again", "the next session ends")
    made.stop()


@pytest.mark.parametrize("gone", ["moved", "removed"])
def test_a_daemon_whose_project_is_gone_ends_and_leaves_the_next_one_alone(made, oracle, gone):
    """It served on beside the next one, wrote its records over that one's, and took that one's announcement away."""
    simple(made, oracle)
    made.start()
    if gone == "moved":
        made.hub.rename(made.root / "moved")
    else:
        shutil.rmtree(made.hub)
    first, made.daemon = made.daemon, None
    api = made.start()
    second, made.daemon = made.daemon, first
    assert made.wait_dead() == RULES[Code.NOT_FOUND].exit
    assert "was moved or removed under this daemon" in (made.root.parent / "daemon.log").read_text()
    made.daemon = second
    assert made.announced() == second.pid
    assert list((made.state / "running").iterdir()), (
        "the next one is still found by those who look for daemons"
    )
    api.post("/api/run", {"task": "write"})
    assert until(made.ended, "the session ends")["sessionState"] == "completed"
    made.stop()
    check_invariants(made, oracle)
