"""A directory is passed over only where nothing can be new in it."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import msgspec
import pytest

from hub.io.git import directories
from hub.io.git.directories import news, read_note
from hub.io.git.view import open_ground
from tests.hub.io.git.kit import make_repo, session, sh, trust
from tests.hub.io.git.test_snapshot import take

scan_module = sys.modules["hub.io.git.scan"]  # the package has a function of its name


@pytest.fixture
async def checkout(tmp_path):
    """A worktree whose directories are all passed over until something is made in them."""
    wt = await session(make_repo(tmp_path / "repo"))
    await trust(wt)
    return wt


async def names(wt) -> set[bytes]:
    return set((await news((await open_ground(wt.path, None, wt.kept_index)).shadow)).names)


async def test_a_checkout_has_no_news(checkout):
    assert await names(checkout) == set()
    (checkout.path / "a.txt").write_text("other bytes are git's to find")
    assert await names(checkout) == set()


CHANGES = {
    "a file": (lambda tree: (tree / "d/new").write_text("x"), {b"d/new"}),
    "a folder, whole": (lambda tree: (tree / "d/e/f").mkdir(parents=True), {b"d/e"}),
    "a link": (lambda tree: (tree / "l").symlink_to("d"), {b"l"}),
    "a file where a folder was": (lambda tree: replace(tree / "d", lambda d: d.write_text("x")), {b"d"}),
    "a folder where a file was": (
        lambda tree: [
            (tree / "a.txt").unlink(),
            (tree / "a.txt").mkdir(),
            (tree / "a.txt/in").write_text("x"),
        ],
        {b"a.txt"},
    ),
    "a folder made anew": (lambda tree: replace(tree / "d", remake), {b"d/new"}),
    "the name git cannot hold": (lambda tree: (tree / ".GIT").write_text("x"), {b".GIT"}),
    "git's own": (lambda tree: (tree / "d/.git").mkdir(), set()),
    "bytes that are no text": (lambda tree: (tree / os.fsdecode(b"d/\xff")).write_text("x"), {b"d/\xff"}),
}


def replace(folder: Path, by) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    by(folder)


def remake(folder: Path) -> None:
    folder.mkdir()
    (folder / "b.txt").write_text("b\n")
    (folder / "new").write_text("x")


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
async def test_what_was_not_there_is_told(checkout, change, expected):
    change(checkout.path)
    assert await names(checkout) == expected
    untracked = sh(checkout.path, "ls-files", "-o", "--exclude-standard", "-z").split("\0")[:-1]
    found = await names(checkout)
    assert all(any(Path(path).is_relative_to(os.fsdecode(n)) for n in found) for path in untracked)


async def test_a_clock_that_was_set_back_hides_nothing(checkout, monkeypatch):
    """The note is from the future, as after the clock of a machine was put right: what is made now is found all the same."""
    shadow = (await open_ground(checkout.path, None, checkout.kept_index)).shadow
    note = read_note(shadow)
    (shadow.git_dir / "directories").write_bytes(
        msgspec.msgpack.encode((time.time_ns() + 10**15, dict(note.directories)))
    )
    (checkout.path / "d/new").write_text("x")
    assert await names(checkout) == {b"d/new"}


async def test_a_directory_as_young_as_the_note_is_read(tmp_path):
    """A change may share its time with the one that was noted: the clock of a file system ticks slowly."""
    wt = await session(make_repo(tmp_path / "repo"))
    shadow = (await open_ground(wt.path, None, wt.kept_index)).shadow
    note = read_note(shadow)
    os.utime(wt.path / "d")  # moves its change time, and no name
    young = note.directories[b"d/"][1]
    (shadow.git_dir / "directories").write_bytes(msgspec.msgpack.encode((young, dict(note.directories))))
    assert read_note(shadow).changed(os.fsencode(wt.path), b"d/")


async def test_where_times_do_not_move_there_is_no_note_and_every_file_is_found(tmp_path, monkeypatch):
    """Some network and user-space file systems."""
    monkeypatch.setattr(directories, "_times_move", lambda _: False)
    wt = await session(make_repo(tmp_path / "repo"))
    shadow = (await open_ground(wt.path, None, wt.kept_index)).shadow
    assert read_note(shadow) is None
    (wt.path / "d/new").write_text("x")
    assert [change.path for change in (await take(wt)).files] == ["d/new"]


async def test_a_checkout_into_what_was_there_is_not_noted(checkout):
    """A worktree that is finished after a crash may hold what git did not put there."""
    root = checkout.path.parents[2]
    (root / ".git/worktrees/s1/index").unlink()
    checkout.kept_index.unlink()
    (checkout.path / "d/left").write_text("x")
    again = await session(root)
    assert await news((await open_ground(again.path, None, again.kept_index)).shadow) is None
    assert "d/left" in [change.path for change in (await take(again)).files]


async def test_more_new_names_than_fit_a_command_line_are_all_stored(checkout):
    for number in range(700):
        (checkout.path / f"{'n' * 200}{number}").write_text("x")
    assert len((await take(checkout)).files) == 700


async def test_new_files_are_asked_about_without_the_index(checkout, monkeypatch):
    """Whether git ignores them is all that is not known of files that were not there; of folders it is asked more."""
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
    asked = spied(monkeypatch)
    taken = await take(checkout, "h1")
    there = {change.path for change in taken.files}
    assert there == {
        ".gitignore",
        "kept.log",
        "d/[x]",
        "*",
        "-z",
        " ",
        "new\nline",
        '"quoted"',
        "d/\u00fc",
        "d/\\xff",
    }
    assert asked == ["check-ignore"]
    (checkout.path / "f").mkdir()
    (checkout.path / "f/in").write_text("x")
    assert {change.path for change in (await take(checkout, "h2")).files} == {"f/in"}
    assert asked == ["check-ignore", "ls-files"]


def spied(monkeypatch) -> list[str]:
    """What git is asked about new names from now on; it is asked all the same."""
    asked: list[str] = []
    real = scan_module.git

    async def git(*args, **options):
        asked.extend({"ls-files", "check-ignore"} & {args[0]})
        return await real(*args, **options)

    monkeypatch.setattr(scan_module, "git", git)
    return asked


async def test_a_new_name_behind_a_link_is_not_taken_for_one_of_the_tree(checkout, tmp_path):
    """A folder became a link to one with folders of the same names: what is in them is not the tree's."""
    (checkout.path / "d/e").mkdir()
    (checkout.path / "d/e/f").write_text("x")
    await take(checkout, "h1")
    outside = tmp_path / "outside"
    shutil.move(checkout.path / "d", outside)
    (outside / "secret").write_text("x")
    (checkout.path / "d").symlink_to(outside)
    there = {change.path for change in (await take(checkout, "h2")).files if change.status != "D"}
    assert there == {"d"}
