"""Processes by their identity: the Linux primitives of the runner.

Owns: reading `/proc`, telling one process from a later one with the same number, and killing a whole tree.
Must not: import anything outside the standard library (the runner starts with `-I -S`), or signal a number
whose identity was not checked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36

OWN_END = ".hub.tmp"
_ROUNDS = 8
"""How often a tree is looked through for what was forked meanwhile."""


def prctl(option: int, argument: int | bytes) -> None:
    """Set an attribute of this process.

    Raises:
        OSError: The kernel refused.
    """
    import ctypes  # whoever only reads `/proc` does without

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, argument, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def name(title: str) -> None:
    """Take a name people recognise in `ps`."""
    prctl(PR_SET_NAME, title.encode()[:15])


def become(title: str) -> None:
    """Take a name, and adopt every orphan below this process."""
    name(title)
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def boot_id() -> str:
    """The kernel's id of this boot; "" where there is none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            return file.read().strip().decode()  # as text it would import a codec, at every start of an agent
    except OSError:
        return ""


def _stat(pid: int) -> list[bytes] | None:
    """The fields of `/proc/<pid>/stat` after the name, state first; None when there is no such process."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # The name may hold spaces and brackets: the fields start behind the last bracket.
        return os.read(descriptor, 4096).rpartition(b")")[2].split()
    except OSError:
        return None
    finally:
        os.close(descriptor)


def starttime(pid: int) -> int | None:
    """When the process started, in ticks since boot (field 22); None when it is gone or only a zombie."""
    fields = _stat(pid)
    # A leader that has ended while other threads run looks like a zombie, and is none.
    if not fields or (fields[0] in {b"Z", b"X"} and int(fields[17]) <= 1):
        return None
    return int(fields[19])


def own(name: str) -> str:
    """How the temporary name of what this process makes begins: whoever finds it can tell whether its owner is gone.

    `OWN_END` is its end, and what is between the two tells it from others of this process.
    """
    pid = os.getpid()
    return f".{name}.{pid}-{starttime(pid)}."


def parent(pid: int) -> int | None:
    """The process's parent; None when it is gone."""
    fields = _stat(pid)
    return int(fields[1]) if fields else None


def command_name(pid: int) -> str:
    """argv[0] of the process, else its short name; "" when it is gone."""
    for source, cut in (("cmdline", b"\0"), ("comm", b"\n")):
        try:
            with open(f"/proc/{pid}/{source}", "rb") as file:
                text = file.read(4096).split(cut)[0]
        except OSError:
            return ""
        if text:
            return text.decode("utf-8", "replace")
    return ""


def children(pid: int) -> list[int]:
    """The direct children of every thread of the process, zombies included."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found.extend(map(int, file.read().split()))
        except FileNotFoundError:
            if _has_children_file():
                continue  # the thread ended between the two calls
            return _children_by_scan(pid)
        except OSError:
            continue
    return found


def _has_children_file() -> bool:
    return os.path.exists("/proc/self/task/self/children") or os.path.exists(
        f"/proc/self/task/{os.getpid()}/children"
    )


def _children_by_scan(pid: int) -> list[int]:
    """The same where the kernel was built without the children file: one pass over all processes."""
    everybody = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [one for one in everybody if parent(one) == pid]


def descendants(pid: int) -> list[tuple[int, int]]:
    """Every living process below `pid` (itself not among them) as (pid, starttime), parents first."""
    found: list[tuple[int, int]] = []
    queue = children(pid)
    seen = {pid}
    while queue:
        one = queue.pop(0)
        if one in seen:
            continue
        seen.add(one)
        started = starttime(one)
        if started is not None:
            found.append((one, started))
        queue.extend(children(one))
    return found


def send(pid: int, started: int, number: int) -> bool:
    """Signal exactly that process: False when it is gone, or its number belongs to another one meanwhile.

    Raises:
        PermissionError: The process belongs to somebody else.
    """
    import signal  # as above

    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    except (AttributeError, OSError):
        return _send_by_number(pid, started, number)
    try:
        # The handle pins the process; the start time proves that the number had not been given away before.
        if starttime(pid) != started:
            return False
        signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def _send_by_number(pid: int, started: int, number: int) -> bool:
    """For kernels before 5.3: the check and the signal are two steps, so keep them next to each other."""
    if starttime(pid) != started:
        return False
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def signal_tree(number: int) -> None:
    """Signal every descendant of this process once, other users' excepted."""
    _send_all(descendants(os.getpid()), number)


def _send_all(processes: list[tuple[int, int]], number: int) -> None:
    for one, started in processes:
        try:
            send(one, started, number)
        except PermissionError:
            continue


def stop_tree(number: int) -> None:
    """Signal (SIGSTOP or SIGCONT) every descendant, again for those forked meanwhile, until none is new."""
    done: set[tuple[int, int]] = set()
    for _ in range(_ROUNDS):
        fresh = [one for one in descendants(os.getpid()) if one not in done]
        if not fresh:
            return
        done.update(fresh)
        _send_all(fresh, number)


def reap() -> tuple[list[tuple[int, int]], bool]:
    """Collect every ended child: (pid, wait status) pairs, and whether any child is left."""
    ended: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if pid == 0:
            return ended, True
        ended.append((pid, status))


def exterminate(limit: float, reaped: Callable[[int, int], object] | None = None) -> None:
    """Kill every descendant of this process until none is left, for `limit` seconds at most.

    Killing a parent hands its children to this process (a subreaper), so each round sees what the last one
    hid.
    """
    import signal  # as above

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        signal_tree(signal.SIGKILL)
        ended, more = reap()
        for pid, status in ended:
            if reaped is not None:
                reaped(pid, status)
        if not more:
            return
        signal.sigtimedwait({signal.SIGCHLD}, 0.01)
