"""Atomic files: the old one or the new one, and the recipe that makes it so."""

# ruff: noqa: PTH208  # names, not paths
import errno
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.files import atomic
from hub.io.files.atomic import create_atomic, read_bounded, swap_atomic, sweep_temps, write_atomic
from tests.refusals import refuses


def test_replaces_whole_and_0600_whatever_the_umask(tmp_path, open_umask):
    target = tmp_path / "fsm.json"
    target.write_text("old")
    write_atomic(target, b"new" * 100_000)
    assert target.read_bytes() == b"new" * 100_000
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["fsm.json"]


def test_short_writes_are_continued(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data[:7])))
    write_atomic(tmp_path / "f", b"0123456789" * 5)
    assert (tmp_path / "f").read_bytes() == b"0123456789" * 5


@pytest.mark.parametrize("place", ["pre_write", "pre_rename"])
@pytest.mark.parametrize(
    ("action", "code"),
    [("enospc", Code.NO_SPACE), ("erofs", Code.READ_ONLY), ("eio", None), ("emfile", Code.UNAVAILABLE)],
)
def test_a_failure_leaves_the_old_file_and_no_temporary(tmp_path, place, action, code):
    """Fault matrix F6 and F10: explicit, nothing half-made."""
    target = tmp_path / "fsm.json"
    target.write_text("old")
    failpoints.arm(f"fsm.PAUSING.{place}={action}")
    with pytest.raises(HubError if code else OSError) as caught:
        write_atomic(target, b"new", failpoint="fsm.PAUSING")
    if code:
        assert caught.value.code is code
        assert str(target) in caught.value.detail
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["fsm.json"]


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.EDQUOT, Code.NO_SPACE), (errno.EACCES, Code.NO_PERMISSION), (errno.EPERM, Code.NO_PERMISSION)],
)
def test_disk_errors_have_their_code(tmp_path, number, code):
    with refuses(code), atomic.coded_errors(tmp_path):
        raise OSError(number, "x")


_KILLED = """
import sys
from pathlib import Path
from hub.io.files.atomic import write_atomic
write_atomic(Path(sys.argv[1]), b"new", failpoint="fsm.X")
"""


@pytest.mark.parametrize(
    ("place", "content"), [("pre_write", "old"), ("pre_rename", "old"), ("post_rename", "new")]
)
def test_kill9_at_each_step_leaves_one_of_the_two_files(tmp_path, place, content):
    """Fault matrix F1 to F3; the temporary name of the dead process is swept at the next start (I8)."""
    target = tmp_path / "fsm.json"
    target.write_text("old")
    env = {**os.environ, "HUB_FAILPOINTS": f"fsm.X.{place}=kill9"}
    done = subprocess.run([sys.executable, "-c", _KILLED, str(target)], env=env, check=False)
    assert done.returncode == -9
    assert target.read_text() == content
    left = sorted(set(os.listdir(tmp_path)) - {"fsm.json"})
    assert len(left) == (place == "pre_rename")
    sweep_temps(tmp_path)
    assert os.listdir(tmp_path) == ["fsm.json"]


def test_sweep_leaves_living_writers_and_strangers(tmp_path):
    start = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    mine = tmp_path / f".a.{os.getpid()}-{start}.0.hub.tmp"
    reused_pid = tmp_path / f".a.{os.getpid()}-1.0.hub.tmp"
    strangers = [tmp_path / name for name in (".a.tmp", ".report.2024-11.draft.tmp")]
    for path in (mine, reused_pid, *strangers):
        path.write_text("x")
    folder = tmp_path / f".live.{os.getpid()}-{start}.a_0.hub.tmp"
    dead = tmp_path / f".live.{os.getpid()}-1.a_0.hub.tmp"
    for path in (folder, dead):
        (path / "a/b").mkdir(parents=True)
        (path / "a/link").symlink_to(tmp_path)
    sweep_temps(tmp_path)
    assert {*tmp_path.iterdir()} == {mine, *strangers, folder}
    sweep_temps(dead)


def test_what_may_not_be_removed_ends_no_sweep(tmp_path, monkeypatch):
    """The first of another user's that was met left the rest where it was."""
    for number in range(3):
        (tmp_path / f".a.{os.getpid()}-1.{number}.hub.tmp").touch()
    theirs, *_ = os.listdir(tmp_path)
    unlink = os.unlink

    def refused(name, **at):
        if name == theirs:
            raise PermissionError(errno.EPERM, "not yours", name)
        unlink(name, **at)

    monkeypatch.setattr(os, "unlink", refused)
    sweep_temps(tmp_path)
    assert os.listdir(tmp_path) == [theirs]


