"""OpenCode's messages and their parts, as both of its stores have them.

Owns: their reading into a draft.
Must not: open a file, or know where they came from.
Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.text.patterns import late
from hub.providers import records
from hub.providers.jsonline import count, integer, items, mapping, text

_LEFT_BEHIND = late(r"(?:^|/)__pycache__/|\.py[co]$")
_QUIET = frozenset(
    {"step-start", "step-finish", "reasoning", "snapshot", "file", "agent", "subtask", "retry", "compaction"}
)


def message(draft: IntelDraft, name: str, value: Mapping[str, object], parts: Sequence[object]) -> None:
    """One message and its parts; each is a record."""
    role = text(value.get("role"))
    if role not in ("user", "assistant"):
        draft.unknown(f"message/{role}")
        return
    used, cache = mapping(value.get("tokens")), mapping(mapping(value.get("tokens")).get("cache"))
    if role == "assistant":
        draft.model = text(value.get("modelID")) or draft.model
        fresh = count(used.get("input")) + count(cache.get("read")) + count(cache.get("write"))
        draft.used(name, fresh, count(used.get("output")) + count(used.get("reasoning")))
    draft.took()
    words = [_part(draft, mapping(part)) for part in parts]
    said = "\n\n".join(word for word in words if word.strip())
    draft.said(role, _unquoted(said) if role == "user" else said, key=name)


def _part(draft: IntelDraft, part: Mapping[str, object]) -> str:
    """What a part of a message tells; its words, if it has some."""
    kind = text(part.get("type"))
    if kind == "text" and part.get("synthetic") is not True:
        draft.took()
        return text(part.get("text"))
    if kind == "tool":
        state = mapping(part.get("state"))
        _tool(draft, part, state)
        if text(state.get("status")) != "error":
            records.called(draft, text(part.get("tool")), state.get("input"))
        draft.took()
    elif kind == "patch":
        # A snapshot lists every file that is another one, also what an interpreter left behind when it ran.
        for path in items(part.get("files")):
            if not _LEFT_BEHIND().search(text(path)):
                draft.touched(text(path))
        draft.took()
    elif kind == "text" or kind in _QUIET:
        draft.ignored()
    else:
        draft.unknown(f"part/{kind}")
    return ""


def _tool(draft: IntelDraft, part: Mapping[str, object], state: Mapping[str, object]) -> None:
    key, status = text(part.get("callID")), text(state.get("status"))
    records.began(draft, key, part.get("tool"), state.get("input"))
    if status in ("completed", "error"):
        code = integer(mapping(state.get("metadata")).get("exit"))
        words = text(state.get("output")) or text(state.get("error"))
        draft.ended(key, words, exit_code=code, failed=status == "error")


def _unquoted(words: str) -> str:
    inner = words[1:-1]
    return inner if len(words) > 1 and words[0] == words[-1] == '"' and '"' not in inner else words
