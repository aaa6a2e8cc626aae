"""The notes by which the daemons of all projects are found."""

import os
import stat

import pytest

from hub.io.project import daemons


@pytest.fixture
def where(tmp_path):
    return tmp_path / "run" / "running"


def test_what_is_written_down_is_found_until_it_is_taken_back(tmp_path, where):
    one, two = tmp_path / "one", tmp_path / "zwei\udcff"
    note = daemons.note(one, where)
    daemons.note(two, where)
    daemons.note(one, where)
    assert daemons.projects(where) == [one, two]
    daemons.forget(note)
    daemons.forget(note)
    daemons.forget(None)
    assert daemons.projects(where) == [two]


def test_others_have_no_say_in_it(tmp_path, where):
    """Below /tmp anybody may make the folder first."""
    assert daemons.projects(where) == []
    daemons.note(tmp_path, where)
    where.chmod(0o777)
    assert daemons.projects(where) == []
    assert daemons.note(tmp_path, where) is None
    where.chmod(0o700)
    (where / "x.project").write_bytes(os.fsencode(tmp_path))
    (where / "other.txt").write_text("/")
    assert daemons.projects(where) == [tmp_path], "a note is named after its project"


def test_a_folder_that_cannot_be_made_keeps_nobody_from_working(tmp_path):
    (tmp_path / "file").write_text("")
    assert daemons.note(tmp_path, tmp_path / "file" / "running") is None


def test_where_it_is(tmp_path):
    """Not in a runtime directory: root in a container has none, and a service another than a login by ssh."""
    assert daemons.folder({"HUB_STATE_DIR": str(tmp_path)}) == tmp_path / "running"


def test_whoever_makes_the_folder_first_makes_it_private(tmp_path, open_umask):
    """A note is often the first thing that hub writes for a user; with an open mask its parent was open to all."""
    where = tmp_path / "state" / "hub" / "running"
    assert daemons.note(tmp_path, where) is not None
    assert [stat.S_IMODE(place.stat().st_mode) for place in (where.parent, where)] == [0o700, 0o700]
