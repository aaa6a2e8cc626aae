"""What the tally of the profiles is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.domain.jsonvalue import JsonArray
from hub.domain.value import Value
from supervisors import Call


@attrs.frozen(eq=False, repr=False)
class GetOutcomes(Value, Call[JsonArray]):
    """Answers what `GET /api/outcomes` serves."""
