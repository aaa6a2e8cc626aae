"""Which orders a session can be given."""

import pytest

from hub.tui.orders import OrderFacts


@pytest.mark.parametrize(
    ("state", "paused", "held"),
    [("running", False, False), ("running", True, True), ("waiting", True, True), ("paused", False, True)],
)
def test_a_session_that_is_held_goes_on_and_another_is_held(state, paused, held):
    """A row of an older daemon has no `paused`: a held session was offered to be held once more."""
    facts = OrderFacts(state, paused, needs_approval=False)
    assert (facts.takes("resume"), facts.takes("pause")) == (held, not held)
