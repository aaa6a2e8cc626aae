"""Codex's command line, its failures and its commands as they are written."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.accounts.account import Account
from hub.domain.failure import FailureClass
from hub.providers.base import Stdin
from hub.providers.codex import failures
from hub.providers.codex.agent import PROVIDER
from hub.providers.codex.items import unwrap
from tests.clock import in_zone
from tests.hub.providers.captured import ASSIGNMENT, NOW


def settings(assignment):
    """The `-c` flags, as Codex reads them."""
    argv = list(PROVIDER.launch(assignment).argv)
    flags = [argv[at + 1] for at, word in enumerate(argv) if word == "-c"]
    return tomllib.loads("\n".join(flags))


def test_the_app_server_is_the_main_way():
    launch = PROVIDER.launch(ASSIGNMENT)
    assert launch.argv[:2] == ["codex", "app-server"]
    assert launch.stdin is Stdin.PIPE
    assert launch.cwd == Path("/home/dev/repo")


def test_without_key_and_address_codex_keeps_its_own_login():
    assert settings(ASSIGNMENT) == {"check_for_update_on_startup": False}


def test_an_address_makes_a_provider_that_names_the_keys_variable():
    """Never the key itself: arguments are seen by every user of the machine."""
    account = Account("a", "/acc", {"OPENAI_API_KEY": "sk-secret"})
    given = attrs.evolve(ASSIGNMENT, base_url='http://127.0.0.1:1/v1"x', account=account)
    launch = PROVIDER.launch(given)
    assert settings(given)["model_providers"]["hub"] == {
        "name": "hub",
        "base_url": 'http://127.0.0.1:1/v1"x',
        "env_key": "OPENAI_API_KEY",
        "wire_api": "responses",
    }
    assert settings(given)["model_provider"] == "hub"
    assert not any("sk-secret" in argument for argument in launch.argv)
    assert launch.env["CODEX_HOME"] == "/acc"
    assert launch.env["OPENAI_API_KEY"] == "sk-secret"


def test_an_accounts_key_needs_a_provider_too():
    """The app-server sends no key from its environment to its built-in provider."""
    given = attrs.evolve(ASSIGNMENT, account=Account("a", "", {"CODEX_API_KEY": "k"}))
    assert settings(given)["model_providers"]["hub"]["base_url"] == "https://api.openai.com/v1"


def test_a_variable_that_is_named_is_used_though_no_account_holds_it():
    given = attrs.evolve(ASSIGNMENT, options={"env_key": "MY_KEY"})
    assert settings(given)["model_providers"]["hub"]["env_key"] == "MY_KEY"


def test_a_server_that_wants_no_key_gets_none():
    given = attrs.evolve(ASSIGNMENT, base_url="http://127.0.0.1:1/v1", options={"env_key": ""})
    assert "env_key" not in settings(given)["model_providers"]["hub"]


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("/bin/bash -lc 'ls -l && cat x'", "ls -l && cat x"),
        ("/usr/bin/zsh -lc ls", "ls"),
        ("/bin/sh -ec ls", "ls"),
        ("bash -c 'it'\"'\"'s'", "it's"),
        ("git -c a=b status", "git -c a=b status"),
        ("/bin/bash -lc 'unclosed", "/bin/bash -lc 'unclosed"),
        ("ls", "ls"),
        ("", ""),
    ],
)
def test_a_command_is_told_without_the_shell_around_it(command, plain):
    assert unwrap(command) == plain


@pytest.mark.parametrize(
    ("text", "code", "status", "kind"),
    [
        ("You\u2019ve hit your usage limit. Try again at 4:53 AM.", "", None, FailureClass.USAGE_LIMIT),
        ("anything", "usageLimitExceeded", None, FailureClass.USAGE_LIMIT),
        ("exceeded retry limit, last status: 429 Too Many Requests", "", None, FailureClass.USAGE_LIMIT),
        ("Reconnecting... 1/5", "responseStreamDisconnected", 429, FailureClass.USAGE_LIMIT),
        ("Selected model is at capacity. Please try a different model.", "", None, FailureClass.OVERLOAD),
        (
            "stream disconnected before completion: x",
            "responseStreamDisconnected",
            503,
            FailureClass.OVERLOAD,
        ),
        (
            "stream disconnected before completion: reason: content_filter",
            "other",
            None,
            FailureClass.REFUSAL,
        ),
        ("nope", "cyberPolicy", None, FailureClass.REFUSAL),
        ("Codex ran out of room in the model's context window.", "", None, FailureClass.CONTEXT_OVERFLOW),
        ("unexpected status 401 Unauthorized: x", "", None, FailureClass.AUTH),
        ("Missing environment variable: `CODEX_API_KEY`.", "other", None, FailureClass.AUTH),
        ("Something new", "somethingNew", None, FailureClass.UNKNOWN),
    ],
)
def test_code_then_status_then_words(text, code, status, kind):
    assert failures.classify(text, NOW, code, status).kind is kind


def test_an_ordinary_429_is_a_short_window():
    """It is worth a wait; the subscription's limit is not."""
    assert (
        failures.classify("exceeded retry limit, last status: 429 Too Many Requests", NOW).window == "minute"
    )
    assert failures.classify("You've hit your usage limit.", NOW, "usageLimitExceeded").window == ""


@pytest.mark.parametrize(
    "info", ["x", {"responseStreamDisconnected": {"httpStatusCode": None}}, None, 7, [], {}]
)
def test_the_error_code_has_many_forms(info):
    name, status = failures.code_of(info)
    assert isinstance(name, str)
    assert status is None


def test_a_reset_behind_a_change_of_the_clock_is_told_by_the_clock_of_then():
    """Berlin goes back on 25 October: with the offset of the day before, the work would begin an hour too early."""
    text = "You've hit your usage limit. Try again at Oct 26th, 2026 4:13 PM."
    said, back = (
        datetime(2026, 10, day, hour, 13, tzinfo=UTC).timestamp() for day, hour in ((24, 9), (26, 15))
    )
    with in_zone("Europe/Berlin"):
        assert failures.classify(text, said).resets_at == back


@pytest.mark.parametrize("day", ["9999-12-31 23:59", "0001-01-01 00:00"])
def test_a_day_that_no_clock_shows_is_no_reset(day):
    """This machine's clock has no offset at the calendar's edges: the session ended as an error of hub's own."""
    with in_zone("America/New_York"):
        failure = failures.classify(f"You've hit your usage limit. Try again at {day}.", NOW)
    assert (failure.kind, failure.resets_at) == (FailureClass.USAGE_LIMIT, None)


@given(st.text(), st.text(max_size=5), st.none() | st.integers(), st.floats(allow_nan=False))
def test_any_words_are_classified_without_raising(text, code, status, now):
    failures.classify(text, now, code, status)
    failures.from_exit(text, now, "exit code 1")
