"""`POST /mcp`: the same tools over HTTP, behind the same guard, over a real server."""

from __future__ import annotations

import json
import sys

import pytest
import trio

from hub.api.convert import structure
from hub.api.status import Status
from hub.errors import Code, HubError
from hub.mcp.tools import TOOLS
from hub.messages.events import EventsSince
from hub.messages.session import GetStatus, RequestPause, RequestReply, StartRun
from hub.web.guard import MAX_BODY
from hub.wire.frames import MAX_FRAME
from tests.hub.mcp.kit import HELLO, MODERN
from tests.hub.web.fake import STATUS, Fake, Server, record, running
from tests.hub.web.wire import ask, raw, request

ACCEPT = ("Accept", "application/json, text/event-stream")


@pytest.fixture
def actors() -> Fake:
    return Fake()


@pytest.fixture
async def server(actors):
    async with running(actors) as server:
        yield server


async def rpc(server: Server, method: str, params=None, *headers: tuple[str, str]):
    """One request of the protocol; its answer."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method} | ({} if params is None else {"params": params})
    reply = await ask(server.port, "POST", "/mcp", message, headers=[ACCEPT, *headers])
    assert reply.headers["content-type"] == "application/json"
    assert reply.json["id"] == 1
    return reply.json


async def call(server: Server, name: str, **arguments):
    """One call of a tool; its result."""
    return (await rpc(server, "tools/call", {"name": name, "arguments": arguments}))["result"]


async def test_the_handshake_makes_no_session(server: Server):
    """Nothing is kept between two requests, so nothing needs a name."""
    reply = await ask(
        server.port,
        "POST",
        "/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        headers=[ACCEPT],
    )
    assert reply.json["result"]["protocolVersion"] == HELLO["protocolVersion"]
    assert "mcp-session-id" not in reply.headers


async def test_the_modern_protocol(server: Server):
    headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")]
    told = await rpc(server, "tools/list", {"_meta": MODERN}, *headers)
    assert len(told["result"]["tools"]) == len(TOOLS)


SAID = (("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "hub_status"))


@pytest.mark.parametrize(
    "headers",
    [
        SAID[:1],
        SAID[:2],
        (*SAID[:2], ("Mcp-Name", "hub_pause")),
        (*SAID[:2], ("Mcp-Name", "=?base64?aHViX3N0YXR1cw?=")),
        (*SAID[:2], ("Mcp-Name", "=?base64?/w==?=")),
        (SAID[0], ("Mcp-Method", "tools/list"), SAID[2]),
        (*SAID, SAID[1]),
        (("MCP-Protocol-Version", "2027-01-01"), *SAID[1:]),
    ],
)
async def test_a_proxy_that_goes_by_the_headers_is_not_told_another_call(server, actors, headers):
    """Since 2026-07-28 the headers repeat what the body says."""
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "hub_status", "_meta": MODERN},
    }
    reply = await ask(server.port, "POST", "/mcp", asked, headers=[ACCEPT, *headers])
    assert (reply.status, reply.json["error"]["code"]) == (400, -32020)
    assert actors.calls == []


async def test_the_headers_may_be_in_base64(server: Server):
    headers = (*SAID[:2], ("Mcp-Name", "=?base64?aHViX3N0YXR1cw==?="))
    told = await rpc(server, "tools/call", {"name": "hub_status", "_meta": MODERN}, *headers)
    assert told["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    ("method", "version", "meta", "answer"),
    [
        ("nope", "", {}, (200, -32601)),
        ("nope", "2025-06-18", {}, (200, -32601)),
        ("nope", "2026-07-28", MODERN, (404, -32601)),
        ("initialize", "2026-07-28", MODERN, (404, -32601)),
        ("tools/list", "2026-07-28", {}, (400, -32602)),
        (
            "tools/list",
            "2027-01-01",
            {**MODERN, "io.modelcontextprotocol/protocolVersion": "2027-01-01"},
            (400, -32022),
        ),
    ],
)
async def test_a_refusal_has_the_status_of_its_era(server, method, version, meta, answer):
    headers = [ACCEPT, *([("MCP-Protocol-Version", version), ("Mcp-Method", method)] if version else [])]
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}
    reply = await ask(server.port, "POST", "/mcp", asked, headers=headers)
    assert (reply.status, reply.json["error"]["code"]) == answer


@pytest.mark.parametrize("message", [{"method": "notifications/initialized"}, {"id": 1, "result": {}}])
async def test_what_asks_nothing_is_taken_without_a_word(server, message):
    headers = [ACCEPT, ("Content-Type", "application/json"), ("Host", f"127.0.0.1:{server.port}")]
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    reply = await raw(server.port, request("POST", "/mcp", headers, body))
    assert (reply.status, reply.body) == (202, b"")


@pytest.mark.parametrize("accept", ["text/event-stream", "text/html", ""])
async def test_a_client_that_takes_no_json_is_told_so(server, accept):
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    reply = await ask(server.port, "POST", "/mcp", asked, headers=[("Accept", accept)])
    assert reply.status == 406


async def test_a_call_reaches_the_daemon_and_comes_back(server: Server, actors: Fake):
    actors.publish(record(1, "\x1b[31mred\x1b[0m"))
    result = await call(server, "hub_events", since=0)
    assert not result.get("isError")
    assert result["structuredContent"]["next"] == 1
    assert result["structuredContent"]["events"][0]["msg"] == "red", "no escape sequence gets through"
    assert "red" in result["content"][0]["text"]
    assert actors.calls == [EventsSince(0, 200)]


async def test_a_call_that_changes_something(server: Server, actors: Fake):
    assert (await call(server, "hub_pause", pause=True))["structuredContent"]["ok"] is True
    assert actors.calls == [RequestPause(pause=True)]


async def test_a_refusal_of_the_daemon_says_code_and_next_step(server: Server, actors: Fake):
    async def refuse(_):
        raise HubError(Code.REPLY_UNSUPPORTED, "claude takes no replies now.")

    actors.instead[RequestReply] = refuse
    result = await call(server, "hub_send_reply", reply="yes")
    assert result["isError"]
    assert result["content"][0]["text"] == (
        "reply_unsupported: claude takes no replies now.\nNext step: Hand over instead: hub_handoff"
    )


async def test_a_field_that_the_daemon_refuses_is_named(server: Server, actors: Fake):
    """Once: what the detail tells already is not told again."""
    for detail, times in (("1 field is wrong", 1), ("$.task: too dull", 1), ("It is too dull", 0)):

        async def refuse(_, detail=detail):
            raise HubError(Code.INVALID, detail, errors=[{"path": "$.task", "message": "too dull"}])

        actors.instead[StartRun] = refuse
        said = (await call(server, "hub_run_task", task="x"))["content"][0]["text"]
        assert (said.count("$.task: too dull"), said.count("too dull")) == (times, 1)


async def test_an_answer_the_api_does_not_promise_is_our_fault_and_tells_nothing(server, monkeypatch):
    async def odd(*_):
        return "secret text"

    monkeypatch.setattr("hub.io.git.repository.session_diff", odd)
    result = await call(server, "hub_diff")
    assert result["isError"]
    assert result["content"][0]["text"].startswith("internal: ")
    assert "secret" not in result["content"][0]["text"]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_every_tool_asks_its_route_and_keeps_its_schema(server: Server, actors: Fake, tool):
    """Each tool's structured answer is what its output schema says, or the coded error of a route that is not there."""
    values = {"task": "x", "reply": "x", "pause": True, "q": "x"}
    given = {param.name: values[param.name] for param in tool.params if param.required}
    result = await call(server, tool.name, **given)
    assert not result.get("isError"), result["content"][0]["text"]
    answer, schema = result["structuredContent"], tool.output_schema
    assert set(schema.get("required", ())) <= set(answer)
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list}
    for name in set(answer) & set(schema["properties"]):
        assert isinstance(answer[name], kinds[schema["properties"][name]["type"]]), name
    assert actors.calls


