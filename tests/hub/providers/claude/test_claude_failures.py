"""Texts, statuses and fields of Claude Code's failures -> class, reset and window."""

from datetime import datetime

import pytest

from hub.domain.failure import FailureClass
from hub.providers.claude import failures
from hub.providers.claude.failures import Signs
from tests.clock import in_zone

BODY = '{"error":{"message":"Usage limit reached, resets at 2026-11-21 21:00:00"}}'
NOW = 1_795_229_000.0  # 2026-11-21T02:43:20Z

TEXTS = [
    ("You've hit your 5-hour limit · resets 4:54am (UTC)", FailureClass.USAGE_LIMIT),
    ("You've hit your session limit", FailureClass.USAGE_LIMIT),
    ("You've hit your monthly spend limit", FailureClass.USAGE_LIMIT),
    ("You've reached your Fable limit", FailureClass.USAGE_LIMIT),
    ("Claude AI usage limit reached|1795236877", FailureClass.USAGE_LIMIT),
    ("Credit balance is too low", FailureClass.USAGE_LIMIT),
    (
        "API Error: Sonnet 5.5's safeguards flagged this message (https://www.anthropic.com/legal/aup).",
        FailureClass.REFUSAL,
    ),
    ("Prompt is too long · the request is ~210000 tokens (limit 200000)", FailureClass.CONTEXT_OVERFLOW),
    ("Not logged in · Please run /login", FailureClass.AUTH),
    ("Invalid API key · Fix external API key", FailureClass.AUTH),
    ("OAuth token has expired. Please obtain a new token", FailureClass.AUTH),
    ("API Error: 529 Overloaded. This is a server-side issue, usually temporary", FailureClass.OVERLOAD),
    ("API Error: 500 Internal server error", FailureClass.OVERLOAD),
    ("API Error: Connection error.", FailureClass.OVERLOAD),
    ("API Error: Request timed out.", FailureClass.OVERLOAD),
    ("No conversation found with session ID: x", FailureClass.UNKNOWN),
    ("", FailureClass.UNKNOWN),
]


@pytest.mark.parametrize(("text", "kind"), TEXTS)
def test_the_words_alone_tell_the_class(text, kind):
    assert failures.classify(Signs(text), NOW).kind is kind


@pytest.mark.parametrize(
    ("signs", "kind"),
    [
        (Signs("x", status=429), FailureClass.USAGE_LIMIT),
        (Signs("x", status=401), FailureClass.AUTH),
        (Signs("x", status=529), FailureClass.OVERLOAD),
        (Signs("x", status=503), FailureClass.OVERLOAD),
        (Signs("x", status=413), FailureClass.CONTEXT_OVERFLOW),
        (Signs("x", status=400), FailureClass.UNKNOWN),
        (Signs("x", status=400, terminal="prompt_too_long"), FailureClass.CONTEXT_OVERFLOW),
        (Signs("x", error="usage_limit_reached"), FailureClass.USAGE_LIMIT),
        (Signs("x", kind="authentication_failed"), FailureClass.AUTH),
        (Signs("x", refused=True, status=400), FailureClass.REFUSAL),
        (Signs("overloaded", rejected=True), FailureClass.USAGE_LIMIT),
    ],
)
def test_fields_are_believed_before_words(signs, kind):
    assert failures.classify(signs, NOW).kind is kind


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"error": "rate_limit", "api_error_status": 429}, FailureClass.USAGE_LIMIT),
        ({"error": "billing_error", "api_error_type": "invalid_request_error"}, FailureClass.USAGE_LIMIT),
        ({"api_error": "long_context_credits_required"}, FailureClass.USAGE_LIMIT),
        ({"error": "oauth_org_not_allowed", "api_error_status": 400}, FailureClass.AUTH),
        ({"error": "account_on_hold"}, FailureClass.AUTH),
        ({"error": "invalid_request", "api_error": "org_disabled_credential"}, FailureClass.AUTH),
        ({"error": "invalid_request", "api_error": "named_profile_unusable"}, FailureClass.AUTH),
        ({"error": "overloaded"}, FailureClass.OVERLOAD),
        ({"error": "unknown", "api_error": "connection_failed"}, FailureClass.OVERLOAD),
        ({"error": "unknown", "terminal_reason": "blocking_limit"}, FailureClass.CONTEXT_OVERFLOW),
        ({"api_error": "message_over_context_limit", "api_error_status": 400}, FailureClass.CONTEXT_OVERFLOW),
        ({"error": "model_not_found", "api_error_status": 404}, FailureClass.UNKNOWN),
        ({"error": "a word of next year"}, FailureClass.UNKNOWN),
    ],
)
def test_a_typed_error_needs_no_words(fields, kind):
    """The words change with each version; the types of a newer one were `unknown`, and nobody took the work."""
    assert failures.classify(failures.signs(fields, "x", None, Signs()), NOW).kind is kind


