"""What agents spend that hub did not start counts once, whatever is told twice, lost or read again."""

from hypothesis import given
from hypothesis import strategies as st

from hub.domain.quota.elsewhere import MAX_ANSWERS, MAX_SESSIONS, UNSEEN, Elsewhere, Growth, Used
from hub.domain.quota.spending import DAY

NOON = 20_000 * DAY + DAY / 2
FIRST = Used("m-1:r-1", NOON - 60, 100)
SECOND = Used("m-2:r-2", NOON - 30, 40)


def grown(since, until, *used, session="s"):
    return Growth("claude", "work", session, since, until, used)


def test_a_growth_counts_where_the_count_stands_and_nowhere_else():
    count = Elsewhere()
    assert count.count(grown(UNSEEN, 10, FIRST), NOON) == (100, NOON - 60)
    assert count.count(grown(UNSEEN, 10, FIRST), NOON) == (0, 0)  # told twice
    assert count.count(grown(12, 20, SECOND), NOON) == (0, 0)  # something between was lost
    assert count.count(grown(10, 20, SECOND), NOON) == (40, NOON - 30)
    assert count.places == {"s": 20}


def test_an_answer_in_two_records_counts_once_and_the_larger_one():
    """Claude repeats one usage in each record of a message; older versions wrote it while it grew."""
    count = Elsewhere()
    later = Used(FIRST.name, NOON, 130)
    assert count.count(grown(UNSEEN, 10, FIRST, FIRST), NOON) == (100, NOON - 60)
    assert count.count(grown(10, 20, FIRST, later), NOON) == (30, NOON)
    assert count.count(grown(UNSEEN, 30, FIRST, later, session="a fork of it"), NOON) == (0, 0)


def test_what_was_used_on_another_day_is_passed_over():
    count = Elsewhere()
    yesterday = Used("old", NOON - DAY, 500)
    assert count.count(grown(UNSEEN, 10, yesterday, SECOND), NOON) == (40, NOON - 30)
    assert "old" not in count.answers


def test_memory_is_bounded_and_the_oldest_gives_way():
    count = Elsewhere()
    for number in range(MAX_SESSIONS + 3):
        count.count(grown(UNSEEN, 1, session=str(number)), NOON)
    assert next(iter(count.places)) == "3"
    many = tuple(Used(str(number), NOON, 1) for number in range(MAX_ANSWERS + 3))
    assert count.count(grown(UNSEEN, 9, *many), NOON) == (len(many), NOON)
    assert (len(count.places), len(count.answers)) == (MAX_SESSIONS, MAX_ANSWERS)
    assert "2" not in count.answers


@given(st.lists(st.integers(0, 7), max_size=40))
def test_however_reading_is_broken_off_and_repeated_the_sum_is_that_of_the_file(reads):
    """A ledger that is put back to an earlier state is told again from there."""
    file = [Used(f"m-{number // 2}", NOON, 10 + number // 2) for number in range(20)]
    whole = sum({used.name: used.tokens for used in file}.values())
    count, total, kept = Elsewhere(), 0, None
    for step in [*reads, 20]:
        if step == 0:
            kept = (dict(count.places), dict(count.answers), total)
        elif step == 1 and kept is not None:
            count, total = Elsewhere(dict(kept[0]), dict(kept[1])), kept[2]
        else:
            since = count.places.get("s", UNSEEN)
            until = min(len(file), max(since, 0) + step)
            growth = grown(since, until, *file[max(since, 0) : until])
            total += count.count(growth, NOON)[0] + count.count(growth, NOON)[0] * (until != since)
    assert total == whole
