"""Arguments are what the schema says; a refusal says what is allowed and repeats nothing."""

import math

import pytest

from hub.errors import Code
from hub.mcp.calling import checked
from hub.mcp.tools import BY_NAME
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
