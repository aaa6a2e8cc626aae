"""A single-threaded event loop: descriptors and named timers.

Owns: the selector, the timers, and the waking by signals.
Must not: know what is watched, or import anything outside the standard library (the runner starts with `-I
-S`). asyncio would do the same, but costs 40 ms to import at every start of an agent.
"""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Callable

READ = selectors.EVENT_READ
WRITE = selectors.EVENT_WRITE


class Loop:
    """Calls back when a descriptor is ready, a timer is due or a signal came."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._timers: dict[str, tuple[float, Callable[[], None]]] = {}
        self._signals: dict[int, Callable[[], None]] = {}
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(self._waker, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        self.watch(self._wake, READ, self._on_signals)

    def watch(self, descriptor: int, events: int, callback: Callable[[int], object] | None = None) -> None:
        """Watch for exactly these events; 0 stops watching. A callback is kept until another is given."""
        key = self._selector.get_map().get(descriptor)
        if key is None:
            if events and callback is not None:
                self._selector.register(descriptor, events, callback)
        elif not events:
            self._selector.unregister(descriptor)
        elif events != key.events or callback is not None:
            self._selector.modify(descriptor, events, callback or key.data)

    def after(self, name: str, delay: float, callback: Callable[[], None]) -> None:
        """Call once, `delay` seconds from now; replaces the timer of that name."""
        self._timers[name] = (time.monotonic() + delay, callback)

    def cancel(self, name: str) -> None:
        """Forget a timer."""
        self._timers.pop(name, None)

    def on_signal(self, number: int, callback: Callable[[], None]) -> None:
        """Call from the loop, never in the middle of something, when the signal has come."""
        self._signals[number] = callback
        signal.signal(number, _noted)

    def turn(self) -> None:
        """Wait for what comes next and handle all of it."""
        timeout = None
        if self._timers:
            timeout = max(0.0, min(due for due, _ in self._timers.values()) - time.monotonic())
        for key, events in self._selector.select(timeout):
            # An earlier callback of this turn may have stopped the watch.
            if self._selector.get_map().get(key.fd) is not None:
                key.data(events)
        now = time.monotonic()
        for name, (due, callback) in list(self._timers.items()):
            if due <= now and self._timers.get(name) == (due, callback):
                del self._timers[name]
                callback()

    def close(self) -> None:
        """Let go of the loop's own descriptors."""
        signal.set_wakeup_fd(-1)
        self._selector.close()
        os.close(self._wake)
        os.close(self._waker)

    def _on_signals(self, _events: int) -> None:
        # One byte a signal; several of one kind are one.
        for number in set(os.read(self._wake, 4096)):
            if number in self._signals:
                self._signals[number]()


def _noted(_number: int, _frame: object) -> None:
    """A handler must exist for the wakeup descriptor to be written; the work is done in the loop."""
