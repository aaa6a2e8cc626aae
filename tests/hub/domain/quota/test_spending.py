"""A declared cap counts what hub saw, each token once, from midnight to midnight UTC."""

from hub.domain.quota.spending import DAY, HOUR, Spender, Spending, spend, spend_elsewhere, spent
from hub.domain.quota.window import QuotaReading

NOON = 20_000 * DAY + DAY / 2
ME = ("gemini", "default")


def test_steps_add_up():
    found = spend(spend(Spending(), 100, NOON), 50, NOON + 1)
    assert spent(found, ME, 1000, NOON + 60) == QuotaReading(
        *ME, "day", 150, NOON + DAY / 2, "declared", NOON + 1
    )


def test_another_day_begins_with_nothing():
    found = spend(Spending(), 100, NOON)
    assert spend(found, 30, NOON + DAY).tokens == 30
    tomorrow = spent(found, ME, 1000, NOON + DAY)
    assert (tomorrow.used_permille, tomorrow.at) == (0, NOON + DAY)


def test_more_than_the_cap_is_more_than_full():
    assert spent(spend(Spending(), 1500, NOON), ME, 1000, NOON).used_permille == 1500
    assert spent(spend(Spending(), 10**12, NOON), ME, 1, NOON).used_permille == 10_000


def test_what_was_spent_without_hub_is_in_the_sum_and_told_apart():
    found = spend_elsewhere(spend(Spending(), 100, NOON), 40, NOON - 5)
    assert (found.today(NOON), found.at) == ((140, 40), NOON)
    assert spent(found, ME, 1000, NOON + 60).used_permille == 140
    assert spend(found, 1, NOON + 1).today(NOON) == (141, 40)
    assert spend_elsewhere(found, 7, NOON + DAY).today(NOON + DAY) == (7, 7)
    assert found.today(NOON + DAY) == (0, 0)


A, B = Spender("s-a", "m"), Spender("s-b", "m")


def test_who_spent_it_is_known_from_any_hour_on():
    """All of it, however many events told it: hub's sessions by model, and the agents that hub did not start."""
    found = Spending()
    for minute in range(5 * 60):
        found = spend(found, 10, NOON + 60 * minute, by=A if minute % 2 else B)
    found = spend_elsewhere(found, 7, NOON + 5 * HOUR)
    assert found.since(NOON) == (NOON, [(B, 1500), (A, 1500), (Spender(), 7)])
    assert found.since(NOON + 4 * HOUR + 30) == (NOON + 4 * HOUR + 30, [(B, 300), (A, 300), (Spender(), 7)])
    assert len(found.parts) == 11, "an hour of a session is one part"


def test_since_when_it_is_known_is_said():
    """Nothing older than a month is kept, and no more parts than a file can bear: the figures say from when on they are."""
    assert Spending().since(NOON) == (NOON, [])
    found = spend(spend(Spending(), 1, NOON, by=A), 2, NOON + 40 * DAY, by=B)
    assert found.since(NOON) == (NOON + 40 * DAY, [(B, 2)])
    for number in range(2_100):
        found = spend(found, 1, NOON + 41 * DAY, by=Spender(f"s-{number}"))
    assert len(found.parts) == 2048
    assert found.since(NOON)[0] == NOON + 41 * DAY
