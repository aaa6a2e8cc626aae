"""What each day, agent and session has cost."""

from hub.api.costs import Spent
from hub.web.page.cost import sums, total


def spent(session, provider, usd, tokens):
    return Spent(
        day="2026-01-01", session_id=session, provider=provider, usd=usd, priced=usd is not None, tokens_in=tokens,
        tokens_out=0, ended=True,
    )  # fmt: skip


ROWS = [spent("s-1", "a", 0.5, 10), spent("s-2", "a", None, 20), spent("s-2", "b", None, 5)]


def test_what_has_no_price_adds_to_the_tokens_alone():
    """Nothing known is not nothing spent."""
    by_agent = sums(ROWS, lambda one: one.provider)
    assert [(one.name, one.usd, one.tokens, one.share) for one in by_agent] == [
        ("a", 0.5, 30, 1.0),
        ("b", None, 5, 5 / 30),
    ]
    assert [one.tokens for one in sums(ROWS, lambda one: one.session_id)] == [10, 25]
    assert (total(ROWS), total(ROWS[1:]), total([])) == (0.5, None, None)
    assert sums([], lambda one: one.day) == []
