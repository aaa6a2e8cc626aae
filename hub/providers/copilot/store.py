"""GitHub Copilot CLI: the sessions it keeps.

Owns: where they lie, and the reading of their events.
Must not: open a file.

`<home>/session-state/<session>/events.jsonl`; before 1.0 one file `<session>.jsonl` there, and before that
`history-session-state/`. What surprises: what the user typed is `content`, what the model got `transformedContent`; usage
comes as one `session.usage_record` a request, in older versions only in `session.shutdown`, as a sum. The families of
events are known from the schema that the program ships; a new event of a known family tells nothing and is ignored.

Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.detection.intel import FoundFile
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat, records
from hub.providers.grammar import Grammar, GrammarFold, Take
from hub.providers.jsonline import integer, items, mapping, text
from hub.providers.places import kept_by
from hub.providers.store import LineStore, parent, stem

SIGNATURE = Signature(
    executables=("copilot",),
    packages=("@github/copilot",),
    program="copilot",
    home="COPILOT_HOME",
    default_home=".copilot",
    store=r"^(?P<home>/.+)/session-state/(?P<session>[-0-9a-f]{36})/inuse\.\d+\.hold$",
    session_options=("--resume",),
    helpers="login mcp plugin update help version --version --help",
    surfaces={"--acp": "editor", "--server": "editor"},
)
"""How its processes look: a launcher, and the program, which holds a file of its session open."""
_INPUT, _OUTPUT = ("inputTokens",), ("outputTokens",)
_FAMILIES = frozenset(
    {
        "abort",
        "agent",
        "assistant",
        "auto_mode_switch",
        "capabilities",
        "command",
        "commands",
        "elicitation",
        "exit_plan_mode",
        "external_tool",
        "hook",
        "human_response",
        "mcp",
        "mcp_app",
        "model",
        "pending_messages",
        "permission",
        "sampling",
        "sandbox",
        "session",
        "session_limits_exhausted",
        "skill",
        "subagent",
        "system",
        "tool",
        "tool_search",
        "ui",
        "user",
        "user_input",
        "workflow",
    }
)


class CopilotFold(GrammarFold):
    """The events of one session."""

    def __init__(self, draft: IntelDraft) -> None:
        takes: dict[str, Take] = {
            "session.start": self._start,
            "session.resume": self._start,
            "session.model_change": self._model,
            "session.usage_record": self._usage,
            "session.shutdown": self._end,
            "session.skills_loaded": self._skills,
            "session.mcp_servers_loaded": self._servers,
            "skill.invoked": self._skill,
            "user.message": self._user,
            "assistant.message": self._assistant,
            "tool.execution_start": self._tool,
            "tool.execution_complete": self._changed,
        }
        super().__init__(draft, Grammar(takes=takes, families=_FAMILIES, inner=_data))
        self._metered = False
        from hub.providers.copilot.todos import Todos  # SQLite, for sessions of Copilot's alone

        self._todos = Todos()

    def _start(self, draft: IntelDraft, data: Mapping[str, object]) -> None:
        draft.session_id = text(data.get("sessionId")) or draft.session_id
        draft.cwd = text(mapping(data.get("context")).get("cwd")) or draft.cwd
        self._model(draft, data)

    def _model(self, draft: IntelDraft, data: Mapping[str, object]) -> None:
        draft.model = text(data.get("newModel")) or text(data.get("selectedModel")) or draft.model

    def _usage(self, draft: IntelDraft, data: Mapping[str, object]) -> None:
        used = mapping(data.get("usage"))
        self._metered = True
        draft.model = text(used.get("model")) or draft.model
        chat.used(draft, "", used, _INPUT, _OUTPUT)

    def _end(self, draft: IntelDraft, data: Mapping[str, object]) -> None:
        """The sums of this run of the program: they count only where no request told its own."""
        metrics = mapping(data.get("modelMetrics"))
        for model, figures in metrics.items() if not self._metered else ():
            used = mapping(figures).get("usage")
            chat.used(draft, f"{model}:{draft.session_id}", used, _INPUT, _OUTPUT)

    def _skills(self, draft: IntelDraft, data: Mapping[str, object]) -> None:
        for skill in map(mapping, items(data.get("skills"))):
            draft.skill(text(skill.get("name")))

    def _servers(self, draft: IntelDraft, data: Mapping[str, object]) -> None:
        for server in map(mapping, items(data.get("servers"))):
            draft.mcp(text(server.get("name")))

    def _skill(self, draft: IntelDraft, data: Mapping[str, object]) -> None:
        draft.skill(text(data.get("name")))

    def _user(self, draft: IntelDraft, data: Mapping[str, object]) -> None:
        # A source other than the user is the program itself: a reminder, a skill.
        if text(data.get("source")) in ("", "user"):
            draft.said("user", text(data.get("content")))

    def _assistant(self, draft: IntelDraft, data: Mapping[str, object]) -> None:
        draft.model = text(data.get("model")) or draft.model
        if not text(data.get("parentToolCallId")):
            draft.said("assistant", text(data.get("content")), key=text(data.get("messageId")), join=True)

    def _tool(self, draft: IntelDraft, data: Mapping[str, object]) -> None:
        draft.mcp(text(data.get("mcpServerName")))
        tool, given = text(data.get("toolName")), data.get("arguments")
        records.began(draft, text(data.get("toolCallId")), tool, given)
        asked = mapping(records.decoded(given))
        steps = asked.get("todos")
        self._todos.asked(text(data.get("toolCallId")), text(asked.get("query")))
        if tool == "update_todo" and isinstance(steps, str):
            draft.plans(text(data.get("toolCallId")), records.checklist(steps))
        else:
            records.called(draft, tool, given, text(data.get("toolCallId")))

    def _changed(self, draft: IntelDraft, data: Mapping[str, object]) -> None:
        for edit in map(mapping, items(data.get("fileEdits"))):
            draft.touched(text(edit.get("path")))
        tasks = self._todos.ended(text(data.get("toolCallId")), failed=data.get("success") is False)
        if tasks is not None:
            draft.planned(tasks)
        said = text(mapping(data.get("result")).get("content"))
        draft.ended(
            text(data.get("toolCallId")),
            said or text(mapping(data.get("error")).get("message")),
            exit_code=integer(mapping(data.get("shellExecution")).get("exitCode")),
            failed=data.get("success") is False,
        )


def _data(value: Mapping[str, object]) -> Mapping[str, object]:
    return mapping(value.get("data"))


def _named(found: FoundFile) -> str:
    name = stem(found.path)
    return parent(found.path) if name == "events" else name


_WHERE = kept_by(
    SIGNATURE,
    ("session-state", "*", "events.jsonl"),
    ("session-state", "*.jsonl"),
    ("history-session-state", "*.jsonl"),
)
STORE = LineStore(name="copilot", where=_WHERE, named=_named, fold=CopilotFold)
