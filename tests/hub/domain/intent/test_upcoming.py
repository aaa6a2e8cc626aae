"""What was said to come next, until it is done."""

import pytest

from hub.domain.intent.activity import Activity
from hub.domain.intent.upcoming import Upcoming, is_check


def ended(number, call, **more):
    return Activity(id=number, tag="tool_result", call=call, **more)


def after(text, *results):
    upcoming = Upcoming()
    upcoming.say(text, 10)
    for result in results:
        upcoming.ended(result)
    return upcoming.said is not None


RAN = {"command": "make test"}
EDITED = {"tool": "Edit", "path": "src/a.py"}


def test_what_comes_at_once_lapses_with_the_first_call_that_ends_well():
    assert not after("Now let me run the tests.", ended(12, 11, **RAN))
    assert after("Now let me run the tests.", ended(12, 11, failed=True, **RAN))
    assert after("Now let me run the tests.", ended(12, 9, **RAN)), "it had begun before"
    assert after("Next step: run the tests.", ended(12, 11, **RAN)), "who knows what it was for"


def test_what_names_a_file_lapses_when_that_is_written():
    assert after("Next: mention it in docs/guide.md.", ended(12, 11, **EDITED), ended(14, 13, **EDITED))
    assert not after("Next: mention it in docs/guide.md.", ended(12, 11, redirected=("docs/guide.md",)))
    assert after(
        "Next: mention it in docs/guide.md.", ended(12, 11, failed=True, redirected=("docs/guide.md",))
    )


def test_what_names_none_lapses_with_a_change_of_a_later_answer():
    """The calls beside the words are of the step before."""
    assert after("Next: the docs.", ended(13, 11, **EDITED), ended(14, 12, **EDITED))
    assert not after("Next: the docs.", ended(13, 11, **EDITED), ended(15, 14, **EDITED))
    assert after("Next: the docs.", ended(13, 11, **EDITED), ended(15, 14, **RAN))


def test_what_was_not_said_again_at_the_end_of_a_turn_lapses():
    """ "Next I document it in README.md", and it stood in NOTES.md when the agent was done."""
    for results, stays in (((), True), ((ended(12, 11, **RAN),), False), ((ended(12, 9, **RAN),), True)):
        upcoming = Upcoming()
        upcoming.say("Next: mention it in docs/guide.md.", 10)
        for result in results:
            upcoming.ended(result)
        upcoming.rest()
        assert (upcoming.said is not None) is stays, results


def test_newer_words_take_the_place_and_what_is_said_to_be_done_lapses():
    upcoming = Upcoming()
    upcoming.done("nothing")
    upcoming.ended(ended(1, 0))
    upcoming.say("one", 2)
    upcoming.say("The docs.", 3)
    upcoming.done("the code")
    assert (upcoming.said.text, upcoming.said.source) == ("The docs.", 3)
    upcoming.done("the  Docs")
    assert upcoming.said is None


@pytest.mark.parametrize(
    "command",
    ["make", "python3 -m pytest -q", "npm run lint", "./check_totals.py", "cargo build", "go vet ./..."],
)
def test_a_failed_check_is_work_that_is_left(command):
    assert is_check(command, "")


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'import tenacity'",
        "grep tries README.md",
        "which node",
        "python3 -m mypyy a.py",
        "cat guide.md",
        "test -f x",
    ],
)
def test_a_failed_question_is_an_answer(command):
    assert not is_check(command, "Make it fast, and say so in guide.md.")


def test_a_failed_command_about_a_file_of_the_users_is_work_that_is_left():
    assert is_check("python3 tools/report.py --all", "Make report.py work.")
