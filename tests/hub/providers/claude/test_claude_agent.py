"""How Claude Code is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from hub.domain.accounts.account import Account
from hub.providers.base import Assignment, Stdin
from hub.providers.claude.agent import PROVIDER

BASE = Assignment("d-1", "s-1", "Secret plan.", Path("/repo"), Path("/run/d-1"))


def argv(**more: Any) -> list[str]:
    return list(PROVIDER.launch(attrs.evolve(BASE, **more)).argv)


def after(args: list[str], flag: str) -> str:
    return args[args.index(flag) + 1]


def test_it_speaks_json_both_ways_over_an_open_pipe():
    launch = PROVIDER.launch(BASE)
    assert launch.stdin is Stdin.PIPE
    assert launch.argv[:3] == ["claude", "-p", "--verbose"]
    assert (
        after(list(launch.argv), "--input-format")
        == after(list(launch.argv), "--output-format")
        == "stream-json"
    )
    assert launch.cwd == Path("/repo")


def test_prompt_and_contract_never_enter_argv():
    assert "Secret" not in " ".join(argv(envelope="Secret contract"))


def test_the_contract_is_a_file_beside_the_programs_own_prompt():
    """A resumed session keeps its recorded system prompt unless the snapshot is off."""
    contract = {"envelope": "text", "envelope_path": Path("/repo/.hub/envelope.md")}
    given = argv(**contract, resume_id="old")
    assert after(given, "--append-system-prompt-file") == "/repo/.hub/envelope.md"
    assert after(given, "--system-prompt-snapshot") == "off"
    assert "--system-prompt-snapshot" not in argv(**contract), "no version before 2.1.257 knows it"


def test_without_a_contract_the_system_prompt_is_left_alone():
    assert not any("system-prompt" in argument for argument in argv())


def test_a_chosen_session_id_must_be_a_uuid_or_is_left_out():
    native = "11111111-2222-3333-4444-555555555555"
    assert after(argv(native_id=native), "--session-id") == native
    assert "--session-id" not in argv(native_id="not-a-uuid")


def test_a_resumed_session_keeps_its_id():
    given = argv(native_id="11111111-2222-3333-4444-555555555555", resume_id="old")
    assert after(given, "--resume") == "old"
    assert "--session-id" not in given


def test_permissions_are_bypassed_unless_a_mode_asks_over_the_protocol():
    assert "--dangerously-skip-permissions" in argv()
    asked = argv(options={"permission_mode": "acceptEdits"})
    assert "--dangerously-skip-permissions" not in asked
    assert (after(asked, "--permission-mode"), after(asked, "--permission-prompt-tool")) == (
        "acceptEdits",
        "stdio",
    )


def test_model_partial_text_and_more_arguments():
    given = argv(model="opus", options={"partial": True, "args": ["--effort", "high"]}, program="/opt/claude")
    assert (given[0], after(given, "--model"), given[-2:]) == ("/opt/claude", "opus", ["--effort", "high"])
    assert "--include-partial-messages" in given


def test_the_environment_holds_the_account_and_nothing_of_telemetry():
    account = Account("work", "/accounts/work", {"ANTHROPIC_API_KEY": "k"})
    options = {"env": {"IS_SANDBOX": "1"}}
    launch = PROVIDER.launch(
        attrs.evolve(BASE, account=account, base_url="http://localhost:1", options=options)
    )
    assert launch.env == {
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "http://localhost:1",
        "CLAUDE_CONFIG_DIR": "/accounts/work",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }


def test_the_default_account_uses_the_programs_own_directory():
    assert "CLAUDE_CONFIG_DIR" not in PROVIDER.launch(BASE).env


@pytest.mark.parametrize("options", [{"env": "x"}, {"args": "x"}, {"permission_mode": 5}, {"partial": "yes"}])
def test_an_option_of_a_wrong_type_is_as_if_not_there(options):
    assert argv(options=options) == argv()
