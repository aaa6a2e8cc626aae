"""A new session is seen by a few stats; nothing is read for that."""

import os

from hub.domain.detection.intel import Place, StoreHit
from hub.io.files import changed as module
from hub.io.files.changed import MOST, MOST_AWAITED, Repoll, watched


def hit(path, root):
    return StoreHit(provider="p", path=str(path), root=str(root))


def settled(*paths):
    """These were changed so long ago that another change has another stamp."""
    for path in paths:
        os.utime(path, (1, 1))


def looked_at(paths, awaited=()):
    """One that watches these, and has looked once."""
    repoll = Repoll()
    repoll.watch(paths, awaited)
    repoll.changed()
    return repoll


def test_a_file_more_and_a_folder_more_are_seen(tmp_path):
    day = tmp_path / "2026" / "11"
    day.mkdir(parents=True)
    first = day / "a.jsonl"
    first.touch()
    settled(day, day.parent, tmp_path)
    repoll = looked_at(watched([Place(str(tmp_path), ("*", "*", "*.jsonl"))], [hit(first, tmp_path)]))
    assert not repoll.changed()
    (day / "b.jsonl").touch()
    assert repoll.changed()
    settled(day)
    assert repoll.changed()
    assert not repoll.changed()
    (tmp_path / "2027").mkdir()
    assert repoll.changed()
    settled(tmp_path)
    assert repoll.changed()
    first.write_text("grown")
    assert not repoll.changed()


def test_a_database_is_seen_to_grow_by_its_log(tmp_path):
    """OpenCode's sessions are rows: no folder gets newer."""
    base = tmp_path / "opencode.db"
    base.touch()
    settled(base, tmp_path)
    repoll = looked_at(watched([], [hit(base, tmp_path)]))
    assert not repoll.changed()
    (tmp_path / "opencode.db-wal").write_text("x")
    assert repoll.changed()


def test_what_is_not_there_yet_is_seen_to_come(tmp_path):
    repoll = looked_at(watched([Place(str(tmp_path / "store"), ("*",))], []))
    assert not repoll.changed()
    (tmp_path / "store").mkdir()
    assert repoll.changed()


def test_a_change_between_scan_and_watch_is_not_lost(tmp_path):
    """What is watched already keeps its stamp when the list is made anew."""
    settled(tmp_path)
    repoll = looked_at([str(tmp_path)])
    os.utime(tmp_path, (2, 2))
    repoll.watch([str(tmp_path)])
    assert repoll.changed()


def test_a_change_between_the_search_and_the_first_stamp_is_not_lost(tmp_path):
    """A folder that one search finds is stamped after it: what came in between would wait for the next full walk."""
    settled(tmp_path)
    repoll = Repoll()
    repoll.watch([str(tmp_path)])
    assert repoll.changed()
    assert not repoll.changed()


def test_a_change_within_the_clock_s_tick_is_not_lost(tmp_path, monkeypatch):
    """An agent makes a folder and a file in it within a millisecond; for the file system both are one moment."""
    monkeypatch.setattr(
        module, "_TICK_NS", 10**18
    )  # this machine is slow: what was written by now is young for a year
    settled(tmp_path)
    repoll = looked_at([str(tmp_path)])
    assert not repoll.changed()
    os.utime(tmp_path)
    assert repoll.changed()
    assert repoll.changed()  # whatever came after that look may bear the same stamp


def test_only_so_many_are_watched(tmp_path):
    repoll = Repoll()
    repoll.watch(str(tmp_path / str(number)) for number in range(1000))
    assert len(repoll._stamps) == MOST
    repoll.watch([], (str(tmp_path / str(number)) for number in range(1000)))
    assert len(repoll._stamps) == MOST_AWAITED
