"""OpenCode's quota besides its stream: what OpenRouter tells of the key OpenCode was given, and what its database tells.

Owns: `CLIENT` and `SPENT`.
Must not: open the database, or look for a key elsewhere than in OpenCode's own login file.

The database holds tokens and costs, and no quota of anybody's. A usage limit that OpenCode meets is in its stream, with the
reset where the maker told one. For any other maker's key a cap declared in `hub.toml` is all there is.

Each answer of a model is a part `step-finish`, a row that is made once and never changed; a session's row is written
after it. Sessions of subagents are sessions like any other.

Tests: tests/hub/providers/test_quota_clients.py, tests/hub/actors/detector/test_meter.py
"""

from __future__ import annotations

from collections.abc import Sequence

from hub.domain.quota.elsewhere import Used
from hub.providers import jsonline, openrouter, records
from hub.providers.jsonline import count, integer, mapping, text
from hub.providers.quota import SpentStep, SpentStore
from hub.providers.store import Database


def _key(login: bytes) -> str:
    return jsonline.text(jsonline.mapping((jsonline.read(login) or {}).get("openrouter")).get("key"))


CLIENT = openrouter.client(_key, home=".local/share", account="data", credentials="opencode/auth.json")


_SINCE = """WHERE session_id IN (SELECT id FROM session WHERE time_updated >= ?1) AND time_created >= ?1
 AND data LIKE '%"step-finish"%' ORDER BY time_created"""


def rows(database: Database, since_ms: int) -> Sequence[SpentStep]:
    """The steps since then, oldest first."""
    folders = dict(database.select("session", ("id", "directory"), "WHERE time_updated >= ?", (since_ms,)))
    found = database.select("part", ("id", "session_id", "time_created", "data"), _SINCE, (since_ms,))
    steps = (
        _step(text(name), integer(at), data, text(folders.get(session))) for name, session, at, data in found
    )
    return [step for step in steps if step is not None]


def _step(name: str, at_ms: int | None, data: object, folder: str) -> SpentStep | None:
    part = mapping(records.decoded(data))
    used, cache = mapping(part.get("tokens")), mapping(mapping(part.get("tokens")).get("cache"))
    tokens = sum(count(used.get(kind)) for kind in ("input", "output", "reasoning"))
    tokens += sum(count(cache.get(kind)) for kind in ("read", "write"))
    if part.get("type") != "step-finish" or at_ms is None or not tokens:
        return None
    return SpentStep(at_ms, folder, Used(name, at_ms / 1000, tokens))


SPENT = SpentStore(suffix=".db", rows=rows)
