"""Short commands: one request, the daemon's own errors, and a start that costs next to nothing."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from hub.api.approvals import Resolution, Resolved
from hub.api.convert import unstructure
from hub.api.session import Paused, Run, Started
from hub.api.status import Status
from hub.client.quick import DEFAULT_PORT, Api, error_of, find, typed, unless_absent
from hub.errors import Code, HubError
from hub.messages.approvals import ResolveApproval
from hub.messages.events import EventsSince
from hub.web.problem import problem
from tests.hub.web.fake import Fake, running
from tests.ports import unanswered
from tests.refusals import refuses
from tests.sample import sample


async def asked(port: int, method: str, *args: object) -> Any:
    return await trio.to_thread.run_sync(lambda: getattr(Api(port, timeout=20), method)(*args))


def test_only_a_daemon_that_is_not_there_is_passed_over():
    """One that refuses is there: what it would have said is not nothing."""

    def ask(code: Code) -> None:
        raise HubError(code)

    assert unless_absent(lambda: ask(Code.DAEMON_NOT_RUNNING)) is None
    with refuses(Code.INTERNAL):
        unless_absent(lambda: ask(Code.INTERNAL))


async def test_get_and_post_answer_json():
    async with running() as server:
        assert (await asked(server.port, "get", "/api/status"))["role"] == "idle"
        assert await asked(server.port, "get", "/api/events", {"since": 0, "limit": 3}) == []
        assert (await asked(server.port, "post", "/api/run", {"task": "é"}))["sessionId"] == "s-1"
        assert (await asked(server.port, "post", "/api/handoff"))["ok"] is True
        assert EventsSince(0, 3) in server.actors.calls


def test_what_opens_the_door_is_not_told():
    """A token in a repr gets into tracebacks and logs."""
    assert "hunter2" not in repr(Api(1, token="hunter2").within(2))


async def test_read_and_order_answer_classes_of_the_api():
    """A name in the path is that field of the body; a body has the names of the wire."""
    async with running() as server:
        status = await asked(server.port, "read", Status, "/api/status")
        assert (type(status), status.role) == (Status, "idle")
        started = await asked(server.port, "order", Started, "/api/run", Run(task="é", max_handoffs=2))
        assert (type(started), started.session_id) == (Started, "s-1")
        said = Resolution(id="a-1", approved=False, note="no")
        await asked(server.port, "order", Resolved, "/api/approvals/{id}", said)
        assert ResolveApproval("a-1", approved=False, note="no") in server.actors.calls


def test_an_answer_of_another_version_is_read_where_it_can_be():
    """A newer daemon may say more; one that says too little is named, with what to do."""
    more = {**unstructure(sample(Paused, sessionId="s-1")), "since": 7}
    assert typed(more, Paused) == sample(Paused, sessionId="s-1")
    with refuses(Code.INTERNAL, "$.sessionId missing") as error:
        typed({"ok": True, "paused": True}, Paused)
    assert "another version" in error.value.hint


async def test_the_daemons_error_is_raised_as_it_was():
    """Code, detail, hint and extras survive the way over the wire."""
    told = HubError(Code.INVALID, "no", hint="do this", errors=[{"path": "$.x", "message": "m"}])
    async with running(Fake(error=told)) as server:
        with pytest.raises(HubError) as error:
            await asked(server.port, "get", "/api/status")
    assert (error.value.code, error.value.detail, error.value.hint) == (Code.INVALID, "no", "do this")
    assert error.value.extra == {"errors": [{"path": "$.x", "message": "m"}]}


@pytest.mark.parametrize("code", list(Code))
def test_every_code_comes_back_as_itself(code: Code):
    back = error_of(json.loads(problem(HubError(code, "why", hint="how", line=3)).body))
    assert back is not None
    assert (back.code, back.detail, back.hint, back.extra) == (code, "why", "how", {"line": 3})


@pytest.mark.parametrize("document", [None, [], {}, {"code": "unheard_of"}, {"code": 5}, "x"])
def test_what_is_no_problem_document_of_ours_is_none(document: object):
    assert error_of(document) is None


@pytest.fixture
def named() -> Iterator[int]:
    with unanswered() as port:
        yield port


def test_nobody_there(tmp_path: Path, named: int):
    """Who is in no project is not told to start a daemon where it would be refused; a port that was named is meant.

    Whoever is to start one is told the address where none answers, whether it was named or not: the specification's word.
    """
    inner = project(tmp_path, None)
    reached = "The daemon cannot be reached at http://127.0.0.1:{}"
    for where, environ, code, detail, hint in (
        (inner, {}, Code.DAEMON_NOT_RUNNING, reached.format(4748), "Start it: hub daemon"),
        (
            inner,
            {"HUB_PORT": str(named)},
            Code.DAEMON_NOT_RUNNING,
            reached.format(named),
            "Start it: hub daemon",
        ),
        (
            tmp_path.parent,
            {"HUB_PORT": str(named)},
            Code.DAEMON_NOT_RUNNING,
            reached.format(named),
            "Start it: hub daemon",
        ),
        (tmp_path.parent, {}, Code.NOT_A_REPOSITORY, "There is no project here", "hub ls -A"),
    ):
        with pytest.raises(HubError) as error:
            find(None, where, environ).get("/api/status")
        assert (error.value.code, hint in error.value.hint) == (code, True)
        assert error.value.detail.startswith(detail)


@contextmanager
def answering(data: bytes | None) -> Iterator[int]:
    """A server that answers any one connection with these bytes, or never."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        over = threading.Event()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                if data is None:
                    over.wait(20)
                else:
                    connection.sendall(data)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            thread.join()


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<ok>",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Content-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000,
        b"HTTP/2 200\r\nContent-Length: 2\r\n\r\n{}",
        b"",
    ],
)
def test_something_else_on_the_port(data: bytes):
    """Its words are not shown as if they were the daemon's."""
    with answering(data) as port, refuses(Code.DAEMON_NOT_RUNNING):
        Api(port).get("/api/status")


