"""The shortcut prints what the daemon answers, or leaves the command to its usual way: it never guesses."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hub.client import shortcut

JSON = {"Content-Type": "application/json"}


class Answers(BaseHTTPRequestHandler):
    """A daemon of one answer."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, headers, body = self.server.answer
        self.server.asked.append((self.path, dict(self.headers)))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as made:
        made.asked = []
        made.answer = (200, {**JSON, "Content-Length": "2"}, b"[]")
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def folder(server, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hub").mkdir()
    told(tmp_path, server)
    return tmp_path / "sub"


def told(root, server, **more):
    body = {
        "pid": 1,
        "port": server.server_port,
        "startedAt": "2026-01-01T00:00:00.000Z",
        "version": "1",
        **more,
    }
    (root / ".hub" / "daemon.json").write_text(json.dumps(body))


def asked(folder, *words, **environ):
    return shortcut.answer(words or ("detect", "--json"), environ, str(folder))


def test_the_answer_is_printed_as_it_is(server, folder):
    assert asked(folder) == b"[]\n"
    assert asked(folder, "detect", "--json", "--since-hours", "3") == b"[]\n"
    assert asked(folder, "detect", "--since-hours", "8760", "--json") == b"[]\n"
    assert [path for path, _ in server.asked] == [
        "/api/detect?sinceHours=24", "/api/detect?sinceHours=3", "/api/detect?sinceHours=8760"
    ]  # fmt: skip
    headers = server.asked[0][1]
    assert headers["Host"] == f"127.0.0.1:{server.server_port}"
    assert headers["Hub-Project"] == str(folder.parent)


@pytest.mark.parametrize(
    "words",
    [
        ["detect"],
        ["detect", "--json", "--watch"],
        ["detect", "--json", "--since-hours", "-1"],
        ["detect", "--json", "--since-hours", "9999"],
        ["detect", "--json", "--since-hours", "٣"],
        ["detect", "--json", "--since-hours", "3", "--watch"],
        ["--port", "1", "detect", "--json"],
        ["status", "--json"],
    ],
)
def test_any_other_command_goes_its_usual_way(server, folder, words):
    assert asked(folder, *words) is None
    assert server.asked == []


def test_so_does_whoever_names_another_door(server, folder):
    assert asked(folder, HUB_PORT="4748") is None
    assert asked(folder, HUB_TOKEN="correct-horse") is None
    told(folder.parent, server, guarded=True)
    assert asked(folder) is None
    told(folder.parent, server, socket="/run/hub.sock")
    assert asked(folder) is None
    assert server.asked == []


@pytest.mark.parametrize(
    "text", ["", "{}", '{"port": 0,', '{"port": 70000, "x": 1}', '{"port": "4748", "x": 1}']
)
def test_so_it_does_where_no_daemon_is_known(folder, text):
    (folder.parent / ".hub" / "daemon.json").write_text(text)
    assert asked(folder) is None


def test_so_it_does_where_there_is_no_project_or_a_strange_one(server, folder, tmp_path):
    inner = tmp_path / ".hub" / "worktrees" / "s-1"
    inner.mkdir(parents=True)
    strange = tmp_path / "a b"
    strange.mkdir()
    assert [asked(inner), asked(strange), asked("/")] == [None] * 3
    assert server.asked == []


def test_where_the_project_has_no_daemon_nobody_answers(server, folder):
    """The command then looks by itself, and need not ask once more."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        told(folder.parent, server, port=free.getsockname()[1])
        assert asked(folder) == shortcut.NOBODY
    (folder.parent / ".hub" / "daemon.json").unlink()
    assert asked(folder) == shortcut.NOBODY
    assert asked(folder, "detect") is None
    assert asked(folder, HUB_PORT="4748") is None


@pytest.mark.parametrize(
    "answer",
    [
        (409, {**JSON, "Content-Length": "2"}, b"{}"),
        (200, {**JSON, "Content-Length": "9"}, b"[]"),
        (200, JSON, b"[]"),
        (200, {"Content-Type": "text/html", "Content-Length": "2"}, b"[]"),
        (200, {**JSON, "Transfer-Encoding": "chunked"}, b"2\r\n[]\r\n0\r\n\r\n"),
    ],
)
def test_a_refusal_or_half_an_answer_is_none(server, folder, answer):
    server.answer = answer
    assert asked(folder) is None


def test_it_imports_next_to_nothing():
    """The commands that are one question start faster than click is imported."""
    code = "import sys; from hub.client import shortcut; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"click", "http.client", "socket", "enum", "attrs", "trio", "msgspec", "hub.errors"} & set(
        loaded
    )
