"""What the tally of the profiles is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

import attrs

from hub.api.costs import Costs
from hub.api.profiles import ProfileOutcome
from supervisors import Call


@attrs.frozen
class GetOutcomes(Call[list[ProfileOutcome]]):
    """How each profile has done."""


@attrs.frozen
class GetCosts(Call[Costs]):
    """What sessions have cost, those under way included."""


OutcomesInbox = GetCosts | GetOutcomes
