"""What a daemon never looks through for garbage."""

import gc
import linecache

import attrs
import pytest

from hub.io import gc_policy


@pytest.fixture(autouse=True)
def _shared():
    """The memory of the tests is looked through as before."""
    gc.unfreeze()
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)
    gc.enable()


def test_nothing_is_looked_for_until_the_start_is_over():
    """A tenth of the time to start was that."""
    gc_policy.begin()
    assert not gc.isenabled()
    gc_policy.begun()
    assert gc.isenabled()


def test_the_text_of_made_methods_does_not_stay():
    """Of some 700 classes that was 2.5 MB for as long as the daemon lived."""
    made = attrs.make_class("Made", ["number"])
    assert made.__init__.__code__.co_filename in linecache.cache
    gc_policy.begun()
    assert made.__init__.__code__.co_filename not in linecache.cache


def test_what_came_with_the_start_and_later_imports_stays():
    """A full collection stopped the event loop for 20 to 50 ms, in the middle of a session's first seconds."""
    gc_policy.begun()
    first = gc.get_freeze_count()
    later = [[number] for number in range(1000)]
    gc_policy.keep()
    assert gc.get_freeze_count() >= first + len(later)
    assert not any(found is later for found in gc.get_objects())


def test_a_process_that_is_no_daemon_is_looked_through_whole():
    """Frozen rings are never freed: a process that makes one daemon after the other would keep them all."""
    gc_policy.keep()
    assert gc.get_freeze_count() == 0
