"""The wire of `hub acp`: frames and nothing else on stdout, every fault answered, and an end within a second."""

import json
import os
import subprocess

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.acp.connection import EditorConnection
from hub.wire.frames import MAX_FRAME, RefusedError
from hub.wire.wires import LineConnection, Wires
from tests.hub.acp.kit import HELLO, HUB_ACP, opened
from tests.hub.cli.command import environ


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project without a daemon, which none of these needs."""
    root = tmp_path_factory.mktemp("acp") / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


@pytest.fixture(scope="module")
def ed(folder):
    with opened(folder) as found:
        yield found


def test_the_handshake(ed):
    told = ed.hello()
    assert told["protocolVersion"] == 1
    assert told["agentInfo"]["name"] == "hub"
    assert told["agentCapabilities"]["loadSession"] is True
    assert told["authMethods"] == []


def test_a_message_may_be_larger_than_the_tool_server_takes(ed):
    """A prompt may hold whole files."""
    ed.request("initialize", **HELLO, _meta={"x": "x" * (MAX_FRAME + 1)})
    assert "result" in ed.read()


def test_a_version_that_hub_does_not_speak_is_answered_with_the_one_it_does(ed):
    """The client decides whether to go on."""
    assert ed.ask("initialize", **{**HELLO, "protocolVersion": 99})["result"]["protocolVersion"] == 1
    assert ed.ask("initialize", protocolVersion="1")["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["nope", "authenticate", "session/fork", "fs/read_text_file", ""])
def test_a_method_that_is_not_there_is_said_to_be_none(ed, method):
    assert ed.ask(method)["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b'{"jsonrpc":"2.0","id":null,"method":"initialize"}', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":"initialize","params":[1]}', -32602),
        (b'{"jsonrpc":"2.0","id":7,"method":"session/new"}', -32602),
        (b'{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":7}}', -32602),
        (b'{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"here"}}', -32602),
        (b'{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{}}', -32602),
    ],
)
def test_a_frame_that_is_none_is_answered_and_the_next_one_is_read(ed, line, code):
    ed.send(line)
    assert ed.read()["error"]["code"] == code
    assert "result" in ed.ask("initialize", **HELLO)


def test_what_asks_for_no_answer_gets_none(ed):
    ed.send(b"")
    ed.send({"jsonrpc": "2.0", "method": "initialized"})
    ed.notify("session/cancel", sessionId="s-none")
    ed.notify("session/cancel", sessionId={"no": "text"})
    ed.send({"jsonrpc": "2.0", "id": "hub-99", "result": {}})
    ed.send({"jsonrpc": "2.0", "id": {"no": "id"}, "error": "none"})
    assert "result" in ed.ask("initialize", **HELLO)


@pytest.mark.parametrize(
    "answer",
    [
        b'{"jsonrpc":"2.0","id":"hub-1","result":{"outcome":{"optionId":"a","optionId":"b"}}}',
        b'{"jsonrpc":"2.0","id":"hub-1","result":{"cost":NaN}}',
        b'{"id":"hub-1","result":{}}',
    ],
)
async def test_an_answer_that_cannot_be_taken_fails_the_request(answer):
    """The editor will send no other: hub's question waited for ever, and the agent with it."""
    (theirs, ours), (heard, said) = os.pipe(), os.pipe()
    with os.fdopen(theirs, "rb") as incoming, os.fdopen(heard, "rb") as told:
        connection = EditorConnection(LineConnection(Wires(incoming, said)))
        with trio.fail_after(20):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(connection.serve, None, None)
                os.write(ours, answer + b"\n")
                with pytest.raises(RefusedError):
                    await connection.ask("session/request_permission", {})
                os.close(ours)
        os.close(said)
        assert [json.loads(line)["id"] for line in told] == ["hub-1"], "an answer is not answered"


def test_it_ends_with_the_editor(folder):
    with opened(folder) as found:
        found.hello()
        assert found.leave() == 0


def test_frames_and_nothing_else_on_stdout(folder):
    """All at once, as by a pipe that is closed behind the last line: every request is answered before the end."""
    lines = [{"jsonrpc": "2.0", "id": n, "method": "initialize", "params": HELLO} for n in range(20)]
    done = subprocess.run(
        HUB_ACP,
        cwd=folder,
        env=environ(folder.parent),
        input=b"".join(json.dumps(line).encode() + b"\n" for line in lines),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == list(range(20))
    assert done.stderr == b""


_TEXT = st.text(max_size=20) | st.sampled_from(
    ["/", "/nowhere", "s-1-2", "auto", "agent", "..", "\x00", "\ud800"]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
_NAMES = (
    "cwd",
    "sessionId",
    "prompt",
    "modeId",
    "configId",
    "value",
    "protocolVersion",
    "mcpServers",
    "cursor",
)
_METHODS = (
    "initialize",
    "session/new",
    "session/load",
    "session/resume",
    "session/list",
    "session/prompt",
    "session/cancel",
    "session/set_mode",
    "session/set_config_option",
    "$/cancel_request",
)
_MESSAGE = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "method": st.sampled_from(_METHODS) | _JSON,
        "id": st.integers(10_000, 20_000) | st.text(max_size=5) | _JSON,
        "params": st.dictionaries(st.sampled_from(_NAMES), _JSON, max_size=4) | _JSON,
        "result": _JSON,
        "error": _JSON,
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(message=_MESSAGE | _JSON)
def test_whatever_comes_the_next_request_is_answered(ed, message):
    """No message ends the connection, and no answer is hub's own fault (-32603 without a code of hub's)."""
    ed.told.clear()
    ed.send(json.dumps(message).encode())
    assert "result" in ed.ask("initialize", **HELLO)
    for reply in ed.told:
        error = reply.get("error", {})
        assert error.get("code") != -32603 or error["data"]["code"], reply
