"""Cursor's editor: the conversations in its database.

Owns: their list, and the reading of one.
Must not: open a file, or know where the database lies.

One database for everything that the editor remembers, of many gigabytes: so only rows that a key names are asked for.
A conversation is `composerData:<id>`, which says the order of its bubbles, and a row `bubbleId:<id>:<bubble>` for each of
these; older versions have the bubbles in the conversation itself. The list of conversations is a table, in older
versions one value; where there is neither, it would take a walk over everything, so that is told instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from hub.domain.detection.intel import StoreHit, Unreadable
from hub.domain.detection.intel_fold import IntelDraft
from hub.providers import chat, records
from hub.providers.jsonline import integer, items, mapping, text
from hub.providers.store import Database

_KEYS = "cursorDiskKV"
_ROLES = {1: "user", 2: "assistant"}
_RANGE = "WHERE key >= ? AND key < ?"


def listed(database: Database, whole: StoreHit, since_ns: int) -> Iterator[StoreHit]:
    """The conversations of people that were written since then."""
    since = since_ns // 10**6
    for head in _heads(database, since):
        name, updated = text(head.get("composerId")), integer(head.get("lastUpdatedAt")) or 0
        if name and updated >= since and not head.get("subagentInfo"):
            uri = mapping(mapping(head.get("workspaceIdentifier")).get("uri"))
            yield attrs.evolve(whole, session_id=name, cwd=text(uri.get("fsPath")), mtime_ns=updated * 10**6)


def _heads(database: Database, since: int) -> Iterator[Mapping[str, object]]:
    columns = ("composerId", "lastUpdatedAt", "value")
    found = False
    if database.columns("composerHeaders"):
        recent = "WHERE lastUpdatedAt >= ? AND NOT isSubagent"
        for name, updated, value in database.select("composerHeaders", columns, recent, (since,)):
            found = True
            yield {**mapping(records.decoded(value)), "composerId": name, "lastUpdatedAt": updated}
    listing = ("composer.composerHeaders",)
    for (value,) in database.select("ItemTable", ("value",), "WHERE key = ?", listing) if not found else ():
        found = True
        yield from map(mapping, items(mapping(records.decoded(value)).get("allComposers")))
    if not found and not database.columns("composerHeaders"):
        first = (*_between("composerData:"),)
        if database.select(_KEYS, ("key",), f"{_RANGE} LIMIT 1", first):
            raise Unreadable(f"{_KEYS} has conversations and no list of them: the format may have changed.")


def conversation(database: Database, hit: StoreHit, draft: IntelDraft) -> None:
    """One conversation; each of its bubbles is a record."""
    key = (f"composerData:{hit.session_id}",)
    rows = database.select(_KEYS, ("value",), "WHERE key = ?", key)
    about = mapping(records.decoded(rows[0][0])) if rows else {}
    draft.model = text(mapping(about.get("modelConfig")).get("modelName"))
    prefix = f"bubbleId:{hit.session_id}:"
    known = {
        text(name)[len(prefix) :]: mapping(records.decoded(value))
        for name, value in database.select(_KEYS, ("key", "value"), _RANGE, _between(prefix))
    }
    for inline in map(mapping, items(about.get("conversation"))):
        _bubble(draft, text(inline.get("bubbleId")), inline)
    for head in map(mapping, items(about.get("fullConversationHeadersOnly"))):
        name = text(head.get("bubbleId"))
        _bubble(draft, name, known.pop(name, {}))
    for _ in known:
        draft.ignored()
    if not about:
        draft.damaged()


_WELL = ("completed", "success", None)
"""How a call has ended that did what it was to do; older versions say nothing."""


def _bubble(draft: IntelDraft, name: str, value: Mapping[str, object]) -> None:
    if not value:
        draft.damaged()
        return
    role = _ROLES.get(integer(value.get("type")) or 0)
    if role is None:
        draft.unknown(f"bubble/{value.get('type')}")
        return
    draft.said(role, text(value.get("text")), key=name)
    chat.used(draft, name, value.get("tokenCount"), ("inputTokens",), ("outputTokens",))
    call = mapping(value.get("toolFormerData"))
    if call and call.get("status") in _WELL:
        records.called(draft, text(call.get("name")), call.get("rawArgs") or call.get("params"))
    draft.took()


def _between(prefix: str) -> tuple[str, str]:
    """The range of all keys that begin so: the index answers it, as it would not a pattern."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)
