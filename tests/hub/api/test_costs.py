"""What each day, agent and session has cost."""

from hub.api.costs import Spent, summed


def spent(session, provider, usd, tokens):
    return Spent(
        day="2026-01-01", session_id=session, provider=provider, usd=usd, priced=usd is not None, tokens_in=tokens,
        tokens_out=0, ended=True,
    )  # fmt: skip


ROWS = [spent("s-1", "a", 0.5, 10), spent("s-2", "a", None, 20), spent("s-2", "b", None, 5)]


def test_what_has_no_price_adds_to_the_tokens_alone():
    """Nothing known is not nothing spent."""
    by_agent = summed(ROWS, lambda one: one.provider)
    assert [(one.name, one.usd, one.whole, one.tokens, one.sessions) for one in by_agent] == [
        ("a", 0.5, False, 30, 2),
        ("b", None, False, 5, 1),
    ]
    assert [one.tokens for one in summed(ROWS, lambda one: one.session_id)] == [10, 25]
    assert summed([], lambda one: one.day) == []
