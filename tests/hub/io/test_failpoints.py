"""Failpoints: a fault that a test plants happens exactly where and when it says."""

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

from hub.io import failpoints
from tests.waiting import Gate, ended


@pytest.mark.parametrize("name", ["enospc", "eio", "erofs", "emfile"])
def test_errno_actions_raise_their_errno(name):
    failpoints.arm(f"audit.append={name}")
    with pytest.raises(OSError) as caught:
        failpoints.hit("audit.append")
    assert caught.value.errno == getattr(errno, name.upper())


def test_nth_hit_is_the_only_one():
    failpoints.arm("a.b=eio@3")
    outcomes = []
    for _ in range(5):
        try:
            failpoints.hit("a.b")
        except OSError:
            outcomes.append("fault")
        else:
            outcomes.append("ok")
    assert outcomes == ["ok", "ok", "fault", "ok", "ok"]


def test_star_counts_all_failpoints_together():
    failpoints.arm("*=eio@2")
    failpoints.hit("one")
    with pytest.raises(OSError):
        failpoints.hit("two")


def test_other_names_pass_and_entries_are_independent():
    failpoints.arm("a=eio; b=enospc@2")
    failpoints.hit("c")
    failpoints.hit("b")
    with pytest.raises(OSError):
        failpoints.hit("a")
    with pytest.raises(OSError):
        failpoints.hit("b")


def test_sleep_blocks_for_its_time():
    failpoints.arm("a=sleep:0.05")
    start = time.monotonic()
    failpoints.hit("a")
    assert time.monotonic() - start >= 0.05


def test_wait_blocks_until_the_gate_is_opened(tmp_path):
    code = "from hub.io import failpoints\nfailpoints.hit('a')"
    with Gate(tmp_path / "gate") as gate:
        env = {**os.environ, "HUB_FAILPOINTS": f"a={gate.failpoint}@1"}
        with subprocess.Popen([sys.executable, "-c", code], env=env) as process:
            assert not ended(process.pid, 0.05)
            gate.open()
        assert process.returncode == 0


@pytest.mark.parametrize("text", ["a", "a=", "a=boom", "a=eio@0", "a=eio@x", "=eio", "a=exit", "a b=eio"])
def test_a_misspelt_fault_is_an_error_not_a_green_test(text):
    with pytest.raises(ValueError, match="HUB_FAILPOINTS"):
        failpoints.arm(text)


@pytest.mark.parametrize(("action", "status"), [("kill9", -signal.SIGKILL), ("exit:7", 7)])
def test_environment_arms_a_new_process(action, status):
    code = "from hub.io import failpoints\nfailpoints.hit('x.y')\nprint('alive', flush=True)\nfailpoints.hit('x.y')\nprint('no')"
    env = {**os.environ, "HUB_FAILPOINTS": f"x.y={action}@2"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (status, "alive\n")
