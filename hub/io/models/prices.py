"""What a model's tokens cost, from a list of prices that ships with hub: nothing is asked of the network.

Owns: the reading of `prices.json`, which of its prices holds, and the bill by them.
Must not: know a price itself (`nox -s prices` makes the list), or be asked where an agent tells its own cost.
Tests: tests/hub/io/models/test_prices.py
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time
from functools import cache
from pathlib import Path

import attrs
import msgspec
import trio

from hub.domain.cost import MICROS, Bill, Meter, UnpricedTokens, bill

_FILE = Path(__file__).with_name("prices.json")
_MAKERS: Mapping[str, str] = {"claude": "anthropic", "codex": "openai", "gemini": "google"}
"""Whose list is looked at first; a model that is not on it may be somebody else's."""
_MILLION = 1_000_000
_COMPACT = re.compile(r"-(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=[-:]|\Z)")
"""A day at the end of a model's name, as routers write it; makers have dashes in it."""

_Steps = list[tuple[int, float]] | None
"""Dollars for a million tokens: the first number is from how many tokens in a request on."""
_Row = tuple[str, _Steps, _Steps, _Steps, _Steps]
"""When it holds, then input, output, read from a cache, written to one."""


@attrs.frozen
class _Maker:
    """One maker's prices.

    Attributes:
        match: Which models' names are its own.
        also: Makers whose models it offers too.
        models: For each model the form of its names, and its prices; of several that hold the last counts.
    """

    match: str
    also: list[str]
    models: list[tuple[str, list[_Row]]]


@attrs.frozen
class _List:
    makers: dict[str, _Maker]


@cache
def listed() -> _List:
    """The list; read when it is asked for first."""
    return msgspec.json.decode(_FILE.read_bytes(), type=_List)


async def billed(meters: Iterable[Meter]) -> Bill:
    """What they come to. The list is read, beside everything else, where an agent told no cost of its own."""
    kept = [copy.deepcopy(meter) for meter in meters]  # they grow meanwhile
    if not any(meter.open() for meter in kept):
        return bill(kept, lambda _: None)
    return await trio.to_thread.run_sync(bill, kept, price)


def price(spent: UnpricedTokens, now: datetime | None = None) -> int | None:
    """Millionths of a dollar for the tokens; None for a model that is on no list."""
    name = spent.model.lower()
    found = _found(_MAKERS.get(spent.provider), name) or _found(None, name)
    if found is None:
        return None
    tokens, each = spent.tokens, 1 / spent.requests
    read = min(tokens.cached_in, tokens.tokens_in)
    written = min(tokens.cache_write_in, tokens.tokens_in - read)
    _, dear, out, cheap, kept = _holding(found, now or datetime.now(UTC))
    size = tokens.tokens_in * each
    plain = tokens.tokens_in - (read if cheap else 0) - (written if kept else 0)
    dollars = (
        plain * _at(dear, size)
        + tokens.tokens_out * _at(out, size)
        + read * _at(cheap, size)
        + written * _at(kept, size)
    )
    return round(dollars / _MILLION * MICROS)


def _found(maker: str | None, name: str) -> list[_Row] | None:
    """The prices of a model, among its maker's, or among those of whoever has such names."""
    makers = listed().makers
    if maker is None:
        maker = next((one for one, told in makers.items() if re.search(told.match, name)), None)
    if maker is None:
        return None
    lists = [makers[one] for one in (maker, *makers[maker].also)]
    for form in dict.fromkeys((name, _COMPACT.sub(r"-\1-\2-\3", name))):
        for told in lists:
            for pattern, rows in told.models:
                if re.search(pattern, form):
                    return rows
    return None


def _holding(rows: list[_Row], now: datetime) -> _Row:
    return next((row for row in reversed(rows) if _holds(row[0], now)), rows[0])


def _holds(when: str, now: datetime) -> bool:
    if "/" not in when:
        return when <= now.date().isoformat()
    start, end = (time.fromisoformat(part) for part in when.split("/"))
    at = now.time()
    return start <= at < end if start <= end else at >= start or at < end


def _at(steps: _Steps, size: float) -> float:
    """The price for a request of such a size; of what has none it is nothing."""
    if not steps:
        return 0.0
    return next((dollars for start, dollars in reversed(steps) if size > start), steps[0][1])
