"""What the detector is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.domain.value import Value


@attrs.frozen(eq=False, repr=False)
class Detect(Value):
    """Answers what `GET /api/detect` serves, not redacted."""

    since_hours: int