def test_a_server_that_throttles_everybody_has_used_up_nobodys_limit():
    """It answers 429 too: the account was taken for empty."""
    text = "API Error: Server is temporarily limiting requests (not your usage limit) \u00b7 Rate limited"
    assert failures.classify(Signs(text, status=429), NOW).kind is FailureClass.OVERLOAD


@pytest.mark.parametrize(
    ("text", "resets_at"),
    [
        ("You've hit your session limit \u00b7 resets 12:10pm", "2026-11-21T11:10Z"),
        ("5-hour limit reached \u2219 resets 6pm", "2026-11-21T17:00Z"),
        ("Weekly limit reached \u2219 resets Nov 24 at 5pm", "2026-11-24T16:00Z"),
        ("Spending cap reached resets 5:30pm", "2026-11-21T16:30Z"),
        ("You've hit your weekly limit \u00b7 resets Nov 24, 2am (UTC)", "2026-11-24T02:00Z"),
        (f"API Error: 429 {BODY}", None),
        (f"You've hit your limit \u00b7 API Error: 429 {BODY}", None),
        (f"\nAPI Error: 429 {BODY}", None),
        (f"429 {BODY}", None),
        (
            "Request rejected (429) \u00b7 Usage limit reached for 5 hour. Your limit will reset at 2026-11-21 21:00:00",
            None,
        ),
        (
            "Request rejected (429) \u00b7 Usage limit reached. Your limit will reset at 9999-12-31 23:59",
            None,
        ),
        ("Claude usage limit reached. Your limit will reset at 0001-01-01 00:00:00", None),
    ],
)
def test_its_own_clock_is_that_of_this_machine_and_a_servers_is_not(text, resets_at):
    """Many versions tell no zone: the reset was unknown, and the account tried every few minutes."""
    with in_zone("Europe/Berlin"):
        failure = failures.classify(Signs(text), NOW)
    assert failure.kind is FailureClass.USAGE_LIMIT
    assert failure.resets_at == (datetime.fromisoformat(resets_at).timestamp() if resets_at else None)


def test_the_reset_field_wins_over_the_words():
    signs = Signs(
        "You've hit your 5-hour limit · resets 4:54am (UTC)",
        status=429,
        resets_at=1795236877,
        window="five_hour",
    )
    failure = failures.classify(signs, NOW)
    assert (failure.resets_at, failure.window) == (1795236877, "five_hour")


def test_the_words_tell_the_reset_where_no_field_does():
    failure = failures.classify(Signs("You've hit your 5-hour limit · resets 4:54am (UTC)", status=429), NOW)
    assert failure.resets_at == 1795236840


def test_a_limit_per_minute_is_named_so():
    text = "This request would exceed your organization's rate limit of 50 requests per minute."
    assert failures.classify(Signs(text, status=429), NOW).window == "minute"


def test_only_a_limit_has_a_reset():
    assert failures.classify(Signs("Overloaded, try again in 5 minutes", status=529), NOW).resets_at is None


@pytest.mark.parametrize(
    ("stderr", "kind"),
    [
        ("", FailureClass.CRASH),
        ("Segmentation fault", FailureClass.CRASH),
        ("Not logged in · Please run /login", FailureClass.AUTH),
        ("Claude AI usage limit reached, resets 4:54am (UTC)", FailureClass.USAGE_LIMIT),
    ],
)
def test_standard_error_is_the_last_witness(stderr, kind):
    failure = failures.WORDING.of_exit(stderr, NOW, "it ended (exit code 1)")
    assert failure.kind is kind
    assert stderr in failure.text


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (529, "overloaded", FailureClass.OVERLOAD),
        (429, "rate_limit", FailureClass.USAGE_LIMIT),
        (401, "authentication_failed", FailureClass.AUTH),
        (None, "unknown", FailureClass.OVERLOAD),
    ],
)
def test_a_retry_has_its_class_and_a_broken_connection_is_an_overload(status, error, kind):
    assert failures.retry_class(status, error) is kind
