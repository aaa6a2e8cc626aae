"""A window whose reset is far off, or that has none, is drawn all the same."""

from hub.web.page.burn import burn
from tests.hub.web.page.test_quota import NOW, window


def test_a_reset_far_off_is_said_and_not_drawn():
    far = window(resetsAt="2026-01-07T00:00:00.000Z", etaMinutes=10_000.0)
    drawn, _ = burn(far, NOW)
    assert 'class="reset"' not in drawn
    assert "begins anew" in drawn
