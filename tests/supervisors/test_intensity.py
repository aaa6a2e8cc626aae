"""The sliding window (row 11)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supervisors import EventKind
from supervisors.plan import Intensity
from tests.trees import Scripted

times = st.lists(st.integers(0, 200), max_size=40).map(sorted)


@given(times, st.integers(0, 6), st.integers(1, 30))
def test_it_agrees_with_the_definition(moments: list[int], limit: int, period: int) -> None:
    """Allowed iff at most `limit` of all restarts so far lie within the last `period`, both ends included."""
    window = Intensity(limit, period)
    for index, now in enumerate(moments):
        within = [moment for moment in moments[: index + 1] if moment >= now - period]
        assert window.allow(now) is (len(within) <= limit)


@given(st.integers(1, 6), st.integers(1, 30), st.integers(0, 100))
def test_slower_than_the_limit_is_allowed_for_ever(limit: int, period: int, start: int) -> None:
    window = Intensity(limit, period)
    assert all(window.allow(start + (period + 1) * (number // limit)) for number in range(50))


async def test_one_window_a_supervisor(supervise) -> None:
    """Row 11: restarts of different children count together (triotp counts each child alone)."""
    one, two = Scripted("one"), Scripted("two")
    async with supervise(one.spec(), two.spec(), intensity=1) as sup:
        one.end(ValueError("boom"))
        await sup.recorder.wait(EventKind.STARTED, "one", count=2)
        two.end(ValueError("boom"))
        end = await sup.exit()
    assert "more than 1 restarts within 5 s" in str(end)
    assert sup.recorder.of(EventKind.INTENSITY)[0].path == "root/sup"
