"""Claude Code: the sessions it keeps.

Owns: where they lie, and the reading of their records.
Must not: open a file.

`<config>/projects/<slug>/<session>.jsonl`; the slug is lossy, so the folder comes from the records. What surprises:
a message is spread over several records, one for each block, and each repeats the usage of the whole message, so
usage counts once for each message and request. Records of subagents (`isSidechain`) lie in files of their own, in
older versions in the same one. Tasks are beside it, in `<config>/tasks/<session>/<n>.json`; older versions have the
tool `TodoWrite`. A rewind leaves the abandoned branch in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from glob import escape

from hub.domain.detection.intel import FoundFile, Limits, Place, StoreHit, Unreadable
from hub.domain.detection.intel_fold import IntelDraft, mcp_of
from hub.domain.detection.processes import Signature
from hub.providers import chat, records
from hub.providers.jsonline import items, mapping, text, texts
from hub.providers.lines import RecordFold
from hub.providers.places import kept_by
from hub.providers.store import Files, LineStore, document, stem

SIGNATURE = Signature(
    executables=("claude", "claude.exe"),
    packages=("@anthropic-ai/claude-code", "share/claude/versions"),
    program="claude",
    home="CLAUDE_CONFIG_DIR",
    default_home=".claude",
    registry="sessions",
    session_options=("--resume", "-r", "--session-id"),
    helpers="mcp auth agents config doctor install update plugin setup-token attach logs respawn rm stop kill "
    "--version -v --help -h",
    servers=(("daemon", "run"), ("--bg-pty-host",), ("--bg-spare",)),
    surfaces={
        "cli": "command-line",
        "sdk-cli": "command-line",
        "claude-vscode": "editor",
        "claude-desktop": "desktop",
        "sdk-ts": "program",
        "sdk-py": "program",
    },
)
"""How its processes look; `sessions/<pid>.json` names the session of each that runs.

