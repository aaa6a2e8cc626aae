"""Whose a socket of this machine is, by the kernel's word.

Owns: the question of socket diagnostics (`NETLINK_SOCK_DIAG`), the table `/proc/net/tcp` where that is not to be had,
and whether this kernel's word can be relied on at all.
Must not: decide what follows from an answer.

A port says nothing about a user: every process of the machine can connect to loopback, and listen on a free port of it.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Self

import attrs

Address = tuple[str, int]
"""Host and port; of an IPv6 address the first two members of what a socket says."""


@attrs.frozen
class Owner:
    """The process's user at one end of a connection, or behind a listening socket."""

    uid: int


class UnknownOwnerError(OSError):
    """This kernel does not tell whose a socket is."""


class Owners:
    """Asks the kernel about TCP sockets of this machine. Not for several threads at once.

    Attributes:
        known: Whether answers can be relied on. False where there is no such interface, and in a user namespace that
            shows all foreign users by the very number this process has.
    """

    def __init__(self) -> None:
        self._netlink: _Netlink | None = None
        with suppress(OSError):
            self._netlink = _Netlink()
        if self._netlink is not None and not self._tells():
            self._netlink.close()
            self._netlink = None
        self.known = (self._netlink is not None or self._tells()) and not _shared(os.geteuid())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what was opened."""
        if self._netlink is not None:
            self._netlink.close()

    def other_end(self, own: Address, other: Address) -> Owner | None:
        """Who is at the other end of the connection between two addresses; None: nobody, or nobody any more.

        An end that was closed, and one that was not yet accepted, is nobody's.

        Raises:
            UnknownOwnerError: The kernel does not tell.
        """
        return self._ask(_Pair(_plain(other), _plain(own)), _CONNECTED)

    def listener(self, where: Address) -> Owner | None:
        """Who listens there; None: nobody.

        Raises:
            UnknownOwnerError: The kernel does not tell.
        """
        return self._ask(_Pair(_plain(where), None), _LISTENING)

    def _ask(self, pair: _Pair, states: frozenset[int]) -> Owner | None:
        found = self._netlink.find(pair) if self._netlink is not None else _listed(pair)
        owned = (row for row in found if row.state in states and row.inode and row.pair.fits(pair))
        return next((Owner(row.uid) for row in owned), None)

    def _tells(self) -> bool:
        """Whether it tells of a connection that is known to be this process's own."""
        try:
            with closing(socket.create_server(("127.0.0.1", 0))) as door:
                where: Address = door.getsockname()
                with closing(socket.create_connection(where, timeout=1)) as near:
                    ends = self.other_end(where, near.getsockname()), self.listener(where)
        except OSError:
            return False
        return ends == (Owner(os.geteuid()),) * 2


def peer(sock: socket.socket) -> Owner:
    """Who is at the other end of a unix socket."""
    raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("iII"))
    return Owner(struct.unpack("iII", raw)[1])


def alive(sock: socket.socket) -> bool:
    """Whether our end of a connection is still connected: only then is the other address still the same other end."""
    try:
        state: int = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
    except (OSError, AttributeError):
        return False
    return state in _OPEN


_ESTABLISHED, _FIN_WAIT1, _FIN_WAIT2, _CLOSE_WAIT, _LISTEN = 1, 4, 5, 8, 10
_OPEN = frozenset({_ESTABLISHED, _CLOSE_WAIT})
_CONNECTED = _OPEN | {_FIN_WAIT1, _FIN_WAIT2}
_LISTENING = frozenset({_LISTEN})


@attrs.frozen
class _Place:
    """An address as the kernel has it: 4 or 16 bytes, and the port."""

    host: bytes
    port: int


@attrs.frozen
class _Pair:
    """The two addresses of a socket: where it is, and where it leads to; None = nowhere, for it listens."""

    here: _Place
    there: _Place | None

    def fits(self, asked: _Pair) -> bool:
        """Whether a socket with this pair is the one that was asked for; a listener may listen on every address."""
        if asked.there is not None:
            return self == asked
        return self.here.port == asked.here.port and self.here.host in (
            asked.here.host,
            *(bytes(4), bytes(16)),
        )


@attrs.frozen
class _Row:
    """What the kernel says of a socket."""

    pair: _Pair
    state: int
    uid: int
    inode: int
    """0 = no process has it."""


def _plain(address: Address) -> _Place:
    """An address in its shortest form: one of IPv4 that is written as IPv6 is the former."""
    host = address[0].partition("%")[0]
    if ":" not in host:
        return _Place(socket.inet_pton(socket.AF_INET, host), address[1])
    return _Place(_unmapped(socket.inet_pton(socket.AF_INET6, host)), address[1])


_MAPPED = bytes(10) + b"\xff\xff"


