"""What is said for some seconds ends, also where its time is over when a screen opens."""

import time

from textual.app import App

from hub.tui.app import HubApp
from hub.tui.notice import ScreenNotice


def test_a_timer_can_be_made_of_one_that_is_over():
    """Textual's own had less than no seconds left; `hub tui` stood still, and took a whole processor."""
    over = ScreenNotice("said", raised_at=time.time() - 60)
    assert over.time_left > 0
    assert over.has_expired
    fresh = ScreenNotice("said", timeout=5)
    assert 0 < fresh.time_left <= 5
    assert not fresh.has_expired


def test_the_screen_says_nothing_without_one(monkeypatch):
    """Each word of a screen or a widget goes through the app."""
    said = []
    app = HubApp.__new__(HubApp)
    monkeypatch.setattr(App, "post_message", lambda _, message: said.append(message.notification))
    HubApp.notify(app, "one")
    HubApp.notify(app, "two", severity="error", timeout=1)
    assert [(type(one), one.message, one.severity, one.timeout) for one in said] == [
        (ScreenNotice, "one", "information", App.NOTIFICATION_TIMEOUT),
        (ScreenNotice, "two", "error", 1),
    ]
