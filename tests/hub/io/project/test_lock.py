"""The project lock: one daemon, and a second one learns who it is."""

import errno
import os
import subprocess
import sys
from contextlib import ExitStack
from itertools import count

import pytest

from hub.errors import Code, HubError
from hub.io.project.lock import nobody_writes, project_lock
from tests.refusals import refuses


def test_second_holder_is_told_pid_and_port(tmp_path):
    """P1: exit 75 with pid and port of the first."""
    with (
        project_lock(tmp_path / "lock", port=4748),
        refuses(Code.PROJECT_LOCKED) as caught,
        project_lock(tmp_path / "lock"),
    ):
        pass
    assert caught.value.exit_status == 75
    assert (caught.value.extra["pid"], caught.value.extra["port"]) == (os.getpid(), 4748)
    assert str(os.getpid()) in caught.value.detail
    assert "4748" in caught.value.detail


def test_port_can_be_told_later(tmp_path):
    with project_lock(tmp_path / "lock") as lock:
        lock.tell(51234)
        with pytest.raises(HubError) as caught, project_lock(tmp_path / "lock"):
            pass
    assert caught.value.extra["port"] == 51234


def test_release_frees_and_the_file_stays(tmp_path):
    with project_lock(tmp_path / "lock"):
        pass
    assert (tmp_path / "lock").exists()
    with project_lock(tmp_path / "lock"):
        pass


_HOLD = """
import sys, time
from pathlib import Path
from hub.io.project.lock import project_lock
with project_lock(Path(sys.argv[1]), port=1):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_sigkill_frees_the_lock(tmp_path):
    """I7: the kernel releases it, however the holder died."""
    path = tmp_path / "lock"
    argv = [sys.executable, "-c", _HOLD, str(path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(HubError) as caught, project_lock(path):
            pass
        assert caught.value.extra["pid"] == holder.pid
        holder.kill()
        holder.wait()
        with project_lock(path):
            pass


def test_a_child_does_not_inherit_the_lock(tmp_path):
    """Security row 20: an agent that outlives the daemon must not hold its lock."""
    with project_lock(tmp_path / "lock"):
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False)
    with child:
        with project_lock(tmp_path / "lock"):
            pass
        assert child.poll() is None


def test_who_only_reads_is_waited_for(tmp_path, monkeypatch):
    """A daemon that was started while `hub ls` read was refused, with the number of one that was gone as its holder."""
    path = tmp_path / "lock"
    path.touch()
    reader = ExitStack()
    reader.enter_context(nobody_writes(path))
    monkeypatch.setattr("hub.io.project.lock.time.sleep", lambda _: reader.close())
    with project_lock(path), refuses(Code.PROJECT_LOCKED), nobody_writes(path):
        pass


def test_but_not_for_ever(tmp_path, monkeypatch):
    """One that was suspended while it read."""
    path = tmp_path / "lock"
    path.touch()
    clock = count(0, 2)
    monkeypatch.setattr("hub.io.project.lock.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("hub.io.project.lock.time.sleep", lambda _: None)
    with nobody_writes(path), refuses(Code.PROJECT_LOCKED), project_lock(path):
        pass


def test_planted_link_is_refused(tmp_path):
    """Security row 39 (CVE-2025-68146): a link in place of the lock file."""
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "victim")
    with refuses(Code.NO_PERMISSION), project_lock(tmp_path / "lock"):
        pass
    assert (tmp_path / "victim").read_text() == "precious"


@pytest.mark.parametrize("junk", [b"", b"\xff\xfe\n", b"12 34 56", b"x y", b"9" * 4000])
def test_junk_in_the_file_never_hinders(tmp_path, junk):
    path = tmp_path / "lock"
    with project_lock(path):
        path.write_bytes(junk)
        with pytest.raises(HubError) as caught, project_lock(path):
            pass
    assert caught.value.code is Code.PROJECT_LOCKED


def test_a_lock_whose_file_was_moved_away_or_replaced_is_lost(tmp_path):
    """A daemon whose project had moved went on beside the next one's, and wrote where that one keeps its records."""
    path = tmp_path / ".hub" / "lock"
    path.parent.mkdir()
    with project_lock(path) as lock:
        assert lock.kept()
        path.parent.rename(tmp_path / "moved")
        assert not lock.kept()
        path.parent.mkdir()
        with project_lock(path) as second:
            assert (lock.kept(), second.kept()) == (False, True)
    error = lock.lost()
    assert (error.code, str(path.parent) in error.detail) == (Code.NOT_FOUND, True)


def test_a_file_system_that_does_not_answer_has_not_lost_it(tmp_path, monkeypatch):
    """What it does not say is no word that the project is gone."""

    def silent(_):
        raise OSError(errno.EIO, "Input/output error")

    with project_lock(tmp_path / "lock") as lock, monkeypatch.context() as patched:
        patched.setattr("hub.io.project.lock.os.fstat", silent)
        kept = lock.kept()
    assert kept
