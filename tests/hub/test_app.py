"""The names that are given to sessions, tasks and handoffs."""

import re

from hub import app


def test_a_later_name_sorts_behind_an_earlier_one_also_of_the_same_second(monkeypatch):
    """git keeps whole seconds: the snapshots of one are listed by these names."""
    second = 1_795_707_979
    moments = [second * 10**9 - 1, second * 10**9, second * 10**9 + 4_000_000, (second + 1) * 10**9 - 1]
    made = []
    for moment in moments:
        monkeypatch.setattr(app.time, "time_ns", lambda moment=moment: moment)
        made.append(app.new_id("s"))
    assert made == sorted(made)
    assert [name[:13] for name in made] == [
        "s-6b08544a-ff",
        "s-6b08544b-00",
        "s-6b08544b-01",
        "s-6b08544b-ff",
    ]
    assert all(re.fullmatch(r"s-[0-9a-f]{8}-[0-9a-f]{8}", name) for name in made)
    assert len({app.new_id("s") for _ in range(100)}) == 100
