"""The last resort: a process that cannot stop ends itself.

Owns: one daemon thread, one exit status. Must not: depend on the event loop (which may be what hangs).
"""

from __future__ import annotations

import os
import threading
from typing import Final

EXIT_STUCK: Final = 70
"""Exit status of a process ended by its watchdog (EX_SOFTWARE)."""


class Watchdog:
    """Ends the process with `os._exit` unless disarmed in time.

    Trio cannot kill code that shields itself or sits in a thread.

    Args:
        patience: Seconds from `arm()`; None never ends anything.
    """

    def __init__(self, patience: float | None) -> None:
        self._patience = patience
        self._disarmed = threading.Event()

    def arm(self) -> None:
        """Start the count."""
        if self._patience is not None:
            threading.Thread(target=self._watch, name="supervisors-watchdog", daemon=True).start()

    def disarm(self) -> None:
        """All is well. Idempotent."""
        self._disarmed.set()

    def _watch(self) -> None:
        if not self._disarmed.wait(self._patience):
            os.write(2, f"supervisors: not stopped after {self._patience} s, ending the process\n".encode())
            os._exit(EXIT_STUCK)
