"""Arguments are what the schema says; a refusal says what is allowed and repeats nothing."""

import math
import re

import pytest

from hub.errors import RULES, Code, HubError
from hub.mcp.calling import checked, refusal
from hub.mcp.tools import BY_COMMAND, BY_NAME
from tests.refusals import refuses

RUN, EVENTS, PAUSE = BY_NAME["hub_run_task"], BY_NAME["hub_events"], BY_NAME["hub_pause"]


@pytest.mark.parametrize(
    ("tool", "given", "made"),
    [
        (RUN, {"task": "x"}, {"task": "x"}),
        (RUN, {"threshold": 1, "task": "x"}, {"task": "x", "threshold": 1}),
        (RUN, {"task": "x" * 100_000, "threshold": 0.001}, {"task": "x" * 100_000, "threshold": 0.001}),
        (EVENTS, {}, {}),
        (EVENTS, {"since": 0}, {"since": 0}),
        (EVENTS, {"since": 5.0}, {"since": 5}),  # to JSON that is an integer, and some models write it so
        (EVENTS, {"since": 2**53 - 1}, {"since": 2**53 - 1}),
        (PAUSE, {"pause": False}, {"pause": False}),
    ],
)
def test_what_the_schema_allows(tool, given, made):
    found = checked(tool, given)
    assert found == made
    assert [type(value) for value in found.values()] == [type(value) for value in made.values()]


@pytest.mark.parametrize(
    ("tool", "given", "says"),
    [
        (RUN, {}, "needs task: a text of 1 to 100000 characters"),
        (RUN, {"task": ""}, "task must be a text of 1 to 100000 characters"),
        (RUN, {"task": "x" * 100_001}, "task must be a text"),
        (RUN, {"task": " \n"}, "characters, not of blanks alone"),
        (RUN, {"task": None}, "task must be a text"),
        (RUN, {"task": ["x"]}, "task must be a text"),
        (RUN, {"task": "x", "threshold": 0}, "a number above 0, at most 1"),
        (RUN, {"task": "x", "threshold": 1.01}, "a number above 0, at most 1"),
        (RUN, {"task": "x", "threshold": True}, "a number above 0, at most 1"),
        (RUN, {"task": "x", "threshold": math.nan}, "a number above 0, at most 1"),
        (RUN, {"task": "x", "threshold": "0.5"}, "a number above 0, at most 1"),
        (EVENTS, {"since": -1}, "an integer from 0 to 9007199254740991"),
        (EVENTS, {"since": 2**53}, "an integer from 0 to 9007199254740991"),
        (EVENTS, {"since": 1.5}, "an integer from 0"),
        (EVENTS, {"since": math.inf}, "an integer from 0"),
        (EVENTS, {"since": True}, "an integer from 0"),
        (PAUSE, {"pause": 1}, "pause must be true or false"),
        (EVENTS, {"sinec": 1}, "no argument 'sinec'; its arguments: since"),
        (BY_NAME["hub_status"], {"x": 1}, "its arguments: none"),
    ],
)
def test_what_it_does_not_allow(tool, given, says):
    with refuses(Code.INVALID) as caught:
        checked(tool, given)
    assert says in caught.value.detail
    assert len(caught.value.detail) < 300


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ('Start one: hub run "task"', "Start one: hub_run_task"),
        ("Look at the worktree, then decide: hub handoff, or hub stop", "decide: hub_handoff, or hub stop"),
        ("Watch it: hub logs -f", "Watch it: hub_events"),
        ("Read their output: hub logs --full", "Read their output: hub_events"),
        ("Let it go on: hub resume.", "Let it go on: hub_pause with pause: false."),
        ("Let it go on: hub resume s-0a1b", "Let it go on: hub resume s-0a1b"),
        ('Answer it: hub reply "text"', "Answer it: hub_send_reply"),
        ("See: hub quota history", "See: hub quota history"),
        ("See: hub cost --by agent", "See: hub cost --by agent"),
        ("See it: hub diff s-0a1b", "See it: hub diff s-0a1b"),
        ("Make room in /srv/hub logs/x and hub logs/x", "Make room in /srv/hub logs/x and hub logs/x"),
        ('Go on with it: hub run --continue ID "now the docs"', 'hub run --continue ID "now the docs"'),
        ("Start it: hub daemon", "Start it: hub daemon"),
        ("hub waits and tries again by itself.", "hub waits and tries again by itself."),
    ],
)
def test_an_agent_is_told_of_its_tools_and_not_of_commands(hint, told):
    """Where a tool does what the command does; the others stay commands, for its user."""
    assert refusal(HubError(Code.INVALID, "No.", hint=hint)).endswith(told)


def test_what_an_error_quotes_is_told_as_it_is():
    """A folder or a text that looks like a command was bent: `/srv/hub logs/x` became `/srv/hub_events/x`."""
    detail, message = "/srv/hub logs/x: `hub logs` is no folder.", 'Not "hub status".'
    told = refusal(
        HubError(Code.INVALID, detail, hint="hub logs", errors=[{"path": "x", "message": message}])
    )
    assert told == f"invalid: {detail}\nx: {message}\nNext step: hub_events"


def test_no_error_advises_a_plain_command_that_is_a_tool():
    """Of hub's own next steps."""
    told = "\n".join(refusal(HubError(code)) for code in RULES)
    assert "hub_run_task" in told
    for command in BY_COMMAND:
        assert not re.search(rf"\bhub {re.escape(command)}(?! [-A-Z]|\w)", told), command
