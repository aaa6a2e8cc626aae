"""A new session is seen by a few stats; nothing is read for that."""

from __future__ import annotations

import os

from hub.domain.detection.intel import Place, StoreHit
from hub.io.repoll import MOST, Repoll, watched


def hit(path, root):
    return StoreHit(provider="p", path=str(path), root=str(root))


def test_a_file_more_and_a_folder_more_are_seen(tmp_path):
    day = tmp_path / "2026" / "11"
    day.mkdir(parents=True)
    first = day / "a.jsonl"
    first.touch()
    repoll = Repoll()
    repoll.watch(watched([Place(str(tmp_path), ("*", "*", "*.jsonl"))], [hit(first, tmp_path)]))
    assert not repoll.changed()
    (day / "b.jsonl").touch()
    assert repoll.changed()
    assert not repoll.changed()
    (tmp_path / "2027").mkdir()
    assert repoll.changed()
    first.write_text("grown")
    assert not repoll.changed()


def test_a_database_is_seen_to_grow_by_its_log(tmp_path):
    """OpenCode's sessions are rows: no folder gets newer."""
    base = tmp_path / "opencode.db"
    base.touch()
    repoll = Repoll()
    repoll.watch(watched([], [hit(base, tmp_path)]))
    (tmp_path / "opencode.db-wal").write_text("x")
    assert repoll.changed()


def test_what_is_not_there_yet_is_seen_to_come(tmp_path):
    repoll = Repoll()
    repoll.watch(watched([Place(str(tmp_path / "store"), ("*",))], []))
    assert not repoll.changed()
    (tmp_path / "store").mkdir()
    assert repoll.changed()


def test_a_change_between_scan_and_watch_is_not_lost(tmp_path):
    """What is watched already keeps its stamp when the list is made anew."""
    repoll = Repoll()
    repoll.watch([str(tmp_path)])
    (tmp_path / "x").touch()
    os.utime(tmp_path, (1, 1))
    repoll.watch([str(tmp_path)])
    assert repoll.changed()


def test_only_so_many_are_watched(tmp_path):
    repoll = Repoll()
    repoll.watch(str(tmp_path / str(number)) for number in range(1000))
    assert len(repoll._stamps) == MOST
