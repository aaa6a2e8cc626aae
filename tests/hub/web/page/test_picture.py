"""Pictures say what they show, and hold nothing that runs."""

import xml.etree.ElementTree as ET

import pytest

from hub.api.history import walks
from hub.web.page.gantt import MOST, calls_of, gantt
from hub.web.page.picture import bar, milliseconds, ribbon
from hub.web.page.stream import items
from tests.hub.api.test_history import MADE
from tests.hub.web.page.test_gantt import event


@pytest.mark.parametrize(
    ("share", "kind"),
    [(0.1, "fill good"), (0.95, "fill warn"), (1.0, "fill bad"), (7.0, "fill bad"), (-1, "fill good")],
)
def test_a_bar_stays_within_itself(share, kind):
    drawn = ET.fromstring(bar(share))
    (used,) = [part for part in drawn if part.get("class") == kind]
    assert 0 <= float(used.get("width")) <= 100
    assert drawn.get("aria-label").endswith("used")


def test_a_bar_of_what_nobody_told():
    assert "not known" in bar(None)


def test_a_ribbon_tells_each_state():
    drawn = ET.fromstring(ribbon(walks(MADE)[0]))
    assert drawn.get("aria-label") == "handoff from a to b in 4000 ms"
    assert [part[0].text for part in drawn.iter("rect")] == ["pausing: 1000 ms", "snapshotted: 3000 ms"]


def test_milliseconds():
    assert [milliseconds(n) for n in (0.42, 130)] == ["420 ms", "2 min"]


def test_a_gantt_has_the_newest_and_no_tag_of_a_tool():
    shown = items(event(n, "tool_use", msg="<script>x</script>", toolId=f"t{n}") for n in range(MOST + 5))
    calls = calls_of(shown)
    drawn = ET.fromstring(gantt(calls))
    assert len(list(drawn.iter("li"))) == MOST
    assert list(drawn.iter("script")) == []
