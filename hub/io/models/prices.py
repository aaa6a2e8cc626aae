"""What a model's tokens cost, from a list of prices that ships with a library: nothing is asked of the network.

Owns: the question to `genai_prices`.
Must not: be imported for a session whose agents tell their own cost: the list takes a quarter of a second and 26 MB.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.cost import MICROS, Spent

_MAKERS: Mapping[str, str] = {"claude": "anthropic", "codex": "openai", "gemini": "google"}
"""Whose list is looked at first; a model that is not on it may be somebody else's."""


def price(spent: Spent) -> int | None:
    """Millionths of a dollar for the tokens; None for a model that is on no list."""
    from genai_prices import Usage, calc_price  # noqa: PLC0415  # see the module's docstring

    tokens, each = spent.tokens, 1 / spent.requests
    usage = Usage(
        input_tokens=tokens.tokens_in * each,
        output_tokens=tokens.tokens_out * each,
        cache_read_tokens=min(tokens.cached_in, tokens.tokens_in) * each,
        cache_write_tokens=min(tokens.cache_write_in, max(0, tokens.tokens_in - tokens.cached_in)) * each,
    )
    for maker in dict.fromkeys((_MAKERS.get(spent.provider), None)):
        try:
            found = calc_price(usage, spent.model, provider_id=maker)
        except LookupError:
            continue
        return round(float(found.total_price) * spent.requests * MICROS)
    return None
