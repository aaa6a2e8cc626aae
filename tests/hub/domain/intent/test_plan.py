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


def test_a_list_told_late_gives_way_to_the_one_that_followed_its_end():
    """As it would have been: a plan in prose counts once the list that the agent keeps is done."""
    plan = Plan()
    plan.read(5, "Plan:\n1. c\n2. d")
    plan.take(3, ["a", "b"], [])
    assert (list(plan.steps), list(plan.remaining), list(plan.done)) == (["c", "d"], ["c", "d"], ["a", "b"])


def test_a_list_told_late_that_is_not_done_counts_more_than_prose():
    plan = Plan()
    plan.read(5, "Plan:\n1. c\n2. d")
    plan.take(3, ["a", "b"], ["b"])
    assert (list(plan.steps), list(plan.remaining), list(plan.done)) == (["a", "b"], ["b"], ["a"])


def test_a_list_told_late_gives_way_to_a_newer_one_of_its_kind():
    """What it says is done stays so, but for what is open again."""
    plan = Plan()
    plan.take(5, ["b", "c"], ["b", "c"])
    plan.take(3, ["a", "b", "d"], ["d"])
    plan.take(2, None, ["e"])
    assert (list(plan.steps), list(plan.remaining), list(plan.done)) == (["b", "c"], ["b", "c"], ["a"])
