"""What all sessions on this machine have used, whoever started them.

Owns: where accounts keep sessions, which of these are counted, how exactly, and the sum.
Must not: price anything, or be used where threads run (see `hub.io.processes.workers`).

Where sessions hold copies of each other's answers every byte of them is read (`hub.usage.counting`); elsewhere
a session sums itself up, and what it tells at its ends is taken. Both is shared out among as many processes as there are
processors.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import msgspec

from hub.domain.accounts.account import Account
from hub.domain.config.reader import Config
from hub.domain.detection.intel import StoreHit
from hub.io.processes.workers import Crew, processors
from hub.io.stores import StoreFiles
from hub.providers import stores
from hub.providers.claude.totals import Sum
from hub.providers.provider import Provider
from hub.usage.counting import AGENT, PROCESSES, WALK, Count


@attrs.frozen
class Moved:
    """An agent, and an environment in which it keeps its sessions elsewhere."""

    provider: str
    env: Mapping[str, str]


def moved(
    config: Config,
    providers: Mapping[str, Provider],
    env: Mapping[str, str],
    made: Mapping[str, Iterable[Path]],
) -> Iterator[Moved]:
    """Each account's environment. Imports the agents that have such an account, and no other.

    Args:
        config: Names accounts.
        providers: The agents, by name.
        env: The user's own environment.
        made: Folders that hub made for accounts, by the agent's name; their accounts may stand in another project.
    """
    for name in stores.names():
        if name not in providers:
            continue
        named = (
            Path(account.config_dir).expanduser() for account in config.accounts(name) if account.config_dir
        )
        for folder in dict.fromkeys((*named, *made.get(name, ()))):
            account = Account(folder.name, str(folder))
            yield Moved(name, {**env, **providers[name].account_env(account)})


@attrs.frozen
class UsageRow:
    """What the sessions of one agent used with one model.

    Attributes:
        cached_in: Those of the input tokens that were read from a cache; None = not known, nor those written to it.
        exact: Whether all of every session was counted; otherwise it is a lower bound.
    """

    provider: str
    model: str
    tokens_in: int
    tokens_out: int
    cached_in: int | None = None
    cache_write_in: int | None = None
    exact: bool = attrs.field(default=True, kw_only=True)


@attrs.define
class _Told:
    """What one process has found, for another."""

    rows: list[UsageRow]
    gaps: list[str]


class _Sums:
    """What sessions that sum themselves up tell."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files
        self.gaps: list[str] = []
        self._rows: dict[tuple[str, str], UsageRow] = {}

    @property
    def rows(self) -> list[UsageRow]:
        """The sums."""
        return list(self._rows.values())

    def count(self, hits: Iterator[StoreHit]) -> bytes:
        """All of these, for `merge` in another process."""
        for hit in hits:
            intel = stores.read(hit, self._files)
            if intel.alarm:
                self.gaps.append(f"{hit.path}: {intel.alarm}")
            used = (intel.tokens_in, intel.tokens_out)
            if any(used) or not intel.tokens_exact:
                self._add(UsageRow(hit.provider, intel.model, *used, exact=intel.tokens_exact))
        return msgspec.msgpack.encode(_Told(self.rows, self.gaps))

    def merge(self, told: bytes) -> None:
        """What another process has counted."""
        found = msgspec.msgpack.decode(told, type=_Told)
        for row in found.rows:
            self._add(row)
        self.gaps += found.gaps

    def _add(self, row: UsageRow) -> None:
        name = (row.provider, row.model)
        if (known := self._rows.get(name)) is not None:
            row = attrs.evolve(
                row,
                tokens_in=known.tokens_in + row.tokens_in,
                tokens_out=known.tokens_out + row.tokens_out,
                exact=known.exact and row.exact,
            )
        self._rows[name] = row


def used(
    count: Count, home: str, env: Mapping[str, str], since_ns: int, moved: Sequence[Moved]
) -> tuple[list[UsageRow], list[str]]:
    """What the sessions that were written since then have used, all of each; and why something may be missing.

    By agent and model, the largest of an agent first.

    Args:
        count: What counts whole files, begun with the same home, environment and time.
        home: The user's home directory.
        env: The environment that says where agents keep their things.
        since_ns: Epoch nanoseconds; 0 = all there are.
        moved: Where else they keep them. A file that is reached in two ways counts once.
    """
    count.begin(home, [one.env for one in moved if one.provider == AGENT], since_ns)
    files = StoreFiles(walk_seconds=WALK)
    hits, gaps = _others(files, home, env, since_ns, moved)
    sums = _Sums(files)
    with Crew(hits, sums.count, processors(PROCESSES)) as crew:
        for told in crew.told():
            sums.merge(told)
    found, unread = count.sum(), []
    rows = [*sums.rows, *_split(found)]
    if found.unreadable:
        many = "" if found.unreadable == 1 else "s"
        unread.append(f"{found.unreadable:,} record{many} of {AGENT} could not be read.")
    rows.sort(key=lambda row: (row.provider, -row.tokens_in, row.model))
    return rows, [*gaps, *sums.gaps, *count.gaps, *unread]


def _split(found: Sum) -> Iterator[UsageRow]:
    for model, (out, fresh, written, cached) in found.models.items():
        used = (fresh + written + cached, out, cached, written)
        if any(used):  # else it is the program's own words, under the name of a model that is none
            yield UsageRow(AGENT, model, *used, exact=not found.unreadable)


def _others(
    files: StoreFiles, home: str, env: Mapping[str, str], since_ns: int, moved: Sequence[Moved]
) -> tuple[list[StoreHit], list[str]]:
    """The sessions that sum themselves up, each once, and why some may be missing."""
    each = [name for name in stores.names() if name != AGENT]
    searches = [stores.search(files, home, env, since_ns, only=each)]
    searches += [
        stores.search(files, home, one.env, since_ns, only=[one.provider])
        for one in moved
        if one.provider in each
    ]
    hits: dict[object, StoreHit] = {}
    for hit in (hit for search in searches for hit in search.hits):
        hits.setdefault((hit.provider, hit.session_id, _identity(hit.path)), hit)
    gaps = [skipped.why for search in searches for skipped in search.skipped]
    return list(hits.values()), list(dict.fromkeys(gaps))


def _identity(path: str) -> object:
    """What is the same of a file under all its names."""
    try:
        known = os.stat(path)  # noqa: PTH116  # a text, not a Path, is asked for
    except OSError:
        return path
    return known.st_dev, known.st_ino
