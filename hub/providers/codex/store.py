"""Codex: the sessions it keeps.

Owns: where they lie, and the reading of their records.
Must not: open a file.

`<home>/sessions/Y/M/D/rollout-<time>-<thread>.jsonl`, and `archived_sessions/`. What surprises: each turn is there
twice, as an event (`event_msg`) and as the item sent to the model (`response_item`); which events there are differs
between versions (`user_message` and `agent_message`, then `item_completed`), so both are read and what says the same
counts once. Messages of the role `user` are also what Codex itself puts before the prompt. The newest `token_count` has the
sum of the session.

Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hub.domain.detection.intel import FoundFile
from hub.domain.detection.intel_fold import IntelDraft, mcp_of
from hub.domain.detection.processes import Signature
from hub.domain.text.patterns import late
from hub.providers import records
from hub.providers.jsonline import count, integer, mapping, text
from hub.providers.lines import RecordFold
from hub.providers.places import kept_by
from hub.providers.store import LineStore, stem

SIGNATURE = Signature(
    executables=("codex",),
    packages=("@openai/codex",),
    program="codex",
    home="CODEX_HOME",
    default_home=".codex",
    store=(
        r"^(?P<home>/.+)/(?:state_\d+\.sqlite|"
        r"sessions/\d+/\d+/\d+/rollout-[-\dT]+-(?P<session>[0-9a-f]{8}-[-0-9a-f]{27})\.jsonl)$"
    ),
    session_options=("resume", "fork"),
    helpers="mcp-server mcp login logout completion debug features sandbox apply update --version -V --help -h",
    servers=(("app-server", "--listen"), ("app-server", "daemon")),
    surfaces={"app-server": "editor"},
)
"""How its processes look; it holds its database and its rollout open.

The screen is only a client: a daemon that all screens of the account share does the work, holds the rollouts of all of them
open for long, and goes on where the screen is left with "run in background".
"""
_TURNS = {
    "task_started": True,
    "turn_started": True,
    "task_complete": False,
    "turn_complete": False,
    "turn_aborted": False,
}
"""Events of a turn's begin and end: whether it is at work then."""
_ID = late(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_OWN = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<skill>",
    "# AGENTS.md instructions",
)
_SILENT_EVENTS = frozenset(
    [
        "thread_settings_applied",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "thread_rolled_back",
        "entered_review_mode",
        "exited_review_mode",
        "context_compacted",
        "undo_completed",
        "undo_started",
        "error",
        "warning",
        "stream_error",
        "background_event",
        "exec_command_end",
        "exec_command_begin",
        "patch_apply_begin",
        "web_search_begin",
        "web_search_end",
        "view_image_tool_call",
        "item_started",
        "thread_name_updated",
        "thread_goal_updated",
        "dynamic_tool_call_request",
        "image_generation_end",
        "collab_agent_spawn_begin",
        "collab_agent_spawn_end",
        "mcp_startup_update",
        "mcp_startup_complete",
        "sub_agent_activity",
    ]
)
_SILENT_ITEMS = frozenset(
    [
        "reasoning",
        "web_search_call",
        "ghost_snapshot",
        "compaction",
        "tool_search_call",
        "tool_search_output",
        "image_generation_call",
        "additional_tools",
        "other",
        "compaction_summary",
        "context_compaction",
    ]
)
_SILENT = frozenset(
    {"world_state", "compacted", "inter_agent_communication", "inter_agent_communication_metadata"}
)
_SKILL = late(r"^- ([\w.:-]+): .*\(file: ", re.MULTILINE)


