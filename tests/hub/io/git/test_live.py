"""A look at a worktree as it is now: everything is seen, and nothing is kept of it."""

import errno
import os
import tempfile

import pytest

import hub.io.git.repository
from hub.errors import Code, HubError
from hub.io.git.manifest import changed_lines, manifest, paths_of
from hub.io.git.proving import proofs
from hub.io.git.repository import given_patch, kept_snapshot, live_tree, session_diff, snapshots
from hub.io.git.snapshot import snapshot, tree_hash
from hub.io.git.store import MovingError
from tests.hub.io.git.kit import make_repo, session, sh
from tests.refusals import refuses


def state(root):
    """All that a look might change: refs, objects, and the files of git and of hub."""
    files = {path for path in (root / ".git").rglob("*") if path.is_file()}
    return sh(root, "for-each-ref"), {
        (str(path), path.stat().st_mtime_ns) for path in files if path.name != "exclude"
    }


async def test_the_live_tree_is_the_one_that_a_snapshot_would_have(root, wt):
    """Also of a link, a deleted file, an executable one and one whose name is no text."""
    (wt.path / "a.txt").unlink()
    (wt.path / "d/b.txt").write_text("changed\n")
    (wt.path / "new link").symlink_to("nowhere")
    (wt.path / "tool").write_text("#!/bin/sh\n")
    (wt.path / "tool").chmod(0o755)
    (wt.path / os.fsdecode(b"n\xffme")).write_bytes(b"\0\xff")
    (wt.path / "left-out.o").write_text("ignored")
    before = state(root)
    async with live_tree(wt.path, root) as (tree, where):
        assert tree == await tree_hash(wt.path, root=root)
        assert list(where) == ["GIT_ALTERNATE_OBJECT_DIRECTORIES"]
    assert state(root) == before
    assert not list(wt.kept_index.with_name(f"{wt.kept_index.name}.gitdir").glob(".live.*"))
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    assert taken.tree == tree


async def test_a_look_at_a_full_disk_says_so(root, wt, monkeypatch):
    """`hub diff` said that hub had made a mistake, and to report it."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with refuses(Code.NO_SPACE):
        await session_diff(root, "main", "hub/s1", wt.path)


@pytest.mark.parametrize("name", ["a:b", 'a "b', "ä b", "a;b", "#a"])
async def test_the_folder_of_the_project_may_have_any_name(tmp_path, name):
    """git parts folders of objects by a colon, and found none: no diff of a session at work was shown."""
    root = make_repo(tmp_path / name)
    (root / ".gitattributes").write_text("*.txt text\n")
    sh(root, "add", "-A")
    sh(root, "commit", "-qm", "attributes")
    wt = await session(root)
    (wt.path / "later.txt").write_bytes(b"second\r\n")
    found = await session_diff(root, "main", "hub/s1", wt.path)
    assert "\n+second\n" in found.diff


async def test_a_diff_has_the_work_that_is_in_no_commit(root, wt):
    (wt.path / "d/b.txt").write_text("first\n")
    await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    (wt.path / "later.txt").write_text("second\n")
    without = await session_diff(root, "main", "hub/s1")
    found = await session_diff(root, "main", "hub/s1", wt.path)
    assert ("later.txt" in without.diff, "later.txt" in found.diff) == (False, True)
    assert "+first" in found.diff
    assert "2 files changed" in found.summary


async def test_what_the_user_brought_along_is_no_work_of_the_session(root):
    (root / "a.txt").write_text("the user's\n")
    wt = await session(root, carry_dirty=True)
    (wt.path / "new.txt").write_text("the agent's\n")
    await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    for worktree in (None, wt.path):
        found = await session_diff(root, "main", "hub/s1", worktree)
        assert "new.txt" in found.diff
        assert "a.txt" not in found.diff
    assert "a.txt" in await given_patch(root, "main", "hub/s1")


async def test_a_main_branch_that_the_agent_merged_is_what_its_work_is_on(root, wt):
    (root / "users").write_text("x")
    sh(root, "add", "users")
    sh(root, "commit", "-q", "-m", "user's own")
    sh(wt.path, "merge", "-q", "main")
    (wt.path / "new.txt").write_text("x\n")
    await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    found = await session_diff(root, "main", "hub/s1")
    assert ("new.txt" in found.diff, "users" in found.diff) == (True, False)


async def test_of_a_worktree_that_is_gone_the_branch_is_told(root, wt):
    (wt.path / "new.txt").write_text("x\n")
    await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    found = await session_diff(root, "main", "hub/s1", wt.path.with_name("none"))
    assert "new.txt" in found.diff


async def test_files_that_do_not_hold_still_are_looked_at_again_and_then_given_up(root, wt, monkeypatch):
    tries = []

    async def moving(*args, **more):
        tries.append(args)
        raise MovingError

    monkeypatch.setattr(hub.io.git.repository, "store_commit", moving)
    with pytest.raises(HubError) as caught:
        await session_diff(root, "main", "hub/s1", wt.path)
    assert (caught.value.code, len(tries)) == (Code.GIT_FAILED, 3)


async def test_how_much_of_each_file_has_changed_since_the_session_began(root):
    (root / "a.txt").write_text("the user's\n")
    wt = await session(root, carry_dirty=True)
    (wt.path / "d/b.txt").write_text("b\nc\n")
    (wt.path / "bin").write_bytes(b"\0\1")
    (wt.path / "run.sh").unlink()
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    expected = (("bin", "binary file"), ("d/b.txt", "+1 -0"), ("run.sh", "+0 -1"))
    assert await changed_lines(root, "s1", wt.base, taken.sha) == expected
    for session_id in ("", "s9"):
        found = await changed_lines(root, session_id, wt.base, taken.sha)
        assert found == (("a.txt", "+1 -1"), *expected), (
            "without a start of its own, since the commit it is based on"
        )


async def test_the_tree_shows_what_is_claimed(root, wt):
    (wt.path / "new.txt").write_text("x\n")
    (wt.path / "run.sh").unlink()
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    files, _ = await manifest(root, wt.base, taken.sha)
    claims = ["new.txt is written", "d/b.txt is written", "none.txt is written", "run.sh was removed"]
    found = await proofs(root, taken.sha, taken.tree, claims, files, verified=False)
    assert [found.shows(claim) for claim in claims] == [True, True, False, True]
    assert found.shows(f"It is in {taken.sha[:12]}")
    assert "d/b.txt" in await paths_of(root, taken.sha)


async def test_the_snapshot_that_is_kept_of_a_handoff(root, wt):
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    assert await kept_snapshot(root, "s1", "h1") == taken.sha
    assert await kept_snapshot(root, "s1", "h2") == ""
    assert await kept_snapshot(root, "../s1", "h1") == ""


async def test_the_end_of_a_session_is_newer_than_its_handoff_of_the_same_second(root):
    """git keeps whole seconds; the list was the wrong way round now and then."""
    for name in ("end-t1", "h-6b01-0a", "h-6b00-ff"):
        sh(root, "update-ref", f"refs/hub/s1/{name}", "HEAD")
    assert [one.handoff_id for one in await snapshots(root)] == ["end-t1", "h-6b01-0a", "h-6b00-ff"]
