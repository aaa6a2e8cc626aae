"""A command that is one question to the daemon, for little more than what the bare interpreter costs.

Owns: which command lines are that, and the asking.
Must not: import more than `os` and `_socket` (`socket` makes enumerations of all its constants; click and
`http.client` alone take longer than the daemon does to answer), or decide anything. Wherever something is not plain
(another project is named, the daemon wants a token or listens on a socket, what listens is not surely this user's own,
its answer is a refusal) there is no answer
from here, and the command goes its usual way: that asks once more, and knows how to fail. So only what changes nothing
may be asked.
"""

from __future__ import annotations

import os
from _socket import AF_INET, SOCK_STREAM
from _socket import socket as Socket  # noqa: N812  # a class

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` would be half of all that is imported
    from collections.abc import Mapping, Sequence

_PATIENCE = 30.0
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~/")
"""What stands in a header as it is."""
_MEANT = ("HUB_PORT", "HUB_TOKEN")
"""Variables that name another door."""
_MAX_DIGITS = 4
_HOURS = 24
_MAX_HOURS = 24 * 365
_LISTEN_LIMIT = 2**16
_CHUNK = 1 << 20
_LISTENS = b"0A"


NOBODY = b""
"""No answer, for the project has no daemon: whoever can look for himself does."""


def answer(arguments: Sequence[str], environ: Mapping[str, str], folder: str = ".") -> bytes | None:
    """What the command prints, one JSON document with its newline; None where it must go its usual way.

    `NOBODY` where there is a project, and nothing listens where its daemon would.

    Args:
        arguments: What follows `hub`.
        environ: The environment.
        folder: The working directory.
    """
    target = _target(arguments)
    if target is None or any(environ.get(name) for name in _MEANT):
        return None
    try:
        root = project_of(folder)
        return _asked(root, target) if root is not None else None
    except (FileNotFoundError, ConnectionRefusedError):
        return NOBODY
    except (OSError, ValueError):
        return None


def _target(arguments: Sequence[str]) -> str | None:
    hours = hours_of(arguments)
    return None if hours is None else f"/api/detect?sinceHours={hours}"


def hours_of(arguments: Sequence[str]) -> int | None:
    """How far `hub detect --json [--since-hours N]` looks back; None of any other command line."""
    if list(arguments) == ["detect", "--json"]:
        return _HOURS
    if len(arguments) == 4 and arguments[0] == "detect" and "--json" in (arguments[1], arguments[3]):  # noqa: PLR2004  # words
        option, hours = arguments[2:] if arguments[1] == "--json" else arguments[1:3]
        plain = hours.isascii() and hours.isdigit() and len(hours) <= _MAX_DIGITS
        if option == "--since-hours" and plain and int(hours) <= _MAX_HOURS:
            return int(hours)
    return None


def project_of(folder: str) -> str | None:
    """The project around the folder; None where there is none, in a session's worktree, or behind a strange name."""
    place = os.path.realpath(folder)
    if "/.hub/" in f"{place}/" or not _PLAIN.issuperset(place):
        return None
    while not os.path.exists(f"{place}/.git"):  # noqa: PTH110  # pathlib is as long in coming as the answer
        place, before = os.path.dirname(place), place  # noqa: PTH120  # as above
        if place == before:
            return None
    return place


def _asked(root: str, target: str) -> bytes | None:
    """The body of a whole 200.

    Raises:
        FileNotFoundError: No daemon has told of itself.
        ConnectionRefusedError: Nothing listens.
        OSError: Nobody answers.
        ValueError: What was told of the daemon, or by it, is none of hub's.
    """
    with open(f"{root}/.hub/daemon.json", "rb") as file:  # noqa: PTH123  # as above
        told = file.read(_LISTEN_LIMIT)
    # As hub itself writes it. JSON's own reader would cost a third of all this.
    port = int(told.partition(b'"port": ')[2].partition(b",")[0])
    if b'"guarded"' in told or b'"socket"' in told or not 0 < port < _LISTEN_LIMIT:
        return None
    connection = Socket(AF_INET, SOCK_STREAM)
    try:
        connection.settimeout(_PATIENCE)
        connection.connect(("127.0.0.1", port))
        if not _own(port, connection.getsockname()[1]):
            return None
        lines = (
            f"GET {target} HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            f"Hub-Project: {root}",
            "Accept: application/json",
            "Connection: close",
        )
        connection.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        return _body(connection)
    finally:
        connection.close()


def _own(port: int, near: int) -> bool:
    """Whether this user alone listens on the port, and has our connection if it was accepted already.

    By the tables of all sockets, for `hub.owners` would be half of all that is imported. False where they do not tell.
    """
    me = os.geteuid()
    if me == int(_read("/proc/sys/kernel/overflowuid") or me):
        return False  # not told, or the number of everybody whom a namespace has no number for
    listeners = []
    for line in (_read("/proc/net/tcp") + _read("/proc/net/tcp6")).splitlines():
        _, here, there, state, _, _, _, uid, _, inode, *_ = line.split()
        if not here.endswith(b":%04X" % port):
            continue
        if state == _LISTENS:
            listeners.append(int(uid))
        elif there.endswith(b":%04X" % near) and inode != b"0" and int(uid) != me:
            return False
    return bool(listeners) and set(listeners) == {me}


def _read(path: str) -> bytes:
    """A file of the kernel's; nothing where there is none.

    Raises:
        ValueError: It is too long to be read in passing.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # as above
            data = file.read(_CHUNK + 1)
    except FileNotFoundError:
        return b""
    if len(data) > _CHUNK:
        raise ValueError(path)
    return data


def _body(connection: Socket) -> bytes | None:
    """The JSON of a whole 200; None of any other answer. Does not wait for the server to close."""
    data = b""
    while b"\r\n\r\n" not in data and (part := connection.recv(_CHUNK)):
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    status, *headers = head.lower().split(b"\r\n")
    told = dict(line.replace(b" ", b"").split(b":", 1) for line in headers if b":" in line)
    if not status.startswith(b"http/1.1 200 ") or told.get(b"content-type") != b"application/json":
        return None
    size, parts = int(told.get(b"content-length", b"")), [body]
    while size > (held := sum(map(len, parts))) and (part := connection.recv(_CHUNK)):
        parts.append(part)
    return b"".join((*parts, b"\n")) if size == held else None
