"""The sum over Claude's records as one would write it with all the time in the world.

Owns: lines as they are found in files that crashed, were merged or quote each other, and the plain sum over them.
Must not: share anything with what it is compared to.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from hub.domain.cost import Tokens

_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_NAMES = st.sampled_from(["m1", "m2", 'm"3', "ma\u0308\n", ""])
_TEXTS = st.sampled_from(
    ["", 'say "type":"user" {', "x" * 2500, '"usage":{"output_tokens":9}', "\\", "\u2028", '{"type":"user"']
)


def answer(name: str, request: str | None, out: object, text: str, kind: str, *, late: bool = False) -> bytes:
    """One record with a usage, and more of what looks like one."""
    usage = {"input_tokens": 3, "output_tokens": out, "cache_read_input_tokens": 5, "service_tier": "x"}
    called = {"type": "tool_use", "input": {"usage": {"output_tokens": 7}, "text": text, "type": "user"}}
    message: dict[str, Any] = {"content": [{"type": "text", "text": text}, called], "role": "assistant"}
    message |= {"id": name, "model": f"model-{len(name)}", "usage": usage}
    value: dict[str, Any] = {"cwd": text[:40], "isSidechain": False, "requestId": request}
    value |= {"message": message, "type": kind} if late else {"type": kind, "message": message}
    return json.dumps(
        value | {"toolUseResult": {"usage": {"output_tokens": 4}}}, separators=(",", ":")
    ).encode()


def odd_lines() -> st.SearchStrategy[bytes]:
    """A line, whole or not."""
    whole = st.builds(
        answer,
        _NAMES,
        st.sampled_from(["r1", "r2", None]),
        st.sampled_from([1, 5, 900, 0, -1, 2.5, "7", None, 2**70]),
        _TEXTS,
        st.sampled_from(["assistant", "assistant", "user", "progress", "assistant2"]),
        late=st.booleans(),
    )
    return st.one_of(
        whole,
        whole.map(lambda line: line.replace(b'"assistant"', b'"\\u0061ssistant"')),
        whole.map(lambda line: line.replace(b'"role"', b'"bad\\xff"')),
        st.builds(lambda line, at: line[: at % len(line)], whole, st.integers(0)),
        st.builds(lambda one, other: one + other, whole, whole),
        st.sampled_from(
            [b"", b"  ", b"null", b"[]", b'"usage":{', b'{"usage":{}}', b"\xff\xfe", b"{" * 3000]
        ),
    )


def by_every_record(data: bytes) -> dict[str, Tokens]:
    """Tokens by model: every line is decoded, the largest figure of each message and request counts."""
    found: dict[object, tuple[str, dict[str, int]]] = {}
    for line in data.split(b"\n"):
        try:
            value = json.loads(line.decode("utf-8", "replace"))
            message = value["message"]
            usage = {name: message["usage"].get(name, 0) for name in (*_INPUT, "output_tokens")}
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        if value["type"] != "assistant" or not all(type(n) is int and 0 <= n < 2**63 for n in usage.values()):
            continue
        key = (message["id"], value["requestId"]) if message["id"] else len(found)
        if key not in found or found[key][1]["output_tokens"] < usage["output_tokens"]:
            found[key] = (message["model"], usage)
    sums: dict[str, Tokens] = {}
    for model, usage in found.values():
        read = usage["cache_read_input_tokens"]
        written = usage["cache_creation_input_tokens"]
        one = Tokens(sum(usage[name] for name in _INPUT), usage["output_tokens"], read, written)
        sums[model] = sums.get(model, Tokens()) + one
    return sums
