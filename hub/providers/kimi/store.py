"""Kimi Code: the sessions it keeps, and those of its forerunner, Kimi CLI.

Owns: where they lie, and the reading of both forms of a wire file.
Must not: open a file.

`<home>/sessions/<folder>/<session>/agents/main/wire.jsonl`, and beside it `state.json` with the folder; before that
`~/.kimi/sessions/<folder's MD5>/<session>/wire.jsonl`. What surprises: each thing is told two or three times, by the turn,
by the context, and by the agent once the turn is over; the model that was asked for is an alias, and which it was only
a request says; what the program tells the model comes as the user.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.detection.intel import Limits, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat
from hub.providers.grammar import Grammar, by_type
from hub.providers.jsonline import items, mapping, text
from hub.providers.places import at, named
from hub.providers.records import said
from hub.providers.store import Files, KindStore, LineStore, beside, parent

_INPUT, _OUTPUT = ("inputOther", "inputCacheRead", "inputCacheCreation"), ("output",)
_OLD_INPUT = ("input_other", "input_cache_read", "input_cache_creation")
_FAMILIES = frozenset(
    {
        "agent",
        "compaction",
        "config",
        "context",
        "cron",
        "file_history",
        "full_compaction",
        "goal",
        "llm",
        "mcp",
        "metadata",
        "micro_compaction",
        "permission",
        "plan_mode",
        "plugin",
        "profile",
        "prompt",
        "runtime",
        "session",
        "skill",
        "swarm_mode",
        "task",
        "todo",
        "token_counting",
        "tool",
        "tools",
        "turn",
        "usage",
    }
)


def _prompt(draft: IntelDraft, value: Mapping[str, object]) -> None:
    draft.said("user", said(value.get("input")), key=text(value.get("promptId")))


def _request(draft: IntelDraft, value: Mapping[str, object]) -> None:
    draft.model = text(value.get("model")) or draft.model


def _usage(draft: IntelDraft, value: Mapping[str, object]) -> None:
    chat.used(draft, "", value.get("usage"), _INPUT, _OUTPUT)


def _event(draft: IntelDraft, value: Mapping[str, object]) -> None:
    event = mapping(value.get("event"))
    if event.get("type") == "content.part":
        part = mapping(event.get("part"))
        draft.said("assistant", said([part]), key=text(event.get("stepUuid")), join=True)
    elif event.get("type") == "tool.call":
        chat.called(draft, event, text(event.get("toolCallId")))
    elif event.get("type") == "tool.result":
        chat.settled(draft, event)


_TAKES = {
    "turn.prompt": _prompt,
    "turn.steer": _prompt,
    "llm.request": _request,
    "usage.record": _usage,
    "context.append_loop_event": _event,
}


def _old_kind(value: Mapping[str, object]) -> str:
    return text(mapping(value.get("message")).get("type")) or by_type(value)


def _payload(value: Mapping[str, object]) -> Mapping[str, object]:
    return mapping(mapping(value.get("message")).get("payload"))


def _turn(draft: IntelDraft, value: Mapping[str, object]) -> None:
    draft.said("user", said(value.get("user_input")))


def _part(draft: IntelDraft, value: Mapping[str, object]) -> None:
    draft.said("assistant", said([value]))


def _call(draft: IntelDraft, value: Mapping[str, object]) -> None:
    chat.called(draft, mapping(value.get("function")), text(value.get("id")))


def _status(draft: IntelDraft, value: Mapping[str, object]) -> None:
    chat.used(draft, text(value.get("message_id")), value.get("token_usage"), _OLD_INPUT, _OUTPUT)


_OLD = Grammar(
    kind=_old_kind,
    inner=_payload,
    takes={
        "TurnBegin": _turn,
        "SteerInput": _turn,
        "ContentPart": _part,
        "ToolCall": _call,
        "ToolResult": chat.settled,
        "StatusUpdate": _status,
    },
    silent=frozenset(
        [
            *(
                "metadata",
                "TurnEnd",
                "StepBegin",
                "StepInterrupted",
                "StepRetry",
                "ToolCallPart",
            ),
            *("CompactionBegin", "CompactionEnd", "SubagentEvent", "ApprovalRequest", "ApprovalResponse"),
            *(
                "ApprovalRequestResolved",
                "QuestionRequest",
                "MCPLoadingBegin",
                "MCPLoadingEnd",
                "Notification",
            ),
            *("PlanDisplay", "HookTriggered", "HookResolved", "BtwBegin", "BtwEnd", "ToolCallRequest"),
        ]
    ),
)


def _state(hit: StoreHit, draft: IntelDraft, files: Files, limits: Limits) -> None:
    told = beside(files, hit, f"{hit.path.partition('/agents/')[0]}/state.json", limits)
    draft.cwd = text(told.get("cwd")) or text(told.get("workDir")) or draft.cwd


def _folder(hit: StoreHit, draft: IntelDraft, files: Files, limits: Limits) -> None:
    """The folder, by its MD5: the name of the folder its sessions lie in."""
    known = items(beside(files, hit, f"{hit.root}/kimi.json", limits).get("work_dirs"))
    paths = (text(mapping(one).get("path")) for one in known)
    draft.cwd = next((path for path in paths if parent(hit.path, 2) == _md5(path)), "")


def _md5(path: str) -> str:
    from hashlib import md5  # it loads OpenSSL, for sessions of Kimi's alone

    return md5(path.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


SIGNATURE = Signature(
    executables=("kimi",),
    packages=("@moonshot-ai/kimi-code", "tools/kimi-cli"),
    program="kimi",
    title="kimi-code",
    session_options=("--session", "-S", "--resume", "-r"),
    helpers="login logout info export mcp migrate doctor upgrade provider --version -V --help -h",
    surfaces={"acp": "editor", "--acp": "editor", "web": "server", "server": "server"},
)
"""How its processes look; it writes its name over its arguments. Two generations have a folder each, so none is named."""

STORE = KindStore(
    {
        "code": LineStore(
            name="kimi",
            where=at("KIMI_CODE_HOME", ".kimi-code", ("sessions", "*", "*", "agents", "main", "wire.jsonl")),
            named=named(3),
            fold=Grammar(takes=_TAKES, families=_FAMILIES).fold,
            after=_state,
        ),
        "cli": LineStore(
            name="kimi",
            where=at("KIMI_SHARE_DIR", ".kimi", ("sessions", "*", "*", "wire.jsonl")),
            named=named(1),
            fold=_OLD.fold,
            after=_folder,
        ),
    }
)
