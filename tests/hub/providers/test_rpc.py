"""The JSON-RPC peer: what a line is, and what is written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.providers.rpc import Peer, RpcError, RpcNotification, RpcRequest, RpcResponse

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.dictionaries(st.sampled_from(["id", "method", "params", "result", "error", "jsonrpc"]), JSON)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"method":"turn/started","params":{"a":1}}', RpcNotification("turn/started", {"a": 1})),
        (b'{"method":"initialized"}', RpcNotification("initialized", {})),
        (b'{"id":0,"method":"ask","params":{}}', RpcRequest(0, "ask", {})),
        (b'{"id":"x","method":"ask"}', RpcRequest("x", "ask", {})),
        (b'{"id":"turn-1","result":{"ok":1}}', RpcResponse("turn-1", {"ok": 1})),
        (b'{"id":7,"result":null}', RpcResponse("7", {})),
        (b'{"id":"a","result":{},"error":null}', RpcResponse("a", {})),
        (b'{"id":"a","error":{"code":429,"message":"no"}}', RpcResponse("a", {}, RpcError(429, "no"))),
        (b'{"id":"a","error":"no"}', RpcResponse("a", {}, RpcError(0, "no"))),
    ],
)
def test_messages_are_told_apart(line, message):
    assert Peer().read(line) == message


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"null", b"[]", b"{}", b'{"id":1}', b'{"id":null,"result":{}}', b'{"id":true,"result":{}}'),
        *(b'{"id":1.5,"method":"x"}', b'{"method":7}', b"Enter the authorization code: {}"),
    ],
)
def test_what_is_no_message_is_nothing(line):
    assert Peer().read(line) is None


def test_a_requests_id_is_its_key():
    """A new daemon knows from the answer alone what was asked."""
    write = Peer().request("turn-1", "session/prompt", {"text": "a\nb \u2028 ✓"})
    assert write.key == "turn-1"
    assert write.data.endswith(b"\n")
    assert write.data.count(b"\n") == 1
    assert json.loads(write.data) == {
        "jsonrpc": "2.0",
        "id": "turn-1",
        "method": "session/prompt",
        "params": {"text": "a\nb \u2028 ✓"},
    }


def test_codex_leaves_the_version_out():
    assert json.loads(Peer(version=False).notify("initialized", "initialized").data) == {
        "method": "initialized"
    }


def test_an_answer_carries_the_id_as_it_came():
    for number in (0, "0"):
        asked = RpcRequest(number, "ask", {})
        assert json.loads(Peer().answer(asked, {"a": 1}).data)["id"] == number
        assert json.loads(Peer().refuse(asked).data)["error"]["code"] == -32601


def test_the_keys_of_a_number_and_of_its_digits_differ():
    peer = Peer()
    assert peer.answer(RpcRequest(1, "a", {}), {}).key != peer.answer(RpcRequest("1", "a", {}), {}).key


def test_a_torn_character_costs_itself_and_not_the_message():
    written = json.loads(Peer().request("k", "m", {"text": "a\udc80b"}).data)
    assert written["params"]["text"] == "a?b"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_raising(line):
    Peer().read(line)


@given(MEMBERS)
def test_any_object_is_a_message_or_nothing_and_can_be_answered(members):
    message = Peer().read(json.dumps(members).encode())
    if isinstance(message, RpcRequest):
        assert json.loads(Peer().answer(message, {}).data)["id"] == message.id
