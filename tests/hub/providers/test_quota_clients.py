"""Each client reads its agent's records and its maker's answers as they are, and sends no login that will not do."""

import json
from pathlib import Path

import pytest

from hub.domain.accounts.login import LoginStore
from hub.providers.codex.windows import window_name
from hub.providers.jsonline import instant
from hub.providers.openrouter import key_in
from hub.providers.quota import Share, permille
from hub.providers.registry import load, names, quota_client

NOW = 1_795_236_000.0
CLAUDE, CODEX, GEMINI = (quota_client(name) for name in ("claude", "codex", "gemini"))
OPENCODE, AIDER = (quota_client(name) for name in ("opencode", "aider"))
ALL = (CLAUDE, CODEX, GEMINI, OPENCODE, AIDER)

ROLLOUT = {
    "timestamp": "2026-11-21T02:53:46.868Z", "type": "event_msg",
    "payload": {
        "type": "token_count", "info": {},
        "rate_limits": {
            "limit_id": "codex",
            "primary": {"used_percent": 42.0, "window_minutes": 300, "resets_at": 1795236826},
            "secondary": {"used_percent": 13.0, "window_minutes": 10080, "resets_at": 1795536826},
            "credits": {"has_credits": False},
        },
    },
}  # fmt: skip
"""As Codex 0.169 writes it."""
TRANSCRIPT = {
    "type": "assistant", "timestamp": "2026-11-21T02:54:37.890Z", "apiError": "usage_limit_reached",
    "apiErrorParams": {"rate_limit_info": {"status": "rejected", "resetsAt": 1795236877, "rateLimitType": "five_hour"}},
}  # fmt: skip
"""As Claude Code 2.1 writes it."""


def test_a_rollout_tells_both_windows_and_when():
    at = instant("2026-11-21T02:53:46.868Z")
    assert CODEX.record(ROLLOUT) == [
        Share("five_hour", 420, 1795236826.0, at),
        Share("seven_day", 130, 1795536826.0, at),
    ]


def test_a_limit_in_a_transcript_fills_its_window():
    at = instant("2026-11-21T02:54:37.890Z")
    assert CLAUDE.record(TRANSCRIPT) == (Share("five_hour", 1000, 1795236877.0, at),)


@pytest.mark.parametrize("client", ALL)
@pytest.mark.parametrize(
    "record", [{}, {"payload": []}, {"payload": {"type": "token_count"}}, {"apiErrorParams": 1}]
)
def test_any_other_record_tells_nothing(client, record):
    assert list(client.record(record)) == []


def test_the_answers_are_read():
    """Claude's endpoint tells percents where its stream tells shares."""
    iso = "2026-11-21T05:00:00+00:00"
    claude = {"five_hour": {"utilization": 42.0, "resets_at": iso}, "seven_day": {"utilization": 7, "resets_at": None},
              "seven_day_opus": None, "extra_usage": {"is_enabled": False, "utilization": None}}  # fmt: skip
    assert CLAUDE.answer(claude) == [Share("five_hour", 420, instant(iso)), Share("seven_day", 70, None)]
    codex = {"rate_limit": {
        "primary_window": {"used_percent": 6, "reset_at": 1795236826, "limit_window_seconds": 18000},
        "secondary_window": {"used_percent": 24, "reset_at": 1795536826, "limit_window_seconds": 604800},
    }}  # fmt: skip
    assert CODEX.answer(codex) == [
        Share("five_hour", 60, 1795236826.0),
        Share("seven_day", 240, 1795536826.0),
    ]
    gemini = {
        "buckets": [
            {"modelId": "gemini-2.5-pro", "remainingFraction": 0.25, "resetTime": iso},
            {"modelId": "x"},
        ]
    }
    assert GEMINI.answer(gemini) == [Share("day:gemini-2.5-pro", 750, instant(iso))]


@pytest.mark.parametrize("client", ALL)
@pytest.mark.parametrize(
    "body", [{}, {"rate_limit": 3, "buckets": {}, "five_hour": []}, {"error": {"message": "no"}}]
)
def test_any_other_answer_tells_nothing(client, body):
    assert list(client.answer(body)) == []


def login(client, **fields):
    shapes = {
        CLAUDE: {"claudeAiOauth": {"accessToken": "t-1", "expiresAt": (NOW + 60) * 1000, **fields}},
        CODEX: {"tokens": {"access_token": "t-1", "account_id": "a-1", **fields}},
        GEMINI: {"access_token": "t-1", "expiry_date": (NOW + 60) * 1000, **fields},
        OPENCODE: {
            "anthropic": {"type": "oauth", "access": "a"},
            "openrouter": {"type": "api", "key": "t-1"},
        },
    }
    if client is AIDER:
        return b"OPENAI_API_KEY=other-key\nOPENROUTER_API_KEY=t-1-and-more\n"
    return json.dumps(shapes[client]).encode()