@pytest.mark.parametrize("target", ["/api/a b", "/api/\u00fc", "/api/a\r\nX: y", "/api/\x00"])
def test_what_no_request_can_say_is_not_sent(target: str):
    """A line break in a path would be a header of its own."""
    with refuses(Code.USAGE):
        answered(target)


def answered(target: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Api(listener.getsockname()[1]).get(target)


@pytest.mark.parametrize("size", [0, 1, 300_000])
def test_an_answer_comes_whole_in_however_many_pieces(size: int):
    text = "x" * size
    data = b'HTTP/1.1 200 \r\ncontent-length:%d\r\n\r\n"%b"more' % (size + 2, text.encode())
    with answering(data) as port:
        assert Api(port).get("/api/status") == text


def test_an_answer_that_does_not_come():
    with answering(None) as port, refuses(Code.TIMEOUT):
        Api(port, timeout=0.05).get("/api/status")


def project(tmp_path: Path, told: str | None) -> Path:
    (tmp_path / ".hub").mkdir()
    (tmp_path / ".git").mkdir()
    if told is not None:
        (tmp_path / ".hub" / "daemon.json").write_text(told)
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    return inner


def test_the_daemon_is_found_in_the_promised_order(tmp_path: Path):
    """Flag, environment, the project's file."""
    inner = project(tmp_path, '{"port": 5001, "pid": 1}')
    assert find(5003, inner, {"HUB_PORT": "5002"}).port == 5003
    assert find(None, inner, {"HUB_PORT": "5002"}).port == 5002
    assert find(None, inner, {}).port == 5001
    assert find(None, inner, {"HUB_PORT": ""}).port == 5001
    assert find(None, inner, {"HUB_PORT": "0"}).port == 5001, "0 is for who starts a daemon"
    assert find(5003, tmp_path.parent, {}).port == 5003


@pytest.mark.parametrize(
    "told", [None, "", "{", "[]", '{"port": "x"}', '{"port": 0}', '{"port": 70000}', '{"port": true}']
)
def test_a_file_that_tells_nothing_is_passed_over(tmp_path: Path, told: str | None):
    assert find(None, project(tmp_path, told), {}).port == DEFAULT_PORT


def test_another_projects_daemon_is_not_taken(tmp_path: Path):
    """The search ends at the project's own root."""
    (tmp_path / ".hub").mkdir()
    (tmp_path / ".hub" / "daemon.json").write_text('{"port": 5001}')
    inner = tmp_path / "other"
    (inner / ".git").mkdir(parents=True)
    assert find(None, inner, {}).port == DEFAULT_PORT


@pytest.mark.parametrize("value", ["x", "-1", "70000", "4748x", "٤٧٤٨", "9" * 5000])
def test_a_hub_port_that_is_none(tmp_path: Path, value: str):
    with refuses(Code.USAGE):
        find(None, tmp_path, {"HUB_PORT": value})


def test_it_imports_next_to_nothing():
    """A command that only asks must not wait for a framework."""
    code = "import sys, hub.client.quick; print(sorted(m for m in sys.modules if m.split('.')[0] in sys.argv[1:]))"
    heavy = [
        "trio",
        "quart",
        "hypercorn",
        "msgspec",
        "h11",
        "trio_websocket",
        "asyncio",
        "click",
        "email",
        "http",
        "rich",
        "ssl",
        "supervisors",
    ]
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
