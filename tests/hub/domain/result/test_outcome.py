"""What counts as a success of a profile: only the verifier says that work is done."""

from hub.domain.result.outcome import ProfileOutcomes, counted

AT = "2026-01-01T00:00:00.000Z"


def run(state="completed", verified=True, tokens=10, micros=None):
    return {"state": state, "verified": verified, "tokens": tokens, "micros": micros, "at": AT}


def after(*runs):
    outcome = ProfileOutcomes("p")
    for one in runs:
        outcome = counted(outcome, **one)
    return outcome


def test_a_run_that_nobody_judged_moves_no_rate():
    found = after(run(), run("failed", None), run(verified=False), run("stopped", None))
    assert (found.runs, found.judged, found.successes, found.success_rate) == (4, 2, 1, 0.5)


def test_averages_are_over_what_is_known():
    found = after(run(tokens=10, micros=2_000_000), run(tokens=20), run(tokens=30, micros=0))
    assert (found.avg_tokens, found.avg_cost_usd, found.last_run) == (20.0, 1.0, AT)


def test_an_average_over_nothing_is_null():
    found = after()
    assert [found.success_rate, found.avg_tokens, found.avg_cost_usd] == [None] * 3
