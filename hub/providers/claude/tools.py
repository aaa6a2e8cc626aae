"""Claude Code's tools: what a call touches, how it ended, and the task list it keeps.

Owns: `ClaudeToolCalls`, which pairs calls with results, and the meta each of them gives.
Must not: know the stream around the content blocks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from hub.domain.meta import EventMeta
from hub.providers import jsonline

_EXIT_CODE = re.compile(r"\AExit code (\d{1,3})\b")
PATHS = ("file_path", "notebook_path", "path")
_RESULT_OF = re.compile(rb'"tool_use_id":\s?"([\w-]{1,128})"')
_USER_LINE = (b'{"type":"user"', b'{"type": "user"')
_HEAD = 4_096
_DONE = frozenset({"completed", "deleted"})
PLANNING = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate"})
"""What changes nothing but the agent's own list of tasks."""


@attrs.define
class _Task:
    text: str
    status: str


class ClaudeToolCalls:
    """The calls in flight and the agent's task list."""

    def __init__(self) -> None:
        self._open: dict[str, EventMeta] = {}
        self._planning: dict[str, tuple[str, Mapping[str, object]]] = {}
        """Calls in flight of the tools that keep the list: name and input. What fails changes nothing."""
        self._tasks: dict[str, _Task] = {}

    def __len__(self) -> int:
        return len(self._open)

    def clear(self) -> None:
        """A turn is over: what has no result by then gets none."""
        self._open.clear()
        self._planning.clear()

    def use(self, block: Mapping[str, object]) -> EventMeta:
        """Meta of a `tool_use` block; the call is in flight from here on."""
        name = jsonline.text(block.get("name"))
        call = jsonline.text(block.get("id"))
        given = jsonline.mapping(block.get("input"))
        meta: EventMeta = {"tool": name, "toolId": call, "input": jsonline.excerpt(dict(given))}
        if path := next((found for field in PATHS if (found := jsonline.text(given.get(field)))), ""):
            meta["path"] = path
        if command := jsonline.text(given.get("command")):
            meta["command"] = command
        if call:
            self._open[call] = meta.copy()
            del self._open[call]["input"]
        if name == "Skill" and (skill := jsonline.text(given.get("skill") or given.get("command"))):
            meta["skills"] = [skill]
        if name in PLANNING:
            self._planning[call] = name, given
        return meta

    def result(self, block: Mapping[str, object], detail: Mapping[str, object]) -> tuple[str, EventMeta]:
        """(content, meta) of a `tool_result` block; `detail` is the line's structured `tool_use_result`."""
        call = jsonline.text(block.get("tool_use_id"))
        meta = self._open.pop(call, {"toolId": call})
        content = block_text(block.get("content"))
        failed = block.get("is_error") is True
        meta["isError"] = failed
        name, given = self._planning.pop(call, ("", {}))
        if name and not failed and self._note_tasks(name, given, detail):
            meta["plan"] = [task.text for task in self._tasks.values()]
            meta["tasksRemaining"] = [task.text for task in self._tasks.values() if task.status not in _DONE]
        if path := jsonline.text(detail.get("filePath")):
            meta.setdefault("path", path)
        if (
            meta.get("tool") == "Bash"
            and not detail.get("interrupted")
            and not detail.get("backgroundTaskId")
        ):
            found = _EXIT_CODE.match(content)
            if found or not failed:
                meta["exitCode"] = int(found[1]) if found else 0
        return content, meta

    def lost(self, line: bytes) -> EventMeta | None:
        """Ends the call whose result stands on a line that was cut; its meta, or None when there is none."""
        if not line.startswith(_USER_LINE) or not (found := _RESULT_OF.search(line[:_HEAD])):
            return None
        call = found[1].decode()
        self._planning.pop(call, None)  # nobody knows how it ended
        return self._open.pop(call, None)

    def _note_tasks(self, name: str, given: Mapping[str, object], detail: Mapping[str, object]) -> bool:
        """Take over what a call has changed; whether it changed anything."""
        if name == "TodoWrite":
            todos = [jsonline.mapping(todo) for todo in jsonline.items(given.get("todos"))]
            self._tasks = {
                str(number): _Task(jsonline.text(todo.get("content")), jsonline.text(todo.get("status")))
                for number, todo in enumerate(todos, 1)
            }
            return True
        if name == "TaskCreate":
            # It numbers its tasks from 1 in the order they are made, should the result not tell.
            number = jsonline.text(jsonline.mapping(detail.get("task")).get("id")) or str(
                len(self._tasks) + 1
            )
            self._tasks[number] = _Task(jsonline.text(given.get("subject")), "pending")
            return True
        task = self._tasks.get(jsonline.text(given.get("taskId")))
        if task is None or detail.get("success") is False:
            return False
        task.status = jsonline.text(given.get("status")) or task.status
        task.text = jsonline.text(given.get("subject")) or task.text
        return True


def block_text(content: object) -> str:
    """The text of a content that is a string or a list of blocks."""
    if isinstance(content, str):
        return jsonline.clean(content)
    blocks = (jsonline.mapping(block) for block in jsonline.items(content))
    return "\n".join(found for block in blocks if (found := jsonline.text(block.get("text"))))
