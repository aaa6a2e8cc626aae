"""OpenCode's command line, settings and failures."""

import json
import subprocess
import sys

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.accounts.account import Account
from hub.domain.failure import FailureClass
from hub.providers.base import ProcessExit, Stdin
from hub.providers.opencode import agent, failures
from hub.providers.opencode.agent import PROVIDER
from tests.hub.providers.captured import ASSIGNMENT, NOW


def config(**more):
    return json.loads(PROVIDER.launch(attrs.evolve(ASSIGNMENT, **more)).env["OPENCODE_CONFIG_CONTENT"])


def test_launch_starts_the_bridge_and_names_nothing_long():
    launch = PROVIDER.launch(attrs.evolve(ASSIGNMENT, envelope="CONTRACT", program="/opt/opencode"))
    assert launch.argv[0] == sys.executable
    assert launch.argv[1:3] == ["-I", "-S"]
    assert launch.argv[4:] == ["/opt/opencode"]
    assert launch.stdin is Stdin.PIPE
    assert not launch.files


def test_environment_of_an_account_is_its_own_four_directories():
    launch = PROVIDER.launch(attrs.evolve(ASSIGNMENT, account=Account("a", "/acc", {"OPENAI_API_KEY": "k"})))
    assert {name: value for name, value in launch.env.items() if not name.startswith("OPENCODE")} == {
        "XDG_DATA_HOME": "/acc/data",
        "XDG_CONFIG_HOME": "/acc/config",
        "XDG_STATE_HOME": "/acc/state",
        "XDG_CACHE_HOME": "/acc/cache",
        "OPENAI_API_KEY": "k",
    }
    assert not [name for name in PROVIDER.launch(ASSIGNMENT).env if name.startswith("XDG")]


def test_everything_is_allowed_nothing_is_shared_and_nothing_updates_itself():
    assert config() == {"permission": "allow", "autoupdate": False, "share": "disabled"}
    assert PROVIDER.launch(ASSIGNMENT).env["OPENCODE_DISABLE_AUTOUPDATE"] == "1"


def test_the_address_is_that_of_the_models_provider():
    told = config(model="anthropic/claude-x", base_url="http://127.0.0.1:1/v1")
    assert told["model"] == "anthropic/claude-x"
    assert told["provider"] == {
        "anthropic": {"options": {"baseURL": "http://127.0.0.1:1/v1"}, "models": {"claude-x": {}}}
    }


def test_a_model_of_another_form_is_left_to_opencode():
    assert "model" not in config(model="claude-x", base_url="http://127.0.0.1:1")


def test_the_users_own_table_is_laid_over_key_by_key():
    options = {
        "config": {"provider": {"anthropic": {"npm": "x"}}, "share": "manual"},
        "permission": {"bash": "ask"},
    }
    told = config(model="anthropic/m", base_url="http://127.0.0.1:1", options=options)
    assert told["share"] == "manual"
    assert told["permission"] == {"bash": "ask"}
    assert told["provider"]["anthropic"]["npm"] == "x"
    assert told["provider"]["anthropic"]["options"] == {"baseURL": "http://127.0.0.1:1"}


