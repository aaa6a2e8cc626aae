"""What is new in a working tree is found, and nothing else."""

import os
import shutil

import pytest

from tests.hub.io.git.kit import make_repo, session, statuses
from tests.hub.io.git.test_snapshot import take


@pytest.fixture
async def checkout(tmp_path):
    """A session's worktree."""
    return await session(make_repo(tmp_path / "repo"))


async def test_of_new_files_those_that_git_ignores_are_left_out_whatever_their_names(checkout):
    """A name is never a pattern."""
    (checkout.path / ".gitignore").write_text("*.log\n/d/[x]\n:*\n!kept.log\n")
    odd = [
        "a.log",
        "kept.log",
        "d/x",
        "d/[x]",
        ":(top)a",
        "*",
        "-z",
        " ",
        "new\nline",
        '"quoted"',
        "d/\u00fc",
    ]
    for name in odd:
        (checkout.path / name).write_text(name)
    (checkout.path / os.fsdecode(b"d/\xff")).write_text("no text")
    taken = await take(checkout, "h1")
    assert statuses(checkout.path, taken.sha).keys() == {
        ".gitignore",
        "kept.log",
        "d/[x]",
        "*",
        "-z",
        " ",
        "new\nline",
        '"quoted"',
        "d/\u00fc",
        "d/\udcff",
    }
    (checkout.path / "f").mkdir()
    (checkout.path / "f/in").write_text("x")
    assert statuses(checkout.path, (await take(checkout, "h2")).sha).keys() == {"f/in"}


async def test_a_new_name_behind_a_link_is_not_taken_for_one_of_the_tree(checkout, tmp_path):
    """A folder became a link to one with folders of the same names: what is in them is not the tree's."""
    (checkout.path / "d/e").mkdir()
    (checkout.path / "d/e/f").write_text("x")
    await take(checkout, "h1")
    outside = tmp_path / "outside"
    shutil.move(checkout.path / "d", outside)
    (outside / "secret").write_text("x")
    (checkout.path / "d").symlink_to(outside)
    found = statuses(checkout.path, (await take(checkout, "h2")).sha)
    assert {path for path, status in found.items() if status != "D"} == {"d"}
