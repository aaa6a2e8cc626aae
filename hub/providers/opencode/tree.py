"""OpenCode's older store: a tree of JSON files.

Owns: the reading of a session from `storage/session`, `storage/message`, `storage/part` and `storage/todo`.
Must not: open a file.

The session's file names its folder; each message is a file in a folder of the session's name, each of its parts one in a
folder of the message's name. Names sort by the time they were made.

Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from glob import escape

from hub.domain.detection.intel import Limits, Place, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.providers import records
from hub.providers.jsonline import text
from hub.providers.opencode.messages import message
from hub.providers.store import Files, document, stem


def fold(value: Mapping[str, object], draft: IntelDraft, hit: StoreHit) -> None:
    """The session's own file."""
    draft.cwd = text(value.get("directory"))
    draft.took()


def below(hit: StoreHit, draft: IntelDraft, files: Files, limits: Limits) -> None:
    """Its messages, their parts, its plan."""
    for path, value in _documents(files, hit, limits, "message", hit.session_id):
        name = stem(path)
        parts = [part for _, part in _documents(files, hit, limits, "part", name)]
        message(draft, name, value, parts)
    place = Place(hit.root, ("storage", "todo", f"{escape(hit.session_id)}.json"))
    for found in files.walk(place, 0):
        listed = document(files, hit.root, found.path, limits) or {}
        draft.planned(records.todos(listed.get("items")) or ())


def _documents(
    files: Files, hit: StoreHit, limits: Limits, *folders: str
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Each document of a folder, in the order of their names; a damaged one is an empty message or part."""
    place = Place(hit.root, ("storage", *map(escape, folders), "*.json"))
    for path in sorted(found.path for found in files.walk(place, 0)):
        yield path, document(files, hit.root, path, limits) or {}
