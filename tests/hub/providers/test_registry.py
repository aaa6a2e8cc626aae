"""The registry knows every folder, imports it when asked, and each keeps the contract of `base`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from hub.api.tables import parse_config
from hub.domain.accounts.account import Account
from hub.domain.config.reader import Config
from hub.errors import Code
from hub.providers import registry
from hub.providers.base import Assignment, Stream
from hub.providers.provider import Provider, install_hint, refused_login_hint
from tests.refusals import refuses

_MEMBERS = [
    member for member in (*attrs.fields_dict(Provider), *vars(Provider)) if not member.startswith("_")
]
"""All that hub asks of an adapter; the registry imports by name, so no type checker sees one that is missing."""


@pytest.mark.parametrize("name", registry.load_all())
def test_each_provider_keeps_the_contract(name: str, tmp_path: Path) -> None:
    provider = registry.load(name)
    assert isinstance(provider.stream(_assignment(tmp_path)), Stream)
    assert [member for member in _MEMBERS if not hasattr(provider, member)] == []
    assert provider.name == name
    assert provider.display_name
    assert provider.silent_after > 0
    assert all(key.isupper() for key in provider.key_names)


@pytest.mark.parametrize("name", registry.load_all())
def test_no_long_text_enters_argv_and_no_file_leaves_the_run_directory(name: str, tmp_path: Path) -> None:
    """Linux refuses an argument of more than 128 KiB: such an agent never starts."""
    provider: Provider = registry.load(name)
    launch = provider.launch(_assignment(tmp_path, prompt="p" * 200_000, envelope="e" * 200_000))
    assert sum(map(len, launch.argv)) < 16_384
    assert sum(len(name) + len(value) for name, value in launch.env.items()) < 16_384
    assert all("/" not in file for file in launch.files)


def test_all_providers_are_there_in_their_order() -> None:
    assert list(registry.load_all()) == list(registry.names())
    assert {"claude", "codex", "gemini", "opencode", "qwen", "copilot", "aider"} < set(registry.names())


GOOSE = (
    '[providers.goose]\nkind = "acp"\ncommand = ["goose", "acp"]\nmodel = "{0}"\nmodelEnv = "GOOSE_MODEL"\n'
)


def test_an_agent_of_the_users_own_comes_from_the_configuration_alone(tmp_path: Path) -> None:
    known = registry.load_all(lambda: parse_config(GOOSE.format("m")))
    assert [*known][-1] == "goose"
    assert len(known) == len(registry.names()) + 1
    goose = known["goose"]
    assert isinstance(goose.stream(_assignment(tmp_path)), Stream)
    assert (goose.name, goose.display_name, goose.program) == ("goose", "goose", "goose")
    assert goose.launch(_assignment(tmp_path, model="m")).argv == ["goose", "acp"]
    assert goose.launch(_assignment(tmp_path, model="m")).env == {"GOOSE_MODEL": "m"}
    assert goose.stream(_assignment(tmp_path)) is not goose.stream(_assignment(tmp_path))


def test_a_changed_table_makes_another_agent_and_a_removed_one_stays_for_its_run() -> None:
    """Its run may not be over when the user takes it out of hub.toml: whoever holds its name still finds it."""
    config = parse_config(GOOSE.format("m"))
    known = registry.load_all(lambda: config)
    first = known["goose"]
    assert known["goose"] is first
    config = parse_config(GOOSE.replace('"acp"]', '"acp", "-v"]').format("m"))
    assert known["goose"] is not first
    config = Config()
    assert "goose" not in known
    assert "goose" not in list(known)
    assert known["goose"].name == "goose"
    with pytest.raises(KeyError):
        known["nobody"]


def test_logins_are_kept_apart_only_where_a_variable_moves_the_agents_directory() -> None:
    moved = GOOSE + 'homeEnv = "GOOSE_PATH_ROOT"\n'
    found = [registry.load_all(lambda t=t: parse_config(t.format("m")))["goose"] for t in (GOOSE, moved)]  # type: ignore[misc]
    assert [goose.capabilities.accounts for goose in found] == [False, True]
    account = Account("a", "/acc", {"K": "v"})
    assert [goose.account_env(account) for goose in found] == [
        {"K": "v"},
        {"GOOSE_PATH_ROOT": "/acc", "K": "v"},
    ]


def test_without_an_install_command_the_hint_names_the_setting() -> None:
    known = registry.load_all(lambda: parse_config(GOOSE.format("m")))
    assert install_hint(known["claude"]) == "Install it: npm install -g @anthropic-ai/claude-code"
    assert install_hint(known["goose"]) == "Install goose, or correct providers.goose.command in hub.toml."


def test_an_unknown_name_is_a_coded_error() -> None:
    with refuses(Code.NOT_FOUND):
        registry.load("nobody")


def test_the_registry_alone_imports_no_agent() -> None:
    """The command line starts fast: it may list names without paying for the adapters."""
    code = (
        "import sys, hub.providers.registry as r; r.names(); print(any('claude' in m for m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def _assignment(tmp_path: Path, **more: str) -> Assignment:
    fields = {"dispatch_id": "d-1", "session_id": "s-1", "prompt": "Do it.", **more}
    return Assignment(worktree=tmp_path, run_dir=tmp_path / "run", **fields)


@pytest.mark.parametrize(
    ("name", "account", "says"),
    [
        (
            "claude",
            "default",
            "Log in again: hub account login claude; or give it another key: hub key set claude",
        ),
        (
            "codex",
            "work",
            "Log in again: hub account login codex work; or give it another key: hub key set codex",
        ),
        ("demo-first", "default", ""),
    ],
)
def test_a_refused_login_is_told_with_what_mends_it(name, account, says):
    """`hub doctor` was named, and finds nothing wrong with a key whose maker refuses it."""
    assert refused_login_hint(registry.load(name), account) == says
