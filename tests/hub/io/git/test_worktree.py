"""A session's worktree: made once, finished after a crash, and nothing of the user's touched."""

# ruff: noqa: ASYNC221  # plain git beside hub's is the point
import os
import shutil
import subprocess
import time

import pytest
import trio

from hub.errors import Code, HubError
from hub.io.git import store, worktree
from hub.io.git.layout import common_dir, same_repository
from hub.io.git.snapshot import snapshot
from hub.io.git.worktree import add_worktree
from hub.io.project.places import Places
from tests.hub.io.git.kit import in_commit, killed_at, on_disk, session, sh, statuses, untouched
from tests.refusals import refuses


async def test_a_worktree_at_the_users_commit(root):
    before = untouched(root)
    wt = await session(root)
    assert wt.kept_index.stat().st_mtime_ns == (root / ".git/worktrees/s1/index").stat().st_mtime_ns
    head = sh(root, "rev-parse", "main").strip()
    assert (wt.head, wt.base, wt.carried) == (head, head, False)
    assert wt.path == root / ".hub/worktrees/s1"
    assert on_disk(wt.path) == in_commit(root, "main")
    assert sh(wt.path, "status", "--porcelain", "--branch") == "## hub/s1\n"
    assert sh(root, "status", "--porcelain") == ""
    assert untouched(root) == before
    assert wt.path.stat().st_mode & 0o777 == 0o700
    assert wt.kept_index == Places(root).kept_index("s1")


async def test_uncommitted_work_is_carried_as_a_first_commit(root):
    """Staged, unstaged, untracked, deleted, links and bits; the user's index and tree stay as they are."""
    (root / "a.txt").write_bytes(b"unstaged\r\n")
    (root / "staged").write_text("staged")
    sh(root, "add", "staged")
    (root / "staged").write_text("later")
    (root / "untracked").mkdir()
    (root / "untracked/x").write_text("x")
    (root / "d/b.txt").unlink()
    (root / "run.sh").chmod(0o644)
    (root / "link").unlink()
    (root / "link").symlink_to("elsewhere")
    (root / "skip.o").write_text("ignored")
    before = untouched(root)
    wt = await session(root, carry_dirty=True)
    assert untouched(root) == before
    assert wt.carried
    assert sh(root, "rev-parse", "hub/s1^").strip() == wt.base
    assert sh(root, "log", "-1", "--format=%s", "hub/s1").strip() == "work in progress"
    expected = {path: item for path, item in on_disk(root).items() if not path.startswith(b".hub/")}
    del expected[b"skip.o"]
    assert in_commit(root, "hub/s1") == expected == on_disk(wt.path)


async def test_a_clean_tree_carries_nothing(root):
    wt = await session(root, carry_dirty=True)
    assert (wt.head, wt.carried) == (wt.base, False)


async def test_only_staged_differences_count(root):
    """Staged and then taken back in the tree: the tree is what is carried."""
    (root / "a.txt").write_text("staged")
    sh(root, "add", "a.txt")
    (root / "a.txt").write_text("a\n")
    before = untouched(root)
    wt = await session(root, carry_dirty=True)
    assert not wt.carried
    assert untouched(root) == before


async def test_a_branch_in_whose_place_hubs_are_made_is_named(root):
    """A user's branch `hub`: git cannot have `hub/s1` beside it."""
    sh(root, "branch", "hub")
    with refuses(Code.GIT_FAILED) as error:
        await session(root)
    assert "git branch -m hub " in error.value.hint


async def test_an_index_in_two_parts_is_read_whole(root):
    """`core.splitIndex`: most of it lies in a `sharedindex.*` beside it, and no session could begin."""
    sh(root, "update-index", "--split-index")
    (root / "a.txt").write_text("staged\n")
    (root / "new.txt").write_text("new\n")
    sh(root, "add", "a.txt")
    before = untouched(root)
    wt = await session(root, carry_dirty=True)
    assert wt.carried
    assert in_commit(root, "hub/s1") == before["files"]
    assert untouched(root) == before


async def test_the_users_unfinished_merge_is_carried_as_it_looks(root):
    sh(root, "checkout", "-q", "-b", "side")
    (root / "a.txt").write_text("side\n")
    sh(root, "commit", "-q", "-a", "-m", "side")
    sh(root, "checkout", "-q", "main")
    (root / "a.txt").write_text("main\n")
    sh(root, "commit", "-q", "-a", "-m", "main")
    sh(root, "merge", "side", check=False)
    before = untouched(root)
    wt = await session(root, carry_dirty=True)
    assert b"<<<<<<<" in in_commit(root, "hub/s1")[b"a.txt"][1]
    assert untouched(root) == before
    assert wt.carried


