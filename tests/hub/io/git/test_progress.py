"""A git that stands still is ended; one that works, however slowly, is not."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator

import psutil
import pytest
import trio

from hub.errors import Code, HubError
from hub.io.git import progress
from hub.io.git.env import git, git_capped
from hub.io.git.repository import repo_state
from hub.io.project import agent_files, hub_dir
from tests.hub.io.git.kit import in_commit, sh
from tests.hub.io.git.test_snapshot import take
from tests.refusals import refuses
from tests.waiting import PATIENCE


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(progress, "STILL", 0.5)


@pytest.fixture(autouse=True)
def _none_is_left() -> Iterator[None]:
    """Whatever is tried here, no git outlives it."""
    yield
    assert [child for child in psutil.Process().children(recursive=True) if child.name() == "git"] == []


def stuck(caught: pytest.ExceptionInfo[HubError]) -> None:
    assert caught.value.code is Code.GIT_FAILED
    assert "did nothing for 0.5 seconds" in caught.value.detail
    assert "find . -type p" in caught.value.hint


@pytest.mark.parametrize("name", [".gitignore", "folder/.gitignore", ".gitattributes"])
async def test_a_pipe_in_a_working_tree_ends_a_snapshot_in_words(root, wt, name):
    """`open` of a named pipe waits for a writer, for ever: so did the handoff."""
    place = wt.path / name
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    (place.parent / "new.txt").write_text("kept\n")
    os.mkfifo(place)
    with pytest.raises(HubError) as caught:
        await take(wt, "h1")
    stuck(caught)
    place.unlink()
    kept = os.fsencode((place.parent / "new.txt").relative_to(wt.path))
    assert in_commit(root, (await take(wt, "h2")).sha)[kept] == ("100644", b"kept\n")


async def test_a_pipe_in_the_place_of_an_object_ends_what_reads_it(root):
    """An agent can write to the object database too."""
    sha = sh(root, "rev-parse", "HEAD").strip()
    place = root / ".git/objects" / sha[:2] / sha[2:]
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(HubError) as caught:
        await git_capped("cat-file", "commit", sha, cwd=root, limit=100)
    stuck(caught)
    with refuses(Code.GIT_FAILED):
        await repo_state(root)


async def test_a_git_that_waits_can_be_stopped(root):
    """A session that is stopped waits for no git."""
    (root / ".gitignore").unlink()
    os.mkfifo(root / ".gitignore")
    (root / "new.txt").touch()
    with trio.move_on_after(0.1) as scope:
        await git("status", cwd=root)
    assert scope.cancelled_caught


def test_those_asked_in_a_thread_end_too(root):
    """A thread that waits for a process cannot be cancelled, and holds up the end of the daemon."""
    (root / ".gitignore").unlink()
    os.mkfifo(root / ".gitignore")
    (root / "new.txt").touch()
    with pytest.raises(HubError) as caught:
        agent_files.orders(root)
    stuck(caught)
    (root / ".git/index").unlink()
    os.mkfifo(root / ".git/index")
    with pytest.raises(HubError) as caught:
        hub_dir.tracked_files(root)
    stuck(caught)


async def test_a_git_that_works_slowly_is_waited_for(root, monkeypatch):
    """A large repository takes as long as it takes: here longer than one may stand still."""
    looks, plain = threading.Semaphore(0), progress._done

    def done(pid):
        seen = plain(pid)
        looks.release()
        return seen

    monkeypatch.setattr(progress, "STILL", 1.0)
    monkeypatch.setattr(progress, "_done", done)
    left = [b"slow\n"] * (progress._LOOKS + 3)

    def read() -> bytes:
        assert looks.acquire(timeout=PATIENCE)
        return left.pop() if left else b""

    done = await git("hash-object", "--stdin", cwd=root, stdin=read)
    known = await git("hash-object", "--stdin", cwd=root, stdin=b"slow\n" * (progress._LOOKS + 3))
    assert done.text == known.text


def test_one_that_waits_for_a_disk_does_not_stand_still(root, monkeypatch):
    """Nobody could end it, and a flush of much takes its time."""
    monkeypatch.setattr(psutil.Process, "status", lambda _: psutil.STATUS_DISK_SLEEP)
    assert progress._done(os.getpid()) is None
    seen = progress.GitProgress(os.getpid())
    for _ in range(2 * progress._LOOKS):
        seen.look()
    assert not seen.still


def test_what_a_process_below_does_counts():
    """`git repack` waits while another git packs."""
    with subprocess.Popen(["sh", "-c", "cat; :"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as above:

        def through() -> object:
            above.stdin.write(b"line\n")
            above.stdin.flush()
            assert above.stdout.readline() == b"line\n"
            return progress._done(above.pid)

        assert through() != through()
