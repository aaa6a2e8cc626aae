"""Taking a store's record apart.

Owns: what agents' formats have in common: blocks of text, lists of tasks, calls of tools.
Must not: raise on any value, or know any one agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from hub.domain.detection.intel_fold import IntelDraft, mcp_of
from hub.domain.interpreters import line_of
from hub.domain.text.patterns import late
from hub.providers.jsonline import items, mapping, text

_STEP = ("content", "step", "description", "subject", "title", "text", "task")
_WRITES = late(
    r"write|edit|create|patch|replace|append|delete|remove|rename|move|insert|save|multiedit", re.IGNORECASE
)
_READS = late(r"read|todo|memory|task|plan|list|view|search|grep|glob|shell|bash|exec", re.IGNORECASE)
_PATH = (
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "absolute_path",
    "file",
    "filename",
    "target_file",
    "relPath",
    "TargetFile",
    "relativeWorkspacePath",
)
_TODOS = ("todos", "plan", "tasks", "items", "todo_list")
_EXITED = late(r"^(?:Process exited with code|Exit code:?) (\d{1,3})\b", re.IGNORECASE | re.MULTILINE)
_PATCHED = late(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
_CHECKED = late(r"^\s*(?:[-*]|\d+[.)])\s*\[([ xX~/-]|completed|in_progress|pending)\]\s*(.+)$", re.MULTILINE)


def said(content: object, kinds: Iterable[str] = ("text", "input_text", "output_text")) -> str:
    """The words of a message: a string, or its blocks of these kinds, a paragraph each."""
    if isinstance(content, str):
        return text(content)
    found = (
        text(block.get("text")) if isinstance(block, dict) and block.get("type", "text") in kinds else ""
        for block in items(content)
    )
    return "\n\n".join(part for part in found if part.strip())


def todos(value: object) -> list[tuple[str, str]] | None:
    """The steps of a plan with their states; None when this is no list of steps."""
    if not isinstance(value, list):
        return None
    found = []
    for item in value:
        if isinstance(item, str) and item.strip():
            found.append((text(item), "pending"))
        elif isinstance(item, dict):
            step = next((text(item[name]) for name in _STEP if isinstance(item.get(name), str)), "")
            state = text(item.get("status") or item.get("state"))
            done = item.get("done") is True or item.get("completed") is True
            if step:
                found.append((step, "completed" if done else state))
    return found if found or not value else None


def checklist(words: str) -> list[tuple[str, str]]:
    """The steps of a Markdown checklist with their states; a state may stand there as a word."""
    return [
        (found[2].strip(), "completed" if found[1] in ("x", "X", "completed") else "pending")
        for found in _CHECKED().finditer(words)
    ]


def called(draft: IntelDraft, tool: str, given: object, key: str = "") -> None:
    """A call of a tool: the file it changes, the plan it sets, the skill or the server it is of.

    Args:
        draft: What is told.
        tool: Its name.
        given: Its arguments: an object, the JSON of one, or a patch.
        key: The call's, where `IntelDraft.ended` or `settled` will tell how it went: files and a plan count only then.
            "" = it went well.
    """
    name = text(tool)
    server = mcp_of(name)
    if server:
        draft.mcp(server)
        return
    given = _arguments(given)
    if isinstance(given, str):
        _changes(draft, key, patched(given))
        return
    if name.lower() in ("skill", "activate_skill", "use_skill"):
        draft.skill(next((text(given[key]) for key in ("skill", "name", "command") if given.get(key)), ""))
    elif "todo" in name.lower() or "plan" in name.lower():
        steps = next((found for key in _TODOS if (found := todos(given.get(key))) is not None), None)
        if steps is not None:
            draft.plans(key, steps) if key else draft.planned(steps)
    elif writes(name):
        _changes(draft, key, _paths(given))


def _changes(draft: IntelDraft, key: str, paths: Iterable[str]) -> None:
    if key:
        draft.touches(key, paths)
        return
    for path in paths:
        draft.touched(path)


def began(draft: IntelDraft, key: str, tool: object, given: object) -> None:
    """A call of a tool, so that how it ends (`IntelDraft.ended`, by the same key) can be told with what was tried."""
    arguments = _arguments(given)
    name = text(tool)
    if isinstance(arguments, str):
        paths, command = patched(arguments), ""
    else:
        paths = _paths(arguments) if writes(name) else iter(())
        command = _command(next((arguments[key] for key in ("command", "cmd") if arguments.get(key)), ""))
    draft.began(key, name, command=command, path=next(paths, ""))


def _command(given: object) -> str:
    """A command line; of the words of one, what a shell is told to run."""
    words = [text(word) for word in items(given)]
    return line_of(words) or " ".join(words) or text(given)


def exit_code(head: str) -> int | None:
    """The exit status that a tool's own words before a command's output tell; None where they tell none."""
    found = _EXITED().search(head)
    return int(found[1]) if found else None


def writes(tool: str) -> bool:
    """Whether a tool of this name changes the file it is given."""
    return bool(_WRITES().search(tool)) and not _READS().search(tool)


def patched(patch: str) -> Iterator[str]:
    """The files that a patch in Codex's form names."""
    return ((found[1] or found[2]).strip() for found in _PATCHED().finditer(patch))


def decoded(value: object) -> object:
    """What a string holds as JSON, or the bytes of one; every other value as it is, and a string that is none too."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if not isinstance(value, str):
        return value
    import msgspec  # few agents write so

    try:
        return msgspec.json.decode(value.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return value


def _arguments(given: object) -> Mapping[str, object] | str:
    found = decoded(given)
    if isinstance(found, dict):
        inner = next(
            (found[key] for key in ("input", "patch", "command") if isinstance(found.get(key), str)), ""
        )
        return inner if inner.startswith("*** Begin Patch") else found
    return found if isinstance(found, str) else {}


def _paths(given: Mapping[str, object]) -> Iterator[str]:
    direct = next((text(given[name]) for name in _PATH if isinstance(given.get(name), str)), "")
    if direct:
        yield direct
    for change in items(given.get("edits") or given.get("files")):
        inner = mapping(change)
        yield next((text(inner[name]) for name in _PATH if isinstance(inner.get(name), str)), "")
