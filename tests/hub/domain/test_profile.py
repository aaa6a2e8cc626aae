"""What a profile tells the agents of a session."""

from hub.domain.profile import before, guidance


def test_what_a_profile_tells_every_agent():
    assert guidance("p", "", ()) == ""
    assert guidance("p", " \n", ()) == ""
    assert guidance("p", "Be brief.\n", ()) == "Context, from the user's profile p:\n\nBe brief."
    assert guidance("p", "", ("a", "b")) == "Use these skills where you have them: a, b."
    assert guidance("p", "Be brief.", ("a",)).endswith(
        "Be brief.\n\nUse these skills where you have them: a."
    )


def test_what_was_asked_for_before_is_quoted_the_oldest_first():
    assert before(()) == ""
    told = before(("one\ntwo", "th\x1b[2Jree"))
    assert told.endswith("\n\n> one\n> two\n\n> three")
    assert "committed in this directory" in told


def test_of_many_and_of_long_ones_there_is_a_limit():
    """A model pays for every word; the work itself is in the directory."""
    told = before([f"task {n} " + "x" * 10_000 for n in range(50)])
    assert "task 39" not in told
    assert "task 40" in told
    assert "task 49" in told
    assert len(told) < 21_000
