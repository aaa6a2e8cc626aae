"""The book of accounts: laid over the configuration it adds and chooses, and never takes away."""

import pytest

from hub.api.tables import read_added, read_config
from hub.domain.accounts.account import Account
from hub.domain.accounts.added import AddedToProvider, added, find, laid_over, plain, removed, switched
from hub.errors import Code, HubError
from tests.refusals import refuses

OWN = (Account("default", active=True),)
WORK = Account("work", "/w")


def accounts(providers, added_accounts, name="claude"):
    laid_over(providers, added_accounts)
    found = read_config({"providers": providers}, "test").accounts(name)
    return [(a.label, a.config_dir, a.active) for a in found]


def test_a_book_is_read_as_it_was_written():
    added_accounts = {
        "claude": AddedToProvider((Account("default"), WORK), "work"),
        "codex": AddedToProvider(),
    }
    assert read_added(plain(added_accounts), "book") == added_accounts


def test_every_problem_of_a_book_is_told():
    with refuses(Code.CONFIG_INVALID) as caught:
        read_added({"a b": {}, "claude": {"active": 1, "accounts": [{"configDir": "w"}]}}, "accounts.toml")
    assert {e["path"] for e in caught.value.extra["errors"]} == {
        "a b",
        "claude.active",
        "claude.accounts[0].label",
        "claude.accounts[0].configDir",
    }


def test_the_agents_own_login_stays_one_when_another_is_added():
    added_accounts = added({}, "claude", OWN, WORK)
    assert accounts({}, added_accounts) == [("default", "", True), ("work", "/w", False)]


def test_what_is_added_comes_behind_what_the_user_wrote():
    providers = {"claude": {"accounts": [{"label": "mine", "configDir": "/m"}], "model": "x"}}
    added_accounts = added({}, "claude", (Account("mine", "/m"),), WORK)
    assert accounts(providers, added_accounts) == [("mine", "/m", True), ("work", "/w", False)]
    assert providers["claude"]["model"] == "x"


def test_a_switch_wins_over_the_flag_in_the_file():
    providers = {"claude": {"accounts": [{"label": "a", "active": True}, {"label": "b"}]}}
    added_accounts = switched({}, "claude", (Account("a"), Account("b")), "b")
    assert accounts(providers, added_accounts) == [("b", "", True), ("a", "", False)]


@pytest.mark.parametrize("mine", [{"label": "work"}, {"label": "mine", "configDir": "/w"}])
def test_where_both_have_a_label_or_a_directory_the_users_is_meant(mine):
    """A line in hub.toml that comes later must not make the whole configuration invalid."""
    found = accounts({"claude": {"accounts": [mine]}}, {"claude": AddedToProvider((WORK,))})
    assert found == [(mine["label"], mine.get("configDir", ""), True)]


def test_a_directory_another_provider_has_in_the_file_is_that_ones():
    providers = {"codex": {"accounts": [{"label": "x", "configDir": "/w"}]}}
    assert accounts(providers, {"claude": AddedToProvider((Account("default"), WORK))}) == [
        ("default", "", True)
    ]


def test_a_choice_of_an_account_that_has_gone_chooses_nothing():
    assert accounts({}, {"claude": AddedToProvider((), "gone")}) == [("default", "", True)]


def test_a_label_is_used_once():
    with pytest.raises(HubError) as caught:
        added({}, "claude", (*OWN, WORK), Account("work", "/x"))
    assert (caught.value.code, caught.value.extra["errors"][0]["path"]) == (Code.INVALID, "$.label")


def test_what_is_not_there_is_not_found():
    for attempt in (lambda: switched({}, "claude", OWN, "x"), lambda: find("claude", OWN, "x")):
        with refuses(Code.NOT_FOUND) as caught:
            attempt()
        assert "default" in caught.value.hint


def test_what_is_removed_is_no_longer_chosen():
    added_accounts = switched(added({}, "claude", OWN, WORK), "claude", (*OWN, WORK), "work")
    left = removed(added_accounts, "claude", "work")
    assert left["claude"].active == ""
    assert accounts({}, left) == [("default", "", True)]
    kept = removed(switched(added_accounts, "claude", OWN, "default"), "claude", "work")
    assert kept["claude"].active == "default"


def test_what_is_not_in_the_book_cannot_be_taken_out_of_it():
    assert removed({}, "claude", "work") is None
