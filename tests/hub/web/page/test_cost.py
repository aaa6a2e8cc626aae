"""What each agent's sessions have cost."""

from hub.api.convert import structure
from hub.api.session import Cost
from hub.web.page.ask import Failed
from hub.web.page.cost import sums
from tests.hub.web.fake import COST
from tests.hub.web.page.test_board import session


def cost(**more):
    return structure({**COST, **more}, Cost)


def test_the_sum_of_an_agent_leaves_out_what_has_no_price():
    """Nothing known is not nothing spent."""
    rows = [
        (session("s-1"), cost(provider="a", sessionUsd=0.5, tokensIn=10, tokensOut=0)),
        (session("s-2"), cost(provider="a", sessionUsd=None, tokensIn=10, tokensOut=10)),
        (session("s-3"), cost(provider="b", sessionUsd=None, tokensIn=5, tokensOut=0)),
        (session("s-4"), Failed("gone", "")),
    ]
    assert [(one.provider, one.sessions, one.usd, one.tokens, one.share) for one in sums(rows)] == [
        ("a", 2, 0.5, 30, 1.0),
        ("b", 1, None, 5, 5 / 30),
    ]
    assert sums([]) == []
