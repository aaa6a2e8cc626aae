"""Which agents' own sessions hub can read.

Owns: the agents by name, importing the `Store` of one when it is asked for, the search of all of them, and what moves
them.
Must not: open a file, or know any one agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module

import attrs

from hub.domain.config.reader import AGENTS, OPT_IN
from hub.domain.detection.intel import GLANCE, CallEnd, Gap, Limits, SessionIntel, StoreHit, Unreadable
from hub.providers.store import Files, Store

DRIVEN: Mapping[str, str] = {name: title for name, title in AGENTS.items() if name not in OPT_IN}
"""Agents that hub can also run, with their display names."""
DETECTED: Mapping[str, str] = {
    "cursor": "Cursor",
    "antigravity": "Antigravity",
    "amp": "Amp",
    "pi": "Pi",
    "kimi": "Kimi Code",
    "droid": "Droid",
    "cline": "Cline",
    "roo": "Roo Code",
    "kilo": "Kilo Code",
    "goose": "Goose",
    "crush": "Crush",
}
"""Agents that hub only detects, with the names people know them by."""


@attrs.frozen
class Search:
    """What a search has found.

    Attributes:
        hits: Every session that was written since the given time, the newest first, each once.
        skipped: What was not searched, and why: the hits may lack some of its sessions.
    """

    hits: tuple[StoreHit, ...]
    skipped: tuple[Gap, ...] = ()


class _Asked(Mapping[str, str]):
    """An empty environment that remembers what was looked for."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@cache
def variables() -> frozenset[str]:
    """The environment variables that may move any agent's sessions. Imports every store."""
    asked = _Asked()
    for store in map(load, names()):
        store.locations("/", asked)
    return frozenset(asked.names)


def names() -> Sequence[str]:
    """The names of all agents whose sessions can be read. Imports none of them."""
    return (*DRIVEN, *DETECTED)


@cache
def load(name: str) -> Store:
    """The store of the agent of this name.

    Raises:
        KeyError: There is none.
    """
    if name not in names():
        raise KeyError(name)
    store: Store = import_module(f"hub.providers.{name}.store").STORE
    return store


def search(
    files: Files,
    home: str,
    env: Mapping[str, str],
    since_ns: int,
    *,
    folders: Sequence[str] = (),
    only: Iterable[str] | None = None,
) -> Search:
    """The sessions that any agent's store has of this time.

    Args:
        files: The machine's.
        home: The user's home directory.
        env: The environment that says where agents keep their things.
        since_ns: Epoch nanoseconds.
        folders: Folders that agents are known to work in, for those which keep their sessions there.
        only: Names of agents; None = all.
    """
    found: dict[
        tuple[str, str, str], StoreHit
    ] = {}  # by provider, place and session: formats leave copies behind
    skipped = []
    for agent in names() if only is None else only:
        store = load(agent)
        for place in dict.fromkeys(store.locations(home, env, folders)):
            try:
                for hit in store.find(files, place, since_ns):
                    name = (hit.provider, hit.root, hit.session_id or hit.path)
                    if name not in found or found[name].mtime_ns < hit.mtime_ns:
                        found[name] = hit
            except Unreadable as why:
                skipped.append(Gap(agent, place.root, str(why)))
    ordered = sorted(found.values(), key=lambda hit: hit.mtime_ns, reverse=True)
    return Search(tuple(ordered), tuple(skipped))


def read(hit: StoreHit, files: Files, limits: Limits = GLANCE) -> SessionIntel:
    """What this session tells. Never raises for what a store holds: what went wrong is the alarm."""
    return load(hit.provider).read(hit, files, limits)


def calls_ended(
    files: Files, name: str, session_id: str, env: Mapping[str, str], *, since_ns: int, limits: Limits
) -> Sequence[CallEnd]:
    """How the calls of one session ended, by the store of the agent of this name.

    Raises:
        Unreadable: It is not there, or is damaged.
    """
    found = search(files, env.get("HOME", "/"), env, since_ns, only=[name])
    for hit in found.hits:
        if hit.session_id not in ("", session_id):
            continue
        intel = read(hit, files, limits)
        if intel.session_id == session_id:
            if intel.alarm:
                raise Unreadable(intel.alarm)
            return intel.ends
    raise Unreadable(next((one.why for one in found.skipped), "it was not found."))
