"""The agents' suite speaks as the tests do that it is made for."""

from importlib import import_module

import pytest

from tests.drive import Run
from tests.hub.providers import suite


@pytest.mark.parametrize("module", [suite.__name__, Run.__module__])
def test_what_failed_is_shown_with_both_values(module):
    """It was a bare `AssertionError`, after minutes with a real agent."""
    assert type(import_module(module).__loader__).__name__ == "AssertionRewritingHook"
