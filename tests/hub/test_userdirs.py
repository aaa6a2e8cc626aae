"""What belongs to no project is where the XDG base directories have it."""

from pathlib import Path

import pytest

from hub.userdirs import config_dir, state_dir


@pytest.mark.parametrize(
    ("find", "own", "shared", "usual"),
    [
        (state_dir, "HUB_STATE_DIR", "XDG_STATE_HOME", ".local/state"),
        (config_dir, "HUB_CONFIG_DIR", "XDG_CONFIG_HOME", ".config"),
    ],
)
def test_where_they_are(find, own, shared, usual, monkeypatch):
    monkeypatch.delenv(shared, raising=False)
    assert find({}) == str(Path.home() / usual / "hub")
    monkeypatch.setenv(shared, "not/absolute")
    assert find({}) == str(Path.home() / usual / "hub")
    monkeypatch.setenv(shared, "/x")
    assert find({}) == "/x/hub"
    assert find({own: "/y"}) == "/y"
    assert find({own: "y"}) == str(Path.cwd() / "y")