def test_a_link_in_place_of_the_directory_is_refused(tmp_path):
    """Security row 28: `.hub` replaced by a link must not lead writes elsewhere."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with refuses(Code.NO_PERMISSION):
        write_atomic(tmp_path / "link" / "f", b"x")
    assert os.listdir(tmp_path / "real") == []


def test_a_link_in_place_of_the_file_is_replaced_not_followed(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "f").symlink_to(tmp_path / "victim")
    write_atomic(tmp_path / "f", b"new")
    assert (tmp_path / "victim").read_text() == "precious"
    assert not (tmp_path / "f").is_symlink()


def test_create_makes_once(tmp_path):
    assert create_atomic(tmp_path / "key", b"first")
    assert not create_atomic(tmp_path / "key", b"second")
    assert (tmp_path / "key").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["key"]


def test_read_bounded_limits(tmp_path):
    (tmp_path / "f").write_bytes(b"12345")
    assert read_bounded(tmp_path / "f", 5) == b"12345"
    with refuses(Code.TOO_LARGE):
        read_bounded(tmp_path / "f", 4)
    with pytest.raises(FileNotFoundError):
        read_bounded(tmp_path / "none", 4)


def test_below_what_is_no_folder_there_is_nothing_and_nothing_can_be_made():
    """Bug: a user without a home (`HOME=/dev/null`) got an internal error of every command, `hub doctor` too."""
    place = Path("/dev/null/.config/hub/config.toml")
    with pytest.raises(FileNotFoundError):
        read_bounded(place, 10)
    with refuses(Code.NO_PERMISSION):
        write_atomic(place, b"x")


def test_read_bounded_refuses_links_fifos_and_directories_without_blocking(tmp_path):
    (tmp_path / "f").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "f")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dir").mkdir()
    for name in ("link", "fifo", "dir"):
        with refuses(Code.NO_PERMISSION):
            read_bounded(tmp_path / name, 10)


_TRACED = """
import sys
from pathlib import Path
from hub.io.files.atomic import write_atomic
target = Path(sys.argv[1])
write_atomic(target, b"marker-begin")
write_atomic(target, b"payload")
"""


def test_the_kernel_sees_the_recipe_in_order(tmp_path):
    """The order is what makes it durable: data synced before the rename, the directory synced after it."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed: the order of system calls was NOT checked")
    log = tmp_path / "log"
    target = tmp_path / "d" / "fsm.json"
    target.parent.mkdir()
    calls = "trace=openat,write,fsync,fdatasync,fchmod,rename,renameat,renameat2,close"
    argv = ["strace", "-f", "-y", "-o", str(log), "-e", calls, sys.executable, "-c", _TRACED, str(target)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode and "PTRACE" in done.stderr:
        pytest.skip("this system forbids tracing: the order of system calls was NOT checked")
    assert done.returncode == 0, done.stderr
    directory = re.escape(str(target.parent))
    temp = rf"{directory}/\.fsm\.json\.\d+-\d+\.1\.hub\.tmp"
    steps = [
        rf'openat\(.*"{directory}", O_RDONLY\|O_NOFOLLOW\|O_CLOEXEC\|O_DIRECTORY',
        r'openat\(\d+<.*>, "\.fsm\.json\.\d+-\d+\.1\.hub\.tmp", O_WRONLY\|O_CREAT\|O_EXCL\|O_NOFOLLOW\|O_CLOEXEC, 0600\)',
        rf"fchmod\(\d+<{temp}>, 0600\)",
        rf'write\(\d+<{temp}>, "payload", 7\)',
        rf"fsync\(\d+<{temp}>\)",
        rf"close\(\d+<{temp}>\)",
        r'rename(at2?)?\(\d+<.*>, "\.fsm\.json\.\d+-\d+\.1\.hub\.tmp", \d+<.*>, "fsm\.json"',
        rf"fsync\(\d+<{directory}>\)",
    ]
    lines = log.read_text().splitlines()
    begin = max(i for i, line in enumerate(lines) if "marker-begin" in line)
    at = begin
    for step in steps:
        at = next((i for i in range(at + 1, len(lines)) if re.search(step, lines[i])), -1)
        assert at > 0, f"missing or out of order: {step}"


# --- compare and swap -------------------------------------------------------------------------------------------


def test_a_file_is_swapped_only_while_it_holds_what_was_read(tmp_path):
    """hub.toml has two writers: hub and its user's editor."""
    target = tmp_path / "hub.toml"
    target.write_bytes(b"old")
    target.chmod(0o640)
    assert swap_atomic(target, b"old", b"new")
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    for other in (b"old", b"ne", b"newer", b""):
        assert not swap_atomic(target, other, b"lost")
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["hub.toml"]


def test_a_file_that_changes_while_the_new_one_is_written_stays(tmp_path, monkeypatch):
    """The comparison is the last step: an editor that saves during the fsync wins."""
    target = tmp_path / "hub.toml"
    target.write_bytes(b"old")
    real = atomic.sync_file
    monkeypatch.setattr(atomic, "sync_file", lambda fd: (real(fd), target.write_bytes(b"mine")))
    assert not swap_atomic(target, b"old", b"new")
    assert target.read_bytes() == b"mine"
    assert os.listdir(tmp_path) == ["hub.toml"]


def test_a_file_that_has_gone_is_not_made_again(tmp_path):
    assert not swap_atomic(tmp_path / "hub.toml", b"", b"new")
    assert os.listdir(tmp_path) == []


def test_what_is_no_file_is_not_swapped(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with refuses(Code.NO_PERMISSION):
        swap_atomic(tmp_path / "link", b"old", b"new")
    assert (tmp_path / "real").read_bytes() == b"old"
