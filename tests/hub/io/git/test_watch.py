"""A watch never says "untouched" of a tree that was touched."""

from __future__ import annotations

import sys

import pytest

from hub.io.git import watch as module
from hub.io.git.watch import watch
from tests.hub.io.git.kit import make_repo, session
from tests.hub.io.git.test_check import CHANGES
from tests.hub.io.git.test_snapshot import take

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inotify is Linux's")
IN_THE_INDEX_ALONE = {"untracked"}
TOUCHES = {
    **{name: change for name, change in CHANGES.items() if name not in {"nothing", *IN_THE_INDEX_ALONE}},
    "in a new folder": lambda tree: (tree / "deep" / "late").write_text("x"),
    "ignored": lambda tree: (tree / "g.o").write_text("x"),
    "moved away": lambda tree: (tree / "mine").rename(tree.parent / "mine"),
    "the same bytes again": lambda tree: (tree / "mine").write_text("mine\n"),
    "the whole tree": lambda tree: tree.rename(tree.parent / "elsewhere"),
}


@pytest.fixture
async def worked(tmp_path):
    """A worktree in which an agent made a file and a folder, as `test_check` has it."""
    wt = await session(make_repo(tmp_path / "repo"))
    (wt.path / "a.txt").write_text("edited\n")
    (wt.path / "mine").write_text("mine\n")
    (wt.path / "deep").mkdir()
    (wt.path / "deep" / "e").write_text("deep\n")
    return wt


@pytest.mark.parametrize("touch", TOUCHES.values(), ids=TOUCHES)
async def test_every_touch_is_seen(worked, touch):
    with await watch(worked.path) as seen:
        await take(worked)
        touch(worked.path)
        assert not seen.untouched()
        assert not seen.untouched(), "once told, it stays told"


async def test_a_snapshot_touches_nothing_and_neither_does_reading(worked):
    with await watch(worked.path) as seen:
        await take(worked)
        assert (worked.path / "mine").read_text() == "mine\n"
        assert seen.untouched()


async def test_folders_are_found_without_the_note_too(worked):
    worked.kept_index.with_name("index.gitdir").joinpath("directories").unlink()
    with await watch(worked.path) as seen:
        assert seen.untouched()
        (worked.path / "d" / "b.txt").write_text("x")
        assert not seen.untouched()


async def test_what_cannot_be_watched_is_not_called_untouched(worked, monkeypatch):
    """So many directories, another system, and a watch that was taken away."""
    with await watch(worked.path) as seen:
        pass
    assert not seen.untouched()
    monkeypatch.setattr(module, "MAX_DIRECTORIES", 1)
    assert await watch(worked.path) is None
    monkeypatch.setattr(sys, "platform", "darwin")
    assert await watch(worked.path) is None
