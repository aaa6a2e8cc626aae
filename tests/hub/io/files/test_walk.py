"""The walk over a store: as `fnmatch` has it, through no link, within its time."""

from __future__ import annotations

import fnmatch
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.io.files import walk as module
from hub.io.files.walk import OutOfTime, folders, walk

LETTERS = st.text("ab.*?[]!-", max_size=6)


@given(LETTERS, LETTERS)
def test_a_step_fits_what_the_shell_pattern_fits(name, pattern):
    """The usual patterns are compared without a regular expression; they must mean the same."""
    assert bool(module._matcher(pattern)(name)) is (
        fnmatch.fnmatchcase(name, pattern) and (pattern != "*" or bool(name))
    )


def test_it_finds_files_of_the_time_and_follows_no_link(tmp_path):
    root = tmp_path / "root"
    for name in ("one/new.jsonl", "one/old.jsonl", "one/other.txt", "two/deep/new.jsonl"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
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
