"""What one event tells about the work, in one shape for live events and log records.

Owns: `Activity`, the careful reading of an event's `meta`, and the rules by which a tool counts as writing.
Must not: raise on any `meta` (agents write what they like), or combine events (`intent` and `fidelity` do).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from hub.domain.event import Event, EventType, Record, Tag
from hub.domain.intent.shell import written
from hub.domain.meta import EventMeta
from hub.domain.text.result import telling

MAX_TEXT = 64 * 1024
"""Characters of one event that are looked at."""
MAX_OPEN = 200
MAX_FIRST_LINE = 200

_WRITING = re.compile(
    r"write|edit|create|patch|replace|change|append|delete|remove|move|rename", re.IGNORECASE
)
_DOINGS = frozenset((
    "tool", "toolId", "path", "command", "exitCode", "isError", "input", "plan", "tasksRemaining", "skills", "mcps",
    "model", "snapshot", "to", "handoffId", "amends",
))  # fmt: skip
"""What `meta` says of an event that is more than words."""
_EXCERPT_KEYS = ("content", "new_string", "newText", "text", "diff", "patch")


@attrs.frozen(kw_only=True)
class Activity:
    """One event, read."""

    id: int
    tag: str
    text: str = ""
    thinking: bool = False
    by_hub: bool = False
    """A log record of hub's own: it has no event type."""
    by_user: bool = False
    """The user's own words (`meta.role` is `user`)."""
    delta: bool = False
    tool: str = ""
    tool_id: str = ""
    path: str = ""
    command: str = ""
    redirected: tuple[str, ...] = ()
    """Files below the worktree that the command writes by redirection."""
    exit_code: int | None = None
    failed: bool = False
    """The tool says it failed, by flag or by exit code."""
    excerpt: str = ""
    """What the tool was given, cut by the adapter."""
    plan: tuple[str, ...] | None = None
    """None when the event says nothing about a plan; () when it says the plan is empty."""
    remaining: tuple[str, ...] | None = None
    skills: tuple[str, ...] = ()
    mcps: tuple[str, ...] = ()
    model: str = ""
    call: int = 0
    """Of a result: the id of the event its call was told by, once `Calls.complete` has paired them."""
    snapshot: str = ""
    """Sha of the snapshot commit a handoff tells of."""
    to_state: str = ""
    """The state a handoff moves to."""
    handoff_id: str = ""
    amends: int = 0
    """Of an amendment: the id of the event of which it tells more; it is no doing of its own."""
    rests: bool = False
    """The agent's turn has ended by itself and well: it says that it is done."""

    @property
    def writes(self) -> bool:
        """Whether this is a call that changes the file it names."""
        return bool(self.path) and bool(_WRITING.search(self.tool))


def read(id: int, event: Event | Record, root: str = "") -> Activity:
    """What the event tells. Never raises; what has the wrong type counts as not said.

    Args:
        id: The event's id in the log.
        event: The event, live or as logged.
        root: The worktree; paths below it are told relative to it, as a contract's are.
    """
    meta = event.meta
    tag, text, thinking = _head(event)
    words = Activity(
        id=id,
        tag=tag,
        text=text[:MAX_TEXT],
        thinking=thinking,
        by_hub=isinstance(event, Record) and "type" not in meta,
        by_user=meta.get("role") == "user",
        delta=meta.get("delta") is True,
        rests=_rests(event),
    )
    # Most events are words and nothing else.
    return words if _DOINGS.isdisjoint(meta) else _doing(words, meta, root)


def _rests(event: Event | Record) -> bool:
    if event.tag != Tag.SYSTEM:
        return False
    kind = event.type if isinstance(event, Event) else event.meta.get("type")
    aside = ("isError", "interrupted", "needsInput")
    return kind == EventType.RESULT and not any(event.meta.get(name) for name in aside)


def _doing(words: Activity, meta: EventMeta, root: str) -> Activity:
    code = _int(meta.get("exitCode"))
    command = _str(meta.get("command"))
    redirected = tuple(below(root, path) for path in written(command)) if command else ()
    handoff: EventMeta = meta if words.tag == Tag.HANDOFF else {}
    return attrs.evolve(
        words,
        tool=_str(meta.get("tool")),
        tool_id=_str(meta.get("toolId")),
        path=below(root, _str(meta.get("path"))),
        command=command,
        redirected=tuple(path for path in redirected if not path.startswith(("/", "../"))),
        exit_code=code,
        failed=meta.get("isError") is True or bool(code),
        excerpt=_excerpt(meta.get("input")),
        plan=_strs(meta.get("plan")),
        remaining=_strs(meta.get("tasksRemaining")),
        skills=_strs(meta.get("skills")) or (),
        mcps=_strs(meta.get("mcps")) or (),
        model=_str(meta.get("model")),
        snapshot=_str(handoff.get("snapshot")),
        to_state=_str(handoff.get("to")),
        handoff_id=_str(meta.get("handoffId")),
        amends=_int(meta.get("amends")) or 0,
    )


@attrs.define
class Calls:
    """Pairs tool results with their calls: agents name command and path in the call, status in the result."""

    by_id: dict[str, Activity] = attrs.field(factory=dict)
    """Calls without a result, oldest first."""

    def begin(self, call: Activity) -> None:
        """A call has begun. One without id replaces the last one without id."""
        self.by_id.pop(call.tool_id, None)
        self.by_id[call.tool_id] = call
        if len(self.by_id) > MAX_OPEN:
            del self.by_id[next(iter(self.by_id))]

    def complete(self, result: Activity) -> Activity:
        """The result with what only its call told; as it is when there is no such call."""
        call = self.by_id.pop(result.tool_id, None)
        if call is None:
            return result
        return attrs.evolve(
            result,
            tool=result.tool or call.tool,
            path=result.path or call.path,
            command=result.command or call.command,
            redirected=result.redirected or call.redirected,
            call=call.id,
        )


def failure_text(result: Activity) -> str:
    """A failed result in one line; "" for one that says neither what was tried nor where."""
    what = result.command or f"{result.tool} {result.path}".strip()
    if not what:
        return ""
    how = f"exit status {result.exit_code}" if result.exit_code is not None else "an error"
    lines = telling(result.text, result.exit_code)
    # A traceback tells what went wrong in its last line, everything else in its first.
    said = lines[-1 if lines[0].startswith("Traceback ") else 0] if lines else ""
    return f"{what} ended with {how}" + (f": {said[:MAX_FIRST_LINE]}" if said else "")


def _head(event: Event | Record) -> tuple[str, str, bool]:
    if isinstance(event, Event):
        return event.tag, event.content, event.type is EventType.THINKING
    # A log record has no type: the log keeps thoughts under the tag `text`, told apart by `meta.type`.
    return event.tag, event.msg, event.tag == Tag.TEXT and event.meta.get("type") == EventType.THINKING


def below(root: str, path: str) -> str:
    """The path relative to `root` where it lies below it, else as it is."""
    return path.removeprefix(root.rstrip("/") + "/" if root else "").removeprefix("./")


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _strs(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    return tuple(item for item in value if isinstance(item, str) and item.strip())


def _excerpt(value: object) -> str:
    if isinstance(value, Mapping):
        return next((text for key in _EXCERPT_KEYS if (text := _str(value.get(key)))), "")
    return _str(value)
