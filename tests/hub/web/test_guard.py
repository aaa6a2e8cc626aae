"""Who gets in: the table of security cases, over raw sockets against the real server."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket as stdsocket
from pathlib import Path

import pytest
import trio

from hub.errors import Code, HubError
from hub.messages.pipelines import StopPipeline
from hub.messages.session import GetInUse, RequestHandoff, RequestStop
from hub.web.callers import Caller
from hub.web.doors import bind
from hub.web.guard import BODY_TIMEOUT, CALLER, MAX_BODY, MAX_HEADERS, SECURITY_HEADERS, Policy, check
from hub.web.routes import table
from hub.web.stream import SOCKET, SSE
from hub.web.tools import TOOLS
from tests.hub.web.fake import Server, running
from tests.hub.web.wire import Refused, Reply, ask, raw, read_reply, request, socket

GOOD = "127.0.0.1:{p}"


async def get(
    server: Server, *headers: tuple[str, str], version: str = "1.1", target: str = "/api/status"
) -> Reply:
    filled = [(name, value.replace("{p}", str(server.port))) for name, value in headers]
    return await raw(server.port, request("GET", target, filled, version=version))


async def post(
    server: Server, *headers: tuple[str, str], body: bytes = b'{"pause":true}', method: str = "POST"
) -> Reply:
    filled = [("Host", f"127.0.0.1:{server.port}"), *headers]
    filled = [(name, value.replace("{p}", str(server.port))) for name, value in filled]
    return await raw(server.port, request(method, "/api/session/pause", filled, body), method=method)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        pytest.param(GOOD, 200, id="01-good"),
        pytest.param("evil.example:{p}", 421, id="02-foreign-name"),
        pytest.param("127.0.0.1.nip.io:{p}", 421, id="03-name-that-resolves-to-loopback"),
        pytest.param("", 421, id="04-empty"),
        pytest.param(":{p}", 421, id="05-port-only"),
        pytest.param("LOCALHOST:{p}", 200, id="09-upper-case"),
        pytest.param("localhost.:{p}", 421, id="10-trailing-dot"),
        pytest.param("evil@127.0.0.1:{p}", 421, id="11-userinfo"),
        pytest.param("0.0.0.0:{p}", 421, id="12-any-address"),
        pytest.param("127.0.0.1:9", 421, id="13-other-port"),
        pytest.param("127.0.0.1", 421, id="13b-no-port"),
        pytest.param("[::1]:{p}", 200, id="14-ipv6-loopback"),
        pytest.param("2130706433:{p}", 421, id="15a-decimal"),
        pytest.param("127.1:{p}", 421, id="15b-short"),
        pytest.param("0x7f000001:{p}", 421, id="15c-hex"),
        pytest.param("localhost:{p}.evil.com", 421, id="16-ours-as-a-prefix"),
    ],
)
async def test_host_is_exactly_one_of_ours(server: Server, host: str, status: int):
    """Cases 1-5, 9-16: DNS rebinding ends at the Host header."""
    reply = await get(server, ("Host", host))
    assert reply.status == status
    assert bool(server.actors.calls) == (status == 200)


@pytest.mark.parametrize("version", ["1.1", "1.0"])
async def test_06_07_a_request_without_host_is_malformed(server: Server, version: str):
    """Cases 6 and 7."""
    reply = await get(server, version=version)
    assert (reply.status, reply.headers["content-type"]) == (400, "application/problem+json")


async def test_08_two_hosts_are_malformed(server: Server):
    """Case 8."""
    assert (await get(server, ("Host", GOOD), ("Host", GOOD))).status == 400


async def test_17_forwarded_host_is_ignored(server: Server):
    """Case 17."""
    assert (await get(server, ("Host", GOOD), ("X-Forwarded-Host", "evil"))).status == 200


@pytest.mark.parametrize(
    "target", ["http://evil/api/status", "http://127.0.0.1:{p}/api/status", "*", "api/status"]
)
async def test_18_only_origin_form_targets(server: Server, target: str):
    """Case 18: h11 takes an absolute target with a Host that says something else."""
    assert (await get(server, ("Host", GOOD), target=target.replace("{p}", str(server.port)))).status == 400


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param([("Origin", "https://evil")], 403, id="19-foreign"),
        pytest.param([("Origin", "null")], 403, id="20-null"),
        pytest.param([("Origin", "")], 403, id="20b-empty"),
        pytest.param(
            [("Origin", "http://localhost:{p}"), ("Origin", "http://localhost:{p}")], 403, id="20c-two"
        ),
        pytest.param([("Origin", "http://localhost:3000")], 403, id="21-other-local-port"),
        pytest.param([("Origin", "http://localhost:{p}")], 200, id="22-own"),
        pytest.param([("Origin", "http://localhost:{p}.evil.com")], 403, id="23-own-as-a-prefix"),
        pytest.param([("Origin", "https://localhost:{p}")], 403, id="24-other-scheme"),
        pytest.param([("Sec-Fetch-Site", "cross-site")], 403, id="26-img-or-script-tag"),
        pytest.param([("Sec-Fetch-Site", "same-site")], 403, id="27-other-port-is-same-site"),
        pytest.param([("Sec-Fetch-Site", "none")], 200, id="28-typed-by-the-user"),
        pytest.param([("Sec-Fetch-Site", "same-origin")], 200, id="28b-own-page"),
        pytest.param([("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "none")], 403, id="28c-two"),
        pytest.param([("Origin", "vscode-webview://x")], 403, id="29-webview-unless-configured"),
    ],
)
async def test_origin_and_fetch_site(server: Server, headers: list[tuple[str, str]], status: int):
    """Cases 19-24, 26-29."""
    reply = await get(server, ("Host", GOOD), *headers)
    assert reply.status == status
    assert bool(server.actors.calls) == (status == 200)


async def test_25_rebound_host_with_equal_origin(server: Server):
    """Case 25: equal to each other is not enough."""
    assert (await get(server, ("Host", "evil"), ("Origin", "http://evil"))).status == 421


async def test_29_a_configured_origin_is_let_in():
    """Case 29, the other half."""
    async with running(origins=["vscode-webview://x"]) as server:
        assert (await get(server, ("Host", GOOD), ("Origin", "vscode-webview://x"))).status == 200
        assert (await get(server, ("Host", GOOD), ("Origin", "vscode-webview://y"))).status == 403


@pytest.mark.parametrize(
    ("media", "status"),
    [
        pytest.param("application/json", 200, id="30-json"),
        pytest.param("Application/JSON; charset=utf-8", 200, id="30b-json-with-charset"),
        pytest.param('application/json;charset="UTF8"', 200, id="30c-json-with-a-quoted-charset"),
        pytest.param("application/json; profile=x; charset=utf-8;", 200, id="30d-json-with-more"),
        pytest.param("application/json; charset=utf-16", 415, id="30e-another-charset"),
        pytest.param("application/json; charset=utf-7", 415, id="30f-another-charset"),
        pytest.param("application/json; charset=utf-8; charset=utf-16", 415, id="30g-two-charsets"),
        pytest.param("application/json; charset=", 415, id="30h-no-charset"),
        pytest.param('application/json; charset="utf-8', 415, id="30i-half-a-charset"),
        pytest.param("application/json; charset='utf-8'", 415, id="30j-a-charset-of-that-name"),
        pytest.param("application/json; CharSet=latin1", 415, id="30k-another-charset"),
        pytest.param("application/json, text/plain", 415, id="30l-two-in-one"),
        pytest.param("text/plain", 415, id="31-text"),
        pytest.param("application/x-www-form-urlencoded", 415, id="33-form"),
        pytest.param("multipart/form-data; boundary=x", 415, id="34-multipart"),
        pytest.param("text/plain; application/json", 415, id="35-json-as-a-parameter"),
        pytest.param("application/jsonx", 415, id="36-json-as-a-prefix"),
    ],
)
async def test_a_post_is_json(server: Server, media: str, status: int):
    """Cases 30, 31, 33-36: a browser sends none of the others' bodies as JSON without a preflight."""
    assert (await post(server, ("Content-Type", media))).status == status
    assert bool(server.actors.calls) == (status == 200)


