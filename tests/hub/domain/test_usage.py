"""What was used and hidden: a fold over the log that gives the same however often it is fed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.cost import Tokens
from hub.domain.event import EventType, Record
from hub.domain.usage import SessionUsage

FIGURES = ("tokensIn", "tokensOut", "cachedIn", "costUsdMicros")
MARK = "[REDACTED:{}:0123abcd]"
usage = st.fixed_dictionaries(
    {"type": st.just(EventType.USAGE), "dispatchId": st.sampled_from(["d-1", "d-2"])},
    optional=dict.fromkeys(FIGURES, st.integers(0, 10**6)),
)


def log(metas):
    return [Record(number, "12:00:00.000", "usage", "", meta) for number, meta in enumerate(metas, 1)]


def used(dispatch, tokens):
    return {"type": EventType.USAGE, "dispatchId": dispatch, "tokensIn": tokens}


def folded(records):
    usage = SessionUsage()
    usage.feed_all(records)
    return usage


@given(st.lists(usage, max_size=12), st.data())
def test_what_is_told_again_is_passed_over(metas, data):
    """A spool is read from its start after a restart: the ids are the same, so the counts are."""
    records = log(metas)
    again = data.draw(st.lists(st.integers(0, len(records)), max_size=4))
    replayed = [each for upto in [*again, len(records)] for each in records[:upto]]
    assert folded(replayed).by_dispatch == folded(records).by_dispatch


def test_the_sum_is_that_of_the_dispatches():
    usage = folded(log([used("d-1", 5), used("d-2", 7), used("d-1", 11)]))
    assert {name: meter.tokens.tokens_in for name, meter in usage.by_dispatch.items()} == {
        "d-1": 16,
        "d-2": 7,
    }
    assert usage.tokens() == Tokens(23)


def test_only_usage_counts():
    """A text with a figure in it is a text."""
    assert folded(log([{**used("d-1", 5), "type": EventType.TEXT}])).tokens() == Tokens()


@pytest.mark.parametrize("nonsense", [None, "12", -5, [], {}])
def test_a_figure_that_is_no_number_counts_for_nothing(nonsense):
    found = folded(log([{**used("d-1", nonsense), "tokensOut": 2}])).tokens()
    assert (found.tokens_in, found.tokens_out) == (0, 2)


def test_redactions_are_counted_by_kind_wherever_they_stand_and_once():
    usage = SessionUsage()
    for _ in range(2):
        usage.count(1, f"a {MARK.format('token')} b {MARK.format('token')}", {"path": MARK.format("aws-key")})
    assert dict(usage.redactions) == {"token": 2, "aws-key": 1}
