"""What `/proc` tells of a process.

Owns: the reading of `/proc/<pid>`.
Must not: judge what it reads, read of another user's process, or import more than `os`: a look at the machine asks it
of every process.
Tests: tests/hub/io/test_census.py
"""

from __future__ import annotations

import os

from hub.domain.detection.naming import script_of
from hub.io.runner import proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Raw = tuple[int, int, int, float, str, tuple[str, ...], str, str, dict[str, str], tuple[str, ...]]
    """The first fields of `hub.domain.detection.processes.Process`, in their order."""

RUN_ID = "HUB_RUN_ID"
"""The variable by which hub knows the processes of a run."""
_ARGUMENTS = 64 * 1024
_ENVIRONMENT = 256 * 1024
_FILES = 512
"""Open files of one process that are looked at."""
_DELETED = " (deleted)"
"""What Linux adds to the path of an executable that was replaced: an agent that has updated itself meanwhile."""
_boots: list[float] = []


def pids() -> set[str]:
    """Every process, by its number as text."""
    return {name for name in os.listdir("/proc") if name[0] in "123456789"}  # noqa: PTH208  # the hot path


def read(pid: int, wanted: Callable[[str, str], bool]) -> Raw | None:
    """What is known of a process of this user; None when it is gone, another user's, or not wanted.

    Args:
        pid: Its number.
        wanted: Whether its executable and its script (links resolved) are worth while to read on.

    Raises:
        OSError: It is gone, or another user's.
        ValueError: What is told of it makes no sense.
    """
    place = f"/proc/{pid}"
    executable = _link(f"{place}/exe")  # a kernel's thread has none, and ends here
    if os.stat(place).st_uid != os.geteuid():  # noqa: PTH116  # the hot path
        return None
    argv = _words(f"{place}/cmdline", _ARGUMENTS) if script_of(executable, ("", "x")) else ()
    script = _script(script_of(executable, argv), place)
    if not wanted(executable, script):
        return None
    started, parent = proc.starttime(pid), proc.parent(pid)
    if started is None or parent is None:
        return None
    env = dict(_pairs(_words(f"{place}/environ", _ENVIRONMENT)))
    return (
        pid,
        parent,
        started,
        _booted() + started / os.sysconf("SC_CLK_TCK"),
        executable,
        argv or _words(f"{place}/cmdline", _ARGUMENTS),
        script,
        _link(f"{place}/cwd"),
        env,
        tuple(_open_files(place)),
    )


def _script(named: str, place: str) -> str:
    """The file that the interpreter runs; its name where there is no such file."""
    if not named or "/" not in named:
        return named
    return os.path.realpath(named if named.startswith("/") else f"{_link(f'{place}/cwd')}/{named}")


def _link(path: str) -> str:
    return os.readlink(path).removesuffix(_DELETED)  # noqa: PTH115  # the hot path


def _words(path: str, most: int) -> tuple[str, ...]:
    with open(path, "rb") as file:  # noqa: PTH123  # the hot path
        data = file.read(most)
    return tuple(word.decode("utf-8", "replace") for word in data.rstrip(b"\0").split(b"\0"))


def _pairs(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for word in words:
        name, equals, value = word.partition("=")
        if equals:
            yield name, value


def _open_files(place: str) -> Iterator[str]:
    try:
        names = os.listdir(f"{place}/fd")[:_FILES]  # noqa: PTH208  # as above
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
        with open("/proc/stat", encoding="ascii") as file:  # noqa: PTH123  # as above
            _boots.append(float(next(line for line in file if line.startswith("btime ")).split()[1]))
    return _boots[0]
