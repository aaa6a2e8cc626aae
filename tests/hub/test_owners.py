"""The kernel's word about sockets: by diagnostics and by its tables alike, and never about another socket than was meant."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest

from hub import owners as module
from hub.client.whose import _among_own, insist_own
from hub.errors import Code
from hub.owners import Owner, Owners, UnknownOwnerError, alive, peer
from tests.refusals import refuses

ME = Owner(os.geteuid())
PLACES = {
    "IPv4": ("127.0.0.1", socket.AF_INET, "127.0.0.1"),
    "IPv6": ("::1", socket.AF_INET6, "::1"),
    "IPv6 to IPv4": ("127.0.0.1", socket.AF_INET6, "::ffff:127.0.0.1"),
    "IPv4 to both": ("::", socket.AF_INET, "127.0.0.1"),
    "mapped": ("::ffff:127.0.0.1", socket.AF_INET6, "::ffff:127.0.0.1"),
}


@pytest.fixture(params=["diagnostics", "tables"])
def owners(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Owners]:
    """Each way of asking."""
    if request.param == "tables":
        monkeypatch.setattr(module, "_Netlink", _no_netlink)
    with Owners() as found:
        assert (found.known, found._netlink is None) == (True, request.param == "tables")
        yield found


def _no_netlink() -> None:
    raise PermissionError


@contextmanager
def connected(
    place: tuple[str, socket.AddressFamily, str],
) -> Iterator[tuple[socket.socket, socket.socket, socket.socket]]:
    """A listener, the client's end and the accepted end."""
    host, family, there = place
    with ExitStack() as stack:
        door = stack.enter_context(closing(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)))
        door.bind((host, 0))
        door.listen()
        near = stack.enter_context(closing(socket.socket(family)))
        near.connect((there, door.getsockname()[1]))
        far = stack.enter_context(closing(door.accept()[0]))
        yield door, near, far


def other_end(owners: Owners, sock: socket.socket) -> Owner | None:
    return owners.other_end(sock.getsockname()[:2], sock.getpeername()[:2])


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_both_ends_and_the_listener_are_known(owners: Owners, place: tuple) -> None:
    with connected(place) as (_, near, far):
        assert other_end(owners, far) == ME
        assert other_end(owners, near) == ME
        assert owners.listener(near.getpeername()[:2]) == ME
        near.shutdown(socket.SHUT_WR)
        assert other_end(owners, far) == ME, "it still waits for the answer"


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_an_end_that_was_closed_is_nobodys(owners: Owners, place: tuple) -> None:
    """The kernel says uid 0 of it, or the last one: neither is whom it was."""
    with connected(place) as (_, near, far):
        ends = far.getsockname()[:2], far.getpeername()[:2]
        near.close()
        assert owners.other_end(*ends) is None
        assert alive(far), "ours is still open"


def test_a_listener_on_the_same_port_is_no_other_end(owners: Owners) -> None:
    """An exact question that finds no connection is answered with the listener on that port."""
    with closing(socket.create_server(("127.0.0.1", 0))) as door:
        port = door.getsockname()[1]
        assert owners.other_end(("127.0.0.1", 9), ("127.0.0.1", port)) is None
        assert owners.listener(("127.0.0.1", port)) == ME
    assert owners.listener(("127.0.0.1", port)) is None


def test_a_connected_end_is_no_listener(owners: Owners) -> None:
    """A program may be connected from a port on which another one listened."""
    with connected(PLACES["IPv4"]) as (door, near, _):
        assert owners.listener(near.getsockname()[:2]) is None
        where = door.getsockname()
        door.close()
        assert owners.listener(where) is None


def test_one_that_was_not_accepted_yet_is_nobodys(owners: Owners) -> None:
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as door,
        closing(socket.create_connection(door.getsockname())) as near,
    ):
        assert other_end(owners, near) is None
        insist_own(near)  # the listener is ours


def test_a_reset_is_noticed() -> None:
    """The port of an end that is gone may be another connection's by now."""
    with connected(PLACES["IPv4"]) as (_, near, far):
        near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        near.close()
        assert not alive(far)


def test_without_any_way_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another system, or a container that shows neither."""
    monkeypatch.setattr(module, "_Netlink", _no_netlink)
    monkeypatch.setattr(module, "_TABLES", ("/nowhere",))
    with Owners() as owners:
        assert owners.known is False
        with pytest.raises(UnknownOwnerError):
            owners.listener(("127.0.0.1", 1))


def test_diagnostics_that_tell_nothing_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel without the part for TCP says that there is no such socket, of every socket."""
    monkeypatch.setattr(module._Netlink, "find", lambda *_: iter(()))
    with Owners() as owners:
        assert (owners.known, owners._netlink) == (True, None)


@pytest.mark.parametrize(
    ("uid", "numbers", "shared"),
    [
        (1000, b"0 0 4294967295\n", False),
        (65534, b"         0          0 4294967295\n", False),
        (65534, b"", True),
        (65534, b"0 1000 1\n", True),
        (0, b"0 1000 1\n", False),
    ],
)
def test_a_number_that_stands_for_everybody_is_nobodys_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path, uid: int, numbers: bytes, shared: bool
) -> None:
    (tmp_path / "overflowuid").write_bytes(b"65534\n")
    (tmp_path / "uid_map").write_bytes(numbers)
    monkeypatch.setattr(
        module, "open", lambda path, mode: (tmp_path / path.rpartition("/")[2]).open(mode), raising=False
    )
    assert module._shared(uid) is shared


def test_where_the_kernel_does_not_tell_processes_are_looked_at() -> None:
    """The way of a client on another system, before it sends a token."""
    with closing(socket.create_server(("127.0.0.1", 0))) as door:
        port = door.getsockname()[1]
        assert _among_own(port)
    assert not _among_own(port)


def test_the_kernel_says_whose_the_other_end_of_a_unix_socket_is() -> None:
    near, far = socket.socketpair()
    with near, far:
        assert peer(near) == Owner(os.geteuid())


def test_another_users_unix_socket_is_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    near, far = socket.socketpair()
    with near, far:
        insist_own(near)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with refuses(Code.OTHER_USER):
            insist_own(near)
