"""What was used and hidden: a fold over the log that gives the same however often it is fed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hub.actors.session.tally import Tallies
from hub.domain.event import EventType, Record

FIGURES = ("tokensIn", "tokensOut", "cachedIn", "costUsdMicros")
usage = st.fixed_dictionaries(
    {"type": st.just(EventType.USAGE), "dispatchId": st.sampled_from(["d-1", "d-2"])},
    optional={"cumulative": st.booleans(), **dict.fromkeys(FIGURES, st.integers(0, 10**6))},
)


def log(metas):
    return [Record(number, "12:00:00.000", "usage", "", meta) for number, meta in enumerate(metas, 1)]


def folded(records):
    tallies = Tallies()
    for record in records:
        tallies.feed(record)
    return tallies


@given(st.lists(usage, max_size=12), st.data())
def test_what_is_told_again_is_passed_over(metas, data):
    """A spool is read from its start after a restart: the ids are the same, so the counts are."""
    records = log(metas)
    again = data.draw(st.lists(st.integers(0, len(records)), max_size=4))
    replayed = [each for upto in [*again, len(records)] for each in records[:upto]]
    # Each replay begins with the first event, and only the first time of each counts.
    assert folded(replayed) == folded(records)


@given(st.lists(usage, max_size=12))
def test_the_sum_is_that_of_the_dispatches(metas):
    tallies = folded(log(metas))
    total = tallies.total()
    for name in ("tokens_in", "tokens_out", "cached_in", "cost_micros"):
        assert getattr(total, name) == sum(getattr(each, name) for each in tallies.by_dispatch.values())


def test_a_cumulative_figure_replaces_and_a_steps_figure_adds():
    steps = [{"tokensIn": 10}, {"tokensIn": 5}, {"tokensIn": 100, "cumulative": True}, {"tokensIn": 1}]
    found = folded(log({"type": EventType.USAGE, "dispatchId": "d-1", **step} for step in steps))
    assert found.total().tokens_in == 101


def test_what_is_no_count_counts_for_nothing():
    """An agent may write anything."""
    bad = {"tokensIn": "12", "tokensOut": -5, "cachedIn": None, "costUsdMicros": [1]}
    total = folded(log([{"type": EventType.USAGE, "dispatchId": "d-1", **bad}])).total()
    assert (total.tokens_in, total.tokens_out, total.cached_in, total.cost_micros) == (0, 0, 0, 0)


def test_redactions_are_counted_by_kind_wherever_they_stand():
    tallies = Tallies()
    mark = "[REDACTED:{}:0123abcd]"
    tallies.count(1, f"a {mark.format('token')} b {mark.format('token')}", {"path": mark.format("aws-key")})
    tallies.count(1, mark.format("token"), {})
    assert dict(tallies.redactions) == {"token": 2, "aws-key": 1}


def test_a_new_session_begins_at_nothing_and_goes_on_in_the_log():
    """The ids go on, so an old session's event that comes late is still passed over."""
    tallies = folded(log([{"type": EventType.USAGE, "dispatchId": "d-1", "tokensIn": 3}]))
    tallies.clear()
    tallies.count(1, "", {"type": EventType.USAGE, "dispatchId": "d-1", "tokensIn": 3})
    assert tallies.total().tokens_in == 0
    tallies.count(2, "", {"type": EventType.USAGE, "dispatchId": "d-2", "tokensIn": 4})
    assert tallies.total().tokens_in == 4
