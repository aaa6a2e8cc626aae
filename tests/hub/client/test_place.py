"""Finding the project's own daemon, from wherever in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.client.place import project_name, root_of, token_for
from hub.client.quick import DEFAULT_PORT, find


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose daemon listens on 5001."""
    made = tmp_path / "project"
    (made / ".git").mkdir(parents=True)
    (made / ".hub" / "worktrees" / "s-1" / "src").mkdir(parents=True)
    (made / ".hub" / "daemon.json").write_text('{"port": 5001, "pid": 1}')
    return made


def test_a_sessions_worktree_belongs_to_its_project(root: Path):
    """Its `.git` is a file, and what an agent writes into it leads nowhere else."""
    tree = root / ".hub" / "worktrees" / "s-1"
    for text in (f"gitdir: {root}/.git/worktrees/s-1\n", "gitdir: /elsewhere\n"):
        (tree / ".git").write_text(text)
        assert root_of(tree / "src") == root
        assert find(None, tree / "src", {}).port == 5001
    (tree / ".git").unlink()
    assert root_of(tree) == root


def test_a_users_own_worktree_is_a_project_of_its_own(root: Path, tmp_path: Path):
    other = tmp_path / "worktrees" / "other"
    other.mkdir(parents=True)
    (other / ".git").write_text(f"gitdir: {root}/.git/worktrees/other\n")
    assert root_of(other) == other
    assert find(None, other, {}).port == DEFAULT_PORT


def test_the_project_is_named_whoever_names_the_port(root: Path, tmp_path: Path):
    """Port 4748, or one in HUB_PORT, may be another project's: the daemon there is told who is meant."""
    for api in (find(None, root, {}), find(9, root, {}), find(None, root, {"HUB_PORT": "9"})):
        assert api.headers["Hub-Project"] == project_name(root)
    assert find(9, tmp_path, {}).headers == {}, "outside of every project none is meant"


def test_a_project_has_one_name_by_every_way(root: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(root)
    assert project_name(tmp_path / "link") == project_name(root)
    assert project_name(Path("/a b/é")) == "/a%20b/%C3%A9"


def test_the_socket_is_used_unless_a_port_was_named(root: Path):
    (root / ".hub" / "daemon.json").write_text('{"port": 5001, "socket": "/x/hub.sock"}')
    assert (find(None, root, {}).socket, find(None, root, {}).port) == ("/x/hub.sock", 5001)
    assert find(5001, root, {}).socket == ""
    assert find(None, root, {"HUB_PORT": "5001"}).socket == ""


def test_the_token_comes_from_where_the_daemon_has_it(root: Path, tmp_path: Path):
    """HUB_TOKEN, the user's config.toml; a project has none. Looked for only where the daemon asks for one."""
    user = {"HUB_CONFIG_DIR": str(tmp_path / "config")}
    (tmp_path / "config").mkdir()
    assert token_for(user) == ""
    (tmp_path / "config" / "config.toml").write_text('[server]\ntoken = "from-the-user-config"\n')
    (root / "hub.toml").write_text('[server]\ntoken = "from-the-project"\n')
    assert token_for(user) == "from-the-user-config"
    assert token_for({**user, "HUB_TOKEN": "from-the-environment"}) == "from-the-environment"
    assert "Authorization" not in find(None, root, user).headers
    (root / ".hub" / "daemon.json").write_text('{"port": 5001, "guarded": true}')
    assert find(None, root, user).headers["Authorization"] == "Bearer from-the-user-config"


@pytest.mark.parametrize("text", ["[server", "server = 1", "[server]\ntoken = 5", "[session]\n"])
def test_a_configuration_without_a_token_has_none(tmp_path: Path, text: str):
    (tmp_path / "config.toml").write_text(text)
    assert token_for({"HUB_CONFIG_DIR": str(tmp_path)}) == ""
