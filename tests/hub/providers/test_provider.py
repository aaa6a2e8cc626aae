"""What every agent's program gets in its environment, and which setting wins."""

from pathlib import Path

import pytest

from hub.domain.accounts.account import Account
from hub.providers.base import Assignment, Capabilities
from hub.providers.provider import Provider


class One(Provider):
    """The facts alone."""

    launch = None


FACTS = {"display_name": "One", "stream": None, "capabilities": Capabilities()}
PROGRAM = One(name="one", home_env="ONE_HOME", base_url_env="ONE_URL", **FACTS)
BARE = One(name="two", **FACTS)


def assignment(**fields):
    return Assignment("d1", "s1", "task", Path("/tree"), Path("/run"), **fields)


def test_an_accounts_directory_and_keys_reach_the_agent():
    assert PROGRAM.account_env(Account("a", "/acc", {"KEY": "k"})) == {"ONE_HOME": "/acc", "KEY": "k"}


@pytest.mark.parametrize(("program", "place"), [(PROGRAM, ""), (BARE, "/acc")])
def test_without_a_directory_or_a_variable_for_it_only_keys_do(program, place):
    assert program.account_env(Account("a", place, {"KEY": "k"})) == {"KEY": "k"}


def test_the_later_wins_own_account_address_option():
    """What the user writes in hub.toml has the last word (specification, providers: `env`)."""
    asked = assignment(
        account=Account("a", "/acc", {"A": "account", "B": "account"}),
        base_url="http://127.0.0.1:1",
        options={"env": {"B": "option", "N": 1}},
    )
    assert PROGRAM.environment(asked, {"A": "own", "OWN": "own"}) == {
        "OWN": "own",
        "ONE_HOME": "/acc",
        "A": "account",
        "B": "option",
        "ONE_URL": "http://127.0.0.1:1",
        "N": "1",
    }


def test_an_address_needs_a_variable_and_options_that_are_no_table_are_none():
    assert BARE.environment(assignment(base_url="http://127.0.0.1:1", options={"env": 3})) == {}
