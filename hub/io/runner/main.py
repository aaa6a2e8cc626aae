"""The program every agent runs under: it outlives the daemon, and nothing of the agent outlives it.

Owns: the start: launcher, guardian, runner, and who watches whom.
Must not: import anything outside the standard library but its own parts (it is started with `-I -S`), or hold
more than one agent.

    python -I -S main.py RUN_DIR

Three processes come of it. The *launcher* is the daemon's child; it forks the others and leaves, so that no
daemon is their parent and each daemon is like the next. Its exit status is 0 when the agent was started,
75 when another runner holds the directory, and 70 when the start failed and nothing of the attempt is left.
It looks at the directory only when a word on its standard input says so; 76 when none came.
The *guardian* and the *runner* guard each other: both adopt orphans (subreaper), the agent is the runner's
child, and the runner is the guardian's. A killed runner leaves all its processes to the guardian, which
kills every one of them. A killed guardian closes the lifeline pipe, upon which the runner does the same. The
guardian does nothing else, so that nothing else can bring it down.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys

# The parts are imported as `hub.io.*` from the tree this file stands in; behind the standard library, so
# that no module of it is shadowed. All of it at the start: an upgrade may replace the files while it runs.
_HERE = os.path.abspath(__file__)
sys.path.append(_HERE.rpartition("/hub/io/")[0])

from hub.io.runner import files as runner_files  # noqa: E402
from hub.io.runner.core import Core, seal_key  # noqa: E402
from hub.io.runner.proc import become, boot_id, exterminate, name, starttime  # noqa: E402

STARTED, TAKEN, FAILED, UNUSED = 0, 75, 70, 76
KILL_SECONDS = 10.0
WAIT_SECONDS = 10.0


def main(run_dir: str) -> int:
    """Be the launcher: start the two and tell how it went."""
    name("hub-launcher")  # with what that imports: the other two need it as soon as the word has come
    if not wanted():
        return UNUSED
    os.umask(0o077)
    os.chdir(run_dir)
    info = os.stat(".")
    if info.st_uid != os.geteuid() or info.st_mode & 0o077:
        sys.stderr.write(f"{run_dir} must be this user's alone (0700)\n")
        return FAILED
    log = os.open(
        runner_files.LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
    )
    os.dup2(log, 2)
    heard, told = os.pipe()
    if os.fork() == 0:
        os.close(heard)
        _alone(lambda: guard(told))
    os.close(told)
    answer = os.read(heard, 1)
    return answer[0] if answer else FAILED


def wanted() -> bool:
    """Wait for the daemon's word; False where none comes in time, or the daemon has died. Nothing is begun before."""
    heard = select.select([0], [], [], WAIT_SECONDS)[0] and os.read(0, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return bool(heard)


def _alone(work) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001  # typing costs 3 ms at every start
    """Run the whole rest of this process; never returns into the parent's code."""
    status = FAILED
    try:
        status = work()
    except BaseException:  # noqa: BLE001  # the last frame: it goes to the log
        import traceback  # 4 ms, and never needed in a good start

        traceback.print_exc()
    finally:
        os._exit(status)


def guard(told: int) -> int:
    """Be the guardian: wait for the runner's end, then leave no process behind."""
    os.setsid()
    become("hub-guardian")
    lifeline, held = os.pipe()
    guardian = os.getpid()
    runner = os.fork()
    if runner == 0:
        os.close(held)
        _alone(lambda: serve(guardian, lifeline, told))
    os.close(lifeline)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: os.kill(runner, received))
    while True:
        # Orphans come here only once the runner is dead, but one that it lost in between is reaped too.
        pid, status = os.waitpid(-1, 0)
        if pid == runner:
            break
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    exterminate(KILL_SECONDS)
    if os.WIFSIGNALED(status):
        sys.stderr.write(
            f"runner {runner} was killed by signal {os.WTERMSIG(status)}; so were its processes\n"
        )
    return STARTED


def serve(guardian: int, lifeline: int, told: int) -> int:
    """Be the runner: claim the directory, start the agent, serve until its verdict is collected."""
    os.setsid()
    become("hub-runner")
    launch = runner_files.read_json(runner_files.LAUNCH)
    mine = launch is not None and runner_files.claim(_identity(guardian), seal_key(launch))
    # The launch file holds keys: it is gone before the agent, or another one's, can read it.
    if launch is not None:
        runner_files.remove(runner_files.LAUNCH)
    if launch is None or not mine:
        os.write(told, bytes([TAKEN if os.path.exists(runner_files.CLAIM) else FAILED]))
        return STARTED
    core = Core(launch, os.environ.get("HUB_RUN_ID", ""), lifeline)
    core.start()
    gc.enable()
    os.write(told, bytes([STARTED]))
    os.close(told)
    core.run()
    return STARTED


def _identity(guardian: int) -> dict[str, object]:
    return {
        "pid": os.getpid(),
        "starttime": starttime(os.getpid()),
        "bootId": boot_id(),
        "guardianPid": guardian,
        "guardianStarttime": starttime(guardian),
    }


if __name__ == "__main__":
    gc.disable()  # nothing made in a start is garbage
    status = main(sys.argv[1])
    sys.stderr.flush()
    os._exit(status)  # the agent is on its way: no need to take the interpreter down in order
