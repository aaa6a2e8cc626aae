"""The one timestamp format."""

from hypothesis import given
from hypothesis import strategies as st

from hub.domain.wallclock import iso


def test_iso_is_utc_with_milliseconds():
    assert iso(0) == "1970-01-01T00:00:00.000Z"
    assert iso(1_795_064_338.1239) == "2026-11-19T04:58:58.123Z"


@given(st.floats(0, 4e9), st.floats(0, 4e9))
def test_later_sorts_later(a, b):
    """Records are compared as text."""
    assert (iso(a) <= iso(b)) or a > b
