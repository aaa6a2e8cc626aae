"""Qwen Code's command line, settings and failures."""

import json

import attrs
import pytest

from hub.domain.accounts.account import Account
from hub.domain.failure import FailureClass
from hub.providers.acp.failures import class_of
from hub.providers.base import Stdin
from hub.providers.qwen import failures
from hub.providers.qwen.agent import DEFAULTS_FILE, PROVIDER
from tests.hub.providers.captured import ASSIGNMENT, fold, lines_of


def test_launch_speaks_acp_and_names_nothing_long():
    given = attrs.evolve(ASSIGNMENT, model="qwen3-coder-plus", envelope="CONTRACT", program="/opt/qwen")
    launch = PROVIDER.launch(given)
    assert launch.argv == ["/opt/qwen", "--acp", "--approval-mode", "yolo", "-m", "qwen3-coder-plus"]
    assert launch.stdin is Stdin.PIPE


@pytest.mark.parametrize(
    "more",
    [
        {"base_url": "http://127.0.0.1:1/v1"},
        {"account": Account("a", "", {"OPENAI_API_KEY": "k"})},
        {"options": {"env": {"OPENAI_API_KEY": "local"}}},
    ],
)
def test_a_key_or_a_base_url_means_the_openai_protocol(more):
    """Without either, the account's own settings say where its model is."""
    argv = PROVIDER.launch(attrs.evolve(ASSIGNMENT, **more)).argv
    assert argv[argv.index("--auth-type") + 1] == "openai"
    assert "--auth-type" not in PROVIDER.launch(ASSIGNMENT).argv


def test_environment_of_an_account():
    account = Account("a", "/acc", {"OPENAI_API_KEY": "k"})
    given = attrs.evolve(
        ASSIGNMENT, account=account, base_url="http://127.0.0.1:1/v1", options={"env": {"X": 1}}
    )
    assert PROVIDER.launch(given).env == {
        "QWEN_CODE_SYSTEM_DEFAULTS_PATH": f"/run/d-1/{DEFAULTS_FILE}",
        "QWEN_HOME": "/acc",
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        "X": "1",
    }


def test_a_limit_is_told_after_one_round_of_retries_and_nothing_beside_the_task_is_paid():
    """Settings of the lowest rank: what the user wrote into the account's own outranks them."""
    settings = json.loads(PROVIDER.launch(ASSIGNMENT).files[DEFAULTS_FILE])
    assert settings["model"]["generationConfig"]["maxRetries"] == 0
    assert not any(settings["memory"].values())
    assert settings["ui"]["enableFollowupSuggestions"] is False
    assert settings["general"]["enableAutoUpdate"] is False


@pytest.mark.parametrize(
    ("text", "code", "kind"),
    [
        ("Rate limit exceeded. Try again later.", 429, FailureClass.USAGE_LIMIT),
        ("Quota exhausted: will reset at 2026-11-22T00:00:00Z", -32603, FailureClass.USAGE_LIMIT),
        ("Qwen OAuth free tier has been discontinued as of 2026-04-15.", -32603, FailureClass.AUTH),
        ("Missing API key for openai auth.", -32000, FailureClass.AUTH),
        (
            "Context is too large to send safely after automatic compression.",
            0,
            FailureClass.CONTEXT_OVERFLOW,
        ),
        ("Model stream ended with empty response text.", -32603, FailureClass.REFUSAL),
        ("Model stream ended after a tool result without visible progress.", -32603, FailureClass.REFUSAL),
        ("503 The server is currently overloaded.", -32603, FailureClass.OVERLOAD),
        ("Something new", -32603, None),
    ],
)
def test_its_own_words_come_before_the_vendors(text, code, kind):
    assert class_of(text, code, failures.WORDING) is kind


def test_the_queue_it_asks_for_is_refused_at_once():
    """It waits two seconds for an answer after each round of tools, and asks no more when nobody serves this."""
    lines = lines_of("qwen", "rich")
    assert any(b"craft/drainMidTurnQueue" in line for line in lines)
    assert fold(PROVIDER, ASSIGNMENT, lines).writes["answer-0"]["error"]["code"] == -32601
