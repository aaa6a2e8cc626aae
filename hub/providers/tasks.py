"""The task folders of Cline and of the editor extensions made from it (Roo, Kilo).

Owns: where editors keep them, and the reading of a task.
Must not: open a file.

`<editor>/User/globalStorage/<extension>/tasks/<task>/ui_messages.json`: what the person saw, one array. What surprises:
the first `text` is the prompt, whoever's it looks like; a request's tokens and a tool's call are JSON inside of a string;
the folder is in a file beside it, in the extension's list of tasks, or in the words of the first request.

Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hub.domain.detection.intel import Limits, Place, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.text.patterns import late
from hub.providers import chat, records
from hub.providers.homes import home_of
from hub.providers.jsonline import items, mapping, text
from hub.providers.places import named
from hub.providers.store import DocumentStore, Files, beside

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_INPUT, _OUTPUT = ("tokensIn", "cacheWrites", "cacheReads"), ("tokensOut",)
_CWD = late(r"Current (?:Working|Workspace) Directory \((/[^)\n]+)\)")
_USER = frozenset({"task", "user_feedback", "user_feedback_diff"})
_SAID = frozenset({"text", "completion_result", "followup", "plan_mode_respond", "act_mode_respond"})
_CHANGES = frozenset(
    {
        "newFileCreated",
        "editedExistingFile",
        "appliedDiff",
        "insertContent",
        "searchAndReplace",
        "fileDeleted",
        "batchDiffApply",
    }
)
_SILENT = frozenset(
    {
        "reasoning",
        "error",
        "command",
        "command_output",
        "api_req_finished",
        "api_req_failed",
        "api_req_retried",
        "api_req_retry_delayed",
        "api_req_deleted",
        "api_req_rate_limit_wait",
        "deleted_api_reqs",
        "shell_integration_warning",
        "browser_action_launch",
        "browser_action",
        "browser_action_result",
        "browser_session_status",
        "mcp_server_request_started",
        "mcp_server_response",
        "mcp_notification",
        "diff_error",
        "clineignore_error",
        "rooignore_error",
        "checkpoint_created",
        "checkpoint_saved",
        "load_mcp_documentation",
        "info",
        "new_task",
        "condense",
        "summarize_task",
        "report_bug",
        "subtask_result",
        "codebase_search_result",
        "user_edit_todos",
        "image",
        "condense_context",
        "condense_context_error",
        "sliding_window_truncation",
        "hook",
        "hook_status",
        "resume_task",
        "resume_completed_task",
        "mistake_limit_reached",
        "auto_approval_max_req_reached",
        "use_subagents",
        "subagent",
        "error_retry",
        "command_permission_denied",
        "generate_explanation",
        "too_many_tools_warning",
    }
)


def _task(value: Mapping[str, object], draft: IntelDraft) -> None:
    for number, one in enumerate(map(mapping, items(value.get("items")))):
        kind = text(one.get("say")) or text(one.get("ask"))
        words = text(one.get("text"))
        draft.model = text(mapping(one.get("modelInfo")).get("modelId")) or draft.model
        if kind in _USER or (kind == "text" and not draft.prompt):
            draft.said("user", words)
        elif kind in _SAID:
            draft.said("assistant", text(mapping(records.decoded(words)).get("response")) or words)
        elif kind == "api_req_started":
            _request(draft, str(number), mapping(records.decoded(words)))
        elif kind == "tool":
            _tool(draft, mapping(records.decoded(words)))
        elif kind == "use_mcp_server":
            draft.mcp(text(mapping(records.decoded(words)).get("serverName")))
        elif kind == "task_progress":
            draft.planned(records.checklist(words))
        else:
            draft.ignored() if kind in _SILENT else draft.unknown(kind or ",".join(sorted(one)))
            continue
        draft.took()


def _request(draft: IntelDraft, name: str, request: Mapping[str, object]) -> None:
    chat.used(draft, name, request, _INPUT, _OUTPUT)
    found = _CWD().search(text(request.get("request"))) if not draft.cwd else None
    if found:
        draft.cwd = found[1]


def _tool(draft: IntelDraft, call: Mapping[str, object]) -> None:
    if text(call.get("tool")) in _CHANGES:
        draft.touched(text(call.get("path")))
        for one in map(mapping, items(call.get("batchDiffs"))):
            draft.touched(text(one.get("path")))
    elif call.get("tool") == "updateTodoList":
        draft.planned(records.todos(call.get("todos")) or ())
    elif call.get("tool") == "useSkill":
        draft.skill(text(call.get("path")) or text(call.get("skill")))


def _beside(hit: StoreHit, draft: IntelDraft, files: Files, limits: Limits) -> None:
    """The folder and the model, from the task's own entry or the list of all tasks."""
    folder = hit.path.rpartition("/")[0]
    own = beside(files, hit, f"{folder}/history_item.json", limits)
    listed = beside(files, hit, f"{hit.root}/state/taskHistory.json", limits)
    among = (one for one in map(mapping, items(listed.get("items"))) if one.get("id") == hit.session_id)
    told = own or next(among, {})
    draft.cwd = text(told.get("workspace")) or text(told.get("cwdOnTaskInitialization")) or draft.cwd
    draft.model = draft.model or text(told.get("modelId"))


def store(provider: str, extension: str) -> DocumentStore:
    """The store of an agent that is this extension of an editor."""

    def where(home: str, env: Mapping[str, str], _folders: Sequence[str] = ()) -> Sequence[Place]:
        settings = home_of(home, env, "XDG_CONFIG_HOME", ".config")
        editors = [f"{settings}/{editor}" for editor in _EDITORS]
        roots = [*editors, f"{home}/.vscode-server/data", f"{home}/.cursor-server/data"]
        pattern = ("tasks", "*", "ui_messages.json")
        return [Place(f"{root}/User/globalStorage/{extension}", pattern) for root in roots]

    return DocumentStore(name=provider, where=where, named=named(1), fold=_task, after=_beside)