def test_the_bridge_needs_nothing_but_the_standard_library():
    """It starts isolated and without site-packages, in a tenth of a second beside the program's own start."""
    done = subprocess.run([*agent._BRIDGE, "/nowhere"], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["bridge"] == "failed"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"name": "ContentFilterError", "data": {"message": "blocked"}}, FailureClass.REFUSAL),
        ({"name": "ProviderAuthError", "data": {"message": "no"}}, FailureClass.AUTH),
        ({"name": "MessageOutputLengthError", "data": {}}, FailureClass.CONTEXT_OVERFLOW),
        ({"name": "APIError", "data": {"message": "x", "statusCode": 401}}, FailureClass.AUTH),
        ({"name": "APIError", "data": {"message": "x", "statusCode": 402}}, FailureClass.USAGE_LIMIT),
        ({"name": "APIError", "data": {"message": "x", "statusCode": 429}}, FailureClass.USAGE_LIMIT),
        ({"name": "APIError", "data": {"message": "x", "statusCode": 503}}, FailureClass.OVERLOAD),
        ({"name": "APIError", "data": {"message": "Overloaded", "statusCode": 429}}, FailureClass.OVERLOAD),
        ({"name": "UnknownError", "data": {"message": "Anthropic API key is missing."}}, FailureClass.AUTH),
        ({"name": "UnknownError", "data": {"message": "something new"}}, FailureClass.UNKNOWN),
        ({"name": "UnknownError", "data": {"message": "Unable to connect."}}, FailureClass.OVERLOAD),
        ({}, FailureClass.UNKNOWN),
    ],
)
def test_names_then_words_then_status(error, kind):
    assert failures.of_error(error, NOW).kind is kind


def test_the_reset_is_the_header_the_vendor_sent():
    headers = {"retry-after": "3600"}
    error = {"name": "APIError", "data": {"message": "m", "statusCode": 429, "responseHeaders": headers}}
    assert failures.of_error(error, NOW).resets_at == NOW + 3600
    headers["retry-after"] = "Sat, 21 Nov 2026 09:00:00 GMT"
    assert failures.of_error(error, NOW).resets_at == NOW + 10_000
    headers["retry-after"] = "soon"
    assert failures.of_error(error, NOW).resets_at is None


@pytest.mark.parametrize(
    ("header", "words", "body", "wait"),
    [
        ("3600", "Rate limit reached", '{"retryDelayMs":500}', 3600),
        ("20", "Rate limit reached", '{"until":"2026-11-27T02:43:20Z"}', 20),
        ("3600", "Rate limit reached", "x" * 70_000, 3600),
        ("99999999", "Rate limit reached. Try again in 5 minutes.", '{"retryDelayMs":500}', 300),
        ("", "Rate limit reached", '{"retry_after":30}', 30),
    ],
)
def test_the_header_comes_before_the_words_and_they_before_the_body(header, words, body, wait):
    """As one text the form that is the most precise won, and a long answer left no room for the header."""
    data = {
        "message": words,
        "statusCode": 429,
        "responseHeaders": {"retry-after": header},
        "responseBody": body,
    }
    assert failures.of_error({"name": "APIError", "data": data}, NOW).resets_at == NOW + wait


def test_the_reset_may_stand_in_the_words_alone():
    words = "5 hour usage limit reached. It will reset in 2 hours 41 minutes. To continue, enable usage from your balance"
    failure = failures.of_error({"name": "APIError", "data": {"message": words}}, NOW)
    assert (failure.kind, failure.resets_at) == (FailureClass.USAGE_LIMIT, NOW + 9_660)


def test_the_reset_may_stand_in_the_answer_alone():
    """As that of a ChatGPT plan: of its answer OpenCode shows only the sentence."""
    body = json.dumps(
        {"error": {"type": "usage_limit_reached", "message": "m", "resets_at": int(NOW) + 7_200}}
    )
    error = {
        "name": "APIError",
        "data": {"message": "The usage limit has been reached", "responseBody": body},
    }
    failure = failures.of_error(error, NOW)
    assert (failure.kind, failure.resets_at) == (FailureClass.USAGE_LIMIT, NOW + 7_200)


def test_a_crash_tells_the_end_of_standard_error():
    end = ProcessExit(1, stderr_tail="x" * 10_000 + "the cause")
    failure = PROVIDER.stream(ASSIGNMENT).finish(end, NOW).outcome.failure
    assert failure.text.endswith("the cause")
    assert len(failure.text) < 5_000


@given(st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.dictionaries(st.text(), inner)))
def test_no_error_makes_it_raise(value):
    failures.of_error({"name": value, "data": value if isinstance(value, dict) else {}}, NOW)
    failures.retry({"message": value, "next": value, "attempt": value, "action": value}, NOW)
