"""Qwen Code: the sessions it keeps.

Owns: where they lie, and the reading of their records.
Must not: open a file.

`<home>/projects/<slug>/chats/<session>.jsonl`, and `chats/archive/`. What surprises: a message is in Gemini's form
(`parts`), thoughts are parts too; `candidatesTokenCount` has the thoughts in it; two records may stand on one line.

Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat, records
from hub.providers.grammar import Grammar, by_type
from hub.providers.jsonline import integer, items, mapping, text
from hub.providers.places import kept_by, named
from hub.providers.store import LineStore

SIGNATURE = Signature(
    packages=("@qwen-code/qwen-code",),
    program="qwen",
    home="QWEN_HOME",
    default_home=".qwen",
    session_options=("-r", "--resume", "--session-id"),
    helpers="mcp extensions auth --version -v --help -h",
    surfaces={"--acp": "editor", "--experimental-acp": "editor"},
)
"""How its processes look: a launcher and its child."""
_OWN = ("<session_context>", "This is the Qwen Code.", "<system-reminder>")


def _said(value: Mapping[str, object]) -> str:
    """The words of a message; thoughts are parts too."""
    parts = items(mapping(value.get("message")).get("parts"))
    return records.said([part for part in parts if mapping(part).get("thought") is not True])


def _kind(value: Mapping[str, object]) -> str:
    """What the program itself tells the model comes as the user."""
    kind = by_type(value)
    words = _said(value) if kind == "user" else "its own"
    return kind if words.strip() and not words.startswith(_OWN) else "system"


def _user(draft: IntelDraft, value: Mapping[str, object]) -> None:
    draft.said("user", _said(value), key=text(value.get("uuid")))


def _ended(draft: IntelDraft, value: Mapping[str, object]) -> None:
    result, message = mapping(value.get("toolCallResult")), mapping(value.get("message"))
    parts = [mapping(mapping(part).get("functionResponse")) for part in items(message.get("parts"))]
    answer = mapping(parts[0].get("response")) if parts else {}
    draft.ended(
        text(result.get("callId")),
        text(answer.get("output")) or text(answer.get("error")),
        exit_code=integer(mapping(result.get("resultDisplay")).get("exitCode")),
        failed=result.get("status") == "error",
    )


def _assistant(draft: IntelDraft, value: Mapping[str, object]) -> None:
    name = text(value.get("uuid"))
    draft.model = text(value.get("model")) or draft.model
    chat.used(draft, name, value.get("usageMetadata"), ("promptTokenCount",), ("candidatesTokenCount",))
    draft.said("assistant", _said(value), key=name)
    parts = map(mapping, items(mapping(value.get("message")).get("parts")))
    for call in (mapping(part["functionCall"]) for part in parts if "functionCall" in part):
        records.began(draft, text(call.get("id")), call.get("name"), call.get("args"))
        records.called(draft, text(call.get("name")), call.get("args"), text(call.get("id")))


STORE = LineStore(
    name="qwen",
    where=kept_by(
        SIGNATURE, ("projects", "*", "chats", "*.jsonl"), ("projects", "*", "chats", "archive", "*.jsonl")
    ),
    named=named(),
    fold=Grammar(
        kind=_kind,
        takes={"user": _user, "assistant": _assistant, "tool_result": _ended},
        silent={"system"},
        key="uuid",
    ).fold,
)
