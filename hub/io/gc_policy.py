"""When a daemon's memory is looked through for garbage, and which part of it never.

Owns: what the collector leaves out, and that nothing is kept which only a start makes, nor by each thread apart.
Must not: be used where a process shares its memory with others' work, as a test's does: what is left out once stays.

A full collection walks every object there is, and nothing else runs meanwhile: 20 to 50 ms for what a daemon has
imported, of which nothing ever is garbage.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import linecache

_YOUNG = 20_000
"""Objects made before they are looked through, 1 ms for so many; at Python's own 700, an answer of a megabyte is looked
through a hundred times while it is made, a sixth of the time."""
_ARENAS_MAX = -8
"""`M_ARENA_MAX` of `malloc.h`, where the C library is GNU's."""


def begin() -> None:
    """Look for nothing while a daemon is imported and started: that is a tenth of the time to start.

    Its threads share one heap: what each let go, it would keep for itself, 3 MB.
    """
    gc.disable()
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).mallopt(_ARENAS_MAX, 1)


def begun() -> None:
    """What has come until now stays to the daemon's end; what comes is looked through from now on."""
    linecache.clearcache()  # attrs keeps there the text of every method it has made: 2.5 MB that nobody reads
    gc.freeze()
    gc.set_threshold(_YOUNG)
    gc.enable()


def keep() -> None:
    """What a daemon has imported since stays as well. Does nothing in a process that never said it had `begun`."""
    if gc.get_threshold()[0] == _YOUNG:  # to count what is frozen took 19 ms of the event loop
        gc.freeze()
