"""Process identity, finding and sweeping, with real processes."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from hub.io.processes import control
from hub.io.runner import proc as runner_proc
from tests.hub.io.runner.kit import DAEMON, gone


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that would sleep for ever."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process
        process.kill()


@pytest.fixture
def run_id() -> str:
    return f"t-{uuid.uuid4().hex}"


def test_an_identity_is_stable_while_the_process_lives_and_none_after(sleeper):
    identity = control.identity_of(sleeper.pid)
    assert identity is not None
    assert identity == control.identity_of(sleeper.pid)
    assert len(identity.boot_id) == 36
    assert control.is_alive(identity)
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert not control.is_alive(identity)  # a zombie is dead
    sleeper.wait()
    assert control.identity_of(sleeper.pid) is None


def test_a_start_time_is_read_behind_a_name_that_looks_like_fields():
    """A process may call itself `a) R 1 1`: the fields start behind the last bracket."""
    text = "import ctypes, sys; ctypes.CDLL(None).prctl(15, b') Z 1 1 (', 0, 0, 0); print('named'); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-u", "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"named\n"
        assert runner_proc.parent(process.pid) == os.getpid()
        assert control.identity_of(process.pid) is not None
        process.kill()


@pytest.mark.parametrize("change", [{"starttime": 1}, {"boot_id": "another"}])
def test_a_process_that_took_over_a_number_is_not_signalled(sleeper, change):
    """A number is not an identity: start time and boot tell whose it is."""
    identity = attrs.evolve(control.identity_of(sleeper.pid), **change)
    assert control.send_signal(identity, signal.SIGKILL) is False
    assert not runner_proc.send(sleeper.pid, 1, signal.SIGKILL)
    assert not runner_proc._send_by_number(sleeper.pid, 1, signal.SIGKILL)
    assert sleeper.poll() is None


@pytest.mark.parametrize("way", ["handle", "number"])
def test_the_right_process_is_signalled(sleeper, way):
    identity = control.identity_of(sleeper.pid)
    if way == "handle":
        assert control.send_signal(identity, signal.SIGTERM)
    else:
        assert runner_proc._send_by_number(identity.pid, identity.starttime, signal.SIGTERM)
    assert sleeper.wait() == -signal.SIGTERM
    assert control.send_signal(identity, signal.SIGTERM) is False


def test_a_leader_that_ended_before_its_threads_counts_as_alive():
    """Its main thread is a zombie, and the others still write into the worktree."""
    text = (
        "import ctypes, threading, time\n"
        "threading.Thread(target=lambda: (print('up', flush=True), time.sleep(1000))).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", text], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"up\n"
        identity = control.identity_of(process.pid)
        assert identity is not None
        assert control.send_signal(identity, signal.SIGKILL)


def test_descendants_are_found_through_sessions_and_threads(run_id):
    """A child started by a thread hangs below that thread in /proc."""
    text = (
        "import os, subprocess, threading, sys\n"
        "def start():\n"
        "    global child; child = subprocess.Popen(['setsid', 'sleep', '1000'])\n"
        "    print(child.pid, flush=True); stop.wait()\n"
        "stop = threading.Event(); t = threading.Thread(target=start); t.start()\n"
        "sys.stdin.read(); stop.set(); child.kill()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        pid = int(process.stdout.readline())
        assert [one for one, _ in runner_proc.descendants(process.pid)] == [pid]
        assert runner_proc._children_by_scan(process.pid) == [pid]
        process.stdin.close()
    assert runner_proc.descendants(process.pid) == []


async def test_the_sweep_ends_exactly_the_processes_of_its_runs(run_id, sleeper):
    """P2, I6: orphans of init that ignore SIGTERM; nobody else's."""
    other = subprocess.Popen(  # noqa: ASYNC220  # quick
        ["sleep", "1000"], env={"HUB_RUN_ID": f"{run_id}-2", "PATH": os.defpath}
    )
    text = DAEMON + "daemon(False); daemon(False)"
    done = subprocess.run(  # noqa: ASYNC221  # quick
        [sys.executable, "-I", "-S", "-c", text], env={"HUB_RUN_ID": run_id}, capture_output=True, check=True
    )
    pids = [int(line) for line in done.stdout.split()]
    try:
        found = control.find_by_env({run_id})
        assert sorted(identity.pid for identity in found) == sorted(pids)
        await control.sweep([run_id])
        assert gone(*pids)
        assert sleeper.poll() is None
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


async def test_a_sweep_of_nothing_touches_nothing(sleeper):
    await control.sweep([])
    await control.sweep(["no-such-run"])
    assert sleeper.poll() is None


def test_the_daemon_never_finds_itself(run_id, monkeypatch):
    """It may itself have been started by an agent of another hub."""
    text = f"import os\nfrom hub.io.processes import control\nprint(control.find_by_env(['{run_id}']))"
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "HUB_RUN_ID": run_id},
        cwd=Path(__file__).parents[4],
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"[]\n"


def test_without_a_file_to_open_nobody_is_taken_for_dead(monkeypatch):
    """F10: a runner whose `/proc` entry cannot be opened for want of descriptors lives, as far as anybody knows."""
    own = control.identity_of(os.getpid())

    def full(*_args, **_more):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", full)
        with pytest.raises(OSError, match="Too many"):
            control.is_alive(own)
    assert control.is_alive(own)