class CodexFold(RecordFold):
    """The records of one session."""

    def __init__(self, draft: IntelDraft) -> None:
        super().__init__(draft)
        self._last: dict[str, tuple[str, str]] = {}

    def gap(self, count: int) -> None:
        """What was said before is not what is said next."""
        super().gap(count)
        self._last.clear()
        self.draft.at_work = True  # unless what follows tells of an end

    def record(self, value: Mapping[str, object]) -> None:
        """One record. The first of the oldest versions is the header itself, without `type`."""
        kind, payload = text(value.get("type")), mapping(value.get("payload"))
        if kind == "session_meta" or (not kind and "id" in value and "timestamp" in value):
            self._header(payload or value)
        elif kind == "turn_context":
            self._context(payload)
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "response_item":
            self._item(payload)
        elif kind == "token_usage_record":
            self._sum(mapping(payload.get("thread_token_usage")))
        elif kind in _SILENT or (not kind and "record_type" in value):
            self.draft.ignored()
        elif kind in ("message", "function_call", *_SILENT_ITEMS):
            self._item(value)
        else:
            self.draft.unknown(kind)

    def _header(self, payload: Mapping[str, object]) -> None:
        if not self.draft.session_id:  # a subagent's may have its parent's after it
            self.draft.session_id = text(payload.get("id"))
            self.draft.part_of = _root(payload)
        self.draft.cwd = text(payload.get("cwd")) or self.draft.cwd
        self.draft.took()

    def _context(self, payload: Mapping[str, object]) -> None:
        self.draft.cwd = text(payload.get("cwd")) or self.draft.cwd
        self.draft.model = text(payload.get("model")) or self.draft.model
        self.draft.took()

    def _event(self, payload: Mapping[str, object]) -> None:
        kind = text(payload.get("type"))
        if kind == "user_message":
            self._said("user", text(payload.get("message")), "event")
        elif kind == "agent_message":
            self._said("assistant", text(payload.get("message")), "event")
        elif kind == "token_count":
            self._sum(mapping(mapping(payload.get("info")).get("total_token_usage")))
        elif kind == "item_completed":
            self._completed(mapping(payload.get("item")))
        elif kind in ("plan_update", "patch_apply_end"):
            records.called(self.draft, "update_plan", {"plan": payload.get("plan")})
            self._files(payload)
            self.draft.took()
        elif kind in ("mcp_tool_call_begin", "mcp_tool_call_end"):
            self.draft.mcp(text(mapping(payload.get("invocation")).get("server")))
            self.draft.took()
        elif kind in _TURNS:
            self.draft.at_work = _TURNS[kind]
            self.draft.ignored()
        elif kind in _SILENT_EVENTS:
            self.draft.ignored()
        else:
            self.draft.unknown(f"event_msg/{kind}")

    def _completed(self, item: Mapping[str, object]) -> None:
        kind = text(item.get("type"))
        if kind == "UserMessage":
            self._said("user", records.said(item.get("content")), "event")
        elif kind == "AgentMessage":
            self._said("assistant", records.said(item.get("content"), ("text", "Text")), "event")
        elif kind == "FileChange":
            self._files(item)
            self.draft.took()
        elif kind == "McpToolCall":
            self.draft.mcp(text(item.get("server")))
            self.draft.took()
        elif kind:
            self.draft.ignored()
        else:
            self.draft.unknown("event_msg/item_completed")

    def _item(self, payload: Mapping[str, object]) -> None:
        kind = text(payload.get("type"))
        if kind == "message":
            self._message(text(payload.get("role")), records.said(payload.get("content")))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            server = text(payload.get("namespace"))
            self.draft.mcp(mcp_of(f"{server}__tool") if server.startswith("mcp__") else "")
            given = payload.get("arguments", payload.get("input"))
            records.began(self.draft, text(payload.get("call_id")), payload.get("name"), given)
            records.called(self.draft, text(payload.get("name")), given, text(payload.get("call_id")))
            self.draft.took()
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._ended(payload)
            self.draft.took()
        elif kind in _SILENT_ITEMS:
            self.draft.ignored()
        else:
            self.draft.unknown(f"response_item/{kind}")

    def _ended(self, payload: Mapping[str, object]) -> None:
        """A tool's output: lines about it and then what it wrote; in older versions an object of both."""
        told = records.decoded(payload.get("output"))
        words = text(mapping(told).get("output")) or records.said(told)
        code = integer(mapping(mapping(told).get("metadata")).get("exit_code"))
        head, _, output = words.partition("\nOutput:\n")
        code = records.exit_code(head) if code is None else code
        self.draft.ended(text(payload.get("call_id")), output or words, exit_code=code, failed=bool(code))

    def _message(self, role: str, words: str) -> None:
        if role in ("developer", "system"):
            for name in _SKILL().findall(words):
                self.draft.skill(name)
            self.draft.took()
        elif role == "user" and words.lstrip().startswith(_OWN):
            self.draft.ignored()
        else:
            self._said("user" if role == "user" else "assistant", words, "item")

    def _said(self, role: str, words: str, channel: str) -> None:
        """Words, unless the other record of the same turn had them: the two follow one another, in either order."""
        last, channel_then = self._last.pop(role, ("", ""))
        if not words.strip():
            self.draft.ignored()
        elif last == words and channel_then != channel:
            self.draft.repeated()
        else:
            self._last[role] = (words, channel)
            self.draft.said(role, words)
            self.draft.took()

    def _files(self, item: Mapping[str, object]) -> None:
        for path, change in mapping(item.get("changes")).items():
            self.draft.touched(text(path))
            self.draft.touched(text(mapping(change).get("move_path")))

    def _sum(self, usage: Mapping[str, object]) -> None:
        if usage:
            self.draft.total(count(usage.get("input_tokens")), count(usage.get("output_tokens")))
            self.draft.took()
        else:
            self.draft.ignored()


def _root(header: Mapping[str, object]) -> str:
    """The session that a subagent works for; "" of a person's own."""
    spawned = mapping(mapping(mapping(header.get("source")).get("subagent")).get("thread_spawn"))
    if not spawned and header.get("thread_source") != "subagent":
        return ""
    root, parent = text(header.get("session_id")), text(header.get("parent_thread_id"))
    above = parent or text(spawned.get("parent_thread_id"))
    return above if root in ("", header.get("id")) else root


def _named(found: FoundFile) -> str:
    name = _ID().search(stem(found.path))
    return name[0] if name else ""


_WHERE = kept_by(
    SIGNATURE,
    ("sessions", "*", "*", "*", "rollout-*.jsonl"),
    ("archived_sessions", "rollout-*.jsonl"),
)
STORE = LineStore(name="codex", where=_WHERE, named=_named, fold=CodexFold)
