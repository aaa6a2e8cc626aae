"""Agents and profiles as an editor offers them."""

import time

import pytest

from hub.acp.choices import SessionChoices
from hub.api.profiles import Profile
from hub.api.providers import ProviderStatus
from hub.domain.wallclock import moment
from hub.wire.frames import RefusedError
from tests.sample import sample

PROVIDERS = [
    {"name": "claude", "displayName": "Claude Code", "status": "active", "account": "work", "reason": "", "resetsAt": None},
    {"name": "codex", "displayName": "Codex", "status": "exhausted", "account": "default", "reason": "at its limit", "resetsAt": "2026-01-01T00:00:00Z"},
    {"name": "gemini", "displayName": "Gemini", "status": "error", "account": "default", "reason": "not installed", "resetsAt": None},
]  # fmt: skip


@pytest.fixture
def choices():
    made = SessionChoices()
    profile = sample(Profile, name="careful", chain=["claude", "codex"])
    made.learn([sample(ProviderStatus, **one) for one in PROVIDERS], [profile])
    return made


def test_who_cannot_work_is_not_offered(choices):
    agent, profile = choices.options()
    assert [one["value"] for one in agent["options"]] == ["auto", "claude", "codex"]
    at = moment("2026-01-01T00:00:00Z", time.time())
    assert agent["options"][2]["description"] == f"default: at its limit, until {at}"
    assert [one["value"] for one in profile["options"]] == ["auto", "careful"]
    assert [one["id"] for one in choices.modes()["availableModes"]] == ["auto", "careful"]


def test_what_is_chosen_stays_chosen(choices):
    assert (choices.agent, choices.profile) == ("", "")
    choices.choose("agent", "codex")
    choices.choose("profile", "careful")
    assert (choices.agent, choices.profile) == ("codex", "careful")
    assert [one["currentValue"] for one in choices.options()] == ["codex", "careful"]
    assert choices.modes()["currentModeId"] == "careful"
    choices.choose("agent", "auto")
    assert (choices.agent, choices.profile) == ("", "careful")


@pytest.mark.parametrize(("option", "value"), [("agent", "gemini"), ("profile", "x"), ("order", "auto")])
def test_what_is_not_offered_cannot_be_chosen(choices, option, value):
    with pytest.raises(RefusedError):
        choices.choose(option, value)
