"""What the detector is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class Adopt:
    """Write the brief of a detected agent, and go on with it. Answers what `POST /api/detect/adopt` serves."""

    id: str
    target: str
    start: bool = False
    interactive: bool = False
    stop: bool = False
    """End the agent first, if it still runs."""


@attrs.frozen
class Detect:
    """Answers what `GET /api/detect` serves, not redacted."""

    since_hours: int