JSON_TYPE, EVIL_ORIGIN = ("Content-Type", "application/json"), ("Origin", "http://evil")


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        pytest.param([("Content-Type", "text/plain"), EVIL_ORIGIN], b"{}", 403, id="31-foreign-comes-first"),
        pytest.param([], b"{}", 415, id="32-no-type"),
        pytest.param([JSON_TYPE, JSON_TYPE], b"{}", 415, id="36b-two-types"),
        pytest.param([JSON_TYPE, ("Content-Encoding", "gzip")], b"{}", 415, id="36b-an-encoding"),
        pytest.param([], b"", 415, id="37-no-body-where-one-is-needed"),
        pytest.param([EVIL_ORIGIN], b"", 403, id="38-no-body-from-a-foreign-origin"),
    ],
)
async def test_a_post_that_is_not_said_to_be_json(
    server: Server, headers: list[tuple[str, str]], body: bytes, status: int
):
    """Cases 31, second half, 32, 36b, 37 and 38: a second reading of the body must not exist."""
    assert (await post(server, *headers, body=body)).status == status
    assert server.actors.calls == []


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/nope", b"", 404),
        ("/api/nope", b"{}", 415),
        ("/api/retrieval", b"", 405),
        ("/ws", b"", 405),
        ("/api/events/stream", b"", 405),
        ("/openapi.json", b"", 405),
        ("/api/session/pause", b"", 415),
        ("/api/approvals/a-1", b"", 415),
        ("/mcp", b"", 415),
    ],
)
async def test_only_a_path_that_needs_a_body_wants_one(server: Server, path: str, body: bytes, status: int):
    """The contract: 404 for an unknown path, 405 for a method that is not served; a type is missed where a body is."""
    headers = [("Host", f"127.0.0.1:{server.port}"), ("Content-Length", str(len(body)))]
    answer = await raw(server.port, request("POST", path, headers, body))
    assert answer.status == status
    assert (status == 405) == ("GET" in answer.headers.get("allow", ""))
    assert server.actors.calls == []


