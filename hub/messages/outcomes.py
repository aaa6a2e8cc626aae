"""What the tally of the profiles is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class GetOutcomes:
    """Answers what `GET /api/outcomes` serves."""
