"""`.hub/breakers.json`: the circuit breakers as they were kept.

Owns: the reading of that file.
Must not: change it (the breakers' actor does), or hold a rule of theirs.
Tests: tests/hub/actors/test_breakers.py
"""

from __future__ import annotations

import contextlib
import json

from hub.domain.breaker import Breaker, from_json
from hub.errors import HubError
from hub.io.places import Places
from hub.io.sealed import read_sealed

_LIMIT = 1024 * 1024


def breakers(places: Places) -> list[Breaker]:
    """Every breaker that can be read; a file that cannot is no reason not to work."""
    found: list[Breaker] = []
    with contextlib.suppress(OSError, HubError, ValueError, TypeError):
        for body in json.loads(read_sealed(places.hub_dir / "breakers.json", _LIMIT)):
            found.append(from_json(body))  # noqa: PERF401  # those before a damaged one are kept
    return found