@pytest.mark.parametrize("length", [[], [("Content-Length", "0")]], ids=["no length", "length 0"])
@pytest.mark.parametrize("path", ["/api/handoff", "/api/session/stop"])
async def test_37b_a_route_that_needs_no_body_needs_no_type(server: Server, path: str, length: list):
    """`curl -X POST .../api/handoff`, as the specification has it; a page that does so is known by its Origin."""
    headers = [("Host", f"127.0.0.1:{server.port}"), *length]
    assert (await raw(server.port, request("POST", path, headers))).status == 200
    foreign = [*headers, ("Origin", "null")]
    assert (await raw(server.port, request("POST", path, foreign))).status == 403
    for more in (("Content-Type", "text/plain"), ("Content-Encoding", "gzip")):
        assert (await raw(server.port, request("POST", path, [*headers, more]))).status == 415
    host = headers[:1]
    assert (await raw(server.port, request("POST", path, host, b"{}"))).status == 415
    chunks = [*host, ("Transfer-Encoding", "chunked")]
    assert (await raw(server.port, request("POST", path, chunks, b"0\r\n\r\n"))).status == 415
    asked = [RequestHandoff()] if path == "/api/handoff" else [GetInUse(), StopPipeline(), RequestStop()]
    assert server.actors.calls == asked


async def test_39_a_body_over_the_limit_is_refused_before_it_is_read(server: Server):
    """Case 39: the answer comes although the client is still sending."""
    reply = await post(server, ("Content-Type", "application/json"), body=b" " * (2 * MAX_BODY))
    assert (reply.status, reply.json["code"]) == (413, "too_large")


async def test_39b_a_body_at_the_limit_is_read(server: Server):
    body = b'{"pause":true}'
    assert (
        await post(server, ("Content-Type", "application/json"), body=body + b" " * (MAX_BODY - len(body)))
    ).status == 200


