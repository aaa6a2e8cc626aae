"""What all sessions on this machine have used, whoever started them.

Owns: which sessions are counted, how exactly, and the sum.
Must not: price anything, or be used where threads run (see `hub.io.shares`).

Where sessions hold copies of each other's answers every byte of them is read, by as many processes as there are
processors; elsewhere a session sums itself up, and what it tells at its ends is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import msgspec

from hub.domain.cost import Tokens
from hub.domain.detection.intel import WHOLE, StoreHit, Unreadable
from hub.io.shares import processors, shared
from hub.io.stores import StoreFiles
from hub.providers import stores
from hub.providers.store import Totals

_WALK = 60.0
"""Seconds for one place: whoever asks for everything can wait."""
_PIECE = 256 * 1024
"""Bytes that are read at once; a processor's own cache holds them."""
_PROCESSES = 4


@attrs.frozen(kw_only=True)
class Row:
    """What the sessions of one agent used with one model.

    Attributes:
        split: Whether it is known how many input tokens were read from a cache and written to it.
        exact: Whether all of every session was counted; otherwise it is a lower bound.
    """

    provider: str
    model: str
    tokens: Tokens
    split: bool
    exact: bool

    def to_json(self) -> dict[str, Any]:
        """As it is shown."""
        return {
            "provider": self.provider,
            "model": self.model,
            "tokensIn": self.tokens.tokens_in,
            "tokensOut": self.tokens.tokens_out,
            "cachedIn": self.tokens.cached_in if self.split else None,
            "cacheWriteIn": self.tokens.cache_write_in if self.split else None,
            "exact": self.exact,
        }


@attrs.frozen
class Usage:
    """What was found.

    Attributes:
        rows: By agent and model, the largest of an agent first.
        gaps: Why something may be missing, in words.
    """

    rows: tuple[Row, ...]
    gaps: tuple[str, ...] = ()


class _Told(msgspec.Struct, array_like=True):
    """What one process has found, for another."""

    totals: dict[str, bytes]
    sums: list[tuple[str, str, int, int, bool]]
    gaps: list[str]


class _Sums:
    """What was counted so far."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files
        self._gaps: list[str] = []
        self._totals: dict[str, Totals | None] = {}
        self._sums: dict[tuple[str, str], tuple[Tokens, bool]] = {}

    def count(self, hits: Iterator[StoreHit]) -> None:
        """All of these."""
        for hit in hits:
            if (totals := self._totals_of(hit.provider)) is not None:
                self._whole(hit, totals)
            else:
                self._ends(hit)

    def told(self) -> bytes:
        """All that was counted, for `merge` in another process."""
        sums = [(*name, told.tokens_in, told.tokens_out, exact) for name, (told, exact) in self._sums.items()]
        seen = {name: totals.seen() for name, totals in self._totals.items() if totals is not None}
        return msgspec.msgpack.encode(_Told(seen, sums, self._gaps))

    def merge(self, told: bytes) -> None:
        """What another process has counted."""
        found = msgspec.msgpack.decode(told, type=_Told)
        for name, seen in found.totals.items():
            if (totals := self._totals_of(name)) is not None:
                totals.merge(seen)
        for provider, model, tokens_in, tokens_out, exact in found.sums:
            self._add(provider, model, Tokens(tokens_in, tokens_out), exact=exact)
        self._gaps += found.gaps

    def usage(self, gaps: Sequence[str]) -> Usage:
        """The sum, and these gaps beside its own."""
        rows = [
            Row(provider=provider, model=model, tokens=tokens, split=False, exact=exact)
            for (provider, model), (tokens, exact) in self._sums.items()
        ]
        unread = []
        for provider, totals in self._totals.items():
            if totals is None:
                continue
            exact = not totals.unreadable
            rows += [
                Row(provider=provider, model=model, tokens=tokens, split=True, exact=exact)
                for model, tokens in totals.by_model().items()
            ]
            if not exact:
                many = "" if totals.unreadable == 1 else "s"
                unread.append(f"{totals.unreadable:,} record{many} of {provider} could not be read.")
        rows.sort(key=lambda row: (row.provider, -row.tokens.tokens_in, row.model))
        return Usage(tuple(rows), (*gaps, *self._gaps, *unread))

    def _totals_of(self, provider: str) -> Totals | None:
        if provider not in self._totals:
            summed = stores.summed(provider)
            self._totals[provider] = summed.totals() if summed is not None else None
        return self._totals[provider]

    def _whole(self, hit: StoreHit, totals: Totals) -> None:
        try:
            with self._files.open(hit.root, hit.path, WHOLE) as source:
                for at in range(0, source.size, _PIECE):
                    totals.feed(source.at(at, min(_PIECE, source.size - at)))
        except Unreadable as why:
            self._gaps.append(str(why))
        totals.end()

    def _ends(self, hit: StoreHit) -> None:
        intel = stores.read(hit, self._files)
        if intel.alarm:
            self._gaps.append(f"{hit.path}: {intel.alarm}")
        tokens = Tokens(intel.tokens_in, intel.tokens_out)
        if tokens != Tokens() or not intel.tokens_exact:
            self._add(hit.provider, intel.model, tokens, exact=intel.tokens_exact)

    def _add(self, provider: str, model: str, tokens: Tokens, *, exact: bool) -> None:
        known, all_ = self._sums.get((provider, model), (Tokens(), True))
        self._sums[provider, model] = (known + tokens, all_ and exact)


def used(home: str, env: Mapping[str, str], since_ns: int) -> Usage:
    """What the sessions that were written since then have used, all of each.

    Args:
        home: The user's home directory.
        env: The environment that says where agents keep their things.
        since_ns: Epoch nanoseconds; 0 = all there are.
    """
    files = StoreFiles(walk_seconds=_WALK)
    each = [name for name in stores.names() if stores.summed(name) is None]
    found = stores.search(files, home, env, since_ns, only=each)
    gaps = [one.why for one in found.skipped]
    hits = [*found.hits, *_whole(files, home, env, since_ns, gaps)]
    sums = _Sums(files)
    for told in shared(hits, sums.count, sums.told, processors(_PROCESSES)):
        sums.merge(told)
    return sums.usage(gaps)


def _whole(
    files: StoreFiles, home: str, env: Mapping[str, str], since_ns: int, gaps: list[str]
) -> Iterator[StoreHit]:
    """The files that are read to their last byte."""
    for name in stores.names():
        summed = stores.summed(name)
        for place in summed.where(home, env) if summed is not None else ():
            try:
                for file in files.walk(place, since_ns):
                    yield StoreHit(provider=name, path=file.path, root=place.root, mtime_ns=file.mtime_ns)
            except Unreadable as why:
                gaps.append(str(why))
