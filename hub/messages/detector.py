"""What the detector is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.api.detect import Adopted, Detected
from supervisors import Call


@attrs.frozen
class Adopt(Call[Adopted]):
    """Write the brief of a detected agent, and go on with it."""

    id: str
    target: str
    start: bool = False
    interactive: bool = False
    stop: bool = False
    """End the agent first, if it still runs."""
    repository: str = ""
    """The working tree it works in, named by the user, where that is none of this project; "" = it is."""


@attrs.frozen
class Detect(Call[list[Detected]]):
    """The agents of this machine, and the sessions written lately; not redacted."""

    since_hours: int


DetectorInbox = Adopt | Detect
