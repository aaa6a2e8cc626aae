"""What acceptance commands leave behind, and what is the user's, is in no snapshot; what the agent wrote always is."""

import pytest

from hub.io.git.aside import LEFT, MOST, note_left, note_yours, read
from hub.io.git.snapshot import new_files, snapshot, tree_hash
from tests.hub.io.git.kit import in_commit, make_repo, session, sh


@pytest.fixture
async def tree(tmp_path):
    """A worktree with a file of the agent's."""
    repo = make_repo(tmp_path / "repo")
    wt = await session(repo)
    (wt.path / "made.txt").write_text("agent")
    return repo, wt


async def commanded(repo, wt, **files):
    """What commands do that write these files; their worth is noted."""
    before = await new_files(wt.path, root=repo)
    for name, text in files.items():
        (wt.path / name).write_text(text)
    note_left(wt.kept_index, before, await new_files(wt.path, root=repo))


async def taken(repo, wt, name="h1"):
    made = await snapshot(wt.path, "s1", name, {}, root=wt.path.parents[2])
    assert await tree_hash(wt.path, root=repo) == made.tree, "every look is the same"
    return {path.decode() for path in in_commit(repo, made.sha)}, [
        s.path for s in made.skipped if s.reason == LEFT
    ]


async def test_what_commands_leave_behind_is_in_no_snapshot_and_is_named(tree):
    repo, wt = tree
    await commanded(repo, wt, report="1")
    paths, skipped = await taken(repo, wt)
    assert "made.txt" in paths
    assert (("report" in paths), skipped) == (False, ["report"])
    assert (wt.path / "report").exists()
    await commanded(repo, wt, report="2")
    assert (await taken(repo, wt, "h2"))[1] == ["report"], "written again, it is left again"


async def test_what_commands_change_of_the_agents_is_the_agents(tree):
    """A formatter may be among them."""
    repo, wt = tree
    await commanded(repo, wt, **{"made.txt": "formatted", "a.txt": "formatted"})
    made = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    assert in_commit(repo, made.sha)[b"made.txt"][1] == b"formatted"
    assert in_commit(repo, made.sha)[b"a.txt"][1] == b"formatted"


async def test_what_the_agent_changes_or_stages_afterwards_is_its_work(tree):
    repo, wt = tree
    await commanded(repo, wt, one="1", two="2", three="3")
    (wt.path / "one").write_text("agent")
    sh(wt.path, "add", "two")
    assert (await taken(repo, wt))[1] == ["three"]
    await commanded(repo, wt)
    paths, skipped = await taken(repo, wt, "h2")
    assert {"one", "two"} <= paths, "the next run of the commands makes it nobody else's"
    assert skipped == ["three"]


async def test_of_too_many_nothing_is_set_aside(tree):
    repo, wt = tree
    await commanded(repo, wt, **{f"f{n}": "x" for n in range(MOST + 1)})
    assert read(wt.kept_index).left == {}


async def test_the_users_own_files_are_in_no_snapshot_whoever_stages_them(tree):
    repo, wt = tree
    (wt.path / "local").mkdir()
    (wt.path / "local/key.toml").write_text("secret")
    note_yours(wt.kept_index, [b"local"])
    note_yours(wt.kept_index, [b"other"])
    sh(wt.path, "add", "-f", "local/key.toml")
    paths, skipped = await taken(repo, wt)
    assert ("local/key.toml" in paths, skipped) == (False, [])
    assert read(wt.kept_index).yours == {b"local", b"other"}
