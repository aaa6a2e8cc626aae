"""Projects as people have them: no repository, no commit, a detached HEAD, a dirty tree, a broken configuration."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hub.errors import Code, HubError
from tests.faults.harness import HUB, Project, git, until, write
from tests.faults.invariants import check_invariants


def simple(made: Project, oracle: Path) -> None:
    """One agent that writes one file."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"done": ""})
    made.configure()


def hub(made: Project, *args: str, cwd: Path | None = None, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*HUB, *args],
        cwd=cwd or made.root,
        env=made.environ(),
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_a_folder_that_is_no_repository(made, tmp_path):
    """`not_a_repository`, the next command, nothing written into the folder."""
    folder = tmp_path / "plain"
    folder.mkdir()
    done = hub(made, "daemon", "--port", "0", cwd=folder)
    assert done.returncode not in (0, None)
    assert "git init" in done.stderr
    assert list(folder.iterdir()) == []


def test_a_repository_without_a_commit(made, oracle, tmp_path):
    """`no_commit`, with the command that makes one; once it is there, the same daemon works."""
    shutil.rmtree(made.root / ".git")
    git(made.root, "init", "-q", "-b", "main")
    simple(made, oracle)
    api = made.start()
    with pytest.raises(HubError) as caught:
        api.post("/api/run", {"task": "write"})
    assert caught.value.code is Code.NO_COMMIT
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


def test_a_configuration_that_is_broken_at_the_start(made):
    """The place of the mistake, exit status 2, and no daemon."""
    (made.root / "hub.toml").write_text("[session]\nthreshold = \n")
    done = hub(made, "daemon", "--port", "0")
    assert done.returncode == 2
    assert "hub.toml" in done.stderr
    assert "2" in done.stderr
    assert not (made.hub / "daemon.json").exists()


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
    with pytest.raises(HubError) as caught:
        api.post("/api/run", {"task": "again"})
    assert caught.value.code is Code.CONFIG_INVALID
    assert "hub.toml" in caught.value.detail
    (made.root / "hub.toml").write_text(good)
    oracle.write_text("")
    gate.open()
    api.post("/api/run", {"task": "again"})
    until(lambda: made.ended().get("task") == "again", "the next session ends")
    made.stop()


UNPRIVILEGED = ["setpriv", "--bounding-set=-all"] if os.geteuid() == 0 else []
"""What makes of root a user to whom the modes of files apply."""


@pytest.mark.skipif(bool(UNPRIVILEGED) and not shutil.which("setpriv"), reason="root may write everywhere")
def test_a_project_that_may_not_be_written(made):
    """`no_permission` in words, not a traceback, and nothing half made."""
    made.root.chmod(0o555)
    try:
        done = subprocess.run(
            [*UNPRIVILEGED, *HUB, "daemon", "--port", "0"],
            cwd=made.root,
            env=made.environ(),
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        made.root.chmod(0o755)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "does not allow" in done.stderr or "may not be written" in done.stderr, done.stderr
    assert not made.hub.exists()
