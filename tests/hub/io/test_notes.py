"""A look may be kept only where asking again would show every change."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest

from hub.domain.detection.intel import GLANCE, Limits, Place, Unreadable
from hub.io.looks import _same
from hub.io.notes import NotedFiles, Notes

OLD = 1_000_000_000


@pytest.fixture
def notes():
    return Notes(since_ns=5)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n")
    os.utime(path, (OLD, OLD))
    return path


def read(files, path):
    with files.open(str(path.parent), str(path), GLANCE) as source:
        return source.at(0, source.size)


def changed(notes):
    asked = notes.all()
    assert asked
    return not all(_same(question, told, notes.since_ns) for question, told in asked)


def test_what_was_found_and_read_is_asked_again(notes, path):
    files = NotedFiles(notes=notes)
    assert [one.path for one in files.walk(Place(str(path.parent), ("*.jsonl",)), 5)] == [str(path)]
    assert read(files, path) == b"{}\n"
    assert {question[0] for question, _ in notes.all()} == {"walk", "file"}
    assert not changed(notes)
    other = path.with_name("b.jsonl")
    other.touch()
    assert changed(notes)
    other.unlink()
    path.write_text("[]\n")
    os.utime(path, (OLD, OLD))
    assert changed(notes), "the same size and time, but written to"


def test_a_file_that_was_not_there_is_asked_again(notes, tmp_path):
    with pytest.raises(Unreadable):
        read(NotedFiles(notes=notes), tmp_path / "later")
    assert not changed(notes)
    (tmp_path / "later").touch()
    assert changed(notes)


def test_what_was_written_a_moment_ago_is_not_kept(notes, path):
    """What is written next may have the same size and, within the clock's tick, the same time."""
    os.utime(path, ns=(notes.began_ns, notes.began_ns - 1))
    read(NotedFiles(notes=notes), path)
    assert notes.all() is None


def test_what_could_not_be_searched_or_read_to_its_end_is_not_kept(path):
    late = Notes(since_ns=5)
    with (
        pytest.raises(Unreadable),
        NotedFiles(notes=late).open(str(path.parent), str(path), Limits(seconds=-1)) as source,
    ):
        source.at(0, 1)
    assert late.all() is None
    late = Notes(since_ns=5)
    for number in range(256):
        (path.parent / str(number)).touch()
    with pytest.raises(Unreadable):
        list(NotedFiles(-1.0, notes=late).walk(Place(str(path.parent), ("*",)), 5))
    assert late.all() is None


def test_two_answers_to_one_question_are_none(notes):
    notes.note(("real", "/a"), "/a")
    notes.note(("real", "/a"), "/a")
    assert notes.all() == [(("real", "/a"), "/a")]
    notes.note(("real", "/a"), "/b")
    assert notes.all() is None


def test_a_row_in_the_log_of_a_database_is_a_change(notes, tmp_path):
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as writer, writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE t (n)")
        writer.execute("INSERT INTO t VALUES (1)")
        writer.commit()
        for one in (path, tmp_path / "store.db-wal"):
            os.utime(one, (OLD, OLD))
        with NotedFiles(notes=notes).database(str(tmp_path), str(path), GLANCE) as database:
            assert database.select("t", ("n",)) == [(1,)]
        assert not changed(notes)
        writer.execute("INSERT INTO t VALUES (2)")
        writer.commit()
        assert changed(notes)
    writer.close()