async def test_40_a_chunked_body_over_the_limit(server: Server):
    """Case 40: without a length the bytes are counted."""
    chunks = b"".join(b"%x\r\n%s\r\n" % (65536, b" " * 65536) for _ in range(32)) + b"0\r\n\r\n"
    headers = [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")]
    assert (await post(server, *headers, body=chunks)).status == 413


@pytest.mark.parametrize("version", ["1.1", "1.0"])
@pytest.mark.parametrize(("method", "path"), [("POST", "/api/session/pause"), ("GET", "/api/status")])
@pytest.mark.parametrize("lengths", [["2"], ["17"], ["0"], []], ids=["2", "17", "0", "none"])
async def test_41_a_length_and_chunks_at_once(
    server: Server, method: str, path: str, version: str, lengths: list[str]
):
    """Case 41: request smuggling's favourite. Nothing after such a request is one; it was answered, and the next too."""
    if version == "1.1" and not lengths:
        return  # chunks alone are as they should be
    host = ("Host", f"127.0.0.1:{server.port}")
    headers = [host, ("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")]
    headers[1:1] = [("Content-Length", length) for length in lengths]
    smuggled = request("POST", "/api/session/stop", [host, ("Content-Type", "application/json")])
    data = request(method, path, headers, b'e\r\n{"pause":true}\r\n0\r\n\r\n', version) + smuggled
    async with await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
        await stream.send_all(data)
        reply = await read_reply(stream, method)
        assert (reply.status, reply.json["code"]) == (400, "malformed")
        assert reply.headers["connection"] == "close"
        with trio.fail_after(10):
            assert await stream.receive_some(1) == b""
    assert server.actors.calls == []


async def test_42_a_preflight_gets_nothing(server: Server):
    """Case 42: there is no CORS anywhere."""
    asking = [("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "content-type")]
    for origin, status in (("http://evil", 403), (f"http://localhost:{server.port}", 405)):
        headers = [("Host", f"127.0.0.1:{server.port}"), ("Origin", origin), *asking]
        reply = await raw(server.port, request("OPTIONS", "/api/run", headers), method="OPTIONS")
        assert reply.status == status
        assert not any(name.startswith("access-control") for name in reply.headers)


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PUT", "DELETE", "PATCH", "QUERY"])
async def test_43_methods_outside_the_table(server: Server, method: str):
    """Case 43."""
    target = "evil:443" if method == "CONNECT" else "/api/run"
    headers = [("Host", f"127.0.0.1:{server.port}"), ("Content-Type", "application/json")]
    reply = await raw(server.port, request(method, target, headers, b"{}"), method="GET")
    assert (reply.status, reply.json["code"]) == (405, "method_not_allowed")
    assert "allow" in reply.headers


async def test_44_method_override_is_ignored(server: Server):
    """Case 44."""
    host = ("Host", f"127.0.0.1:{server.port}")
    reply = await raw(server.port, request("GET", "/api/run", [host, ("X-HTTP-Method-Override", "POST")]))
    assert reply.status == 405
    assert server.actors.calls == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param([("Origin", "http://evil")], 403, id="46a-foreign"),
        pytest.param([("Origin", "null")], 403, id="46b-null"),
        pytest.param([("Host", "evil:{p}")], 421, id="47-foreign-host"),
        pytest.param([("Sec-Fetch-Site", "cross-site")], 403, id="46c-cross-site"),
    ],
)
async def test_a_websocket_is_refused_before_it_opens(
    server: Server, headers: list[tuple[str, str]], status: int
):
    """Cases 46 and 47: with a status and a document, not with a close after 101."""
    filled = [(name, value.replace("{p}", str(server.port))) for name, value in headers]
    with pytest.raises(Refused) as refused:
        async with socket(server.port, headers=filled):
            pass
    assert refused.value.status == status
    assert json.loads(refused.value.body)["status"] == status
    assert server.actors.calls == []


@pytest.mark.parametrize("own", [False, True], ids=["45-no-origin", "48-own-origin"])
async def test_a_websocket_of_ours_opens(server: Server, own: bool):
    """Cases 45 and 48."""
    async with socket(server.port, headers=[("Origin", f"http://localhost:{server.port}")] if own else []):
        await server.actors.subscribed.wait()


# --- the same, for everything there is ------------------------------------------------------------------


def every_operation() -> list[tuple[str, str]]:
    routes = [(route.method, route.path) for route in table(1)]
    streams = [("GET", SOCKET.path), ("GET", SSE.path)]
    return [*routes, ("GET", "/openapi.json"), *streams, ("POST", TOOLS.path)]


EVIL = [
    pytest.param(("Host", "evil.example:{p}"), 421, id="host"),
    pytest.param(("Origin", "http://evil.example"), 403, id="origin"),
    pytest.param(("Sec-Fetch-Site", "cross-site"), 403, id="cross-site"),
]


@pytest.mark.parametrize(("header", "status"), EVIL)
async def test_every_route_refuses_what_is_evil(server: Server, header: tuple[str, str], status: int):
    """A route that is added can not be forgotten: the list is the table."""
    for method, path in every_operation():
        headers = {"Host": f"127.0.0.1:{server.port}", "Content-Type": "application/json"}
        headers[header[0]] = header[1].replace("{p}", str(server.port))
        reply = await raw(server.port, request(method, path, headers.items()), method=method)
        assert (reply.status, reply.headers["content-type"]) == (status, "application/problem+json"), path
    assert server.actors.calls == []


async def test_no_answer_has_a_cors_or_server_header_and_all_have_the_others(server: Server):
    """G11, for every route, answered and refused."""
    for method, path in every_operation():
        if path == SSE.path:
            continue  # never ends; its headers are tested with it
        for headers in ([], [("Origin", "http://evil")]):
            reply = await ask(server.port, method, path, {} if method == "POST" else None, headers=headers)
            assert not any(name.startswith("access-control") for name in reply.headers), path
            assert "server" not in reply.headers
            for name, value in SECURITY_HEADERS:
                assert reply.headers[name.decode()] == value.decode(), path


async def test_gets_change_nothing(server: Server):
    """G12: a GET asks the actors for something that is only read."""
    reading = {
        "GetAuditHead", "AuditHistory", "BreakerSnapshots", "Detect", "EventsSince", "GetApprovals", "GetConfig",
        "GetContract", "GetCost", "GetCosts", "GetGraph", "GetGraphDetail", "GetGraphNodes", "GetOutcomes", "GetPipelineRun",
        "GetPipelines", "GetProfiles", "GetProviders", "GetRedactions", "GetSessionFacts", "GetSessions", "GetStatus", "GetVision",
        "GetWallet", "ListModels", "ProvidersConfigured", "Retrieve", "Subscribe",
    }  # fmt: skip
    for method, path in every_operation():
        if method == "GET" and path != SSE.path:
            needed = {"/api/history/diff": f"?sha={'a' * 40}", "/api/retrieval": "?q=x"}.get(path, "")
            await ask(server.port, "GET", path + needed)
    asked = {type(message).__name__ for message in server.actors.calls}
    assert asked <= reading
    assert len(asked) >= len(reading) - 1


async def test_a_guard_that_fails_leaves_a_second_door(monkeypatch: pytest.MonkeyPatch):
    """G15: with the guard's checks gone a foreign Host still meets no route."""
    monkeypatch.setattr("hub.web.guard.check", lambda policy, scope: None)
    async with running() as server:
        for host in ([("Host", "evil")], [("Host", f"evil:{server.port}")]):
            assert (await get(server, *host)).status == 404
        with pytest.raises(Refused) as refused:
            async with socket(server.port, headers=[("Host", "evil")]):
                pass
        assert refused.value.status == 404
        assert server.actors.calls == []


# --- sizes and times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [MAX_HEADERS, 4 * MAX_HEADERS])
async def test_g9_a_header_block_over_the_limit(server: Server, size: int):
    """Whole in one packet, or more than the parser will hold."""
    reply = await get(server, ("Host", GOOD), ("X-Big", "x" * size))
    assert (reply.status, reply.json["code"]) == (431, "headers_too_large")


async def test_g9_a_body_that_does_not_come(server: Server, monkeypatch: pytest.MonkeyPatch):
    """Half a body is waited for, not for ever."""
    assert BODY_TIMEOUT == 10
    monkeypatch.setattr("hub.web.guard.BODY_TIMEOUT", 0.01)
    headers = [("Content-Type", "application/json"), ("Content-Length", "100")]
    reply = await post(server, *headers, body=b'{"pause"')
    assert (reply.status, reply.json["code"]) == (400, "malformed")


async def test_g9_half_a_request_is_dropped(monkeypatch: pytest.MonkeyPatch):
    """A request line without an end is no way to hold a connection."""
    monkeypatch.setattr("hub.web.server.KEEP_ALIVE", 0.01)
    async with running() as server, await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
        await stream.send_all(b"GET /api/status HTT")
        with trio.fail_after(10):
            with contextlib.suppress(trio.BrokenResourceError):
                assert await stream.receive_some(10) == b""


async def test_requests_share_a_connection(server: Server):
    """Keep-alive works through the guard, also after a body that was read and one that was refused."""
    host = ("Host", f"127.0.0.1:{server.port}")
    media = ("Content-Type", "application/json")
    async with await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
        for data, status in (
            (request("POST", "/api/session/pause", [host, media], b'{"pause":true}'), 200),
            (request("POST", "/api/session/pause", [host, media], b"nonsense"), 400),
            (request("GET", "/api/status", [host]), 200),
            (request("GET", "/api/status", [host], b"a body that means nothing"), 200),
            (request("GET", "/api/status", [host, ("Origin", "http://evil")]), 403),
            (request("GET", "/api/status", [host]), 200),
        ):
            await stream.send_all(data)
            with trio.fail_after(10):
                assert (await read_reply(stream)).status == status


# --- the rules as values -------------------------------------------------------------------------------------


def scope(**changes: object) -> dict[str, object]:
    headers = [(b"host", b"127.0.0.1:4748")]
    base = {"type": "http", "method": "GET", "raw_path": b"/", "query_string": b"", "http_version": "1.1"}
    state = {CALLER: Caller.OWN}
    return {**base, "client": ("127.0.0.1", 5), "headers": headers, "state": state, **changes}


@pytest.mark.parametrize(
    ("who", "token", "shown", "code"),
    [
        (Caller.OWN, "", "", None),
        (Caller.OTHER, "", "", Code.OTHER_USER),
        (Caller.OTHER, "t", "", Code.OTHER_USER),
        (Caller.OTHER, "t", "t", None),
        (Caller.UNTOLD, "", "", Code.OTHER_USER),
        (Caller.UNTOLD, "t", "", Code.TOKEN_NEEDED),
        (Caller.UNTOLD, "t", "t", None),
    ],
)
def test_who_is_not_known_to_be_this_user_shows_the_token_or_gets_nothing(
    who: Caller, token: str, shown: str, code: Code | None
):
    headers = [
        (b"host", b"127.0.0.1:4748"),
        *([(b"authorization", f"Bearer {shown}".encode())] if shown else []),
    ]
    error = check(Policy.for_port(4748, token=token), scope(state={CALLER: who}, headers=headers))
    assert (error and error.code) == code


@pytest.mark.parametrize("client", [("10.0.0.1", 5), ("192.168.1.2", 5), ("::ffff:10.0.0.1", 5), None])
def test_g2_only_loopback_peers(client: object):
    error = check(Policy.for_port(4748), scope(client=client))
    assert error is not None
    assert error.code is Code.FOREIGN_ORIGIN


@pytest.mark.parametrize("length", [b"-1", b"+5", b"1e3", b"9" * 5000, b"1048577", b"\xb2"])
def test_a_length_that_is_no_small_number_is_too_large(length: bytes):
    """h2 hands over what the client wrote."""
    headers = [
        (b"host", b"127.0.0.1:4748"),
        (b"content-type", b"application/json"),
        (b"content-length", length),
    ]
    error = check(Policy.for_port(4748), scope(method="POST", headers=headers))
    assert error is not None
    assert error.code is Code.TOO_LARGE


def test_the_order_of_the_rules_is_fixed():
    """A request wrong in every way is told the first: size, host, target, origin, method, type."""
    policy = Policy.for_port(4748)
    faults = [
        ({"raw_path": b"/" + b"x" * MAX_HEADERS}, None, Code.HEADERS_TOO_LARGE),
        ({}, (b"host", b"evil"), Code.MISDIRECTED),
        ({"raw_path": b"x"}, None, Code.MALFORMED),
        ({}, (b"origin", b"http://evil"), Code.FOREIGN_ORIGIN),
        ({"method": "POST"}, None, Code.UNSUPPORTED_MEDIA_TYPE),
    ]
    for first, second in itertools.combinations(range(len(faults)), 2):
        changes: dict[str, object] = {}
        headers = {b"host": b"127.0.0.1:4748"}
        for index in (second, first):
            changes.update(faults[index][0])
            if faults[index][1]:
                headers.update([faults[index][1]])
        error = check(policy, scope(**changes, headers=list(headers.items())))
        assert error is not None
        assert error.code is faults[first][2], (first, second)


# --- where it listens ------------------------------------------------------------------------------------------


def listening(port: int) -> list[str]:
    """Local addresses of the listening sockets on a port, as the kernel writes them."""
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path("/proc/net", name).read_text().splitlines()[1:]
    ]
    return [line[1] for line in lines if line[3] == "0A" and line[1].endswith(f":{port:04X}")]


def test_g1_the_kernel_agrees():
    """What the kernel says it listens on, not what we think."""
    with bind("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        assert listening(port) == [f"0100007F:{port:04X}"]


def test_g1_ipv6_loopback_where_there_is_one():
    if not stdsocket.has_ipv6:
        pytest.skip("no IPv6")
    try:
        sock = bind("::1", 0)
    except HubError:
        pytest.skip("IPv6 loopback is off")
    with sock:
        assert sock.getsockname()[0] == "::1"


async def test_unroutable_handshake_close(server: Server):
    """A WebSocket to a path that is none gets a 404."""
    with pytest.raises(Refused) as refused:
        async with socket(server.port, "/api/status"):
            pass
    assert refused.value.status == 404
