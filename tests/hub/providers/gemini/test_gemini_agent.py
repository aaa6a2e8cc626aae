"""Gemini's command line and its failures."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.accounts.account import Account
from hub.domain.failure import FailureClass
from hub.providers.acp.failures import classify
from hub.providers.base import Stdin
from hub.providers.gemini import failures
from hub.providers.gemini.agent import PROVIDER
from tests.hub.providers.captured import ASSIGNMENT, NOW


def test_launch_speaks_acp_and_names_nothing_long():
    given = attrs.evolve(ASSIGNMENT, model="gemini-2.5-pro", envelope="CONTRACT", program="/opt/gemini")
    launch = PROVIDER.launch(given)
    assert launch.argv == ["/opt/gemini", "--acp", "--approval-mode", "yolo", "-m", "gemini-2.5-pro"]
    assert launch.stdin is Stdin.PIPE
    assert not launch.files


def test_environment_of_an_account():
    account = Account("a", "/acc", {"GEMINI_API_KEY": "k"})
    env = PROVIDER.launch(attrs.evolve(ASSIGNMENT, account=account, base_url="http://127.0.0.1:1")).env
    assert env == {
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_CLI_HOME": "/acc",
        "GEMINI_API_KEY": "k",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1",
    }


def test_the_programs_own_system_prompt_is_not_replaced():
    """`GEMINI_SYSTEM_MD` would leave 78 bytes of it."""
    assert "GEMINI_SYSTEM_MD" not in PROVIDER.launch(attrs.evolve(ASSIGNMENT, envelope="CONTRACT")).env
    assert not PROVIDER.capabilities.system_prompt


@pytest.mark.parametrize(
    ("text", "code", "kind"),
    [
        ("You have exhausted your daily quota on this model.", 429, FailureClass.USAGE_LIMIT),
        ("Rate limit exceeded. Try again later.", 429, FailureClass.USAGE_LIMIT),
        ("You have exhausted your capacity on this model.", 429, FailureClass.OVERLOAD),
        ("The model is overloaded. Please try again later.", 503, FailureClass.OVERLOAD),
        ('{"error":{"code":400,"message":"API key not valid."}}', 400, FailureClass.AUTH),
        ("Gemini API key is missing or not configured.", -32000, FailureClass.AUTH),
        ("The input token count (1200000) exceeds the maximum", 400, FailureClass.CONTEXT_OVERFLOW),
        ("exception TypeError: fetch failed sending request", 500, FailureClass.OVERLOAD),
        ("Something new", 400, FailureClass.UNKNOWN),
    ],
)
def test_words_then_code(text, code, kind):
    assert classify(text, code, NOW, wording=failures.WORDING).kind is kind


def test_an_error_body_is_told_in_its_own_words():
    body = '{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}'
    assert classify(body, 400, NOW, wording=failures.WORDING).text == "API key not valid."


@pytest.mark.parametrize(
    ("text", "hint", "window"),
    [
        ("You have exhausted your daily quota on this model.", 7200.0, "day"),
        ("Rate limit exceeded. Try again later.", 30.0, "minute"),
        ("Rate limit exceeded. Try again later.", 7200.0, ""),
        ("Rate limit exceeded. Try again later.", None, ""),
    ],
)
def test_a_short_wait_is_a_per_minute_limit(text, hint, window):
    at = None if hint is None else NOW + hint
    failure = classify(text, 429, NOW, hint=at, wording=failures.WORDING)
    assert failure.window == window


@pytest.mark.parametrize(
    ("line", "reset"),
    [
        ("      'Please retry in 7200s.',", NOW + 7200),
        ('  "retryDelay": "34.5s"', NOW + 34.5),
        ("Suggested retry after 2s.. Retrying after 5579ms...", None),
        ("Ripgrep is not available. Falling back to GrepTool.", None),
    ],
)
def test_the_reset_on_standard_error(line, reset):
    assert failures.reset_hint(line, NOW) == reset


@given(st.text(), st.integers(), st.none() | st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_any_words_are_read_without_raising(text, code, hint, now):
    classify(text, code, now, hint=hint, wording=failures.WORDING)
    failures.WORDING.of_exit(text, now, "exit code 1")
    failures.Retries().feed(text.encode(), now)
