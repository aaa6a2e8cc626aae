"""`.hub` never travels in a branch: neither as hub stores the work, nor as an agent commits it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.errors import Code, HubError
from hub.io.git.own_folder import NEVER, brought_by, folder_of
from hub.io.git.repository import rewind
from hub.io.git.snapshot import snapshot, tree_hash
from tests.hub.io.git.kit import in_commit, make_repo, session, sh, untouched

OWN = [
    b".hub",
    b".HUB",
    b".Hub",
    b"hub~1",
    b"HUB~1",
    b".hub.",
    b".hub ",
    b".hub . .",
    b".hub::$INDEX_ALLOCATION",
    ".h\u200cub".encode(),
    "\ufeff.hub".encode(),
    ".hu\u206fb".encode(),
]
NOT_OWN = [b"hub", b".hubs", b".hu", b".github", b"x.hub", b".hub-x", b"hub~", b"hub~10", b"hub.toml", ".h\u00fcb".encode(), b".h\xffub"]  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_every_spelling_that_some_system_takes_for_it(name):
    assert folder_of(name) == name
    assert folder_of(name + b"/fsm.json") == name
    assert folder_of(b"a/b/" + name + b"/c/d") == b"a/b/" + name
    assert folder_of(b"a\\" + name + b"\\fsm.json") == b"a\\" + name


@pytest.mark.parametrize("name", NOT_OWN)
def test_other_names_are_left_alone(name):
    assert folder_of(name) is None
    assert folder_of(b"a/" + name + b"/b") is None


@given(st.binary(max_size=30).filter(lambda path: b"\0" not in path))
def test_any_bytes_are_judged(path):
    found = folder_of(path)
    assert found is None or path.startswith(found)


def as_folder(tree, at):
    (tree / at).mkdir(parents=True)
    (tree / at / "fsm.json").write_text("{}")


def as_file(tree, at):
    (tree / at).parent.mkdir(parents=True, exist_ok=True)
    (tree / at).write_text("x")


def as_link(tree, at):
    (tree / at).parent.mkdir(parents=True, exist_ok=True)
    (tree / at).symlink_to("../elsewhere")


def as_submodule(tree, at):
    make_repo(tree / "made-elsewhere")
    (tree / at).parent.mkdir(parents=True, exist_ok=True)
    (tree / "made-elsewhere").rename(tree / at)


KINDS = {"folder": as_folder, "file": as_file, "link": as_link, "submodule": as_submodule}


@pytest.mark.parametrize("at", [".hub", "sub/.hub", ".HUB"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["left in the tree", "staged", "committed"])
async def test_it_is_in_no_snapshot_and_every_byte_stays(root, wt, kind, at, how):
    """An agent's own `git commit` too: a merge of the branch brings nothing of it."""
    KINDS[kind](wt.path, at)
    (wt.path / "work.txt").write_text("work")
    if how != "left in the tree":
        sh(wt.path, "add", "-f", at)
    if how == "committed":
        sh(wt.path, "commit", "-q", "-m", "mine")
    before = untouched(root)
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    names = {path for path in in_commit(root, taken.sha) if b"hub" in path.lower()}
    assert names == set()
    assert in_commit(root, taken.sha)[b"work.txt"] == ("100644", b"work")
    ignored = how == "left in the tree" and at == ".hub" and kind in ("folder", "submodule")
    assert [s.path for s in taken.skipped if s.reason == NEVER] == ([] if ignored else [at])
    assert (wt.path / at).is_symlink() or (wt.path / at).exists()
    assert await tree_hash(wt.path, root=wt.path.parents[2]) == taken.tree
    assert untouched(root) == before
    assert await brought_by(root, taken.sha) == []
    sh(root, "merge", "-q", "hub/s1")
    assert (root / "work.txt").read_text() == "work"
    listed = sh(root, "ls-files", "-z").split("\0")
    assert [name for name in listed if "hub" in name.lower()] == []
    assert not (root / "sub").exists()
    assert not (root / ".HUB").exists()


async def test_one_that_the_user_tracks_deeper_down_stays_as_it_was(root):
    """A folder of that name in a fixture is the user's: what the agent does to it stays in its worktree."""
    as_folder(root, "fixtures/.hub")
    sh(root, "add", "-f", "fixtures")
    sh(root, "commit", "-q", "-m", "fixtures")
    wt = await session(root)
    (wt.path / "fixtures/.hub/fsm.json").write_text("changed")
    (wt.path / "fixtures/.hub/more").write_text("new")
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    assert in_commit(root, taken.sha)[b"fixtures/.hub/fsm.json"] == ("100644", b"{}")
    assert b"fixtures/.hub/more" not in in_commit(root, taken.sha)
    assert [s.path for s in taken.skipped] == ["fixtures/.hub"]
    assert (wt.path / "fixtures/.hub/fsm.json").read_text() == "changed"
    assert await brought_by(root, taken.sha) == []


async def test_the_users_own_uncommitted_one_is_not_carried_along(root):
    as_folder(root, "nested/.hub")
    (root / "new.txt").write_text("new")
    wt = await session(root, carry_dirty=True)
    assert set(in_commit(root, wt.head)) >= {b"new.txt"}
    assert not any(b".hub" in path for path in in_commit(root, wt.head))
    assert (root / "nested/.hub/fsm.json").read_text() == "{}"


async def test_no_branch_is_made_at_a_commit_that_brings_one(root, wt):
    as_folder(wt.path, ".hub")
    sh(wt.path, "add", "-f", ".hub")
    sh(wt.path, "commit", "-q", "-m", "mine")
    theirs = sh(wt.path, "rev-parse", "HEAD").strip()
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    with pytest.raises(HubError) as caught:
        await rewind(root, theirs)
    assert (caught.value.code, "brings .hub" in caught.value.detail) == (Code.TRACKED, True)
    assert sh(root, "branch", "--list", "hub/rewind/*") == ""
    assert (await rewind(root, taken.sha)).startswith("hub/rewind/")


async def test_a_module_file_that_names_a_command_keeps_nobody_from_storing_the_work(root, tmp_path):
    """git dies of `update = !command` in `.gitmodules` wherever it looks there; and the command never runs."""
    (root / ".gitmodules").write_text(
        f'[submodule "s"]\n\tpath = s\n\turl = ./s\n\tupdate = !touch {tmp_path}/ran\n'
    )
    sh(root, "add", ".gitmodules")
    sh(root, "update-index", "--add", "--cacheinfo", f"160000,{sh(root, 'rev-parse', 'HEAD').strip()},s")
    sh(root, "commit", "-q", "-m", "modules")
    (root / "dirty.txt").write_text("dirty")
    wt = await session(root, carry_dirty=True)
    make_repo(wt.path / "s2")
    (wt.path / "work.txt").write_text("work")
    sh(wt.path, "update-index", "--add", "--cacheinfo", f"160000,{wt.base},t")
    first = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    (wt.path / "work.txt").write_text("more")
    second = await snapshot(wt.path, "s1", "h2", {}, root=wt.path.parents[2])
    assert in_commit(root, first.sha)[b"work.txt"] == ("100644", b"work")
    assert in_commit(root, second.sha)[b"work.txt"] == ("100644", b"more")
    assert not (tmp_path / "ran").exists()
