"""OpenCode: the sessions it keeps.

Owns: where they lie, and their reading, of both of its forms.
Must not: open a file.

One SQLite database for all sessions, `<data>/opencode/opencode.db`; before that a tree of JSON files: the session's
names its folder, each message is a file in a folder of the session's name, each of its parts one in a folder of the
message's name, and names sort by the time they were made. What
surprises: the file's own time stands still while the program writes, for what is new is in the log beside it, so the
sessions' own times tell; `run` puts quotes around a prompt; a message's usage is a step's, and the session's row has
the sum.

Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from glob import escape

import attrs

from hub.domain.detection.intel import Limits, Place, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.domain.text.patterns import late
from hub.providers import records
from hub.providers.jsonline import count, integer, items, mapping, text
from hub.providers.places import kept_by, named
from hub.providers.store import Database, DatabaseStore, DocumentStore, Files, KindStore, document, stem

_LEFT_BEHIND = late(r"(?:^|/)__pycache__/|\.py[co]$")
_QUIET = frozenset(
    {"step-start", "step-finish", "reasoning", "snapshot", "file", "agent", "subtask", "retry", "compaction"}
)


def message(draft: IntelDraft, name: str, value: Mapping[str, object], parts: Sequence[object]) -> None:
    """One message and its parts; each is a record."""
    role = text(value.get("role"))
    if role not in ("user", "assistant"):
        draft.unknown(f"message/{role}")
        return
    used, cache = mapping(value.get("tokens")), mapping(mapping(value.get("tokens")).get("cache"))
    if role == "assistant":
        draft.model = text(value.get("modelID")) or draft.model
        fresh = count(used.get("input")) + count(cache.get("read")) + count(cache.get("write"))
        draft.used(name, fresh, count(used.get("output")) + count(used.get("reasoning")))
    draft.took()
    words = [_part(draft, mapping(part)) for part in parts]
    said = "\n\n".join(word for word in words if word.strip())
    draft.said(role, _unquoted(said) if role == "user" else said, key=name)


def _part(draft: IntelDraft, part: Mapping[str, object]) -> str:
    """What a part of a message tells; its words, if it has some."""
    kind = text(part.get("type"))
    if kind == "text" and part.get("synthetic") is not True:
        draft.took()
        return text(part.get("text"))
    if kind == "tool":
        state = mapping(part.get("state"))
        _tool(draft, part, state)
        if text(state.get("status")) != "error":
            records.called(draft, text(part.get("tool")), state.get("input"))
        draft.took()
    elif kind == "patch":
        # A snapshot lists every file that is another one, also what an interpreter left behind when it ran.
        for path in items(part.get("files")):
            if not _LEFT_BEHIND().search(text(path)):
                draft.touched(text(path))
        draft.took()
    elif kind == "text" or kind in _QUIET:
        draft.ignored()
    else:
        draft.unknown(f"part/{kind}")
    return ""


def _tool(draft: IntelDraft, part: Mapping[str, object], state: Mapping[str, object]) -> None:
    key, status = text(part.get("callID")), text(state.get("status"))
    records.began(draft, key, part.get("tool"), state.get("input"))
    if status in ("completed", "error"):
        code = integer(mapping(state.get("metadata")).get("exit"))
        words = text(state.get("output")) or text(state.get("error"))
        draft.ended(key, words, exit_code=code, failed=status == "error")


def _unquoted(words: str) -> str:
    inner = words[1:-1]
    return inner if len(words) > 1 and words[0] == words[-1] == '"' and '"' not in inner else words


def _fold_tree(value: Mapping[str, object], draft: IntelDraft) -> None:
    """The session's own file."""
    draft.cwd = text(value.get("directory"))
    draft.took()


def _below(hit: StoreHit, draft: IntelDraft, files: Files, limits: Limits) -> None:
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


SIGNATURE = Signature(
    executables=("opencode", "opencode.exe"),
    packages=("opencode-ai",),
    program="opencode",
    home="XDG_DATA_HOME",
    default_home=".local/share/opencode",
    below="opencode",
    store=r"^(?P<home>/.+/opencode)/opencode\.db$",
    session_options=("--session", "-s"),
    helpers="auth providers models mcp upgrade uninstall export stats db debug session agent github attach "
    "--version -v --help -h",
    surfaces={"serve": "server", "web": "server", "acp": "editor"},
)
"""How its processes look; it holds its database open."""
_SESSION = ("id", "parent_id", "directory", "time_updated")
_SUMS = ("tokens_input", "tokens_cache_read", "tokens_cache_write", "tokens_output", "tokens_reasoning")


def _listed(database: Database, whole: StoreHit, since_ns: int) -> Iterator[StoreHit]:
    """The sessions of people; those of subagents have a parent."""
    rows = database.select("session", _SESSION, "WHERE time_updated >= ?", (since_ns // 1_000_000,))
    for name, above, folder, updated in rows:
        if not above:
            time_ns = (integer(updated) or 0) * 1_000_000
            yield attrs.evolve(whole, session_id=text(name), cwd=text(folder), mtime_ns=time_ns)


def _rows(database: Database, hit: StoreHit, draft: IntelDraft) -> None:
    """All of one session."""
    ours = "WHERE session_id = ? ORDER BY time_created, id"
    parts: dict[str, list[object]] = {}
    for name, data in database.select("part", ("message_id", "data"), ours, (hit.session_id,)):
        parts.setdefault(text(name), []).append(records.decoded(data))
    for name, data in database.select("message", ("id", "data"), ours, (hit.session_id,)):
        message(draft, text(name), mapping(records.decoded(data)), parts.pop(text(name), ()))
    for orphan in parts.values():
        for _ in orphan:
            draft.damaged()
    if database.columns("todo"):
        steps = "WHERE session_id = ? ORDER BY position"
        draft.planned(
            (text(step), text(state))
            for step, state in database.select("todo", ("content", "status"), steps, (hit.session_id,))
        )
    for row in database.select("session", _SUMS, "WHERE id = ?", (hit.session_id,)):
        fresh, read, written, out, thought = map(count, row)
        if fresh + read + written + out + thought:
            draft.total(fresh + read + written, out + thought)


def store(name: str, signature: Signature, file: str) -> KindStore:
    """The store of an agent that keeps its sessions as OpenCode does, in this database."""
    return KindStore(
        {
            "database": DatabaseStore(
                name=name, where=kept_by(signature, (file,)), listed=_listed, fold=_rows
            ),
            "tree": DocumentStore(
                name=name,
                where=kept_by(signature, ("storage", "session", "*", "ses_*.json")),
                named=named(),
                fold=_fold_tree,
                after=_below,
            ),
        }
    )


STORE = store("opencode", SIGNATURE, "opencode.db")
