"""The list of prices: cached tokens counted once, caches written counted dearer, and loaded only when needed."""

import subprocess
import sys
from datetime import UTC, datetime

import genai_prices
import genai_prices.data
import pytest

from hub.domain.cost import Meter, Tokens, UnpricedTokens
from hub.io.models.prices import billed, price
from tests import prices


def test_tokens_from_a_cache_are_counted_once_and_cheaper():
    """Codex's input already holds the cached part: 800 at 5 $, 200 at 0.5 $, 100 out at 30 $ a million."""
    assert price(UnpricedTokens("codex", "gpt-5.5", Tokens(1000, 100, 200))) == 4000 + 100 + 3000


def test_tokens_written_to_a_cache_are_dearer():
    """500 at 5 $, 200 read at 0.5 $, 300 written at 6.25 $, 100 out at 25 $ a million."""
    assert (
        price(UnpricedTokens("claude", "claude-opus-4-8", Tokens(1000, 100, 200, 300)))
        == 2500 + 100 + 1875 + 2500
    )


def test_a_long_context_is_dearer_and_many_short_ones_are_not():
    short = price(UnpricedTokens("gemini", "gemini-2.5-pro", Tokens(600_000, 0), requests=6))
    long = price(UnpricedTokens("gemini", "gemini-2.5-pro", Tokens(600_000, 0), requests=2))
    assert short == 750_000
    assert long == 1_500_000


def test_somebody_elses_model_is_found_too():
    """An agent may be pointed at another maker's model."""
    assert price(UnpricedTokens("claude", "gpt-5.5", Tokens(1000))) == 5000
    assert price(UnpricedTokens("opencode", "gpt-5.5", Tokens(1000))) == 5000


@pytest.mark.parametrize("model", ["", "qwen3-coder-plus", "demo", "\N{SNOWMAN}" * 1000])
def test_a_model_on_no_list_has_no_price(model):
    assert price(UnpricedTokens("codex", model, Tokens(1000, 100))) is None


def test_more_cached_than_there_was_is_no_error():
    """Figures come from agents."""
    assert price(UnpricedTokens("codex", "gpt-5.5", Tokens(10, 0, 10**9, 10**9))) == 5


def metered(*events):
    found = []
    for event in events:
        found.append(Meter())
        found[-1].feed(event)
    return found


async def test_a_bill_of_the_agents_own_figures_needs_no_list_of_prices():
    found = await billed(
        metered({"tokensIn": 5, "costUsdMicros": 1200}, {"tokensIn": 5, "costUsdMicros": 34})
    )
    assert (found.micros, found.sources, found.unpriced, found.tokens) == (1234, ("agent",), (), Tokens(10))


async def test_a_model_nobody_knows_has_no_price_and_is_named():
    """A missing price is no price of nothing."""
    found = await billed(metered({"tokensIn": 5, "provider": "demo", "model": "no-such-model"}))
    assert (found.usd, found.unpriced) == (None, ("no-such-model",))


def test_the_list_is_not_read_with_the_daemon():
    """Only a session that needs it pays for it."""
    code = "import hub.app; from hub.io.models.prices import listed; print(listed.cache_info().currsize)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["0"]


def test_the_file_is_made_from_the_list_that_is_installed():
    assert prices.FILE.read_text() == prices.made()


NOON, NIGHT = datetime(2026, 11, 1, 12, tzinfo=UTC), datetime(2026, 1, 31, 20, tzinfo=UTC)


def names(now):
    """Every model of the whole list, and every name that its maker says it may have; at night those with hours of their own."""
    models = [model for provider in genai_prices.data.providers for model in provider.models]
    models = [model for model in models if now is NOON or isinstance(model.prices, list)]
    found = {model.id for model in models}

    def of(clause):
        for part in (*getattr(clause, "or_", ()), *getattr(clause, "and_", ())):
            of(part)
        found.update(text for text in vars(clause).values() if isinstance(text, str))

    for model in models:
        of(model.match)
    return sorted(found | {f"{name}-20251211" for name in found})


@pytest.mark.parametrize("now", [NOON, NIGHT])
@pytest.mark.parametrize(
    ("provider", "maker"),
    [("opencode", None), ("claude", "anthropic"), ("codex", "openai"), ("gemini", "google")],
)
def test_it_says_what_the_list_says(provider, maker, now):
    """For every name there is, some with a long context and some at night: genai-prices is the judge.

    Where a maker is asked first it is asked for every fourth of them: they are looked up in the same list.
    """
    priced = 0
    for number, name in enumerate(names(now)[:: 4 if maker else 1]):
        tokens = Tokens(1000 * (1 + number % 400), 100, 10 * (number % 7), 10 * (number % 3))
        found = price(UnpricedTokens(provider, name, tokens), now)
        usage = genai_prices.Usage(
            input_tokens=tokens.tokens_in,
            output_tokens=tokens.tokens_out,
            cache_read_tokens=tokens.cached_in,
            cache_write_tokens=tokens.cache_write_in,
        )
        wanted = None
        for asked in dict.fromkeys((maker, None)):
            try:
                told = genai_prices.calc_price(usage, name, provider_id=asked, genai_request_timestamp=now)
            except LookupError:
                continue
            wanted = round(float(told.total_price) * 1_000_000)
            break
        assert found == wanted or abs(found - wanted) <= 1, (name, found, wanted)
        priced += found is not None
    assert priced > (500 if now is NOON else 50) / (4 if maker else 1)
