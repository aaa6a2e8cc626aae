"""Installs and logins: the makers' commands and no others, in a terminal or told as what to type."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import trio

from hub.actors.settings.program_jobs import INSTALLERS
from hub.errors import Code, HubError
from hub.messages.settings import AddAccount, InstallAgent, LogIn, ProvidersConfigured, SetKey
from hub.providers.registry import load_all
from tests.hub.actors.settings.actor import settings
from tests.refusals import refuses

PATIENCE = 30.0
SECRET = "sk-ant-api03-wonderful"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    made = tmp_path / "home"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    for name in ("TERMINAL", "TMUX", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    return made


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A PATH on which this test's programs come first."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o700)


@pytest.fixture
def terminal(tmp_path, config):
    """A terminal that is opened elsewhere, as every one is."""
    program(tmp_path, "term", '(setsid "$@" < /dev/null > /dev/null 2>&1 &)')
    config.with_name("user.toml").write_text(f'[terminal]\ncommand = ["{tmp_path}/term"]\n')


async def until_said(ask, text):
    with trio.fail_after(PATIENCE):
        while True:
            told = [(r.tag, r.msg) for r in await ask.said()]
            if any(text in msg for _, msg in told):
                return told
            await trio.lowlevel.checkpoint()


LOGS_IN = 'echo "$CLAUDE_CONFIG_DIR $ANTHROPIC_API_KEY $*" > "$HOME/ran"; cp "$HOME/login" "$CLAUDE_CONFIG_DIR/.credentials.json"'


async def test_a_login_runs_against_the_accounts_directory(places, clock, home, path, terminal):
    program(path, "claude", LOGS_IN)
    (home / "login").write_text(
        json.dumps({"claudeAiOauth": {"accessToken": "wonderful", "refreshToken": "r"}})
    )
    async with settings(places, clock, load_all()) as ask:
        await ask(SetKey("claude", SECRET))
        made = await ask(AddAccount("claude", "work"))
        await ask(SetKey("claude", ""))
        begun = await ask(LogIn("claude", "work"))
        assert begun.command == f"CLAUDE_CONFIG_DIR={made.config_dir} {path}/claude auth login"
        assert (begun.terminal, begun.account) == ("term", "work")
        told = await until_said(ask, "claude is logged in as work")
        assert ("system", f"logging in claude as work in a terminal (term): {begun.command}") in told
        assert (home / "ran").read_text() == f"{made.config_dir}  auth login\n"
        entry = next(e for e in await ask(ProvidersConfigured()) if e.name == "claude")
        assert [(a.label, a.logged_in) for a in entry.accounts] == [
            ("default", False),
            ("work", True),
        ]
        assert "wonderful" not in repr([told, entry, begun])
        assert (await ask.recorded())[-1] == "login_started"


async def test_a_login_that_comes_to_nothing_is_told(places, clock, path, terminal):
    program(path, "claude", "exit 4")
    async with settings(places, clock, load_all()) as ask:
        await ask(LogIn("claude"))
        told = await until_said(ask, "failed")
        assert told[-1] == (
            "error",
            "logging in claude as default failed: claude is not logged in as default. Try again.",
        )


async def test_a_headless_machine_gets_the_command_to_type(places, clock, path):
    """And nothing was begun: it can be asked for again."""
    program(path, "codex", "exit 0")
    program(path, "npm", "exit 0")
    async with settings(places, clock, load_all()) as ask:
        for order, command in (
            (LogIn("codex"), f"{path}/codex login"),
            (InstallAgent("codex"), "npm install -g @openai/codex"),
        ):
            for _ in range(2):
                with pytest.raises(HubError) as caught:
                    await ask(order)
                assert (caught.value.code, caught.value.extra["command"]) == (Code.NO_TERMINAL, command)
        assert await ask.recorded() == []


async def test_an_install_runs_the_makers_command_and_tells_what_it_prints(places, clock, path, terminal):
    program(
        path,
        "npm",
        f'echo "added 1 package: $*"; printf "#!/bin/sh\\necho 9.9.9\\n" > {path}/gemini; chmod 700 {path}/gemini',
    )
    async with settings(places, clock, load_all()) as ask:
        before = next(e for e in await ask(ProvidersConfigured()) if e.name == "gemini")
        begun = await ask(InstallAgent("gemini"))
        assert begun.command == "npm install -g @google/gemini-cli"
        await until_said(ask, "gemini is installed: 9.9.9")
        after = next(e for e in await ask(ProvidersConfigured()) if e.name == "gemini")
        assert (before.install.version, after.install.version) == ("", "9.9.9")


async def test_an_install_in_the_background_needs_no_terminal(places, clock, path, monkeypatch):
    """What it prints is told, and the installer has the user's own registry and none of the keys."""
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:1")
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    program(
        path,
        "npm",
        f'echo "$* from $npm_config_registry$GITHUB_TOKEN"; printf "#!/bin/sh\\necho 1.0\\n" > {path}/codex; chmod 700 {path}/codex',
    )
    async with settings(places, clock, load_all()) as ask:
        begun = await ask(InstallAgent("codex", background=True))
        assert begun.terminal == ""
        told = await until_said(ask, "codex is installed: 1.0")
        assert ("system", "install -g @openai/codex from http://127.0.0.1:1") in told


async def test_an_install_that_fails_says_so(places, clock, path):
    program(path, "npm", "echo EACCES; exit 243")
    program(path, "codex", "exit 1")
    async with settings(places, clock, load_all()) as ask:
        await ask(InstallAgent("codex", background=True))
        told = await until_said(ask, "failed")
        assert ("system", "EACCES") in told
        assert told[-1][0] == "error"
        assert "the install ended with status 243" in told[-1][1]


async def test_one_install_of_an_agent_at_a_time(places, clock, path):
    program(path, "npm", "sleep 60")
    async with settings(places, clock, load_all()) as ask:
        await ask(InstallAgent("codex", background=True))
        with refuses(Code.JOB_RUNNING):
            await ask(InstallAgent("codex", background=True))


@pytest.mark.parametrize(
    ("order", "code"),
    [
        (InstallAgent("nobody"), Code.NOT_FOUND),
        (LogIn("nobody"), Code.NOT_FOUND),
        (LogIn("claude", "nobody"), Code.NOT_FOUND),
        (InstallAgent("demo-first"), Code.INVALID),
        (LogIn("demo-first"), Code.INVALID),
    ],
)
async def test_what_cannot_be_done_is_told(places, clock, order, code):
    async with settings(places, clock, load_all()) as ask:
        with refuses(code):
            await ask(order)


async def test_what_is_missing_for_it_is_told(places, clock, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    async with settings(places, clock, load_all()) as ask:
        for order, says in (
            (InstallAgent("claude"), "npm is not installed"),
            (LogIn("claude"), "claude is not installed"),
        ):
            with refuses(Code.AGENT_MISSING, says) as caught:
                await ask(order)
            assert "npm install -g @anthropic-ai/claude-code" in caught.value.hint


def test_every_install_is_of_a_known_installer_and_plain_words():
    """Security row 13: a fixed table in the code, never piped, never through a shell's syntax."""
    for provider in load_all().values():
        if provider.install_command:
            assert provider.install_command[0] in INSTALLERS
            assert all(
                set(word) <= set("abcdefghijklmnopqrstuvwxyz0123456789-@/_.=")
                for word in provider.install_command
            )
