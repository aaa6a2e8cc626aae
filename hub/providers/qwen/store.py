"""Qwen Code: the sessions it keeps.

Owns: where they lie, and the reading of their records.
Must not: open a file.

`<home>/projects/<slug>/chats/<session>.jsonl`, and `chats/archive/`. What surprises: a message is in Gemini's form
(`parts`), thoughts are parts too; `candidatesTokenCount` has the thoughts in it; two records may stand on one line.

Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hub.domain.detection.intel import FoundFile, Place, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import records
from hub.providers.jsonline import count, integer, items, mapping, text
from hub.providers.store import LineStore, stem

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


class QwenFold:
    """The records of one session."""

    def __init__(self, hit: StoreHit) -> None:
        self.draft = IntelDraft()
        self._hit = hit
        self._seen: set[str] = set()

    def gap(self) -> None:
        """Nothing here hangs on the record before."""

    def record(self, value: Mapping[str, object]) -> None:
        """One record."""
        draft, kind, name = self.draft, text(value.get("type")), text(value.get("uuid"))
        draft.cwd = text(value.get("cwd")) or draft.cwd
        if name and name in self._seen:
            draft.repeated()
            return
        self._seen.add(name)
        if kind == "user":
            self._user(value, name)
        elif kind == "assistant":
            self._assistant(value, name)
        elif kind == "tool_result":
            self._ended(mapping(value.get("toolCallResult")), mapping(value.get("message")))
        elif kind == "system":
            draft.ignored()
        else:
            draft.unknown(kind)

    def _user(self, value: Mapping[str, object], name: str) -> None:
        words = records.said(mapping(value.get("message")).get("parts"))
        if not words.strip() or words.startswith(_OWN):
            self.draft.ignored()
        else:
            self.draft.said("user", words, key=name)
            self.draft.took()

    def _ended(self, result: Mapping[str, object], message: Mapping[str, object]) -> None:
        parts = [mapping(mapping(part).get("functionResponse")) for part in items(message.get("parts"))]
        answer = mapping(parts[0].get("response")) if parts else {}
        self.draft.ended(
            text(result.get("callId")),
            text(answer.get("output")) or text(answer.get("error")),
            exit_code=integer(mapping(result.get("resultDisplay")).get("exitCode")),
            failed=result.get("status") == "error",
        )
        self.draft.took()

    def _assistant(self, value: Mapping[str, object], name: str) -> None:
        self.draft.model = text(value.get("model")) or self.draft.model
        used = mapping(value.get("usageMetadata"))
        if used:
            self.draft.used(
                name, count(used.get("promptTokenCount")), count(used.get("candidatesTokenCount"))
            )
        parts = [mapping(part) for part in items(mapping(value.get("message")).get("parts"))]
        for call in (mapping(part["functionCall"]) for part in parts if "functionCall" in part):
            records.began(self.draft, text(call.get("id")), call.get("name"), call.get("args"))
            records.called(self.draft, text(call.get("name")), call.get("args"), text(call.get("id")))
        words = records.said([part for part in parts if part.get("thought") is not True])
        self.draft.said("assistant", words, key=name)
        self.draft.took()


def _where(home: str, env: Mapping[str, str]) -> Sequence[Place]:
    own = records.home_of(home, env, "QWEN_HOME", ".qwen")
    return (
        Place(own, ("projects", "*", "chats", "*.jsonl")),
        Place(own, ("projects", "*", "chats", "archive", "*.jsonl")),
    )


def _named(found: FoundFile, place: Place) -> StoreHit:
    return StoreHit(
        provider="qwen",
        path=found.path,
        session_id=stem(found.path),
        mtime_ns=found.mtime_ns,
        root=place.root,
    )


STORE = LineStore(name="qwen", where=_where, named=_named, fold=QwenFold)
