"""What a tool is given, as lines for people.

Owns: which members of a tool's input read as a change of text, and how.
Must not: cut anything, or know where the lines are shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hub.domain.text.safe import clean

_OLD = ("old_string", "oldText", "old_str")
_NEW = ("new_string", "newText", "new_str")
_WHOLE = ("content", "contents", "file_text", "patch", "diff", "text")


def change(given: object) -> Iterator[str]:
    """What a tool is given, for people: a replacement as a diff, a new file as added lines, else member by member."""
    if isinstance(given, str):
        yield from clean(given).splitlines()
        return
    if not isinstance(given, dict):
        if given:
            yield from clean(json.dumps(given, indent=2, ensure_ascii=False)).splitlines()
        return
    old, new = _first(given, _OLD), _first(given, _NEW)
    if old is not None and new is not None:
        import difflib  # faces import this, and few show a change

        diff = difflib.unified_diff(clean(old).splitlines(), clean(new).splitlines(), lineterm="", n=2)
        yield from list(diff)[2:]
    whole = _first(given, _WHOLE)
    if whole is not None:
        yield from (f"+{line}" for line in clean(whole).splitlines())
    for name, value in given.items():
        if name in (*_OLD, *_NEW, *_WHOLE) and isinstance(value, str):
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield from clean(f"{name}: {text}").splitlines()


def _first(given: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)
