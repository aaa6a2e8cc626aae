"""What an agent's error tells, whoever the agent and its model's vendor are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.failure import FailureClass
from hub.providers.acp import failures
from hub.providers.rpc import RpcError
from tests.hub.providers.captured import NOW

LIMIT = FailureClass.USAGE_LIMIT
AUTH = FailureClass.AUTH
OVERLOAD = FailureClass.OVERLOAD
CONTEXT = FailureClass.CONTEXT_OVERFLOW


@pytest.mark.parametrize(
    ("text", "code", "kind"),
    [
        ("429 You exceeded your current quota, please check your plan and billing details.", -32603, LIMIT),
        ("Rate limit reached for gpt-5.5 on requests per min (RPM): Limit 3.", -32603, LIMIT),
        ("Your credit balance is too low to access the Anthropic API.", 400, LIMIT),
        ("402 Insufficient Balance", 0, LIMIT),
        ("You have exhausted your capacity on this model.", 429, OVERLOAD),
        ("401 Incorrect API key provided: key.", -32603, AUTH),
        ("Authentication required", -32000, AUTH),
        ("something", -32000, AUTH),
        ("something", 403, AUTH),
        ("400 This model's maximum context length is 128000 tokens.", -32603, CONTEXT),
        ("413 Request Entity Too Large", 0, CONTEXT),
        ("Your request was flagged by our content filter.", 400, FailureClass.REFUSAL),
        ("503 The server is currently overloaded with other requests.", -32603, OVERLOAD),
        ("status: 502", 0, OVERLOAD),
        ("fetch failed", -32603, OVERLOAD),
        ("Internal error", -32603, None),
        ("a file of 429 lines", 0, None),
    ],
)
def test_words_then_status_then_code(text, code, kind):
    assert failures.class_of(text, code) is kind


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (RpcError(-32603, "Internal error", {"details": "401 No."}), "401 No."),
        (RpcError(-32603, "Internal error", "401 No."), "401 No."),
        (RpcError(-32603, "Internal error", {}), "Internal error"),
        (
            RpcError(-32000, "Authentication required", {"message": "Run login."}),
            "Authentication required: Run login.",
        ),
        (RpcError(1, "Quota used up: wait", {"details": "wait"}), "Quota used up: wait"),
        (RpcError(1, "No", [1]), "No"),
    ],
)
def test_an_error_says_what_its_data_adds(fault, said):
    assert failures.words_of(fault) == said


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ({"status": 429}, 429),
        ({"statusCode": 503, "code": 7}, 503),
        ({"code": 12}, -32603),
        ("429", -32603),
        (None, -32603),
    ],
)
def test_a_status_in_a_field_of_its_own_is_believed_before_the_protocols_code(data, status):
    assert failures.status_of(RpcError(-32603, "Internal error", data)) == status


def test_a_limit_tells_its_reset_and_window():
    failure = failures.classify("429 Rate limit reached, 3 requests per min. Try again in 20s.", 0, NOW)
    assert (failure.resets_at, failure.window) == (NOW + 20, "minute")
    assert failures.classify("Daily quota exceeded", 429, NOW).window == "day"
    assert failures.classify("quota exceeded", 429, NOW).window == ""
    assert failures.classify("quota exceeded per minute", 429, NOW, hint=NOW + 7200).window == ""


def test_what_nobody_knows_fails_closed():
    assert failures.classify("Something new", 0, NOW).kind is FailureClass.UNKNOWN


def test_an_end_without_an_answer_is_a_crash_unless_its_words_tell_more():
    assert failures.WORDING.of_exit("", NOW, "It ended").kind is FailureClass.CRASH
    assert failures.WORDING.of_exit("    at chunk.js:503:28 (x)", NOW, "It ended").kind is FailureClass.CRASH
    limit = failures.WORDING.of_exit("Error: usage limit reached, try again in 2h", NOW, "It ended")
    assert (limit.kind, limit.resets_at) == (LIMIT, NOW + 7200)


@given(st.text(), st.integers())
def test_any_words_are_read_without_raising(text, code):
    failures.classify(text, code, NOW)
    failures.WORDING.of_exit(text, NOW, "It ended")
    failures.words_of(RpcError(code, text, text))
