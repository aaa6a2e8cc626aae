"""A budget is used up at its cap, and each yes gives as much again."""

import pytest

from hub.domain.budget import Budget


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