async def test_detached_head_and_a_linked_worktree_as_project(root, tmp_path):
    sh(root, "checkout", "-q", "--detach")
    assert (await session(root)).head == sh(root, "rev-parse", "main").strip()
    sh(root, "worktree", "add", "-q", str(tmp_path / "linked"), "main")
    linked = tmp_path / "linked"
    Places(linked).ensure()
    (linked / "dirty").write_text("x")
    wt = await session(linked, "s2", carry_dirty=True)
    assert b"dirty" in in_commit(linked, "hub/s2")
    taken = await snapshot(wt.path, "s2", "h1", {}, root=wt.path.parents[2])
    assert in_commit(linked, taken.sha) == on_disk(wt.path)


@pytest.mark.parametrize("pointer", [".git", ".git/commondir"])
def test_a_folder_whose_pointer_is_no_path_is_in_no_repository(root, tmp_path, pointer):
    """A folder in which somebody else's agent works says what it likes; the detector looks at it all the same."""
    file = tmp_path / "strange" / pointer
    file.parent.mkdir(parents=True)
    file.write_bytes(b"gitdir: a\0b\n")
    assert not same_repository(str(tmp_path / "strange"), str(root))
    with refuses(Code.NOT_A_REPOSITORY):
        common_dir(tmp_path / "strange")


async def test_no_commit_and_unknown_base(tmp_path, root):
    empty = tmp_path / "empty"
    empty.mkdir()
    sh(empty, "init", "-q")
    Places(empty).ensure()
    for where, base in ((empty, ""), (root, "f" * 40), (root, "--output=/tmp/x")):
        with refuses(Code.NO_COMMIT):
            await add_worktree(where, Places(where).worktree("s1"), "hub/s1", base)


async def test_the_second_call_gives_the_same(root):
    first = await session(root)
    (first.path / "work").write_text("agent's")
    again = await session(root)
    assert again == first
    assert (first.path / "work").read_text() == "agent's"


async def test_work_on_the_branch_is_kept_on_reuse(root, wt):
    (wt.path / "work").write_text("agent's")
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    again = await session(root)
    assert again.head == taken.sha
    shutil.rmtree(wt.kept_index.parent)
    again = await session(root)
    (wt.path / "more").write_text("more")
    later = await snapshot(wt.path, "s1", "h2", {}, root=again.path.parents[2])
    assert in_commit(root, later.sha) == on_disk(wt.path)


async def test_a_worktree_whose_folder_is_gone_is_filled_again(root, wt):
    (wt.path / "work").write_text("agent's")
    await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    shutil.rmtree(wt.path)
    again = await session(root)
    assert on_disk(wt.path) == in_commit(root, "hub/s1")
    assert (again.path / "work").read_text() == "agent's"
    assert sh(wt.path, "status", "--porcelain") == ""


@pytest.mark.parametrize("spot", range(1, 21))
async def test_killed_at_any_git_the_next_call_finishes(root, spot):
    (root / "a.txt").write_text("dirty\n")
    before = untouched(root)
    what = (
        "import subprocess\n"
        "base = subprocess.run(['git', 'rev-parse', 'main'], cwd=root, capture_output=True, text=True).stdout.strip()\n"
        "from functools import partial\n"
        "from hub.io.git.worktree import add_worktree\n"
        "trio.run(partial(add_worktree, root, root / '.hub/worktrees/s1', 'hub/s1', base, carry_dirty=True))"
    )
    killed_at(root, what, spot, "before")
    wt = await session(root, carry_dirty=True)
    assert on_disk(wt.path) == in_commit(root, "hub/s1")
    assert in_commit(root, "hub/s1")[b"a.txt"] == ("100644", b"dirty\n")
    assert sh(root, "rev-parse", "hub/s1^").strip() == wt.base
    assert sh(wt.path, "status", "--porcelain", "--branch") == "## hub/s1\n"
    assert untouched(root) == before
    (wt.path / "work").write_text("w")
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    assert in_commit(root, taken.sha) == on_disk(wt.path)


