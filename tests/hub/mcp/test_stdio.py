"""`hub mcp` as a client meets it: a process that reads and writes one JSON object a line, and nothing else."""

import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from hub import __version__
from hub.mcp.tools import TOOLS
from hub.wire.frames import MAX_FRAME
from hub.wire.wires import Wires
from tests.hub.cli.command import environ
from tests.hub.mcp.kit import HELLO, LIMIT, MODERN, once, served
from tests.ports import unanswered

START = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}).encode()
PING = b'{"jsonrpc":"2.0","id":"p","method":"ping"}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project without a daemon. A free port is named, so that no daemon of this machine is meant."""
    root = tmp_path_factory.mktemp("mcp") / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


@pytest.fixture(scope="module")
def env(folder):
    with unanswered() as port:
        yield environ(folder.parent, HUB_PORT=str(port))


@pytest.fixture(scope="module")
def client(folder, env):
    """One server for all tests that leave it as it was."""
    with served(folder, env) as client:
        client.hello()
        yield client


@pytest.fixture
def own(folder, env):
    """A server that the test may end."""
    with served(folder, env) as client:
        client.hello()
        yield client


def test_the_handshake(folder, env):
    with served(folder, env) as client:
        told = client.hello()
    assert told["serverInfo"]["name"] == "hub"
    assert told["serverInfo"]["version"] == __version__
    assert "hub_status" in told["instructions"]
    assert set(told["capabilities"]) <= {"tools", "experimental"}, "nothing is announced that is not there"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("tomorrow", "2025-11-25"),
    ],
)
def test_a_version_we_do_not_know_is_answered_with_one_we_do(folder, env, asked, answered):
    """Servers that refuse one broke Claude Code."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {**HELLO, "protocolVersion": asked}}
    answers, _, status = once(folder, json.dumps(hello).encode(), env=env)
    assert [answer["result"]["protocolVersion"] for answer in answers] == [answered]
    assert status == 0


def test_the_modern_protocol_needs_no_handshake(folder, env):
    """2026-07-28: each request says who asks."""
    ask = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": MODERN}}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": MODERN}}
    answers, _, _ = once(folder, json.dumps(ask).encode(), json.dumps(listing).encode(), env=env)
    by_id = {answer["id"]: answer["result"] for answer in answers}
    assert by_id[1]["supportedVersions"] == ["2026-07-28"]
    assert len(by_id[2]["tools"]) == len(TOOLS)
    for result in by_id.values():
        assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 0, "private")
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "hub"


def test_the_list_is_the_table_and_always_the_same(folder, env):
    """Clients cache prompts by what was told before."""
    with served(folder, env) as client:
        client.hello()
        first, second = client.ask("tools/list"), client.ask("tools/list", {})
    assert first["result"] == second["result"]
    told = first["result"]["tools"]
    assert [tool["name"] for tool in told] == [tool.name for tool in TOOLS]
    assert [tool["inputSchema"] for tool in told] == [tool.input_schema for tool in TOOLS]
    assert [tool["annotations"] for tool in told] == [tool.annotations for tool in TOOLS]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_without_a_daemon_every_tool_says_what_to_do(client, tool):
    arguments = {"task": "x", "q": "x", "reply": "x", "pause": True}
    needed = {param.name: arguments[param.name] for param in tool.params if param.required}
    result = client.call(tool.name, **needed)
    assert result["isError"]
    assert "structuredContent" not in result
    [content] = result["content"]
    assert content["text"].startswith("daemon_not_running: ")
    assert content["text"].endswith("Next step: Start it: hub daemon")


def test_outside_of_a_repository_a_tool_says_so_too(tmp_path):
    """The specification: every tool says where no daemon can be reached, and how it is started. A client may start anywhere."""
    with served(tmp_path) as client:
        [content] = client.call("hub_status")["content"]
    told, step = content["text"].split("\n")
    assert told.startswith("daemon_not_running: The daemon cannot be reached at http://127.0.0.1:4748: ")
    assert "hub daemon" in step


def test_bad_arguments_are_told_what_is_allowed(client):
    result = client.call("hub_pause", pause="yes")
    assert result["isError"]
    assert "pause must be true or false" in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("nope", None, -32601),
        ("resources/list", {}, -32601),
        ("prompts/get", {"name": "x"}, -32601),
        ("tools/call", None, -32602),
        ("tools/call", {"name": "hub_nope", "arguments": {}}, -32602),
        ("tools/call", {"name": "hub_status", "arguments": []}, -32602),
        ("tools/list", {"cursor": "x"}, -32602),
    ],
)
def test_what_is_not_there_is_told_by_the_protocol(client, method, params, code):
    assert client.ask(method, params)["error"]["code"] == code


@pytest.mark.parametrize(
    ("line", "code", "id_"),
    [
        (b"{", -32700, None),
        (b"not json", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":2}}', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b'"ping"', -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
        (b'{"id":"x","method":"ping"}', -32600, "x"),
        (b'{"jsonrpc":"2.0","id":8,"method":5}', -32600, 8),
        (b'{"jsonrpc":"2.0","id":9,"method":"ping","params":[1]}', -32602, 9),
        (b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * MAX_FRAME + b'"}', -32600, None),
        (b"x" * (10 * MAX_FRAME), -32600, None),
    ],
)
def test_a_line_that_is_no_message_is_answered_and_the_next_one_too(client, line, code, id_):
    """Each line has its answer, and none ends the server."""
    client.send(line)
    answer = client.read()
    assert (answer["error"]["code"], answer["id"]) == (code, id_)
    client.send(PING)
    assert client.read() == {"jsonrpc": "2.0", "id": "p", "result": {}}


def test_a_frame_of_the_largest_size_is_read(client):
    head, tail = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":"', b'"}}}'
    client.send(head + b"x" * (MAX_FRAME - len(head) - len(tail) - 1) + tail)
    assert client.read()["result"] == {}


def test_notifications_and_blank_lines_have_no_answer(client):
    for _ in range(2000):
        client.send(b'{"jsonrpc":"2.0","method":"notifications/whatever","params":{}}')
    client.send(b"")
    client.send(b'{"jsonrpc":"2.0","id":3,"result":{}}')  # an answer to nothing we asked
    client.send(PING)
    assert client.read()["id"] == "p"


def test_each_request_has_one_answer_also_when_many_come_at_once(client):
    """An id that comes twice is answered twice."""
    ids = [*range(200), *range(5), "a", "b"]
    for id_ in ids:
        method = {"jsonrpc": "2.0", "id": id_, "method": "tools/call"}
        client.send({**method, "params": {"name": "hub_pause", "arguments": {}}})
    found = [client.read()["id"] for _ in ids]
    assert sorted(map(str, found)) == sorted(map(str, ids))


def test_all_that_is_piped_in_is_answered_before_the_end(folder, env):
    """`printf ... | hub mcp`: the end of the input does not swallow answers under way."""
    calls = [
        json.dumps(
            {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "hub_status"}}
        ).encode()
        for n in range(1, 20)
    ]
    answers, stderr, status = once(folder, START, *calls, env=env)
    assert sorted(answer["id"] for answer in answers) == list(range(20))
    assert (stderr, status) == ("", 0)


def test_it_ends_within_a_second_of_its_client(own):
    begun = time.monotonic()
    assert own.leave(LIMIT) == 0
    assert time.monotonic() - begun < 1.0 + OVERHEAD


OVERHEAD = 8.0
"""What the end of a Python process may take on a machine that is busy."""


@contextmanager
def asked_in_vain(folder, *before):
    """A client whose call 5 has reached a daemon that does not answer; and the daemon's end of it."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        env = environ(folder.parent, HUB_PORT=str(silent.getsockname()[1]))
        with served(folder, env) as client:
            client.hello()
            for message in before:
                client.send(message)
            client.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "hub_status"}})
            silent.settimeout(LIMIT)
            connection, _ = silent.accept()
            with connection:
                yield client, connection


