"""How a profile has done: counted over the sessions that ran with it.

Owns: `Outcome`, and what counts as a success.
Must not: know a price, or where the figures are kept.

Only the verifier says that work is done. A session without acceptance commands was judged by nobody, and one that the
user stopped has no result: both are runs, neither counts for the rate.
"""

from __future__ import annotations

from typing import Any

import attrs

from hub.domain.cost import MICROS


@attrs.frozen
class Run:
    """One session that has ended.

    Attributes:
        state: `completed`, `failed` or `stopped`.
        verified: What the verifier said; False or None where nothing was asked of it.
        tokens: In and out.
        micros: What is known of its cost, millionths of a dollar; None where nothing is.
        at: When it ended, ISO 8601.
    """

    state: str
    verified: bool | None
    tokens: int
    micros: int | None
    at: str


@attrs.frozen
class Outcome:
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


def counted(outcome: Outcome, run: Run) -> Outcome:
    """With one more run."""
    success = run.state == "completed" and run.verified is True
    return attrs.evolve(
        outcome,
        runs=outcome.runs + 1,
        judged=outcome.judged + (success or run.state == "failed"),
        successes=outcome.successes + success,
        tokens=outcome.tokens + run.tokens,
        priced=outcome.priced + (run.micros is not None),
        micros=outcome.micros + (run.micros or 0),
        last_run=run.at,
    )


def told(outcome: Outcome) -> dict[str, Any]:
    """An entry of `GET /api/outcomes`; an average over nothing is null."""
    return {
        "profile": outcome.profile,
        "runs": outcome.runs,
        "judged": outcome.judged,
        "successes": outcome.successes,
        "successRate": outcome.successes / outcome.judged if outcome.judged else None,
        "avgTokens": outcome.tokens / outcome.runs if outcome.runs else None,
        "avgCostUsd": outcome.micros / MICROS / outcome.priced if outcome.priced else None,
        "lastRun": outcome.last_run or None,
    }
