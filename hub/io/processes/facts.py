"""What the machine tells of one process, for the process table.

Owns: the reading of `/proc/<pid>`.
Must not: judge what it reads, or read of another user's process.
Tests: tests/hub/io/processes/test_table.py
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from hub.domain.detection.processes import Process, script_of
from hub.io.processes.control import RUN_ID
from hub.io.runner import proc

_ARGUMENTS = 64 * 1024
_ENVIRONMENT = 256 * 1024
_FILES = 512
"""Open files of one process that are looked at."""
_DELETED = " (deleted)"
"""What Linux adds to the path of an executable that was replaced: an agent that has updated itself meanwhile."""
_boots: list[float] = []


def pids() -> set[str]:
    """Every process, by its number as text."""
    return {name for name in os.listdir("/proc") if name[0] in "123456789"}


def read(pid: int, wanted: Callable[[str, str], bool]) -> Process | None:
    """What is known of a process of this user; None when it is gone, another user's, or not wanted.

    Args:
        pid: Its number.
        wanted: Whether its executable and its script (links resolved) are worth while to read on.
    """
    try:
        return _from_proc(pid, wanted)
    except (OSError, ValueError):
        return None


def _from_proc(pid: int, wanted: Callable[[str, str], bool]) -> Process | None:
    """As `read`.

    Raises:
        OSError: It is gone, or another user's.
        ValueError: What is told of it makes no sense.
    """
    place = f"/proc/{pid}"
    executable = _link(f"{place}/exe")  # a kernel's thread has none, and ends here
    if os.stat(place).st_uid != os.geteuid():
        return None
    argv = _words(f"{place}/cmdline", _ARGUMENTS) if script_of(executable, ("", "x")) else ()
    script = _script(script_of(executable, argv), place)
    if not wanted(executable, script):
        return None
    started, parent = proc.starttime(pid), proc.parent(pid)
    if started is None or parent is None:
        return None
    env = dict(_pairs(_words(f"{place}/environ", _ENVIRONMENT)))
    return Process(
        pid=pid,
        parent=parent,
        starttime=started,
        began=_booted() + started / os.sysconf("SC_CLK_TCK"),
        executable=executable,
        argv=argv or _words(f"{place}/cmdline", _ARGUMENTS),
        script=script,
        cwd=_link(f"{place}/cwd"),
        env=env,
        open_files=tuple(_open_files(place)),
        run_id=env.get(RUN_ID, ""),
    )


def _script(named: str, place: str) -> str:
    """The file that the interpreter runs; its name where there is no such file."""
    if not named or "/" not in named:
        return named
    return os.path.realpath(named if named.startswith("/") else f"{_link(f'{place}/cwd')}/{named}")


def _link(path: str) -> str:
    return os.readlink(path).removesuffix(_DELETED)


def _words(path: str, most: int) -> tuple[str, ...]:
    with open(path, "rb") as file:
        data = file.read(most)
    return tuple(word.decode("utf-8", "replace") for word in data.rstrip(b"\0").split(b"\0"))


def _pairs(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for word in words:
        name, equals, value = word.partition("=")
        if equals:
            yield name, value


def _open_files(place: str) -> Iterator[str]:
    try:
        names = os.listdir(f"{place}/fd")[:_FILES]
    except OSError:
        return
    for name in names:
        try:
            path = _link(f"{place}/fd/{name}")
        except OSError:
            continue
        if path.startswith("/") and not path.startswith("/dev/"):
            yield path


def _booted() -> float:
    """When the machine was started, epoch seconds; the same in all of a process's life."""
    if not _boots:
        with open("/proc/stat", encoding="ascii") as file:
            _boots.append(float(next(line for line in file if line.startswith("btime ")).split()[1]))
    return _boots[0]
