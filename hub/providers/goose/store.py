"""Goose: the sessions it keeps.

Owns: where they lie, and the reading of both generations of them.
Must not: open a file.

First a file of lines a session, `<data>/goose/sessions/<session>.jsonl` (a head, then its messages), then one database
beside them, `sessions.db`. What surprises: a tool's name begins with its server's; the same tool reads and writes; a
message may be hidden from the user, and is then the program's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from hub.domain.detection.intel import Place, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat, records
from hub.providers.grammar import Grammar
from hub.providers.homes import home_of
from hub.providers.jsonline import count, items, mapping, text
from hub.providers.places import named
from hub.providers.store import Database, DatabaseStore, KindStore, LineStore, Where

_SESSION = ("id", "working_dir", "updated_at", "parent_session_id", "session_type")
_SUMS = (
    "accumulated_input_tokens",
    "accumulated_output_tokens",
    "accumulated_cache_read_tokens",
    "accumulated_cache_write_tokens",
    "model_config_json",
)
_PEOPLE = ("user", "terminal", "acp", None)
_LOOKS = ("view", "undo_edit")
_HEAD = "working_dir"


def _at(pattern: str) -> Where:
    def where(home: str, env: Mapping[str, str], _folders: Sequence[str]) -> Sequence[Place]:
        moved = env.get("GOOSE_PATH_ROOT", "")
        data = home_of(home, env, "XDG_DATA_HOME", ".local/share")
        own = f"{moved}/data" if moved.startswith("/") else f"{data}/goose"
        return [Place(f"{own}/sessions", (pattern,))]

    return where


def _listed(database: Database, whole: StoreHit, since_ns: int) -> Iterator[StoreHit]:
    """The sessions of people."""
    recent = "WHERE CAST(strftime('%s', updated_at) AS INTEGER) >= ?"
    for name, folder, updated, above, kind in database.select(
        "sessions", _SESSION, recent, (since_ns // 10**9,)
    ):
        if not above and kind in _PEOPLE:
            yield attrs.evolve(whole, session_id=text(name), cwd=text(folder), mtime_ns=_time_ns(updated))


def _time_ns(value: object) -> int:
    from datetime import UTC, datetime  # most have no such agent

    try:
        time = datetime.fromisoformat(text(value))
    except ValueError:
        return 0
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()) * 10**9


def _session(database: Database, hit: StoreHit, draft: IntelDraft) -> None:
    for row in database.select("sessions", _SUMS, "WHERE id = ?", (hit.session_id,)):
        *figures, config = row
        sent, received, cached, written = map(count, figures)
        if sent + received:
            draft.total(sent + cached + written, received)
        draft.model = text(mapping(records.decoded(config)).get("model_name"))
    ours = "WHERE session_id = ? ORDER BY created_timestamp, id"
    columns = ("id", "role", "content_json", "metadata_json")
    for name, role, content, about in database.select("messages", columns, ours, (hit.session_id,)):
        value = {"role": role, "content": records.decoded(content), "metadata": records.decoded(about)}
        if not isinstance(value["content"], list):
            draft.damaged()
            continue
        draft.took(_message(draft, value, str(name)))


def _head(draft: IntelDraft, value: Mapping[str, object]) -> None:
    draft.cwd = text(value.get("working_dir"))
    sent, received = (
        count(value.get(f"accumulated_{name}_tokens") or value.get(f"{name}_tokens"))
        for name in ("input", "output")
    )
    if sent + received:
        draft.total(sent, received)


def _message(draft: IntelDraft, value: Mapping[str, object], name: str = "") -> str | None:
    if mapping(value.get("metadata")).get("userVisible") is False:
        return None
    blocks = [_block(draft, mapping(block)) for block in items(value.get("content"))]
    return chat.message(draft, {"role": value.get("role"), "content": blocks}, key=name)


def _block(draft: IntelDraft, block: Mapping[str, object]) -> Mapping[str, object]:
    """A block as other agents have it; its tool's server is told."""
    if block.get("type") not in ("toolRequest", "frontendToolRequest"):
        return block
    call = mapping(mapping(block.get("toolCall")).get("value"))
    server, split, tool = text(call.get("name")).rpartition("__")
    if split:
        draft.mcp(server)
    given = mapping(call.get("arguments"))
    looks = given.get("command") in _LOOKS
    return {"type": "tool_use", "id": block.get("id"), "name": "" if looks else tool, "input": given}


def _kind(value: Mapping[str, object]) -> str:
    return _HEAD if _HEAD in value else text(value.get("role"))


SIGNATURE = Signature(
    executables=("goose", "goosed"),
    store=r"^(?P<home>/.+/sessions)/sessions\.db$",
    home="GOOSE_PATH_ROOT",
    below="data/sessions",
    default_home=".local/share/goose/sessions",
    helpers="configure info mcp bench update completion project projects recipe schedule term doctor local-models "
    "--version -V --help -h postgres mysql sqlite3 mssql clickhouse redshift tidb vertica ydb turso -dir create fix "
    "validate status up up-by-one up-to down down-to redo reset version -version",
    surfaces={"web": "server", "acp": "editor", "serve": "server", "agent": "desktop"},
)
"""How its processes look; it holds its database open. A program of the same name changes databases, and ends."""

STORE = KindStore(
    {
        "database": DatabaseStore(name="goose", where=_at("sessions.db"), listed=_listed, fold=_session),
        "lines": LineStore(
            name="goose",
            where=_at("*.jsonl"),
            named=named(),
            fold=Grammar(kind=_kind, takes={_HEAD: _head, "user": _message, "assistant": _message}).fold,
        ),
    }
)
