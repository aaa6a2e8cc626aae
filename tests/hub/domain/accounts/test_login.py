"""Whether an agent is logged in: that there is a token, and until when; the token itself is never in the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.accounts.login import ANY, FoundLogin, LoginStore, login
from hub.providers.registry import load_all

STORE = LoginStore(
    "HOME_DIR", "~/.x", "a.json", token=("t", "access"), expires=("t", "at"), renews=("t", "more")
)
MANY = LoginStore("HOME_DIR", "~/.x", "a.json", token=(ANY, "access"), expires=(ANY, "at"), unit=1)


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ({}, None),
        ([], None),
        ({"t": "x"}, None),
        ({"t": {"access": ""}}, None),
        ({"t": {"access": None}}, None),
        ({"t": {"access": "secret"}}, FoundLogin("oauth")),
        ({"t": {"access": "secret", "at": 5000}}, FoundLogin("oauth", 5.0)),
        ({"t": {"access": "secret", "at": 5000, "more": "r"}}, FoundLogin("oauth")),
        ({"t": {"access": "secret", "at": "soon"}}, FoundLogin("oauth")),
        ({"t": {"access": "secret", "at": 1e30}}, FoundLogin("oauth")),
        ({"t": {"access": "secret", "at": float("nan")}}, FoundLogin("oauth")),
        ({"t": {"access": "secret", "at": True}}, FoundLogin("oauth")),
    ],
)
def test_what_a_file_says(document, found):
    assert login(STORE, document) == found
    assert "secret" not in repr(login(STORE, document))


def test_of_several_logins_the_one_that_lasts_counts():
    assert login(MANY, {"a": {"access": "x", "at": 5}, "b": {"at": 7}, "c": 1}) == FoundLogin("oauth", 7.0)


def test_a_store_that_tells_no_end():
    store = LoginStore("HOME_DIR", "~", "a.json", token=("key",), method="stored_key")
    assert login(store, {"key": "x"}) == FoundLogin("stored_key")


def test_a_login_is_good_until_it_ends():
    assert FoundLogin("oauth").good(1e12)
    assert FoundLogin("oauth", 5.0).good(4.9)
    assert not FoundLogin("oauth", 5.0).good(5.0)


json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["t", "access", "at", "more"]), inner)
    ),
)


@given(json)
def test_whatever_a_file_holds_is_an_answer(document):
    for store in (STORE, MANY):
        assert login(store, document) is None or document


def test_every_agent_that_can_be_logged_in_says_where():
    """An adapter with a login of its own that names no store could never be shown as logged in."""
    unknown = {p.name for p in load_all().values() if p.login_command and not p.login_stores}
    assert unknown == {"copilot", "aider"}, "a keychain, and no login at all"
