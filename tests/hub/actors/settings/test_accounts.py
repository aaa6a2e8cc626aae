"""Accounts are added, chosen and forgotten: on disk, on record, and in force at once."""

import json
from contextlib import asynccontextmanager

import pytest

from hub.errors import Code
from hub.io.config import file
from hub.io.files.sealed import write_sealed
from hub.messages.settings import AddAccount, GetConfig, ProvidersConfigured, RemoveAccount, SwitchAccount
from hub.providers.registry import load_all
from tests.hub.actors.settings.actor import settings
from tests.refusals import refusal

MINE = """# ours
[[providers.claude.accounts]]
label = "home" # mine
configDir = "/nowhere/accounts/home"

[[providers.claude.accounts]]
label = "other" # also mine
"""


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))


@asynccontextmanager
async def asked(places, clock):
    async with settings(places, clock, load_all()) as ask:
        yield ask


async def labels(ask, name="claude"):
    return [(a.label, a.active) for a in (await ask(GetConfig())).accounts(name)]


async def test_a_login_is_added_chosen_and_forgotten(places, clock):
    async with asked(places, clock) as ask:
        made = await ask(AddAccount("claude", "work"))
        assert (made.active, made.active_account, made.logged_in) == (False, "default", False)
        assert made.config_dir.startswith(str(places.state))
        assert await labels(ask) == [("default", True), ("work", False)]
        assert (await ask(SwitchAccount("claude", "work"))).active is True
        assert await labels(ask) == [("work", True), ("default", False)]
        gone = await ask(RemoveAccount("claude", "work"))
        assert (gone.config_dir, gone.active_account) == (made.config_dir, "default")
        assert await labels(ask) == [("default", True)]
        assert await ask.recorded() == ["account_added", "account_switched", "account_removed"]
        assert f"its directory stays: {made.config_dir}" in (await ask.said())[-1].msg
    assert not places.config.exists(), "what hub keeps for itself is not the team's"


async def test_a_directory_outlives_its_account_and_is_found_again(places, clock, tmp_path):
    async with asked(places, clock) as ask:
        made = await ask(AddAccount("claude", "work"))
        login = {"claudeAiOauth": {"accessToken": "wonderful", "expiresAt": 2_000_000}}
        (tmp_path.joinpath(made.config_dir) / ".credentials.json").write_text(json.dumps(login))
        await ask(RemoveAccount("claude", "work"))
        again = await ask(AddAccount("claude", "work"))
        assert (again.config_dir, again.logged_in) == (made.config_dir, True)
        clock[0] = 2001.0
        entry = next(e for e in await ask(ProvidersConfigured()) if e.name == "claude")
        assert [a.logged_in for a in entry.accounts] == [False, False], "it has expired"
        assert "wonderful" not in repr([made, again, entry, await ask.said()])


async def test_an_account_of_the_users_own_is_forgotten_where_it_stands(places, clock):
    """The other one and the comments stay; so does the directory."""
    places.config.write_text(MINE)
    async with asked(places, clock) as ask:
        await ask(AddAccount("claude", "work"))
        await ask(SwitchAccount("claude", "home"))
        assert await labels(ask) == [("home", True), ("other", False), ("work", False)]
        gone = await ask(RemoveAccount("claude", "home"))
        assert gone.config_dir == "/nowhere/accounts/home"
        assert await labels(ask) == [("other", True), ("work", False)]
        await ask(RemoveAccount("claude", "other"))
        assert await labels(ask) == [("work", True)]
    assert places.config.read_text() == "# ours\n"


async def test_the_agents_own_login_can_be_left_out_and_is_never_lost(places, clock):
    async with asked(places, clock) as ask:
        error = await refusal(ask(RemoveAccount("claude", "default")))
        assert error.code is Code.INVALID
        assert "enabled = false" in error.hint
        await ask(AddAccount("claude", "work"))
        await ask(RemoveAccount("claude", "default"))
        assert await labels(ask) == [("work", True)]
        await ask(RemoveAccount("claude", "work"))
        assert await labels(ask) == [("default", True)]


@pytest.mark.parametrize(
    ("order", "code"),
    [
        (AddAccount("nobody", "x"), Code.NOT_FOUND),
        (SwitchAccount("nobody", "x"), Code.NOT_FOUND),
        (RemoveAccount("claude", "x"), Code.NOT_FOUND),
        (SwitchAccount("claude", "x"), Code.NOT_FOUND),
        (AddAccount("claude", "default"), Code.INVALID),
        (AddAccount("claude", "a\nb"), Code.INVALID),
        (AddAccount("claude", "\x1b]0;x"), Code.INVALID),
        (AddAccount("claude", "a\u202eb"), Code.INVALID),
        (AddAccount("claude", "x" * 65), Code.INVALID),
        (AddAccount("claude", "x", "~/"), Code.INVALID),
        (AddAccount("claude", "x", "~/.claude"), Code.INVALID),
        (AddAccount("codex", "x", "~/.claude"), Code.INVALID),
    ],
)
async def test_what_is_not_fit_changes_nothing(places, clock, order, code):
    """Labels that a terminal would act on, directories that hold another login: the agents' own among them."""
    async with asked(places, clock) as ask:
        await refusal(ask(order), code)
        assert await ask.recorded() == []
    assert not places.accounts.exists()
    assert not places.state.joinpath("accounts").exists()


async def test_an_agent_that_keeps_one_login_has_one_account(places, clock):
    """Without a directory that can be moved a second account would silently be the first."""
    places.config.write_text('[providers.goose]\nkind = "acp"\ncommand = ["goose"]\n')
    providers = load_all(lambda: file.settings(places.config, environ={"HUB_TRUST": "1"}).config)
    async with settings(places, clock, providers) as ask:
        error = await refusal(ask(AddAccount("goose", "work")))
        assert (error.code, "homeEnv" in error.hint) == (Code.INVALID, True)


async def test_a_broken_book_is_told_and_kept(places, clock):
    write_sealed(places.accounts, b"[claude\n")
    kept = places.accounts.read_bytes()
    async with asked(places, clock) as ask:
        for order in (GetConfig(), AddAccount("claude", "work")):
            error = await refusal(ask(order))
            assert (error.code, "accounts.toml:1:8" in error.detail) == (Code.CONFIG_INVALID, True)
    assert places.accounts.read_bytes() == kept


async def test_a_book_that_hub_did_not_write_is_empty_and_kept(places, clock):
    """It would name a folder as the home of a login."""
    places.accounts.write_text('[claude]\nactive = "x"\n')
    async with asked(places, clock) as ask:
        await ask(AddAccount("claude", "work"))
    (aside,) = places.hub_dir.glob("accounts.toml.unsealed-*")
    assert aside.read_text() == '[claude]\nactive = "x"\n'