def _unmapped(host: bytes) -> bytes:
    return host[12:] if host.startswith(_MAPPED) else host


class _Netlink:
    """Socket diagnostics, one exact question at a time: the answer is there when the question has been sent."""

    _REQUEST = struct.Struct("=IHHII BBBB I")
    _ENDS = struct.Struct("!HH16s16s")
    _REST = b"\0\0\0\0" + b"\xff" * 8
    """Any interface, and no cookie."""
    _HEAD = struct.Struct("=IHHII")
    _MESSAGE = struct.Struct("=BBBB 4s16s16s12x III II")
    _SOCK_DIAG, _ERROR, _IS_REQUEST = 20, 2, 1
    _TRIES = 8

    def __init__(self) -> None:
        family: int = getattr(socket, "AF_NETLINK", -1)
        if family < 0:
            raise UnknownOwnerError(errno.EAFNOSUPPORT, "no netlink")
        kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
        self._sock = socket.socket(family, kind, 4)  # NETLINK_SOCK_DIAG
        self._number = 0

    def close(self) -> None:
        self._sock.close()

    def find(self, pair: _Pair) -> Iterator[_Row]:
        """The socket with that pair; nothing where there is none.

        Raises:
            UnknownOwnerError: The kernel does not answer such questions.
        """
        self._number = (self._number + 1) % 2**32
        here, there = pair.here, pair.there or _Place(bytes(len(pair.here.host)), 0)
        family = socket.AF_INET if len(here.host) == 4 else socket.AF_INET6  # noqa: PLR2004  # bytes of IPv4
        ends = self._ENDS.pack(here.port, there.port, here.host.ljust(16, b"\0"), there.host.ljust(16, b"\0"))
        size = self._REQUEST.size + len(ends) + len(self._REST)
        asked = self._REQUEST.pack(
            *(size, self._SOCK_DIAG, self._IS_REQUEST, self._number, 0),
            *(family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF),
        )
        try:
            self._sock.send(asked + ends + self._REST)
            return iter(self._answer())
        except OSError as error:
            raise UnknownOwnerError(error.errno, "socket diagnostics do not answer") from error

    def _answer(self) -> list[_Row]:
        for _ in range(self._TRIES):
            data = self._sock.recv(4096)
            _, kind, _, number, _ = self._HEAD.unpack_from(data)
            if number != self._number:
                continue  # an answer that somebody did not wait for
            if kind == self._SOCK_DIAG:
                return [self._row(data)]
            code = (
                -struct.unpack_from("=i", data, self._HEAD.size)[0] if kind == self._ERROR else errno.EPROTO
            )
            if code == errno.ENOENT:
                return []
            raise OSError(code, os.strerror(code))
        raise OSError(errno.EPROTO, "no answer among many")

    def _row(self, data: bytes) -> _Row:
        family, state, _, _, ports, here, there, _, _, _, uid, inode = self._MESSAGE.unpack_from(
            data, self._HEAD.size
        )
        size = 4 if family == socket.AF_INET else 16
        near, far = struct.unpack("!HH", ports)
        ends = _Place(_unmapped(here[:size]), near), _Place(_unmapped(there[:size]), far)
        return _Row(_Pair(*ends), state, uid, inode)


_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def _listed(pair: _Pair) -> Iterator[_Row]:
    """The same from the tables of all sockets: slower the more there are."""
    port = b":%04X " % pair.here.port
    read = 0
    for table in _TABLES:
        with suppress(FileNotFoundError), open(table, "rb") as file:  # noqa: PTH123  # the kernel's own
            read += 1
            yield from (_row(line) for line in file if port in line)
    if not read:
        raise UnknownOwnerError(errno.ENOENT, "there is no table of sockets")


def _row(line: bytes) -> _Row:
    _, here, there, state, _, _, _, uid, _, inode, *_ = line.split()
    return _Row(_Pair(_place(here), _place(there)), int(state, 16), int(uid), int(inode))


def _place(text: bytes) -> _Place:
    """`0100007F:128C`: words of the machine's own byte order."""
    host, _, port = text.partition(b":")
    words = (int(host[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(host), 8))
    return _Place(_unmapped(b"".join(words)), int(port, 16))


def _shared(uid: int) -> bool:
    """Whether the number may stand for users whom this namespace has no number for."""
    try:
        with open("/proc/sys/kernel/overflowuid", "rb") as file:  # noqa: PTH123  # as above
            stands_for_others = int(file.read())
        with open("/proc/self/uid_map", "rb") as file:  # noqa: PTH123  # as above
            everybody = file.read().split() == [b"0", b"0", b"4294967295"]
    except FileNotFoundError:
        return True
    return uid == stands_for_others and not everybody
