"""News reach their user: once, without a secret, and no program that fails holds anybody up."""

import json
import os
import pty
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from hub.actors.notices import _ran, programs, ring
from hub.domain.config.model import Notify
from hub.domain.notice import News, Notice
from tests.faults.harness import until

NOTICE = Notice(News.DONE, "s-1", "hub: done", "session completed")
_PROGRAM = """#!/bin/sh
echo "$HUB_NOTIFY_EVENT $HUB_NOTIFY_SESSION $HUB_NOTIFY_TITLE: $HUB_NOTIFY_TEXT" >> {log}
env | grep -c KEY >> {log}.env
exit 3
"""


@pytest.fixture
def made(made, tmp_path):
    program = made.program("tell", _PROGRAM.format(log=tmp_path / "told"))
    made.script("demo-first", {"ask": "go on?"}, {"limit": {"resetsIn": 3600}})
    made.script("demo-second", {"done": "x"})
    made.configure(f'[notify]\ncommand = "{program}"\n')
    return made


def test_a_program_of_the_users_is_told_each_thing_once(made, tmp_path):
    api = made.start()
    session = api.post("/api/run", {"task": "work"})["sessionId"]
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    api.post("/api/session/reply", {"reply": "yes"})
    until(made.ended, "the session ends")
    told = tmp_path / "told"
    lines = until(
        lambda: told.exists() and len(found := told.read_text().splitlines()) >= 3 and found, "all is told"
    )
    assert [line.split()[0] for line in lines] == ["needs", "wall", "done"]
    assert all(line.split()[1] == session for line in lines)
    assert lines[0].endswith("go on?")
    assert set((tmp_path / "told.env").read_text().split()) == {"0"}, "it gets no key"

    def wrong():
        return [e["msg"] for e in made.events() if "could not be told" in e["msg"]]

    until(wrong, "it is said that it failed")
    assert wrong() == [f"news could not be told: {tmp_path / 'tell'} ended with 3"], "said once"


def test_words_are_arguments_and_no_script(monkeypatch):
    evil = Notice(News.NEEDS, "s-1", "hub needs you", '--help"; rm -rf /')
    monkeypatch.setattr("sys.platform", "linux")
    [(argv, _)] = programs(evil, Notify(desktop=True))
    assert argv == ("notify-send", "--app-name=hub", "--", evil.title, evil.text)
    monkeypatch.setattr("sys.platform", "darwin")
    [(argv, _)] = programs(evil, Notify(desktop=True))
    assert argv[-1] == evil.text
    assert evil.text not in argv[2]
    assert programs(evil, Notify()) == []


@pytest.mark.parametrize(
    ("kind", "told"),
    [("xterm", b"\x1b]9;hub: done: session completed\x07\x07"), ("dumb", b"\x07"), ("", b"\x07")],
)
def test_a_terminal_rings_and_a_pipe_does_not(monkeypatch, kind, told):
    """A dumb one, such as an editor's shell, showed `]9;hub: done` as letters."""
    monkeypatch.setenv("TERM", kind)
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        ring(NOTICE)
        assert os.read(ours, 100) == told
    os.close(ours)
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as pipe:
        monkeypatch.setattr("sys.stderr", pipe)
        ring(NOTICE)
    assert os.read(reader, 100) == b""
    os.close(reader)


def test_services_get_it_by_an_address_that_nobody_else_can_read(tmp_path):
    """Apprise itself, in its own process, to a service on loopback; the address stands in no list of processes."""
    heard = []

    class Service(BaseHTTPRequestHandler):
        def do_POST(self):
            heard.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words):
            pass

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"json://127.0.0.1:{server.server_port}/the-key"
        [(argv, env)] = programs(NOTICE, Notify(urls=(url,)))
        assert "the-key" not in " ".join(argv)
        assert subprocess.run(argv, env=dict(env), check=False, timeout=60).returncode == 0
        server.shutdown()
    [(path, told)] = heard
    assert (path, told["title"], told["message"]) == ("/the-key", NOTICE.title, NOTICE.text)


def test_without_the_extra_it_is_said_to_be_missing(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    [(argv, _)] = programs(NOTICE, Notify(urls=("json://x",)))
    assert argv == ("apprise",)


async def test_an_address_that_takes_nothing_is_named_without_its_key():
    wrong = ("nosuch://the-key", "json://me:the-key@127.0.0.1:1/")
    [(argv, env)] = programs(NOTICE, Notify(urls=wrong))
    said = await _ran(argv, env)
    assert said == "does not understand the address nosuch:...; could not deliver to json:..."
