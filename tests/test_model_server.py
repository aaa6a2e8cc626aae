"""The model server by itself, with a plain HTTP client: what it does for tests, whoever asks it.

What it says on the wire is read by the real programs: `tests/hub/providers/<agent>/test_real_<agent>.py`.
"""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.model_server import ModelServer, Turn

CLAUDE_TOOLS = [{"name": "Write", "input_schema": {}}, {"name": "Bash", "input_schema": {}}]
CODEX_TOOLS = [{"type": "function", "name": "exec_command"}, {"type": "custom", "name": "apply_patch"}]


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


class Answer:
    """A whole HTTP answer."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The data of its server-sent events."""
        data = [line for line in self.body.decode().splitlines() if line.startswith("data: ")]
        return [json.loads(line.removeprefix("data: ")) for line in data]


def send(
    models: ModelServer,
    path: str,
    body: Any = None,
    *,
    key: str = "key",
    method: str = "POST",
    **headers: str,
) -> Answer:
    parts = urlsplit(models.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    try:
        raw = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        connection.request(method, path, raw, {"x-api-key": key, **headers})
        return Answer(connection.getresponse())
    finally:
        connection.close()


def claude(models: ModelServer, *, key: str = "key", cwd: str = "/repo", **more: Any) -> Answer:
    body = {
        "model": "m",
        "stream": True,
        "tools": CLAUDE_TOOLS,
        "system": f"Primary working directory: {cwd}",
        **more,
    }
    return send(models, "/v1/messages", body, key=key)


def codex(models: ModelServer, **more: Any) -> Answer:
    body = {
        "model": "gpt-5.5",
        "stream": True,
        "tools": CODEX_TOOLS,
        "input": [{"text": "<cwd>/repo</cwd>"}],
        **more,
    }
    return send(models, "/v1/responses", body)


class TestScripts:
    def test_turns_come_in_order_and_then_the_model_is_done(self, models):
        models.script("key", Turn.text("one"), Turn.text("two"))
        said = [
            "".join(e["delta"].get("text", "") for e in claude(models).events if "delta" in e)
            for _ in range(3)
        ]
        assert said == ["one", "two", "Done."]

    def test_accounts_are_apart_by_their_credential(self, models):
        models.script("a", Turn.limit())
        models.script("b", Turn.text("fine"))
        assert [claude(models, key=key).status for key in ("a", "b", "a")] == [429, 200, 429]
        assert [seen.account for seen in models.mains()] == ["a", "b", "a"]

    @pytest.mark.parametrize(
        "headers",
        [{"authorization": "Bearer token"}, {"x-goog-api-key": "token"}, {"x-api-key": "token"}],
    )
    def test_every_vendors_credential_header_names_the_account(self, models, headers):
        send(models, "/v1/messages", {"tools": CLAUDE_TOOLS}, key="", **headers)
        assert models.requests()[0].account == "token"

    def test_a_turn_may_be_made_from_the_request(self, models):
        models.script("key", lambda seen: Turn.text("told" if "SECRET" in seen.text else "not told"))
        assert b"told" in claude(models, messages=[{"role": "user", "content": "SECRET"}]).body

    def test_requests_beside_the_conversation_take_no_turn(self, models):
        models.script("key", Turn.text("one"))
        send(models, "/v1/messages", {"messages": []})
        send(models, "/v1/messages/count_tokens", {"tools": CLAUDE_TOOLS})
        assert models.mains() == []
        assert b"one" in claude(models).body

    def test_a_test_can_wait_for_a_request(self, models):
        thread = threading.Thread(target=claude, args=(models,))
        thread.start()
        assert models.wait_for(lambda seen: seen.main).account == "key"
        thread.join()
        with pytest.raises(TimeoutError):
            models.wait_for(lambda seen: seen.account == "nobody", timeout=0.01)


class TestTools:
    def test_a_text_without_a_last_newline_goes_through_the_shell_where_a_patch_would_add_one(self, models):
        models.script("key", Turn.write("it's.txt", "no newline"))
        item = codex(models).events[-1]["response"]["output"][-1]
        assert item["name"] == "exec_command"

    def test_a_tool_the_agent_does_not_offer_is_left_out(self, models):
        models.script("key", Turn.plan(("a", "pending")))
        assert codex(models).events[-1]["response"]["output"][-1]["type"] == "message"


class TestWireForms:
    def test_openai_websocket_is_refused_so_that_codex_falls_back_at_once(self, models):
        assert send(models, "/v1/responses", method="GET", upgrade="websocket").status == 426

    def test_openai_tools_of_newer_models_come_as_an_input_item(self, models):
        models.script("key", Turn.shell("ls"))
        answer = codex(models, tools=[], input=[{"type": "additional_tools", "tools": CODEX_TOOLS}])
        assert answer.events[-1]["response"]["output"][-1]["name"] == "exec_command"

    def test_compressed_and_chunked_bodies_are_read(self, models):
        body = json.dumps({"tools": CLAUDE_TOOLS, "messages": "compressed"}).encode()
        send(models, "/v1/messages", gzip.compress(body), **{"content-encoding": "gzip"})
        parts = urlsplit(models.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
        connection.request("POST", "/v1/messages", iter([body[:10], body[10:]]), encode_chunked=True)
        connection.getresponse().read()
        connection.close()
        assert [seen.body["messages"] for seen in models.requests()] == ["compressed", "compressed"]

    def test_a_tool_of_codex_that_is_held_back_is_searched_and_called_by_its_namespace(self, models):
        models.script("key", Turn.tool("native", "tool_search", {"query": "x"}), Turn.tool("native", "x", {}))
        search = codex(models).events[-1]["response"]["output"][-1]
        assert (search["type"], search["execution"]) == ("tool_search_call", "client")
        assert search["arguments"] == {"query": "x"}
        space = {"type": "namespace", "name": "mcp__s", "tools": [{"type": "function", "name": "x"}]}
        call = codex(models, input=[{"type": "tool_search_output", "tools": [space]}]).events[-1]
        assert call["response"]["output"][-1]["namespace"] == "mcp__s"

    def test_a_body_that_is_no_json_is_recorded_all_the_same(self, models):
        send(models, "/v1/messages", b"\xff not json")
        assert "not json" in models.requests()[0].body["unreadable"]

    def test_an_unknown_path_is_not_found(self, models):
        assert send(models, "/v2/else").status == 404


class TestProxy:
    def connect(self, models: ModelServer, target: str) -> tuple[socket.socket, bytes]:
        parts = urlsplit(models.url)
        client = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10)
        client.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        return client, client.recv(1024)

    def test_a_foreign_host_is_refused_and_recorded(self, models):
        client, answer = self.connect(models, "api.example.com:443")
        with client:
            assert b" 502 " in answer.splitlines()[0]
        assert models.foreign_hosts == ["api.example.com:443"]

    def test_a_plain_request_for_a_foreign_host_is_too(self, models):
        assert send(models, "http://example.com/", method="GET").status == 502
        assert models.foreign_hosts == ["example.com"]

    def test_loopback_passes(self, models):
        target = urlsplit(models.url).netloc
        client, answer = self.connect(models, target)
        with client:
            assert b" 200 " in answer.splitlines()[0]
            client.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert b" 404 " in client.recv(1024)
        assert models.foreign_hosts == []

    def test_its_environment_names_it_in_both_spellings(self, models):
        env = models.proxy_env()
        assert env["https_proxy"] == env["HTTPS_PROXY"] == models.url
        assert "127.0.0.1" in env["NO_PROXY"]


def test_closing_ends_every_thread_and_every_held_connection():
    before = set(threading.enumerate())
    failed: list[bool] = []

    def ask() -> None:
        try:
            claude(models)
        except (http.client.HTTPException, OSError):
            failed.append(True)

    with ModelServer() as models:
        models.script("key", Turn.hold())
        thread = threading.Thread(target=ask)
        thread.start()
        models.wait_for(lambda seen: seen.main)
    thread.join()
    assert set(threading.enumerate()) == before