@pytest.mark.parametrize("left", ["admin only", "no .git", "half a file", "no HEAD", "empty commondir"])
async def test_half_made_by_git_itself(root, wt, left):
    """What `git worktree add` leaves when it is killed inside."""
    admin = root / ".git/worktrees/s1"
    (admin / "index").unlink()
    (admin / "locked").write_text("initializing")
    match left:
        case "admin only":
            shutil.rmtree(wt.path)
        case "no .git":
            (wt.path / ".git").unlink()
        case "half a file":
            (wt.path / "a.txt").write_text("")
            (wt.path / "run.sh").unlink()
            (admin / "hub-index.lock").write_text("")
        case "no HEAD":
            (admin / "HEAD").write_text("0" * 40 + "\n")
            (admin / "commondir").unlink()
        case "empty commondir":
            (admin / "commondir").write_text("")
    again = await session(root)
    assert on_disk(again.path) == in_commit(root, "hub/s1")
    assert sh(wt.path, "status", "--porcelain", "--branch") == "## hub/s1\n"
    assert not (admin / "locked").exists()


async def test_what_stands_in_the_way_is_not_removed(root):
    path = Places(root).worktree("s1")
    path.mkdir()
    (path / "precious").write_text("mine")
    with refuses(Code.GIT_FAILED):
        await session(root)
    assert (path / "precious").read_text() == "mine"


async def test_a_large_checkout_is_not_read_again_at_every_look(root):
    """The kept index is written in a later second than its files: git trusts their stat data."""
    (root / "many").mkdir()
    for number in range(4000):
        (root / "many" / f"a-rather-long-name-for-file-number-{number}").write_text(str(number))
    sh(root, "add", "-A")
    sh(root, "commit", "-q", "-m", "many")
    wt = await session(root)
    index = wt.kept_index.stat().st_mtime
    latest = max(path.lstat().st_mtime for path in (wt.path / "many").iterdir())
    assert int(index) > int(latest)
    trace = wt.path.parent / "trace"
    gitdir = wt.kept_index.with_name("index.gitdir")
    env = {**os.environ, "GIT_DIR": str(gitdir), "GIT_WORK_TREE": str(wt.path), "GIT_INDEX_FILE": str(wt.kept_index),
           "GIT_OBJECT_DIRECTORY": str(root / ".git/objects")}  # fmt: skip
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed: the number of files read was NOT checked")
    argv = ["strace", "-f", "-o", str(trace), "-e", "trace=openat", "git", "diff-files", "--raw"]
    done = subprocess.run(argv, cwd=wt.path, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("this system forbids tracing: the number of files read was NOT checked")
    assert done.stdout == ""
    assert trace.read_text().count("a-rather-long-name") == 0
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    assert statuses(root, taken.sha) == {}


async def test_two_that_begin_with_the_same_changes_do_not_stand_in_each_others_way(
    root, tmp_path, monkeypatch
):
    """git refuses to store a pack while another process stores the very same one: it is tried again."""
    # The commits of both are of one second: their base is of a later one, and no commit is older than its base.
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"@{int(time.time()) + 3600} +0000")
    sh(root, "commit", "-q", "--allow-empty", "-m", "of the next hour")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    (root / "untracked").write_text("the same in both")
    other = shutil.copytree(root, tmp_path / "other", symlinks=True)
    packs = root / ".git/objects/pack"
    before = set(packs.glob("*.pack"))
    await session(root, carry_dirty=True)
    (made,) = set(packs.glob("*.pack")) - before
    keep = other / ".git/objects/pack" / f"{made.stem}.keep"
    keep.parent.mkdir(parents=True, exist_ok=True)
    keep.touch()
    plain, refused = store.git, []

    async def fed(*args, **more):
        try:
            return await plain(*args, **more)
        except HubError as error:
            refused.append(error.detail)
            keep.unlink()
            raise

    monkeypatch.setattr(store, "git", fed)
    assert (await session(other, carry_dirty=True)).carried
    assert len(refused) == 1
    assert "keep file" in refused[0]


async def test_sessions_that_begin_together_are_added_one_after_the_other(root, monkeypatch):
    """To add one, git reads all others, and dies of one that another git has only begun to write: an empty `commondir`."""
    plain, adding, most = worktree.git, set(), []

    async def watched(*words, **more):
        if words[:2] != ("worktree", "add"):
            return await plain(*words, **more)
        adding.add(words)
        most.append(len(adding))
        try:
            return await plain(*words, **more)
        finally:
            adding.discard(words)

    monkeypatch.setattr(worktree, "git", watched)
    async with trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(session, root, f"s{number}")
    assert most == [1] * 6
