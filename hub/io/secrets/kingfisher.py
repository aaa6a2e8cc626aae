"""The detection engine for secrets that nobody told hub: Kingfisher, where it is installed.

Owns: loading it, off the event loop, and the translation of its finds.
Must not: validate a secret with anyone (Kingfisher could; nothing here goes on the network), or decide what is hidden.

Loading takes 0.4 s and 45 MB (4 s when its rules are compiled for the first time on a machine), so it is done when the
first agent is started, not when the daemon is.
"""

from __future__ import annotations

import importlib.util
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

import attrs

MODULE = "kingfisher_sdk"
PACKAGE = "kingfisher-secret-scanner"
_FAMILY = re.compile(r"^(?:[a-z]+\.secrets/|[a-z]+\.)?([a-z0-9]+)")


def installed() -> bool:
    """Whether there is an engine to load; without loading it."""
    return importlib.util.find_spec(MODULE) is not None


@attrs.frozen
class Kingfisher:
    """The engine, loaded."""

    _scan: Callable[[bytes], list[Any]] = attrs.field(repr=False)

    def find(self, text: str) -> Sequence[tuple[int, int, str]]:
        """Begin, end and kind of every secret in `text`."""
        data = text.encode("utf-8", "replace")
        plain = len(data) == len(text)
        finds = []
        for found in self._scan(data):
            if found.visible:
                place = found.location
                start, end = place["start_offset"], place["end_offset"]
                if not plain:
                    start, end = (len(data[:at].decode("utf-8", "ignore")) for at in (start, end))
                finds.append((start, end, kind_of(found.rule_id)))
        return finds


def kind_of(rule_id: str) -> str:
    """The family of a rule: `github` of `betterleaks.github-pat`."""
    named = _FAMILY.match(rule_id)
    return named[1][:32] if named is not None else "engine"


@attrs.define
class Detection:
    """The engine of this process: none until it is loaded, none for ever where that fails."""

    engine: Kingfisher | None = None
    trouble: str = ""
    """Why there is none; empty while nobody has asked."""
    _lock: threading.Lock = attrs.field(factory=threading.Lock)

    def load(self) -> Kingfisher | None:
        """The engine; blocks while it is loaded, so call it in a thread."""
        with self._lock:
            if self.engine is None and not self.trouble:
                try:
                    self.engine = _kingfisher()
                except Exception as error:  # noqa: BLE001 - foreign machine code: whatever it raises, rules go on alone
                    self.trouble = f"{type(error).__name__}: {error}"
            return self.engine


def _kingfisher() -> Kingfisher:
    import kingfisher_sdk  # 45 MB, and not on every platform

    scanner = kingfisher_sdk.Scanner(kingfisher_sdk.Rules(confidence="low"), base64=False)
    return Kingfisher(scanner._native.scan_bytes)  # noqa: SLF001 - the public method wraps each find, at half the cost