def test_a_call_under_way_is_answered_though_nothing_more_is_asked(folder):
    """`printf ... | hub mcp` closes its side at once, and a daemon may be slow: what was asked is answered first."""
    with asked_in_vain(folder) as (client, connection):
        client.process.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            client.process.wait(1.5)  # it has nothing more to read, and still waits for the daemon
        body = b'{"sessionId":"s-late"}'
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        assert client.read()["result"]["structuredContent"] == {"sessionId": "s-late"}
        assert client.process.wait(LIMIT) == 0


def test_a_request_that_is_taken_back_has_no_answer(folder):
    """And nobody waits for it: the next one is answered, and the session ends in time."""
    with asked_in_vain(folder, *map(_taken_back, (5, "p", None, [], 1.5))) as (client, _):
        client.send(_taken_back(5))
        client.send(PING)
        assert client.read()["id"] == "p"
        client.process.stdin.close()
        assert client.process.stdout.read() == b""
        assert client.process.wait(LIMIT) == 0


def _taken_back(id_):
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_}}


def test_each_request_is_answered_in_the_era_it_speaks(client):
    """A client that has shaken hands may try the newer way, and one that cannot need not start anew."""
    assert "resultType" not in client.ask("tools/list")["result"]
    assert client.ask("tools/list", {"_meta": MODERN})["result"]["resultType"] == "complete"
    assert client.ask("ping")["result"] == {}
    assert client.ask("ping", {"_meta": MODERN})["error"]["code"] == -32601
    assert client.ask("initialize", {**HELLO, "_meta": MODERN})["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        ({"io.modelcontextprotocol/protocolVersion": "2026-07-28"}, -32602),
        ({**MODERN, "io.modelcontextprotocol/clientCapabilities": []}, -32602),
        ({**MODERN, "io.modelcontextprotocol/protocolVersion": 5}, -32602),
        ({**MODERN, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}, -32022),
    ],
)
def test_an_envelope_that_is_not_whole_is_refused(client, meta, code):
    assert client.ask("tools/list", {"_meta": meta})["error"]["code"] == code


