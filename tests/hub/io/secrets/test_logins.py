"""Reading the agents' own login files: bounded, never through a link, and a bad one is no login."""

import json
import os

import pytest

from hub.domain.accounts.login import FoundLogin, LoginStore
from hub.io.secrets.agent_keys import find_login

STORE = LoginStore("X", "~", "auth.json", token=("token",))


def test_a_login_is_found(tmp_path):
    (tmp_path / "auth.json").write_text(json.dumps({"token": "secret"}))
    assert find_login(STORE, tmp_path) == FoundLogin("oauth")


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b" " * (2 << 20), b"null"])
def test_a_file_that_is_none_is_no_login(tmp_path, data):
    (tmp_path / "auth.json").write_bytes(data)
    assert find_login(STORE, tmp_path) is None


def test_nothing_is_read_through_a_link_or_a_pipe(tmp_path):
    (tmp_path / "real").write_text(json.dumps({"token": "secret"}))
    (tmp_path / "auth.json").symlink_to(tmp_path / "real")
    assert find_login(STORE, tmp_path) is None
    (tmp_path / "auth.json").unlink()
    os.mkfifo(tmp_path / "auth.json")
    assert find_login(STORE, tmp_path) is None


def test_no_file_is_no_login(tmp_path):
    assert find_login(STORE, tmp_path / "nowhere") is None
