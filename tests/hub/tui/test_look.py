"""Marks and bars."""

import attrs
import pytest

from hub.tui.look import ASCII, UNICODE


def test_plain_letters_are_ascii_and_each_has_its_partner():
    for name, value in attrs.asdict(ASCII).items():
        assert str(value).isascii(), name
        if isinstance(value, str):
            assert len(value) == len(getattr(UNICODE, name)), name


@pytest.mark.parametrize("look", [ASCII, UNICODE])
def test_a_bar_has_its_cells_whatever_it_shows(look):
    assert [look.bar(part, 4).count(look.full) for part in (-1, 0, 0.5, 1, 7)] == [0, 0, 2, 4, 4]
    assert {len(look.bar(part, 4)) for part in (-1, 0.3, 7)} == {4}


def test_a_sparkline_is_as_high_as_its_greatest():
    assert ASCII.sparkline([0, 1, 2], 8) == " =%"
    assert ASCII.sparkline([5, 0, 1, 2], 3) == " =%"
    assert ASCII.sparkline([0, 0], 8) == "  "
    assert ASCII.sparkline([], 8) == ""
