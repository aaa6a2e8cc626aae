"""An agent's plan: what is done stays bounded, and the newest stays."""

from hub.domain.intent.plan import MAX_ITEMS, Plan


def test_of_too_many_finished_steps_the_oldest_gives_way():
    """Memory is bounded, however long a session runs."""
    plan = Plan()
    for number in range(MAX_ITEMS + 2):
        plan.take(number, [f"step {number}"], [])
    assert len(plan.done) == MAX_ITEMS
    assert next(iter(plan.done)) == "step 2"
    assert plan.remaining == {}
