"""A key in `.hub/.env` is one agent's: the one it was set for."""

from __future__ import annotations

import attrs
import pytest

from hub.io.secrets.agent_keys import kept_as, keys_of


@attrs.frozen
class Agent:
    key_names: tuple[str, ...]


AGENTS = {
    "claude": Agent(("ANTHROPIC_API_KEY",)),
    "opencode": Agent(("OPENCODE_API_KEY", "ANTHROPIC_API_KEY")),
    "my-own.agent": Agent(("ANTHROPIC_API_KEY", "MINE")),
    "demo": Agent(()),
}


@pytest.mark.parametrize(
    ("agent", "variable", "name"),
    [
        ("claude", "ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"),
        ("opencode", "OPENCODE_API_KEY", "OPENCODE_API_KEY"),
        ("opencode", "ANTHROPIC_API_KEY", "OPENCODE__ANTHROPIC_API_KEY"),
        ("my-own.agent", "ANTHROPIC_API_KEY", "MY_OWN_AGENT__ANTHROPIC_API_KEY"),
        ("my-own.agent", "MINE", "MINE"),
    ],
)
def test_a_bare_name_is_the_first_takers(agent, variable, name):
    assert kept_as(agent, variable, AGENTS) == name


def test_nobody_is_given_what_was_set_for_another(tmp_path):
    """OpenCode, Aider and an agent of one's own spent a key that was set for Claude Code."""
    path = tmp_path / ".env"
    assert keys_of(path, "claude", AGENTS) == {}
    path.write_text("ANTHROPIC_API_KEY=one\nOPENCODE__ANTHROPIC_API_KEY=two\n")
    path.chmod(0o600)
    assert {name: keys_of(path, name, AGENTS) for name in AGENTS} == {
        "claude": {"ANTHROPIC_API_KEY": "one"},
        "opencode": {"ANTHROPIC_API_KEY": "two"},
        "my-own.agent": {},
        "demo": {},
    }
