"""A rule about an agent's tools starts it in the mode in which it asks, unless the user chose one; without rules nothing
changes."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from hub.api.tables import parse_config
from hub.domain.permission.rules import asks
from hub.providers.base import Assignment
from hub.providers.registry import load_all

ASSIGNMENT = Assignment("d-1", "s-1", "task", Path("/w"), Path("/run"))
PROVIDERS = load_all()
FREE = {
    "claude": "--dangerously-skip-permissions",
    "gemini": "yolo",
    "qwen": "yolo",
    "copilot": "--allow-all",
}
ASKING = {"claude": "stdio", "gemini": "default", "qwen": "default"}


def argv(name: str, **fields) -> list[str]:
    return list(PROVIDERS[name].launch(attrs.evolve(ASSIGNMENT, **fields)).argv)


@pytest.mark.parametrize("name", FREE)
def test_the_default_is_to_work_without_asking(name):
    assert FREE[name] in argv(name)
    assert FREE[name] not in argv(name, asks=True)


@pytest.mark.parametrize("name", ASKING)
def test_an_agent_that_must_ask_is_started_so(name):
    assert ASKING[name] in argv(name, asks=True)


def test_a_mode_of_the_users_own_wins_unless_it_never_asks():
    """`yolo` would make a rule a mere wish; Qwen Code ignores there what it is told to ask for."""
    given = argv("claude", asks=True, options={"permission_mode": "acceptEdits"})
    assert given[given.index("--permission-mode") + 1] == "acceptEdits"
    for name, option, free in (
        ("claude", "permission_mode", "--dangerously-skip-permissions"),
        ("gemini", "approval_mode", "yolo"),
        ("qwen", "approval_mode", "yolo"),
        ("copilot", "approval_mode", "--allow-all"),
    ):
        mode = {"permission_mode": "bypassPermissions"}.get(option, free.removeprefix("--"))
        assert free in argv(name, options={option: mode})
        assert free not in argv(name, asks=True, options={option: mode})


def test_every_agent_that_says_it_asks_looks_at_the_rules():
    """An agent that is added must not run free where a rule wants it to ask: its command or its environment differs."""
    for name, provider in PROVIDERS.items():
        if not provider.capabilities.approvals or name.startswith("demo"):
            continue
        free, bound = provider.launch(ASSIGNMENT), provider.launch(attrs.evolve(ASSIGNMENT, asks=True))
        assert (free.argv, free.env) != (bound.argv, bound.env), name


def test_a_rule_is_about_those_it_names():
    rules = parse_config('[[approvals]]\nprovider = "c*"\n[[approvals]]\naction = "handoff"\n').approvals
    assert [name for name in ("claude", "codex", "gemini") if asks(rules, name)] == ["claude", "codex"]
