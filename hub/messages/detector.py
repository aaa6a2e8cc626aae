"""What the detector is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.domain.jsonvalue import JsonArray, JsonObject
from supervisors import Call


@attrs.frozen
class Adopt(Call[JsonObject]):
    """Write the brief of a detected agent, and go on with it. Answers what `POST /api/detect/adopt` serves."""

    id: str
    target: str
    start: bool = False
    interactive: bool = False
    stop: bool = False
    """End the agent first, if it still runs."""
    repository: str = ""
    """The working tree it works in, named by the user, where that is none of this project; "" = it is."""


@attrs.frozen
class Detect(Call[JsonArray]):
    """Answers what `GET /api/detect` serves, not redacted."""

    since_hours: int
