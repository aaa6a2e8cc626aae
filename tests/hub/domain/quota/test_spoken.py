"""Windows of a quota, as people call them."""

import pytest

from hub.domain.quota.spoken import spoken


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
