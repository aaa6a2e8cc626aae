"""Messages as models' APIs have them: a role, and words or blocks.

Owns: the taking of such a message, whatever the agent calls its blocks, and of the tokens it used.
Must not: open a file, or know any one agent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hub.domain.detection.intel_fold import Draft
from hub.providers import records
from hub.providers.jsonline import count, items, mapping, text

_WORDS = frozenset({"text", "input_text", "output_text"})
_CALLS = frozenset({"tool_use", "tool_call", "toolCall", "tool-call", "function_call", "custom_tool_call"})
_SILENT = frozenset(
    {
        "thinking",
        "redacted_thinking",
        "redactedThinking",
        "reasoning",
        "think",
        "tool_result",
        "toolResult",
        "tool-result",
        "toolResponse",
        "toolConfirmationRequest",
        "actionRequired",
        "systemNotification",
        "contextLengthExceeded",
        "summarizationRequested",
        "conversationCompacted",
        "function_call_output",
        "custom_tool_call_output",
        "server_tool_use",
        "web_search_tool_result",
        "image",
        "image_url",
        "binary",
        "finish",
        "document",
        "file",
        "file_mention",
        "summary",
        "snapshot",
    }
)
_OTHERS = frozenset({"tool", "toolResult", "tool_result", "system", "developer", "info"})
"""Roles of what neither the user nor the model has said."""
_GIVEN = ("input", "arguments", "args")


def message(
    draft: Draft, value: Mapping[str, Any], *, key: str = "", user: Callable[[str], str] | None = None
) -> str | None:
    """What a message says and calls; returns the name of a role or block that nobody knows.

    Args:
        draft: What is told.
        value: The message: `role` and `content`.
        key: Its id, where it may come again.
        user: What of a block of words is the user's own; "" where nothing is.
    """
    role = text(value.get("role"))
    if role not in ("user", "assistant"):
        return None if role in _OTHERS else f"role/{role}"
    content = value.get("content")
    blocks = [{"text": content}] if isinstance(content, str) else [*map(mapping, items(content))]
    words, strange = [], None
    for block in blocks:
        kind = text(block.get("type")) or ("text" if "text" in block else "")
        if kind in _WORDS:
            said = text(block.get("text"))
            words.append(user(said) if user is not None and role == "user" else said)
        elif kind in _CALLS:
            called(draft, block)
        elif kind not in _SILENT:
            strange = f"block/{kind}"
    draft.said(role, "\n\n".join(word for word in words if word.strip()), key=key)
    return strange


def called(draft: Draft, block: Mapping[str, Any]) -> None:
    """A block that calls a tool."""
    given = next((block[name] for name in _GIVEN if block.get(name) is not None), None)
    records.called(draft, text(block.get("name")), given)


def used(draft: Draft, key: str, value: Any, into: Sequence[str], out: Sequence[str]) -> None:
    """The tokens of one request, as the sum of these fields; none where it has none of them."""
    figures = mapping(value)
    if any(name in figures for name in (*into, *out)):
        sums = (sum(count(figures.get(name)) for name in names) for names in (into, out))
        draft.used(key, *sums)


def inside(words: str, tag: str) -> str:
    """What stands between `<tag ...>` and `</tag>`; all of it where there is no such pair."""
    _, opened, rest = words.partition(f"<{tag}")
    inner, closed, _ = rest.partition(">")[2].partition(f"</{tag}>")
    return inner.strip() if opened and closed else words
