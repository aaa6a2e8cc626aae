"""`tree_matches` and the tree a snapshot would have always agree."""

import pytest

from hub.io.git import tree_hash
from hub.io.git.check import tree_matches
from tests.hub.io.git.test_snapshot import make_repo, session, sh, take

CHANGES = {
    "nothing": lambda _: None,
    "edited": lambda tree: (tree / "a.txt").write_text("other\n"),
    "edited, same size": lambda tree: (tree / "a.txt").write_text(
        (tree / "a.txt").read_text()[::-1].strip() + "\n"
    ),
    "added": lambda tree: (tree / "late").write_text("x"),
    "removed": lambda tree: (tree / "mine").unlink(),
    "made executable": lambda tree: (tree / "mine").chmod(0o755),
    "became a link": lambda tree: [(tree / "mine").unlink(), (tree / "mine").symlink_to("a.txt")],
    "became a folder": lambda tree: [
        (tree / "mine").unlink(),
        (tree / "mine").mkdir(),
        (tree / "mine" / "in").write_text("x"),
    ],
    "ignored file tracked": lambda tree: [(tree / "f.o").write_text("x"), sh(tree, "add", "-f", "f.o")],
    "untracked": lambda tree: sh(tree, "rm", "-q", "--cached", "a.txt"),
    "back to the start": lambda tree: sh(tree, "checkout", "-q", "HEAD~1", "--", "."),
    "folder removed": lambda tree: [(tree / "deep" / "e").unlink(), (tree / "deep").rmdir()],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_agrees_with_the_tree_of_a_snapshot(tmp_path, change):
    """After any change the answer is whether the next snapshot's tree would be the same."""
    root = make_repo(tmp_path / "repo")
    wt = await session(root)
    (wt.path / "a.txt").write_text("edited\n")
    (wt.path / "mine").write_text("mine\n")
    (wt.path / "deep").mkdir()
    (wt.path / "deep" / "e").write_text("deep\n")
    taken = await take(wt)
    assert await tree_matches(wt.path, taken.tree, root=wt.path.parents[2])
    change(wt.path)
    assert await tree_matches(wt.path, taken.tree, root=wt.path.parents[2]) is (
        await tree_hash(wt.path, root=wt.path.parents[2]) == taken.tree
    )


async def test_every_change_of_bytes_is_seen(tmp_path):
    """What a receiver would find must be what was snapshotted: one other byte is another tree."""
    root = make_repo(tmp_path / "repo")
    wt = await session(root)
    (wt.path / "n").write_text("n")
    taken = await take(wt)
    (wt.path / "n").write_text("m")
    assert not await tree_matches(wt.path, taken.tree, root=wt.path.parents[2])
    (wt.path / "n").write_text("n")
    assert await tree_matches(wt.path, taken.tree, root=wt.path.parents[2])
