"""The walks over a store and a tree: through no link, within their time."""

import os

import pytest

from hub.io.files import walk as module
from hub.io.files.walk import OutOfTime, folders, tree, walk


def made(root, *paths):
    for path in paths:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(path)


def test_it_finds_files_of_the_time_and_follows_no_link(tmp_path):
    root = tmp_path / "root"
    made(root, "one/new.jsonl", "one/old.jsonl", "one/other.txt", "two/deep/new.jsonl")
    os.utime(root / "one" / "old.jsonl", (1, 1))
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside" / "x.jsonl").touch()
    (root / "linked").symlink_to(tmp_path / "aside")
    (root / "one" / "link.jsonl").symlink_to(root / "one" / "new.jsonl")
    os.mkfifo(root / "one" / "pipe.jsonl")
    found = dict(walk(str(root), ("*", "*.jsonl"), 2 * 10**9, 1.0))
    assert list(found) == [str(root / "one" / "new.jsonl")]
    assert found[str(root / "one" / "new.jsonl")].st_size == len("one/new.jsonl")
    assert sorted(folders(str(root), ("*", "*.jsonl"))) == [str(root), str(root / "one"), str(root / "two")]


def test_it_ends_when_its_time_is_up(tmp_path):
    for number in range(module._CHECK_EVERY):
        (tmp_path / str(number)).touch()
    with pytest.raises(OutOfTime):
        list(walk(str(tmp_path), ("*",), 0, -1.0))
    assert list(walk(str(tmp_path / "0"), ("*",), 0, -1.0)) == []


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