@pytest.mark.parametrize("client", ALL)
def test_a_login_goes_into_the_request_and_nowhere_else(client):
    found = client.request(login(client), "https://example.org", NOW)
    assert found.headers["Authorization"] == f"Bearer {'t-1-and-more' if client is AIDER else 't-1'}"
    assert found.url.startswith("https://example.org/")
    assert "t-1" not in repr(found)
    assert "t-1" not in found.url


@pytest.mark.parametrize("client", ALL)
@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"claudeAiOauth": 1, "tokens": [], "access_token": 5}'])
def test_no_login_is_no_request(client, data):
    assert client.request(data, "https://example.org", NOW) is None


@pytest.mark.parametrize(("client", "field"), [(CLAUDE, "expiresAt"), (GEMINI, "expiry_date")])
def test_an_expired_login_is_not_sent_and_not_refreshed(client, field):
    """Vendor tokens are the agents' own to renew."""
    assert client.request(login(client, **{field: NOW * 1000}), "https://example.org", NOW) is None


@pytest.mark.parametrize(
    ("data", "shares"),
    [
        (
            {"limit": 100, "limit_remaining": 74.5, "limit_reset": "monthly", "usage": 25.5},
            [("credit:monthly", 255)],
        ),
        ({"limit": 10, "limit_remaining": 0, "limit_reset": None}, [("credit", 1000)]),
        ({"limit": 10, "limit_remaining": -0.2}, [("credit", 1000)]),
        ({"limit": None, "limit_remaining": None, "usage": 3}, []),
        ({"limit": 0, "limit_remaining": 0}, []),
        ({"limit": "10", "limit_remaining": 5}, []),
    ],
    ids=["monthly", "used up", "over", "without a limit", "nothing", "no number"],
)
@pytest.mark.parametrize("client", [OPENCODE, AIDER])
def test_a_key_of_openrouters_tells_what_is_left_of_its_limit(client, data, shares):
    assert list(client.answer({"data": data})) == [Share(window, used) for window, used in shares]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (b"OPENROUTER_API_KEY=sk-or-v1-abc\n", "sk-or-v1-abc"),
        (
            b"# OPENROUTER_API_KEY=sk-or-v1-old\nexport OPENROUTER_API_KEY = 'sk-or-v1-abc'  # mine\r\n",
            "sk-or-v1-abc",
        ),
        (b'OPENROUTER_API_KEY="sk-or-v1-abc"\nOPENROUTER_API_KEY=sk-or-v1-new', "sk-or-v1-new"),
        (b"MY_OPENROUTER_API_KEY=sk-or-v1-abc\nOPENROUTER_API_KEY=\nOPENROUTER_API_KEY_2=sk-or-v1-abc\n", ""),
        (b"OPENROUTER_API_KEY=\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8", ""),
    ],
)
def test_the_key_in_a_file_of_variables(text, key):
    assert key_in(text) == key


def test_figures_that_are_none():
    assert [permille(value) for value in (None, True, "42", -1, 1001, 42.04)] == [None] * 5 + [420]
    assert [
        instant(value) for value in (None, "soon", True, -1, 0, 1e15, [], "0001-01-01T00:00:00+14:00")
    ] == [None] * 8
    assert instant("2026-11-21T05:00:00") == instant("2026-11-21T05:00:00Z")
    assert {instant(value) for value in (1795237200, 1795237200000, "1795237200", "1795237200000")} == {
        1795237200.0
    }
    assert (window_name("primary", 300), window_name("primary", 7)) == ("five_hour", "7_minutes")


def test_the_table_of_clients_is_of_known_providers():
    assert [name for name in names() if quota_client(name)] == [
        "claude",
        "codex",
        "gemini",
        "opencode",
        "aider",
    ]
    assert quota_client("nobody") is None


def test_the_quota_is_asked_with_the_login_of_the_account():
    """An account's directory is what the agent's variable is set to; the file below it is the same for all who look."""
    for name in names():
        client = quota_client(name)
        if client is not None:
            keys_alone = LoginStore(
                "", "~", ".env", ()
            )  # Aider has no login: its keys are in a file of variables
            store = next(iter(load(name).login_stores), keys_alone)
            assert client.credentials == store.path, name
            assert Path("~") / client.home == Path(store.default), name
