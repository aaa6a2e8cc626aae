"""Files of the user's come into a worktree whole, as they are, and over nothing."""

import pytest

from hub.io.project.provisions import Brought, bring


@pytest.fixture
def places(tmp_path):
    root, worktree = tmp_path / "root", tmp_path / "tree"
    (root / "config/deep").mkdir(parents=True)
    worktree.mkdir()
    (root / ".env").write_text("KEY=1")
    (root / ".env").chmod(0o600)
    (root / "config/deep/x").write_text("x")
    (root / "config/link").symlink_to("/etc/hostname")
    return root, worktree


def test_files_and_folders_are_copied_and_linked(places):
    root, worktree = places
    (root / "node_modules").mkdir()
    got = bring(root, worktree, (".env", "config", "none"), ("node_modules",), again=frozenset())
    assert got == Brought((".env", "config"), ("node_modules",), ("none",), ())
    assert (worktree / ".env").read_text() == "KEY=1"
    assert (worktree / ".env").stat().st_mode & 0o777 == 0o600
    assert (worktree / "config/deep/x").read_text() == "x"
    assert (worktree / "config/link").is_symlink(), "what it points to is not read"
    assert (worktree / "node_modules").readlink() == root / "node_modules"


def test_what_is_there_is_not_written_over(places):
    root, worktree = places
    (worktree / ".env").write_text("tracked")
    assert bring(root, worktree, (".env",), (), again=frozenset()).there == (".env",)
    assert (worktree / ".env").read_text() == "tracked"


def test_a_second_call_finishes_the_first(places):
    """A copy that was cut off is half a name of its own, and begun anew."""
    root, worktree = places
    (worktree / "config.hub-half/deep").mkdir(parents=True)
    (worktree / ".env.hub-half").write_text("KE")
    bring(root, worktree, (".env", "config"), (), again=frozenset())
    again = bring(root, worktree, (".env", "config"), (), again=frozenset({".env", "config"}))
    assert again.copied == (".env", "config")
    assert sorted(path.name for path in worktree.iterdir()) == [".env", "config"]


def test_no_link_above_a_path_is_followed(places, tmp_path):
    """A continued branch is an agent's: `config` may lead anywhere in it; and in a project, to what nobody named."""
    root, worktree = places
    away = tmp_path / "away"
    (away / "deep").mkdir(parents=True)
    (away / "id_rsa").write_text("private")
    (worktree / "config").symlink_to(away)
    (root / "keys").symlink_to(away)
    got = bring(root, worktree, ("config/deep/x", "keys/id_rsa"), (), again=frozenset())
    assert got.missing == ("config/deep/x", "keys/id_rsa")
    assert sorted(path.name for path in away.rglob("*")) == ["deep", "id_rsa"]
    assert not (worktree / "keys").exists()
