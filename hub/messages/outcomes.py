"""What the tally of the profiles is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.domain.jsonvalue import JsonArray
from supervisors import Call


@attrs.frozen
class GetOutcomes(Call[JsonArray]):
    """Answers what `GET /api/outcomes` serves."""