@pytest.mark.parametrize("lacking", HELLO)
def test_a_handshake_that_is_not_whole_is_answered(client, lacking):
    """A client that says no hello at all is served: hub has no use for what this one left out. What is no value is refused."""
    hello = {name: value for name, value in HELLO.items() if name != lacking}
    assert client.ask("initialize", hello)["result"]["protocolVersion"]
    assert client.ask("initialize", {**hello, lacking: 5})["error"]["code"] == -32602


def test_an_id_is_echoed_as_it_came(client):
    """Half a surrogate pair is no UTF-8, but JSON can write it."""
    client.send(b'{"jsonrpc":"2.0","id":"\\ud800\xc3\xa9","method":"ping"}')
    assert client.read()["id"] == "\ud800\xe9"


def test_it_ends_when_nobody_reads(own):
    own.process.stdout.close()
    own.send(PING)
    assert own.process.wait(LIMIT) == 0


def test_ctrl_c_ends_it_with_no_traceback(own):
    own.process.send_signal(signal.SIGINT)
    assert own.process.wait(LIMIT) == -signal.SIGINT
    assert b"Traceback" not in own.process.stderr.read()


INTRUDER = """
import os, subprocess, sys
from hub.wire.wires import Wires
wires = Wires.claim()
import pkgutil, importlib, hub
for found in pkgutil.walk_packages(hub.__path__, "hub."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
print("print")
sys.stdout.write("sys.stdout")
os.write(1, b"fd 1")
subprocess.run(["echo", "a child"])
sys.stdout.flush()
from hub.client.quick import Api
from hub.mcp.calling import ToolCaller
from hub.cli.commands.mcp import Remote
from hub.mcp.stdio import run
run(wires, ToolCaller(Remote(lambda: Api(1))))
"""


def test_nothing_but_the_protocol_comes_out(folder, env):
    """Row 43 of the threats: all of hub is imported, and everything that can print does; the client sees none of it."""
    done = subprocess.run(
        [sys.executable, "-c", INTRUDER],
        cwd=folder,
        env=env,
        input=START + b"\n",
        capture_output=True,
        check=True,
    )
    [line] = done.stdout.splitlines()
    assert json.loads(line)["id"] == 0
    for said in (b"print", b"sys.stdout", b"fd 1", b"a child"):
        assert said in done.stderr


def test_the_first_answer_waits_for_no_import_that_the_tools_do_not_need():
    """A client that waits ten seconds gave up on a busy machine; the daemon's web stack takes as long as all the rest."""
    code = (
        "import sys, hub.cli.group, hub.cli.commands.mcp, hub.mcp.stdio, hub.domain.text.safe;"
        "print([name for name in ('quart', 'hypercorn', 'cattrs', 'httpx2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_output_that_was_set_not_to_wait_is_waited_for():
    """Whoever shares it can set that: the server ended, and said that no more processes can be started."""
    heard, said = os.pipe()
    os.set_blocking(said, False)
    data = os.urandom(8 << 20)
    with os.fdopen(heard, "rb") as reader, ThreadPoolExecutor(1) as pool:
        found = pool.submit(reader.read)
        try:
            Wires(io.BytesIO(), said).write(data)
        finally:
            os.close(said)
        assert found.result() == data