What is left in the background (`--bg`) runs below a daemon, each session in a process that waited for one: it is an agent
once the registry has it.
"""
_SILENT = frozenset(
    [
        "queue-operation",
        "last-prompt",
        "tools-used",
        "cost-state",
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "atis-latch",
        "mode",
        "permission-mode",
        "summary",
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "tag",
        "pr-link",
        "progress",
        "file-history-snapshot",
        "file-history-delta",
        "content-replacement",
        "worktree-state",
        "attribution-snapshot",
        "bridge-session",
        "frame-link",
        "session-meta",
        "task-summary",
        "last-compact-summary",
        "marble-origami-commit",
        "speculation-accept",
    ]
)
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_CHANGING = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit", "Update"})
_SYNTHETIC = (
    "<command-name>",
    "<command-message>",
    "<local-command",
    "<bash-",
    "<task-notification>",
    "Caveat: ",
)
_INTERRUPTED = "[Request interrupted by user"


class ClaudeFold(RecordFold):
    """The records of one session."""

    def __init__(self, draft: IntelDraft) -> None:
        super().__init__(draft)
        self._seen: set[str] = set()
        self._updates: dict[str, Mapping[str, object]] = {}
        """Changes of tasks whose calls have not ended."""

    def record(self, value: Mapping[str, object]) -> None:
        """One record."""
        draft, kind, name = self.draft, text(value.get("type")), text(value.get("uuid"))
        draft.cwd = text(value.get("cwd")) or draft.cwd
        if name and name in self._seen:
            draft.repeated()
            return
        self._seen.add(name)
        if value.get("isSidechain") is True:
            self._usage(value)
            draft.ignored()
        elif kind in _SILENT:
            draft.ignored()
        elif kind == "user":
            self._user(value, name)
        elif kind == "assistant":
            self._assistant(value)
        elif kind == "attachment":
            self._attachment(mapping(value.get("attachment")))
        elif kind == "system":
            draft.ignored()
        else:
            draft.unknown(kind)

    def _user(self, value: Mapping[str, object], name: str) -> None:
        content = mapping(value.get("message")).get("content")
        result = mapping(value.get("toolUseResult"))
        words = records.said(content)
        ended = [self._ended(mapping(block), result) for block in items(content)]
        if result or any(ended):
            self._result(result)
        elif (
            value.get("isMeta") is True
            or value.get("isCompactSummary") is True
            or value.get("isSynthetic") is True
        ) or words.startswith((*_SYNTHETIC, _INTERRUPTED)):
            self.draft.ignored()
            return
        else:
            self.draft.said("user", words, key=name)
        self.draft.took()

    def _ended(self, block: Mapping[str, object], result: Mapping[str, object]) -> bool:
        """A tool's result, as the model was given it: a status other than 0 heads it."""
        if block.get("type") != "tool_result":
            return False
        words, failed = records.said(block.get("content")), block.get("is_error") is True
        code = records.exit_code(words.partition("\n")[0]) if failed else 0
        key = text(block.get("tool_use_id"))
        self.draft.ended(key, words, exit_code=code, failed=failed)
        update = self._updates.pop(key, None)
        if update is not None and not failed and result.get("success") is not False:
            self.draft.task(
                text(update.get("taskId")), text(update.get("subject")), text(update.get("status"))
            )
        return True

    def _result(self, result: Mapping[str, object]) -> None:
        """What a tool did; tasks get their number only here."""
        task = mapping(result.get("task"))
        if text(task.get("id")):
            self.draft.task(text(task["id"]), text(task.get("subject")), text(task.get("status")))
        if text(result.get("filePath")) and result.get("type") in ("create", "update"):
            self.draft.touched(text(result["filePath"]))

    def _assistant(self, value: Mapping[str, object]) -> None:
        message = mapping(value.get("message"))
        model = text(message.get("model"))
        if model and model != "<synthetic>":
            self.draft.model = model
            self._usage(value)
        self.draft.said(
            "assistant", records.said(message.get("content")), key=text(message.get("id")), join=True
        )
        for block in map(mapping, items(message.get("content"))):
            if block.get("type") == "tool_use":
                records.began(self.draft, text(block.get("id")), block.get("name"), block.get("input"))
                self._call(text(block.get("name")), mapping(block.get("input")), text(block.get("id")))
        self.draft.took()

    def _usage(self, value: Mapping[str, object]) -> None:
        """What a message used; that of a subagent is the session's too."""
        message = mapping(value.get("message"))
        name = f"{text(message.get('id'))}:{text(value.get('requestId'))}"
        chat.used(self.draft, name, message.get("usage"), _INPUT, ("output_tokens",))

    def _call(self, tool: str, given: Mapping[str, object], key: str) -> None:
        if tool in _CHANGING:
            self.draft.touches(key, [text(given.get("file_path")) or text(given.get("notebook_path"))])
        elif tool == "TaskUpdate":
            self._updates[key] = given
        elif tool != "TaskCreate":
            records.called(self.draft, tool, given, key)

    def _attachment(self, value: Mapping[str, object]) -> None:
        kind = value.get("type")
        if kind == "skill_listing":
            for name in texts(value.get("names")):
                self.draft.skill(name)
        elif kind == "mcp_instructions_delta":
            for name in texts(value.get("addedNames")):
                self.draft.mcp(name)
        elif kind == "deferred_tools_delta":
            for name in texts(value.get("addedNames")):
                self.draft.mcp(mcp_of(name))
        elif kind == "model":
            self.draft.model = self.draft.model or text(mapping(value.get("identity")).get("modelId"))
        else:
            self.draft.ignored()
            return
        self.draft.took()


def _named(found: FoundFile) -> str | None:
    session = stem(found.path)
    return None if session.startswith("agent-") else session


def _tasks(hit: StoreHit, draft: IntelDraft, files: Files, limits: Limits) -> None:
    """The tasks beside the session, in their order. What a task says there is newer than any record."""
    place = Place(hit.root, ("tasks", escape(hit.session_id), "*.json"))
    numbered = []
    for found in files.walk(place, 0):
        value = document(files, hit.root, found.path, limits)
        if value is None:
            raise Unreadable(f"{found.path} is no task.")
        numbered.append(value)
    for value in sorted(numbered, key=lambda one: (len(text(one.get("id"))), text(one.get("id")))):
        draft.task(text(value.get("id")), text(value.get("subject")), text(value.get("status")))


STORE = LineStore(
    name="claude",
    where=kept_by(SIGNATURE, ("projects", "*", "*.jsonl")),
    named=_named,
    fold=ClaudeFold,
    after=_tasks,
)
