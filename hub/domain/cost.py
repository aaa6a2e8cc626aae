"""What a session has cost: the agents' own figures, and lists of prices for the rest.

Owns: `Tokens`, `UnpricedTokens`, the bill that is made of them, and when a `Budget` is used up.
Must not: know a price, ask anybody, or take a missing one for nothing.

Tokens in are all of them, those read from and written to a cache included; the cached ones are told beside it, for
they cost less, and those written, for they cost more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import attrs

from hub.domain.meta import EventMeta

_BUCKET = 100_000
"""Requests whose input is of one such size are priced together: some makers charge more for a long context."""
_SUM, _BOUND = -1, -2
"""In place of a size: the sum of many requests, and what was told while a turn is under way."""
MICROS = 1_000_000


Source = Literal["agent", "prices"]


@attrs.frozen
class Tokens:
    """Counts of tokens."""

    tokens_in: int = 0
    tokens_out: int = 0
    cached_in: int = 0
    cache_write_in: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(*(a + b for a, b in zip(attrs.astuple(self), attrs.astuple(other), strict=True)))


@attrs.frozen
class UnpricedTokens:
    """Tokens that have to be priced.

    Attributes:
        provider: Whose agent.
        model: The model; "" where nobody told.
        tokens: All of them together.
        requests: In how many requests; where that is not known, as many as keep each of a usual size.
    """

    provider: str
    model: str
    tokens: Tokens
    requests: int = 1


Price = Callable[[UnpricedTokens], "int | None"]
"""Millionths of a dollar; None for a model that has no price."""


@attrs.define
class Meter:
    """The usage of one dispatch: each figure is a step's, and adds."""

    tokens: Tokens = attrs.field(factory=Tokens)
    told_micros: int = 0
    told: bool = False
    """Whether the agent told a cost of its own."""
    _open: dict[tuple[str, str, int], tuple[Tokens, int]] = attrs.field(factory=dict)

    def feed(self, meta: EventMeta) -> None:
        """Count the figures of a usage event."""
        found = Tokens(
            _count(meta.get("tokensIn")),
            _count(meta.get("tokensOut")),
            _count(meta.get("cachedIn")),
            _count(meta.get("cacheWriteIn")),
        )
        self.tokens += found
        if "costUsdMicros" in meta:
            self.told = True
            self.told_micros += _count(meta["costUsdMicros"])
            self._open = {key: open_ for key, open_ in self._open.items() if key[2] != _BOUND}
            return
        # The sum of many requests says nothing of how long each was: it is no long context.
        size = found.tokens_in // _BUCKET if meta.get("request") else _SUM
        if meta.get("lowerBound"):  # the end of the turn tells the rest, and the cost of all
            size = _BOUND
        key = (meta.get("provider", ""), meta.get("model", ""), size)
        before, requests = self._open.get(key, (Tokens(), 0))
        self._open[key] = (before + found, requests + 1)

    def open(self) -> list[UnpricedTokens]:
        """What the agent told no cost of."""
        return [
            UnpricedTokens(
                provider,
                model,
                tokens,
                max(requests, tokens.tokens_in // _BUCKET + 1) if size < 0 else requests,
            )
            for (provider, model, size), (tokens, requests) in self._open.items()
            if tokens != Tokens()
        ]


@attrs.frozen
class Bill:
    """The session's cost.

    Attributes:
        tokens: All of them.
        micros: What is known of the cost, millionths of a dollar.
        sources: `agent` (its own figure) and `prices` (a list of prices), as far as each is in it.
        unpriced: Models of which some tokens have no price; "" is a model nobody named. The cost is more than `micros`.
    """

    tokens: Tokens
    micros: int
    sources: tuple[Source, ...]
    unpriced: tuple[str, ...]

    @property
    def usd(self) -> float | None:
        """Dollars; None where nothing is priced and something was used."""
        return None if self.unpriced and not self.sources else self.micros / MICROS


def bill(meters: Iterable[Meter], price: Price) -> Bill:
    """Add everything up; `price` is asked for what no agent told a cost of."""
    tokens, micros = Tokens(), 0
    sources: dict[Source, None] = {}
    unpriced: dict[str, None] = {}
    for meter in meters:
        tokens += meter.tokens
        micros += meter.told_micros
        if meter.told:
            sources["agent"] = None
        for spent in meter.open():
            found = price(spent)
            if found is None:
                unpriced[spent.model] = None
            else:
                micros += found
                sources["prices"] = None
    return Bill(tokens, micros, tuple(sorted(sources)), tuple(sorted(unpriced)))


def _count(value: object) -> int:
    """A figure an agent told; what is no number counts for nothing."""
    return int(value) if isinstance(value, int | float) and value > 0 else 0


@attrs.frozen
class Budget:
    """The caps of `[session]`; None = any amount."""

    max_cost: float | None = None
    """US dollars."""
    max_tokens: int | None = None

    @property
    def capped(self) -> bool:
        """Whether anything has to be counted."""
        return self.max_cost is not None or self.max_tokens is not None

    def used_up(self, usd: float | None, tokens: int, extended: int) -> str:
        """What is used up, for people; "" = nothing is.

        Args:
            usd: What is known of the cost.
            tokens: In and out.
            extended: How often the user has let the session go on: each time it may use as much again.
        """
        times = extended + 1
        if self.max_cost is not None and usd is not None and usd >= self.max_cost * times:
            return f"{usd:.2f} of {self.max_cost * times:.2f} US dollars are used up (maxCost)"
        if self.max_tokens is not None and tokens >= self.max_tokens * times:
            return f"{tokens:,} of {self.max_tokens * times:,} tokens are used up (maxTokens)"
        return ""

    def times(self, usd: float | None, tokens: int) -> int:
        """How many times over it is used up: who says yes to that is not asked for each of them."""
        costs = 0 if self.max_cost is None or usd is None else int(usd / self.max_cost)
        return max(costs, 0 if self.max_tokens is None else tokens // self.max_tokens)
