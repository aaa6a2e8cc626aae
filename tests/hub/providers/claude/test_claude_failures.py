"""Texts, statuses and fields of Claude Code's failures -> class, reset and window."""

import pytest

from hub.domain.failure import FailureClass
from hub.providers.claude import failures
from hub.providers.claude.failures import Signs

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
