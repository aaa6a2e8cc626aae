"""Files below a folder: all of a tree, and none that a link or a trick leads to."""

from __future__ import annotations

import os

import pytest

from hub.io.files.confined import FileRefusedError, open_below, tree
from hub.io.files.walk import OutOfTime


def made(root, *paths):
    for path in paths:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(path)


def found(root, since_ns=0, seconds=9.0):
    return sorted(
        os.path.relpath(path, root)
        for path, _ in tree(str(root), "p", ".x", 2, since_ns=since_ns, seconds=seconds)
    )


def test_every_file_of_the_suffix_so_many_folders_deep(tmp_path):
    made(tmp_path, "p/no.x", "p/a/1.x", "p/a/b/2.x", "p/a/b.x/3.x", "p/a/b/c/no.x", "p/a/no.y", "q/a/no.x")
    assert found(tmp_path) == ["p/a/1.x", "p/a/b.x/3.x", "p/a/b/2.x"]


def test_what_is_no_file_of_this_tree_is_passed_over(tmp_path):
    """An agent may have written there on a prompt's word."""
    made(tmp_path, "p/a/1.x", "q/a/2.x")
    (tmp_path / "p" / "b").symlink_to(tmp_path / "q" / "a")
    (tmp_path / "p" / "a" / "3.x").symlink_to(tmp_path / "q" / "a" / "2.x")
    os.mkfifo(tmp_path / "p" / "a" / "4.x")
    assert found(tmp_path) == ["p/a/1.x"]
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "p").symlink_to(tmp_path / "p")
    assert found(tmp_path / "r") == []
    assert found(tmp_path / "nobody") == []


def test_only_what_was_written_since(tmp_path):
    made(tmp_path, "p/a/1.x", "p/a/2.x")
    os.utime(tmp_path / "p" / "a" / "1.x", ns=(5, 5))
    assert found(tmp_path, 6) == ["p/a/2.x"]


def test_a_search_ends_with_its_time(tmp_path):
    made(tmp_path, "p/a/1.x")
    with pytest.raises(OutOfTime):
        found(tmp_path, seconds=-1.0)


@pytest.mark.parametrize("path", ["p/link", "p/pipe", "p", "p/nobody", "q/../../x", "p/\0"])
def test_what_cannot_be_opened_is_refused_in_words(path, tmp_path):
    made(tmp_path, "p/1.x")
    (tmp_path / "p" / "link").symlink_to("1.x")
    os.mkfifo(tmp_path / "p" / "pipe")
    with pytest.raises(FileRefusedError, match=r"\.$"):
        open_below(str(tmp_path), f"{tmp_path}/{path}")


def test_a_regular_file_is_opened_through_a_root_that_is_a_link(tmp_path):
    made(tmp_path, "r/p/1.x")
    (tmp_path / "link").symlink_to("r")
    for root in ("r", "link"):
        fd = open_below(str(tmp_path / root), f"{tmp_path}/r/p/1.x")
        assert os.read(fd, 9) == b"r/p/1.x"
        os.close(fd)