async def test_a_call_opens_no_connection(server: Server, actors: Fake):
    """The daemon does not go through its own door: one more client would be one more that a crowd keeps out."""
    opened: list[object] = []
    watching = True

    def hook(event: str, args: tuple[object, ...]) -> None:
        if watching and event == "socket.connect":
            opened.append(args[1])

    sys.addaudithook(hook)  # it cannot be taken away again
    try:
        await call(server, "hub_status")
        await call(server, "hub_pause", pause=True)
    finally:
        watching = False
    assert opened == [("127.0.0.1", server.port)] * 2, "the two of this test itself"
    assert RequestPause(pause=True) in actors.calls


async def test_a_call_under_way_holds_no_thread(server: Server, actors: Fake):
    """Were each to keep one, as many as there are threads would wait for ever for the one their answer is made in."""
    crowd = int(trio.to_thread.current_default_thread_limiter().total_tokens) + 1
    begun, all_there = 0, trio.Event()

    async def slow(_):
        nonlocal begun
        begun += 1
        if begun == crowd:
            all_there.set()
        await all_there.wait()
        return {}

    actors.instead[RequestPause] = slow
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            for _ in range(crowd):
                nursery.start_soon(lambda: call(server, "hub_pause", pause=True))
    assert begun == crowd


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
async def test_only_post_is_served(server: Server, method: str):
    """There is no session to end, and no stream to follow: the protocol then wants a 405."""
    headers = [("Host", f"127.0.0.1:{server.port}"), ("Content-Type", "application/json")]
    reply = await raw(server.port, request(method, "/mcp", headers), method=method)
    assert (reply.status, reply.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"", -32700), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600)],
)
async def test_a_body_that_is_no_message(server: Server, body: bytes, code: int):
    headers = [("Host", f"127.0.0.1:{server.port}"), ("Content-Type", "application/json"), ACCEPT]
    reply = await raw(server.port, request("POST", "/mcp", headers, body))
    assert (reply.status, reply.json["error"]["code"]) == (400, code)


