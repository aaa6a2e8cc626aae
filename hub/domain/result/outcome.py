"""How a profile has done: counted over the sessions that ran with it.

Owns: `ProfileOutcomes`, and what counts as a success.
Must not: know a price, or where the figures are kept.

Only the verifier says that work is done. A session without acceptance commands was judged by nobody, and one that the
user stopped has no result: both are runs, neither counts for the rate.
"""

from __future__ import annotations

import attrs

from hub.domain.cost import MICROS


@attrs.frozen
class ProfileOutcomes:
    """The sums of a profile's runs."""

    profile: str
    runs: int = 0
    judged: int = 0
    """Runs with a result: accepted by the verifier, or failed."""
    successes: int = 0
    tokens: int = 0
    priced: int = 0
    """Runs of which a cost is known."""
    micros: int = 0
    last_run: str = ""

    @property
    def success_rate(self) -> float | None:
        """Of the runs that were judged; None where none was."""
        return self.successes / self.judged if self.judged else None

    @property
    def avg_tokens(self) -> float | None:
        """In and out, a run; None where there was none."""
        return self.tokens / self.runs if self.runs else None

    @property
    def avg_cost_usd(self) -> float | None:
        """Of the runs whose cost is known; None where none is."""
        return self.micros / MICROS / self.priced if self.priced else None


def counted(
    outcome: ProfileOutcomes, *, state: str, verified: bool | None, tokens: int, micros: int | None, at: str
) -> ProfileOutcomes:
    """With one more run.

    Args:
        outcome: Without it.
        state: `completed`, `failed` or `stopped`.
        verified: What the verifier said; False or None where nothing was asked of it.
        tokens: In and out.
        micros: What is known of its cost, millionths of a dollar; None where nothing is.
        at: When it ended, ISO 8601.
    """
    success = state == "completed" and verified is True
    return attrs.evolve(
        outcome,
        runs=outcome.runs + 1,
        judged=outcome.judged + (success or state == "failed"),
        successes=outcome.successes + success,
        tokens=outcome.tokens + tokens,
        priced=outcome.priced + (micros is not None),
        micros=outcome.micros + (micros or 0),
        last_run=at,
    )
