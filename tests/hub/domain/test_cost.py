"""The bill: agents' own figures first, a list of prices for the rest, and no missing price taken for nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.cost import Budget, Meter, Tokens, UnpricedTokens, bill

PRICES = {"good": 5}


def price(spent: UnpricedTokens) -> int | None:
    """So many millionths of a dollar a token."""
    rate = PRICES.get(spent.model)
    return None if rate is None else rate * (spent.tokens.tokens_in + spent.tokens.tokens_out)


def metered(*events) -> Meter:
    meter = Meter()
    for event in events:
        meter.feed({"provider": "codex", **event})
    return meter


def test_an_agents_own_figure_is_the_cost():
    found = bill([metered({"tokensIn": 10, "tokensOut": 1, "costUsdMicros": 1685, "model": "good"})], price)
    assert (found.micros, found.usd, found.sources, found.unpriced) == (1685, 0.001685, ("agent",), ())


def test_what_no_agent_priced_is_priced_by_the_list():
    found = bill([metered({"tokensIn": 10, "tokensOut": 2, "model": "good"})], price)
    assert (found.micros, found.sources) == (60, ("prices",))


def test_a_model_without_a_price_is_named_and_not_free():
    found = bill([metered({"tokensIn": 10, "model": "strange"}, {"tokensOut": 1})], price)
    assert (found.usd, found.unpriced, found.sources) == (None, ("", "strange"), ())
    both = bill(
        [metered({"tokensIn": 10, "model": "strange"}), metered({"tokensIn": 1, "model": "good"})], price
    )
    assert (both.usd, both.unpriced) == (5e-6, ("strange",))


def test_nothing_used_costs_nothing():
    found = bill([metered({"model": "strange"})], price)
    assert (found.usd, found.unpriced) == (0, ())


def test_the_cost_of_a_turn_is_that_of_what_was_told_of_it_while_it_went_on():
    under_way = {"tokensIn": 10, "model": "good", "lowerBound": True}
    assert bill([metered(under_way)], price).micros == 50, "it was killed: nothing tells more"
    meter = metered(under_way, {"tokensIn": 2, "tokensOut": 4, "model": "good", "costUsdMicros": 70})
    assert meter.tokens == Tokens(12, 4)
    assert bill([meter], price).micros == 70


def test_requests_of_one_size_are_priced_together_and_long_ones_apart():
    """A maker that charges more beyond 200,000 tokens charges a long request, not the sum of short ones."""
    step = {"model": "good", "request": True}
    meter = metered({"tokensIn": 50_000, **step}, {"tokensIn": 60_000, **step}, {"tokensIn": 250_000, **step})
    assert [(s.tokens.tokens_in, s.requests) for s in meter.open()] == [(110_000, 2), (250_000, 1)]
    assert [s.requests for s in metered({"tokensIn": 350_000, "model": "good"}).open()] == [4]


@given(
    st.lists(st.fixed_dictionaries({"tokensIn": st.integers(0, 10**6), "tokensOut": st.integers(0, 10**5)}))
)
def test_whatever_is_used_is_on_the_bill(events):
    """Nothing is lost between the meter and the bill."""
    found = bill([metered(*({**event, "model": "good"} for event in events))], price)
    assert found.micros == 5 * (found.tokens.tokens_in + found.tokens.tokens_out)
    assert found.tokens.tokens_in == sum(event["tokensIn"] for event in events)


@pytest.mark.parametrize(
    ("budget", "usd", "tokens", "extended", "said"),
    [
        (Budget(), 1e9, 10**9, 0, ""),
        (Budget(max_cost=5), 4.99, 10**9, 0, ""),
        (Budget(max_cost=5), None, 10**9, 0, ""),
        (Budget(max_cost=5), 5.0, 0, 0, "5.00 of 5.00 US dollars are used up (maxCost)"),
        (Budget(max_cost=5), 9.99, 0, 1, ""),
        (Budget(max_cost=5), 10.5, 0, 1, "10.50 of 10.00 US dollars are used up (maxCost)"),
        (Budget(max_tokens=1000), None, 999, 0, ""),
        (Budget(max_tokens=1000), None, 1200, 0, "1,200 of 1,000 tokens are used up (maxTokens)"),
        (Budget(max_cost=5, max_tokens=1000), 1, 3000, 2, "3,000 of 3,000 tokens are used up (maxTokens)"),
    ],
)
def test_when_it_is_used_up(budget, usd, tokens, extended, said):
    assert budget.used_up(usd, tokens, extended) == said
    assert budget.capped is (budget != Budget())


@pytest.mark.parametrize(
    ("budget", "usd", "tokens", "times"),
    [
        (Budget(), 1e9, 10**9, 0),
        (Budget(max_tokens=1000), None, 2300, 2),
        (Budget(max_cost=5), 16.0, 10**9, 3),
        (Budget(max_cost=5, max_tokens=1000), None, 999, 0),
        (Budget(max_cost=0.1, max_tokens=10), 0.35, 20, 3),
    ],
)
def test_a_step_over_several_caps_is_one_question(budget, usd, tokens, times):
    """One answer's tokens passed two caps at once, and a yes to the first was followed by the next question."""
    assert budget.times(usd, tokens) == times
    assert budget.used_up(usd, tokens, times) == ""
    assert not times or budget.used_up(usd, tokens, times - 1)
