"""What the daemon says on stderr when something unforeseen has happened.

Owns: the handler of the process's log while a daemon runs.
Must not: decide what is logged, or let a secret or a control character out of a message or a traceback.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator

PLAIN = "hub_plain"
"""`extra={PLAIN: True}`: words of the code alone. To redact a message takes files, which may be what is lacking."""
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _Plain(logging.Formatter):
    def __init__(self, scrub: Callable[[str], str]) -> None:
        super().__init__(_FORM)
        self._scrub = scrub

    def format(self, record: logging.LogRecord) -> str:
        if getattr(record, PLAIN, False):
            return super().format(record)
        try:
            return self._scrub(super().format(record))
        except Exception as error:  # noqa: BLE001  # logging would show the message as it is
            return f"{record.levelname} {record.name}: left out, it could not be redacted ({type(error).__name__})"


@contextlib.contextmanager
def scrubbed_log(scrub: Callable[[str], str]) -> Iterator[None]:
    """Everything that is logged within the block goes to stderr through `scrub`, tracebacks too."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Plain(scrub))
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
