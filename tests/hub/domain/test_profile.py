"""What a profile tells the agents of a session."""

from hub.domain.profile import guidance


def test_what_a_profile_tells_every_agent():
    assert guidance("p", "", ()) == ""
    assert guidance("p", " \n", ()) == ""
    assert guidance("p", "Be brief.\n", ()) == "Context, from the user's profile p:\n\nBe brief."
    assert guidance("p", "", ("a", "b")) == "Use these skills where you have them: a, b."
    assert guidance("p", "Be brief.", ("a",)).endswith(
        "Be brief.\n\nUse these skills where you have them: a."
    )
