"""An answer as text, for clients and models that read the text alone.

Owns: how a structured answer reads.
Must not: tell more or less than the structured answer does.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from hub.errors import HubError
from hub.mcp.tools import Tool
from hub.wire.frames import JsonObject


def words(tool: Tool, answer: JsonObject) -> str:
    """What a tool answered."""
    if tool.name == "hub_diff":
        text = f"{answer['summary'].rstrip()}\n\n{answer['diff']}".strip() or "Nothing was changed."
    elif tool.wraps:
        line = _event if tool.name == "hub_events" else _line
        text = "\n".join(map(line, answer[tool.wraps])) or f"No {tool.wraps}."
    else:
        text = "\n".join(f"{name}: {_plain(value)}" for name, value in answer.items())
    return text + _rest(answer)


def refusal(error: HubError) -> str:
    """Why a tool could not do it, and the next step."""
    lines = [f"{error.code.value}: {error.detail}"]
    problems = [item for item in error.extra.get("errors", ()) if isinstance(item, dict)]
    lines += [f"{item.get('path', '')}: {item.get('message', '')}" for item in problems[:10]]
    lines += [f"Next step: {error.hint}"] if error.hint else []
    return "\n".join(lines)


def _rest(answer: JsonObject) -> str:
    if not answer.get("more"):
        return ""
    name = "since" if "events" in answer else "cursor"
    return f"\n(There is more: ask again with {name} = {answer['next']}.)"


def _event(record: JsonObject) -> str:
    head = " ".join(str(record.get(name, "")) for name in ("id", "ts", "tag", "msg"))
    meta = record.get("meta")
    return f"{head} {_plain(meta)}" if meta else head


def _line(item: object) -> str:
    if not isinstance(item, dict):
        return f"- {_plain(item)}"
    return "- " + ", ".join(
        f"{name}: {_plain(value)}" for name, value in item.items() if value not in (None, "")
    )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def cleaned(value: object, clean: Callable[[str], str]) -> object:
    """A JSON value whose every text is clean."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned(item, clean) for item in value]
    if isinstance(value, dict):
        return {clean(name): cleaned(item, clean) for name, item in value.items()}
    return value
