"""How an event looks on a terminal.

Owns: one line of text for one record of the event log, and people's words for windows and instants.
Must not: decide what is shown; every record has a line.
"""

from __future__ import annotations

import re
from typing import Any

import click

_LOOK: dict[str, tuple[str, str]] = {
    "text": ("  ", "white"),
    "tool_use": ("> ", "cyan"),
    "tool_result": ("< ", "bright_black"),
    "system": ("* ", "green"),
    "quota": ("% ", "magenta"),
    "handoff": ("= ", "yellow"),
    "waiting": (". ", "blue"),
    "error": ("! ", "red"),
}
_WINDOWS = {"five_hour": "5-hour", "seven_day": "7-day", "thirty_day": "30-day"}
_WINDOW = re.compile(rf"\b({'|'.join(_WINDOWS)})\b")
_INSTANT = re.compile(r"\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z")
_WORKTREE = re.compile(r"/[^\s\"']*/\.hub/worktrees/[^/\s\"']+/")
"""The session's folder in front of a path, which every path of an agent's begins with."""
_FIRST = "RUNNING"
_WIDTH = 160
_PROVIDER = 12


def line(record: dict[str, Any], *, width: int = _WIDTH) -> str:
    """One record as one line: time, who, and what was said or done."""
    mark, colour = _LOOK.get(record["tag"], ("? ", "white"))
    meta = record.get("meta", {})
    who = str(meta.get("provider", ""))[:_PROVIDER]
    text = " ".join(_words(record, meta).split())
    if len(text) > width:
        text = text[: width - 1] + "…"
    return f"{click.style(record['ts'][:8], dim=True)} {who:<{_PROVIDER}} " + click.style(
        mark + text, fg=colour
    )


def _words(record: dict[str, Any], meta: dict[str, Any]) -> str:
    tag, text = record["tag"], str(record["msg"])
    match tag:
        case "quota":
            return _spent(text, meta)
        case "handoff" if "to" in meta and meta.get("from") != _FIRST:
            return f"{meta['from']} -> {meta['to']}"  # why was said when it began
        case "handoff":
            return for_people(text)
        case "tool_use" | "tool_result":
            return _WORKTREE.sub("", text)
        case "error" if meta.get("hint"):
            return f"{text} {meta['hint']}"
    return text


def _spent(text: str, meta: dict[str, Any]) -> str:
    if isinstance(meta.get("used"), int):
        return f"{gauge(meta['used'])} {meta['used'] / 10:.0f} % of {_quota(meta.get('window', ''))}"
    if "tokensOut" in meta:
        return f"{meta.get('tokensIn', 0):,} tokens in, {meta['tokensOut']:,} out"
    return for_people(text)


def _quota(window: str) -> str:
    return f"the {window_name(window)} quota" if window in _WINDOWS else window or "the quota"


def window_name(window: str) -> str:
    """`5-hour` for `five_hour`; a name that needs no translation as it is."""
    return _WINDOWS.get(window, window)


def for_people(text: str) -> str:
    """A text of hub's own with the windows' names translated, and instants to the minute."""
    text = _WINDOW.sub(lambda found: f"{_WINDOWS[found[0]]} quota", text)
    return _INSTANT.sub(r"\1 \2Z", text)


def gauge(permille: int, cells: int = 10) -> str:
    """`[####------]`."""
    full = max(0, min(cells, round(permille * cells / 1000)))
    return "[" + "#" * full + "-" * (cells - full) + "]"


def shown(record: dict[str, Any]) -> bool:
    """Whether a live view shows it: pieces of streamed text are shown when they are whole.

    An agent's request for permission is shown once, as what hub makes of it.
    """
    meta = record.get("meta", {})
    request = meta.get("type") == "waiting" and meta.get("approvalId") and not meta.get("needsInput")
    return not (meta.get("delta") or request)
