"""What the detector is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class Detect:
    """Answers what `GET /api/detect` serves, not redacted."""

    since_hours: int
