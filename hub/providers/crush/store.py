"""Crush: the sessions it keeps.

Owns: where they lie, and the reading of the database they are in.
Must not: open a file.

`.crush/crush.db` in each folder it works in. What surprises: times are in seconds, in some versions in milliseconds; a
session's tokens are those of its last request and no sum, so they are never exact; a message's parts are JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from hub.domain.detection.intel import Place, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat, records
from hub.providers.jsonline import count, integer, items, mapping, text
from hub.providers.store import Database, DatabaseStore

_SESSION = ("id", "parent_session_id", "updated_at")
_MILLISECONDS = 10**11
"""A time above this is no number of seconds."""


def _where(home: str, _env: Mapping[str, str], folders: Sequence[str]) -> Sequence[Place]:
    return [Place(folder, (".crush", "crush.db")) for folder in (*folders, home)]


def _listed(database: Database, whole: StoreHit, since_ns: int) -> Iterator[StoreHit]:
    """The sessions of people; those of subagents have a parent."""
    rows = database.select("sessions", _SESSION, "WHERE updated_at >= ?", (since_ns // 10**9,))
    for name, above, updated in rows:
        time = integer(updated) or 0
        time_ns = time * (10**6 if time > _MILLISECONDS else 10**9)
        if not above and time_ns >= since_ns - 10**9:
            yield attrs.evolve(whole, session_id=text(name), cwd=whole.root, mtime_ns=time_ns)


def _session(database: Database, hit: StoreHit, draft: IntelDraft) -> None:
    ours = "WHERE session_id = ? ORDER BY created_at, rowid"
    columns = ("id", "role", "parts", "model", "is_summary_message")
    for name, role, parts, model, summary in database.select("messages", columns, ours, (hit.session_id,)):
        draft.model = text(model) or draft.model
        if summary:
            draft.ignored()
            continue
        value = {"role": role, "content": _blocks(records.decoded(parts))}
        draft.took(chat.message(draft, value, key=text(name)))
    for row in database.select("sessions", _TOKENS, "WHERE id = ?", (hit.session_id,)):
        sent, received, plan = row
        draft.tokens_exact = False
        draft.total(count(sent), count(received))
        draft.planned(records.todos(records.decoded(plan)) or ())
    if database.columns("files"):
        paths = database.select("files", ("path",), "WHERE session_id = ? ORDER BY rowid", (hit.session_id,))
        for (path,) in paths:
            draft.touched(text(path))


_TOKENS = ("prompt_tokens", "completion_tokens", "todos")


def _blocks(parts: object) -> list[Mapping[str, object]]:
    """Its parts, as other agents' blocks are: `{type, data}` unfolded."""
    found = map(mapping, items(parts))
    return [{**mapping(part.get("data")), "type": text(part.get("type"))} for part in found]


SIGNATURE = Signature(
    executables=("crush",),
    packages=("@charmland/crush",),
    store=r"^(?P<home>/.+)/\.crush/crush\.db$",
    session_options=("--session", "-s"),
    helpers="login logout models dirs projects logs schema stats session update-providers completion "
    "--version -v --help -h",
)
"""How its processes look; it holds the database of its folder open."""

STORE = DatabaseStore(name="crush", where=_where, listed=_listed, fold=_session)
