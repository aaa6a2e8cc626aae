"""How an event looks on a terminal.

Owns: one line of text for one record of the event log.
Must not: decide what is shown; every record has a line.
"""

from __future__ import annotations

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
    text = str(record["msg"])
    if record["tag"] == "quota" and isinstance(meta.get("used"), int):
        bar = gauge(meta["used"])
        return f"{bar} {meta['used'] / 10:.0f} % of {meta.get('window', 'the quota')}"
    if record["tag"] == "quota" and "tokensOut" in meta:
        return f"{meta.get('tokensIn', 0):,} tokens in, {meta['tokensOut']:,} out"
    if record["tag"] == "error" and meta.get("hint"):
        return f"{text} {meta['hint']}"
    return text


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
