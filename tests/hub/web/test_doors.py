"""The sockets that a daemon listens on: which addresses, what is in use, and what stays while a server is made anew."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path

import pytest

from hub.errors import Code, HubError
from hub.web.doors import Bound, Doors, bind
from tests.refusals import refuses


@pytest.mark.parametrize(
    "host", ["no such host", "10.255.0.1", "0.0.0.0", "::", "192.0.2.1"]
)  # it is refused
def test_only_loopback_is_listened_on(host: str):
    """G1."""
    with refuses(Code.CONFIG_INVALID):
        Doors(host, 0).open()


def test_urls_of_ipv6_have_brackets():
    assert Bound("::1", 5).url == "http://[::1]:5"


def test_a_port_that_nobody_named_gives_way():
    """Another project's daemon has 4748: this one takes a free port; one that was named is refused."""
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with refuses(Code.PORT_IN_USE, str(port)):
            Doors(port=port).open()
        with closing(Doors(port=port, elsewhere=True)) as doors:
            assert doors.open()[0].port not in (0, port)
        with pytest.raises(HubError):
            Doors("10.255.0.1", port, elsewhere=True).open()


def test_they_are_bound_once_and_after_a_close_on_the_same_port():
    with closing(Doors(port=0)) as doors:
        bound, sockets = doors.open()
        assert doors.open() == (bound, sockets)
        doors.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", bound.port))
        assert doors.open()[0] == bound


def test_without_the_unix_socket_the_port_is_free_again(tmp_path: Path):
    """A start that failed leaves nothing behind."""
    (tmp_path / "hub.sock").write_text("a file")
    tmp_path.chmod(0o700)
    with bind("127.0.0.1", 0) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(HubError):
        Doors(port=port, unix=tmp_path / "hub.sock").open()
    bind("127.0.0.1", port).close()
    assert (tmp_path / "hub.sock").read_text() == "a file"


def test_the_socket_of_the_next_daemon_is_not_taken_away(tmp_path: Path):
    """The project's folder was moved, and a daemon was started where it had been."""
    folder = tmp_path / "hub"
    with closing(Doors(port=0, unix=folder / "hub.sock")) as old:
        old.open()
        folder.rename(tmp_path / "moved")
        with closing(Doors(port=0, unix=folder / "hub.sock")) as new:
            new.open()
            old.close()
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(folder / "hub.sock"))
        assert not (folder / "hub.sock").exists()
