"""What the tally of the profiles is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.domain.value import Value


@attrs.frozen(eq=False, repr=False)
class GetOutcomes(Value):
    """Answers what `GET /api/outcomes` serves."""
