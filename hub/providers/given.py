"""What a tool is given, as the rules look at it: files, folders it searches, addresses, and all else that is no content.

Owns: reading a tool's input by the names that agents use for its parts, and what a person is shown of it.
Must not: know any one agent's tools, or judge.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping

from hub.domain.meta import EventMeta, only
from hub.providers import jsonline

_FILES = frozenset({
    *("file_path", "filePath", "path", "paths", "notebook_path", "absolute_path", "dir_path", "directory", "file", "files"),
    *("filename", "fileName", "file_paths", "include"),
})  # fmt: skip
_CONTENT = frozenset({
    *("content", "contents", "text", "file_text", "insert_text", "new_source", "patch", "diff", "patchText", "edits"),
    *("new_string", "old_string", "newString", "oldString", "new_str", "old_str", "todos", "description", "explanation"),
    *("command", "cmd"),
})  # fmt: skip
"""What is written, or said of the call: it names nothing that the tool is used on."""
_SOUGHT = frozenset({"pattern", "query", "regex"})
_SEARCHES = re.compile(r"grep|(?<!web_)search|\brg\b|ripgrep", re.IGNORECASE)
_WEB = re.compile(r"web", re.IGNORECASE)
_OWN = re.compile(r"mcp|__|-|\Aother\Z", re.IGNORECASE)
"""How tools of the user's own are named: what their inputs mean nobody knows."""
_LINES = (
    "command",
    "cmd",
    "commands",
    "command_line",
    "commandLine",
    "shell_command",
    "script",
    "bash",
    "shell",
)
"""How such a tool calls what it gives to a shell; `args` may be the rest of it."""
_ADDRESS = re.compile(r"https?://[^\s\"'<>`\\)\]]+", re.IGNORECASE)
_PLACE = re.compile(r"[./]")
"""What the name of a file has, and that of a part has not: `{"files": {"a/b": "its text"}}`."""
_MOST = 64
_LONG = 4_096
_LONGEST = 65_536
_DEPTH = 32
_DEEPER = "\N{HORIZONTAL ELLIPSIS}"
"""Stands for what lies deeper."""


def given(tool: str, told: Mapping[str, object], *, unknown: bool = False) -> EventMeta:
    """Meta of a request for permission: `paths`, `texts`, `within`, `cwd`, `named`, `command`; none without a value.

    Args:
        tool: The tool's name, as its agent calls it.
        told: Its input.
        unknown: Whether its agent says that it knows it no better than hub: it may be the user's own.
    """
    own, searches = unknown or bool(_OWN.search(tool)), bool(_SEARCHES.search(tool)) and not _WEB.search(tool)
    paths: list[str] = []
    texts: list[str] = []
    for name, text in _leaves(told):
        if name in _FILES and not own:
            paths.append(text)
        elif own or (name not in _CONTENT and not (searches and name in _SOUGHT)):
            texts.append(text)
        if not own or name not in _FILES:
            texts += [address for address in _ADDRESS.findall(text) if name not in _CONTENT or own]
    named = sorted({jsonline.clean(str(name)) for name in told if own or name not in _CONTENT})
    meta: EventMeta = {
        "named": named,
        "cwd": _folder(told),
        "within": (paths or ["."]) if searches and not own else [],
        "command": _lines(told) if own else "",
        "paths": _bounded(paths),
        "texts": _bounded(texts),
    }
    told_whole = all(len(text) <= _LONG and text is not _DEEPER for text in (*paths, *texts))
    if len(paths) > _MOST or len(texts) > _MOST or not told_whole:
        meta["unseen"] = True
    return only(meta, meta)


def _bounded(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(text[:_LONG] for text in texts))[:_MOST]


def _folder(told: Mapping[str, object]) -> str:
    """Where a command is to run."""
    if not told.get("command") and not told.get("cmd"):
        return ""
    names = ("cwd", "workdir", "directory", "dir_path")
    return next((jsonline.text(told[name]) for name in names if told.get(name)), "")


def _lines(told: Mapping[str, object]) -> str:
    """What such a tool is given that may be for a shell, as a line: `{"command": "rm", "args": ["x"]}` is `rm x`."""
    found = []
    for name in _LINES:
        value = told.get(name)
        if line := jsonline.text(value):
            found.append(" ".join((line, shlex.join(jsonline.texts(told.get("args"))))).strip())
        elif words := jsonline.texts(value):
            found.append("\n".join(words) if name == "commands" else shlex.join(words))
    return "\n".join(found)[:_LONGEST]


def shown(told: object) -> EventMeta:
    """Meta of a request for permission: `input`, what a person sees of what a tool is given, and `cut` if not all."""
    whole = jsonline.Whole(told)
    return {"input": whole.value, "cut": True} if whole.cut else {"input": whole.value}


def question_lines(questions: Iterable[Mapping[str, object]]) -> str:
    """What an agent asks its user, a question a line, each with the answers that it offers."""
    lines = []
    for question in questions:
        options = (jsonline.mapping(option) for option in jsonline.items(question.get("options")))
        labels = [label for option in options if (label := jsonline.text(option.get("label")))]
        choice = f" [{' / '.join(labels)}]" if labels else ""
        lines.append(f"{jsonline.text(question.get('question'))}{choice}")
    return "\n".join(lines)


def addresses(text: str) -> list[str]:
    """The web addresses in a text."""
    return _ADDRESS.findall(text)


def _leaves(value: object, name: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """(name of the part, text) of every text in it, the texts of a list by the list's name; a name may be a file's, too."""
    if isinstance(value, str):
        yield name, jsonline.clean(value)
    elif isinstance(value, dict | list) and value and not depth:
        yield name, _DEEPER
    elif isinstance(value, dict):
        for inner, part in value.items():
            yield from _leaves(part, str(inner), depth - 1)
            if _PLACE.search(str(inner)):
                yield "", jsonline.clean(str(inner))
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part, name, depth - 1)
