"""Instants are told in the place's time, with its zone once (`decisions`: times)."""

import pytest

from hub.cli.terminal.clock import Clock, span
from tests.clock import in_zone

NOON = 1_795_435_200.0  # 2026-11-23 12:00 UTC


@pytest.fixture(autouse=True)
def berlin():
    """A place an hour before UTC."""
    with in_zone("Europe/Berlin"):
        yield


def test_the_zone_is_named_once():
    clock = Clock(NOON)
    assert clock.at(NOON + 3600) == "14:00 CET"
    assert clock.at("2026-11-23T13:30:00.000Z") == "14:30"


def test_another_day_is_named():
    assert Clock(NOON).at(NOON + 86_400) == "24 Nov 13:00 CET"


def test_instants_in_a_text():
    said = Clock(NOON).said("open until 2026-11-23T14:00:00.000Z (why), then 2026-11-23T15:00:00Z")
    assert said == "open until 15:00 CET (why), then 16:00"


@pytest.mark.parametrize(
    ("seconds", "words"), [(-1, "0 s"), (42.9, "42 s"), (185, "3 min 05 s"), (7800, "2 h 10 min")]
)
def test_spans(seconds, words):
    assert span(seconds) == words
