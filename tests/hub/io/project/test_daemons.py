"""The notes by which the daemons of all projects are found."""

import os
import stat

import pytest

from hub.io.project import daemons


@pytest.fixture
def where(tmp_path, monkeypatch):
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "run"))
    return tmp_path / "run" / "running"


def test_what_is_written_down_is_found_until_it_is_taken_back(tmp_path, where):
    one, two, announced = tmp_path / "one", tmp_path / "zwei\udcff", tmp_path / "daemon.json"
    note = daemons.note(one)
    daemons.note(two)
    daemons.note(one)
    assert daemons.projects() == [one, two]
    announced.touch()
    daemons.forget(note, announced)
    assert daemons.projects(), "the next daemon has announced itself"
    announced.unlink()
    daemons.forget(note, announced)
    daemons.forget(note, announced)
    daemons.forget(None, announced)
    assert daemons.projects() == [two]


def test_others_have_no_say_in_it(tmp_path, where):
    """Below /tmp anybody may make the folder first."""
    assert daemons.projects() == []
    daemons.note(tmp_path)
    where.chmod(0o777)
    assert daemons.projects() == []
    assert daemons.note(tmp_path) is None
    where.chmod(0o700)
    (where / "x.project").write_bytes(os.fsencode(tmp_path))
    (where / "other.txt").write_text("/")
    assert daemons.projects() == [tmp_path], "a note is named after its project"


def test_a_folder_that_cannot_be_made_keeps_nobody_from_working(tmp_path, where):
    where.parent.write_text("")
    assert daemons.note(tmp_path) is None


def test_whoever_makes_the_folder_first_makes_it_private(tmp_path, monkeypatch, open_umask):
    """A note is often the first thing that hub writes for a user; with an open mask its parent was open to all."""
    where = tmp_path / "state" / "hub" / "running"
    monkeypatch.setenv("HUB_STATE_DIR", str(where.parent))
    assert daemons.note(tmp_path) is not None
    assert [stat.S_IMODE(place.stat().st_mode) for place in (where.parent, where)] == [0o700, 0o700]