async def test_the_guard_stands_before_it(server: Server, actors: Fake):
    """A web page must not call a tool; see also the generated cases of `test_guard`."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hub_pause"}}
    for header, status in [
        (("Origin", "http://evil"), 403),
        (("Host", "evil"), 421),
        (("Content-Type", "text/plain"), 415),
    ]:
        headers = {"Host": f"127.0.0.1:{server.port}", "Content-Type": "application/json"} | dict([header])
        reply = await raw(server.port, request("POST", "/mcp", headers.items(), json.dumps(message).encode()))
        assert reply.status == status
    assert actors.calls == []


def test_both_transports_take_frames_of_the_same_size():
    assert MAX_FRAME == MAX_BODY


async def test_where_a_token_is_set_it_opens_the_tools_too():
    token = "t" * 20
    async with running(token=token) as server:
        reply = await ask(server.port, "POST", "/mcp", {})
        assert reply.status == 401
        bearer = ("Authorization", f"Bearer {token}")
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hub_status"}}
        reply = await ask(server.port, "POST", "/mcp", message, headers=[ACCEPT, bearer])
        told = reply.json["result"]["structuredContent"]
    async with running() as server:
        assert (await call(server, "hub_status"))["structuredContent"] == told, "a token changes nothing else"


async def test_a_stop_waits_for_the_calls_under_way(actors: Fake):
    """And for nothing else: there is no session that could outlive the server."""
    begun, may_end = trio.Event(), trio.Event()

    async def slow(_):
        begun.set()
        await may_end.wait()
        return structure({**STATUS, "sessionId": "s"}, Status)

    actors.instead[GetStatus] = slow
    found = []
    async with running(actors) as server, trio.open_nursery() as nursery:
        nursery.start_soon(_collect, server, found)
        await begun.wait()
        server.stop.set()
        may_end.set()
        with trio.fail_after(30):
            await server.done.wait()
    content = found[0]["structuredContent"]
    assert (content["sessionId"], content["graphNodes"]) == ("s", 1)


async def _collect(server, found):
    found.append(await call(server, "hub_status"))
