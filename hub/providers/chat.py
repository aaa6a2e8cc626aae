"""Messages as models' APIs have them: a role, and words or blocks.

Owns: the taking of such a message, whatever the agent calls its blocks, and of the tokens it used.
Must not: open a file, or know any one agent.
Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hub.domain.detection.intel_fold import IntelDraft
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
        "toolConfirmationRequest",
        "actionRequired",
        "systemNotification",
        "contextLengthExceeded",
        "summarizationRequested",
        "conversationCompacted",
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
_RESULTS = frozenset(
    {
        "tool_result",
        "toolResult",
        "tool-result",
        "toolResponse",
        "function_call_output",
        "custom_tool_call_output",
    }
)
_OF_CALL = ("tool_use_id", "toolUseID", "toolCallId", "tool_call_id", "call_id", "id")
"""Where a result names its call."""
_FAILED = frozenset({"error", "failed", "cancelled", "canceled", "rejected", "rejected-by-user"})
_OTHERS = frozenset({"tool", "toolResult", "tool_result", "system", "developer", "info"})
"""Roles of what neither the user nor the model has said."""
_GIVEN = ("input", "arguments", "args")


def message(
    draft: IntelDraft, value: Mapping[str, object], *, key: str = "", user: Callable[[str], str] | None = None
) -> str | None:
    """What a message says and calls; returns the name of a role or block that nobody knows.

    Args:
        draft: What is told.
        value: The message: `role` and `content`.
        key: Its id, where it may come again.
        user: What of a block of words is the user's own; "" where nothing is.
    """
    role = text(value.get("role"))
    content = value.get("content")
    if role in _OTHERS:
        for block in (value, *map(mapping, items(content))):
            settled(draft, block)
        return None
    if role not in ("user", "assistant"):
        return f"role/{role}"
    blocks = [{"text": content}] if isinstance(content, str) else [*map(mapping, items(content))]
    words, calls, strange = [], [], None
    for block in blocks:
        kind = text(block.get("type")) or ("text" if "text" in block else "")
        if kind in _WORDS:
            said = text(block.get("text"))
            words.append(user(said) if user is not None and role == "user" else said)
        elif kind in _CALLS:
            calls.append(block)
        elif kind in _RESULTS:
            settled(draft, block)
        elif kind not in _SILENT:
            strange = f"block/{kind}"
    draft.said(role, "\n\n".join(word for word in words if word.strip()), key=key)
    for block in calls:
        called(draft, block, text(block.get("id")))
    return strange


def called(draft: IntelDraft, block: Mapping[str, object], key: str = "") -> None:
    """A block that calls a tool; with its key, what it changes counts once `settled` has told that it went well."""
    given = next((block[name] for name in _GIVEN if block.get(name) is not None), None)
    records.called(draft, text(block.get("name")), given, key)


def settled(draft: IntelDraft, block: Mapping[str, object]) -> None:
    """A block, or a message, that is a call's result."""
    key = next((text(block[name]) for name in _OF_CALL if block.get(name)), "")
    inner = (block, *(mapping(block.get(name)) for name in ("run", "toolResult", "result", "return_value")))
    failed = any(
        one.get("is_error") is True or one.get("isError") is True or text(one.get("status")) in _FAILED
        for one in inner
    )
    draft.settled(key, well=not failed)


def used(draft: IntelDraft, key: str, value: object, into: Sequence[str], out: Sequence[str]) -> None:
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
