"""JSON-RPC over lines: what Codex's app-server and the Agent Client Protocol have in common.

Owns: telling requests, notifications and answers apart, and making `Write`s whose key is their id.
Must not: know a method, do input or output, or keep state.

The peer keeps no table of pending requests on purpose. A daemon that starts anew sees only the agent's lines,
not what an earlier daemon asked; so an id that hub gives out is the write's key and tells by itself what was
asked (`init`, `thread`, `turn-1`, `reply-<key>`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import attrs

from hub.providers import jsonline
from hub.providers.base import Write

METHOD_NOT_FOUND = -32601

RequestId = int | str
"""An id that the agent gave to its own request; sent back as it came."""


@attrs.frozen
class RpcRequest:
    """The agent's request: it waits for an answer."""

    id: RequestId
    method: str
    params: Mapping[str, object]

    @property
    def key(self) -> str:
        """The id as text; numbers and strings cannot be mixed up."""
        return str(self.id) if isinstance(self.id, int) else f"s:{self.id}"


@attrs.frozen
class RpcNotification:
    """The agent's notification."""

    method: str
    params: Mapping[str, object]


@attrs.frozen
class RpcError:
    """The error of an answer."""

    code: int
    message: str
    data: object = None


@attrs.frozen
class RpcResponse:
    """The answer to a request of ours."""

    id: str
    result: Mapping[str, object]
    error: RpcError | None = None


Message = RpcRequest | RpcNotification | RpcResponse


@attrs.frozen
class Peer:
    """Our side of the connection. `version` adds `"jsonrpc": "2.0"`, which Codex leaves out."""

    version: bool = True

    def read(self, line: bytes) -> Message | None:
        """What the line says; None when it is no JSON-RPC message. Never raises."""
        message = jsonline.read(line)
        return None if message is None else classify(message)

    def request(self, key: str, method: str, params: Mapping[str, object], *, request_id: str = "") -> Write:
        """A request whose id is its key, or an id that carries more: the peer sends it back as it came."""
        return self._write(key, {"id": request_id or key, "method": method, "params": dict(params)})

    def notify(self, key: str, method: str, params: Mapping[str, object] | None = None) -> Write:
        """A notification; the key only keeps it from being sent twice."""
        body: dict[str, object] = {"method": method}
        if params is not None:
            body["params"] = dict(params)
        return self._write(key, body)

    def answer(self, asked: RpcRequest, result: Mapping[str, object]) -> Write:
        """The answer to the agent's request."""
        return self._write(f"answer-{asked.key}", {"id": asked.id, "result": dict(result)})

    def refuse(self, asked: RpcRequest) -> Write:
        """An error as the answer: the agent goes on instead of waiting for ever."""
        error = {"code": METHOD_NOT_FOUND, "message": "hub does not serve this request"}
        return self._write(f"answer-{asked.key}", {"id": asked.id, "error": error})

    def _write(self, key: str, body: Mapping[str, object]) -> Write:
        head = {"jsonrpc": "2.0"} if self.version else {}
        text = json.dumps({**head, **body}, ensure_ascii=False, separators=(",", ":"))
        # A lone surrogate in a user's text would not encode; the text matters more than the torn character.
        return Write(key, text.encode("utf-8", "replace") + b"\n")


def classify(message: Mapping[str, object]) -> Message | None:
    """The message's kind by its members; None when they fit none."""
    method = jsonline.text(message.get("method"))
    params = jsonline.mapping(message.get("params"))
    request_id = _id(message.get("id"))
    if method:
        if "id" not in message:
            return RpcNotification(method, params)
        return None if request_id is None else RpcRequest(request_id, method, params)
    if request_id is None or not ("result" in message or "error" in message):
        return None
    # An `error` member of null beside a result is no error: some peers write both.
    error = _fault(message["error"]) if message.get("error") is not None else None
    return RpcResponse(str(request_id), jsonline.mapping(message.get("result")), error)


def _id(value: object) -> RequestId | None:
    if isinstance(value, str):
        return jsonline.clean(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= jsonline.MAX_INT:
        return value
    return None


def _fault(value: object) -> RpcError:
    error = jsonline.mapping(value)
    words = jsonline.text(error.get("message")) or jsonline.text(value) or "unknown error"
    return RpcError(jsonline.integer(error.get("code")) or 0, words, error.get("data"))
