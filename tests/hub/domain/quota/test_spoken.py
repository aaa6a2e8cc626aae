"""Windows of a quota, as people call them."""

import pytest

from hub.domain.quota.spoken import spoken, told
from tests.clock import in_zone


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("five_hour at 100 %", "5-hour quota at 100 %"),
        ("seven_day, then thirty_day", "7-day quota, then 30-day quota"),
        ("twenty_five_hours", "twenty_five_hours"),
        ("the usage limit is reached", "the usage limit is reached"),
        ("", ""),
    ],
)
def test_windows_have_peoples_names(text, says):
    assert spoken(text) == says


def test_a_text_of_hubs_own_has_its_instants_in_the_places_time():
    """On the terminal screen a reset of the next week had no day."""
    text = "five_hour at 100 % until 2026-11-23T14:00:00.000Z, then 2026-11-24 15:00:00 UTC"
    with in_zone("Europe/Berlin"):
        assert told(text, 1_795_435_200.0) == "5-hour quota at 100 % until 15:00, then 24 Nov 16:00"
