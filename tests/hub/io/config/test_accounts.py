"""Where logins may live (security row 4), and their file."""

import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.accounts.account import Account
from hub.domain.accounts.added import AddedToProvider
from hub.errors import Code, HubError
from hub.io.config.accounts import make_account_dir, own_dir, read_added, write_added
from hub.io.files.sealed import write_sealed
from hub.io.project.places import Places


@pytest.fixture
def home(tmp_path):
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def root(home):
    made = home / "repo"
    made.mkdir()
    return made


def test_a_directory_is_made_for_its_owner_alone(home, root, open_umask):
    made = make_account_dir("~/.claude-work", home, root, [])
    assert made == home / ".claude-work"
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_a_directory_that_is_there_is_taken_as_it_is(home, root):
    """It may hold a login already."""
    there = home / ".claude-work"
    there.mkdir(mode=0o755)
    (there / ".credentials.json").write_text("{}")
    assert make_account_dir(str(there), home, root, []) == there
    assert stat.S_IMODE(there.stat().st_mode) == 0o755
    assert (there / ".credentials.json").read_text() == "{}"


@pytest.mark.parametrize(
    "place",
    ["/", "~/", "{home}", "{home}/..", "{home}/x/../y", "relative", "./x", "", "{root}", "{root}/.hub/x", "{root}/x",
     "{home}/link", "{home}/file", "{home}/link/into/repo", "{home}/a\0b", "{home}/a\x1b[2J", "{home}/a\nb"],
)  # fmt: skip
def test_a_place_that_is_not_fit_is_refused_and_nothing_is_made(home, root, place):
    (home / "file").write_text("")
    (home / "link").symlink_to(root)
    before = sorted(home.rglob("*"))
    with pytest.raises(HubError) as caught:
        make_account_dir(place.format(home=home, root=root), home, root, [])
    assert (caught.value.code, caught.value.extra["errors"][0]["path"]) == (Code.INVALID, "$.configDir")
    assert sorted(home.rglob("*")) == before


def test_a_directory_has_one_account(home, root):
    make_account_dir("~/a", home, root, [])
    (home / "way").symlink_to(home)
    for place in ("~/a", "~/a/", str(home / "way" / "a")):
        with pytest.raises(HubError, match="another account's"):
            make_account_dir(place, home, root, [home / "a"])


def test_a_directory_others_may_write_is_refused(home, root):
    (home / "a").mkdir()
    (home / "a").chmod(0o770)
    with pytest.raises(HubError, match="chmod go-w"):
        make_account_dir("~/a", home, root, [])


def test_a_directory_of_another_user_is_refused(home, root):
    if os.geteuid():
        pytest.skip("only root can give a directory away")
    (home / "a").mkdir()
    os.chown(home / "a", 12345, 12345)
    with pytest.raises(HubError, match="another user"):
        make_account_dir("~/a", home, root, [])


@given(st.text(min_size=1, max_size=64), st.text(min_size=1, max_size=64))
def test_a_label_is_never_a_path(label, other):
    """Security row 5: what is made of it is one plain name, and another label's is another."""
    places = Places.__new__(Places)
    object.__setattr__(places, "state", __import__("pathlib").Path("/s"))
    made = own_dir(places, "claude", label)
    assert made.parent == places.state / "accounts" / "claude"
    assert set(made.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert label == other or made != own_dir(places, "claude", other)


def test_the_book_is_private_and_read_back(tmp_path):
    path = tmp_path / "accounts.toml"
    assert read_added(path) == {}
    added_accounts = {"claude": AddedToProvider((Account("default"), Account('a "b"', "/w")), "default")}
    write_added(path, added_accounts)
    assert read_added(path) == added_accounts
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_broken_book_is_told_by_its_name(tmp_path):
    path = tmp_path / "accounts.toml"
    write_sealed(path, b"[claude\n")
    with pytest.raises(HubError, match=r"accounts.toml:1:8"):
        read_added(path)
