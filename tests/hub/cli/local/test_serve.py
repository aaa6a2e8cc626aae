"""A daemon in a terminal stands still when its user presses Ctrl-Z."""

import os
import pty
import subprocess
import sys

from tests.waiting import PATIENCE

SHELL = """
import os, signal, subprocess, sys, threading
from hub.cli.local.serve import in_a_job

def start():
    while True:
        subprocess.run(["true"])

os.environ["PATH"] = "/nowhere:" * 5000 + os.environ["PATH"]  # so that a start takes its time
os.close(os.open(os.ttyname(0), os.O_RDWR))  # the first terminal that the head of a session opens is its own
ready, told = os.pipe()
job = os.fork()
if not job:
    os.setpgid(0, 0)
    in_a_job()
    for _ in range(3):
        threading.Thread(target=start, daemon=True).start()
    os.write(told, b"x")
    signal.pause()
os.read(ready, 1)
signal.signal(signal.SIGALRM, lambda *_: sys.exit("it does not stand still"))
try:
    for _ in range(10):
        signal.alarm(int(sys.argv[1]))
        os.killpg(job, signal.SIGTSTP)
        assert os.WIFSTOPPED(os.waitpid(job, os.WUNTRACED)[1])
        os.killpg(job, signal.SIGCONT)
finally:
    os.killpg(job, signal.SIGKILL)
"""
"""A shell whose one job starts processes all the time, and is stopped and let go on again and again."""


def test_ctrl_z_stops_whoever_is_starting_a_process():
    """Bug: `hub run` stood between running and stopped for ever, and its shell with it, if it began a git at that moment."""
    ours, its = pty.openpty()
    shell = [sys.executable, "-c", SHELL, str(int(PATIENCE))]
    done = subprocess.run(
        shell, stdin=its, capture_output=True, text=True, start_new_session=True, check=False
    )
    os.close(ours)
    os.close(its)
    assert (done.returncode, done.stderr) == (0, "")
