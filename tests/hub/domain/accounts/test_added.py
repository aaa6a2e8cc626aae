"""The book of accounts: laid over the configuration it adds and chooses, and never takes away."""

from __future__ import annotations

import pytest

from hub.api.tables import read_book, read_config
from hub.domain.accounts.account import Account
from hub.domain.accounts.added import Page, added, find, laid_over, plain, removed, switched
from hub.errors import Code, HubError

OWN = (Account("default", active=True),)
WORK = Account("work", "/w")


def accounts(providers, book, name="claude"):
    laid_over(providers, book)
    found = read_config({"providers": providers}, "test").accounts(name)
    return [(a.label, a.config_dir, a.active) for a in found]


def test_a_book_is_read_as_it_was_written():
    book = {"claude": Page((Account("default"), WORK), "work"), "codex": Page()}
    assert read_book(plain(book), "book") == book


def test_every_problem_of_a_book_is_told():
    with pytest.raises(HubError) as caught:
        read_book({"a b": {}, "claude": {"active": 1, "accounts": [{"configDir": "w"}]}}, "accounts.toml")
    assert caught.value.code is Code.CONFIG_INVALID
    assert {e["path"] for e in caught.value.extra["errors"]} == {
        "a b",
        "claude.active",
        "claude.accounts[0].label",
        "claude.accounts[0].configDir",
    }


def test_the_agents_own_login_stays_one_when_another_is_added():
    book = added({}, "claude", OWN, WORK)
    assert accounts({}, book) == [("default", "", True), ("work", "/w", False)]


def test_what_is_added_comes_behind_what_the_user_wrote():
    providers = {"claude": {"accounts": [{"label": "mine", "configDir": "/m"}], "model": "x"}}
    book = added({}, "claude", (Account("mine", "/m"),), WORK)
    assert accounts(providers, book) == [("mine", "/m", True), ("work", "/w", False)]
    assert providers["claude"]["model"] == "x"


def test_a_switch_wins_over_the_flag_in_the_file():
    providers = {"claude": {"accounts": [{"label": "a", "active": True}, {"label": "b"}]}}
    book = switched({}, "claude", (Account("a"), Account("b")), "b")
    assert accounts(providers, book) == [("b", "", True), ("a", "", False)]


@pytest.mark.parametrize("mine", [{"label": "work"}, {"label": "mine", "configDir": "/w"}])
def test_where_both_have_a_label_or_a_directory_the_users_is_meant(mine):
    """A line in hub.toml that comes later must not make the whole configuration invalid."""
    found = accounts({"claude": {"accounts": [mine]}}, {"claude": Page((WORK,))})
    assert found == [(mine["label"], mine.get("configDir", ""), True)]


def test_a_directory_another_provider_has_in_the_file_is_that_ones():
    providers = {"codex": {"accounts": [{"label": "x", "configDir": "/w"}]}}
    assert accounts(providers, {"claude": Page((Account("default"), WORK))}) == [("default", "", True)]


def test_a_choice_of_an_account_that_has_gone_chooses_nothing():
    assert accounts({}, {"claude": Page((), "gone")}) == [("default", "", True)]


def test_a_label_is_used_once():
    with pytest.raises(HubError) as caught:
        added({}, "claude", (*OWN, WORK), Account("work", "/x"))
    assert (caught.value.code, caught.value.extra["errors"][0]["path"]) == (Code.INVALID, "$.label")


def test_what_is_not_there_is_not_found():
    for attempt in (lambda: switched({}, "claude", OWN, "x"), lambda: find("claude", OWN, "x")):
        with pytest.raises(HubError) as caught:
            attempt()
        assert caught.value.code is Code.NOT_FOUND
        assert "default" in caught.value.hint


def test_what_is_removed_is_no_longer_chosen():
    book = switched(added({}, "claude", OWN, WORK), "claude", (*OWN, WORK), "work")
    left = removed(book, "claude", "work")
    assert left is not None
    assert left["claude"].active == ""
    assert accounts({}, left) == [("default", "", True)]
    kept = removed(switched(book, "claude", OWN, "default"), "claude", "work")
    assert kept is not None
    assert kept["claude"].active == "default"


def test_what_is_not_in_the_book_cannot_be_taken_out_of_it():
    assert removed({}, "claude", "work") is None
