"""What a daemon never looks through for garbage."""

import ctypes
import gc
import linecache
import subprocess
import sys

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


ARENAS = """
import ctypes, sys, threading
from hub.io import gc_policy
if sys.argv[1:]:
    gc_policy.begin()
held = []
threads = [threading.Thread(target=lambda: held.append(bytes(2000))) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype, libc.fopen.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_char_p)
out = libc.fopen(b"/dev/stdout", b"w")
libc.malloc_info(0, ctypes.c_void_p(out))
libc.fclose(ctypes.c_void_p(out))
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="the C library is not GNU's")
def test_threads_share_one_heap():
    """Each kept what it had let go: 3 MB of a daemon after its first session."""

    def arenas(*words: str) -> int:
        told = subprocess.run(
            [sys.executable, "-c", ARENAS, *words], capture_output=True, text=True, check=True
        )
        return told.stdout.count("<heap nr=")

    assert arenas() > 1, "this machine would not tell"
    assert arenas("begin") == 1


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
