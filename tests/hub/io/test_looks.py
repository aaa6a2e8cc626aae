"""A kept look is shown only where asking again gives the same answers, and is never half a one."""

from __future__ import annotations

import marshal
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hub.io import looks, questions
from hub.io.looks import keep, recall

HOUR = 3600
NOW = 1_900_000_000.0
BEGUN = int((NOW - HOUR) * 1e9)
ENTRIES = [(NOW - 60, False, b'{"id": 1}'), (NOW - 3000, False, b'{"id": 2}'), (1.0, True, b'{"id": 3}')]
SHOWN = b'[{"id": 1}, {"id": 2}, {"id": 3}]\n'


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def kept(asked=(), entries=ENTRIES, *, root="/r", hours=1, begun=BEGUN, until=0):
    keep(root, hours, begun=begun, until_ns=until, asked=asked, entries=entries)


def only_file(state) -> Path:
    (path,) = (state / looks.FOLDER).iterdir()
    return path


def test_what_was_kept_is_shown_and_only_to_its_user(state):
    assert recall("/r", 1, NOW) is None
    kept()
    assert recall("/r", 1, NOW) == SHOWN
    assert (recall("/other", 1, NOW), recall("/r", 2, NOW)) == (None, None)
    assert stat.S_IMODE(only_file(state).stat().st_mode) == 0o600
    assert stat.S_IMODE((state / looks.FOLDER).stat().st_mode) == 0o700


def test_what_has_left_the_window_is_shown_no_more():
    kept()
    assert recall("/r", 1, NOW + 601) == b'[{"id": 1}, {"id": 3}]\n'
    assert recall("/r", 1, NOW - 1) is None, "a window that begins earlier may have more"


def test_with_an_agent_that_runs_it_holds_while_its_sessions_are_in_the_window():
    kept(until=BEGUN + 10**9)
    assert recall("/r", 1, NOW + 0.5) == SHOWN
    assert recall("/r", 1, NOW + 2) is None


def test_another_answer_makes_it_worth_nothing(tmp_path):
    path = tmp_path / "file"
    question = ("file", str(path))
    kept([(question, None)])
    assert recall("/r", 1, NOW) == SHOWN
    path.touch()
    assert recall("/r", 1, NOW) is None


def test_a_walk_is_compared_in_the_window_of_now(tmp_path):
    for name, age in (("new", 60), ("older", 3000)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (NOW - age, NOW - age))
    question = ("walk", str(tmp_path), ("*r*",), None)
    (state_file := tmp_path / "newer").touch()
    os.utime(state_file, (NOW - 10, NOW - 10))
    kept([(question, questions.ask(question, BEGUN))])
    assert recall("/r", 1, NOW) == SHOWN
    assert recall("/r", 1, NOW + 601) is not None, "a session that left the window is no change"
    state_file.write_text("more")
    assert recall("/r", 1, NOW) is None


@pytest.mark.parametrize(
    "harm", ["cut", "flipped", "longer", "empty", "foreign", "strange", "open", "linked"]
)
def test_a_damaged_or_foreign_look_is_none_and_is_written_anew(state, harm, tmp_path, monkeypatch):
    kept()
    path = only_file(state)
    data = path.read_bytes()
    if harm == "cut":
        path.write_bytes(data[:-1])
    elif harm == "flipped":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif harm == "longer":
        path.write_bytes(data + b"x")
    elif harm == "empty":
        path.write_bytes(b"")
    elif harm == "foreign":
        monkeypatch.setattr(looks, "__version__", "0.0.0")
    elif harm == "strange":
        told = marshal.dumps((looks.__version__, "no", [], {}, 3), 2)
        path.write_bytes(looks._MAGIC + questions.checksum(told) + told)
    elif harm == "open":
        path.chmod(0o644)
    else:
        path.rename(tmp_path / "aside")
        path.symlink_to(tmp_path / "aside")
    assert recall("/r", 1, NOW) is None
    kept()
    assert recall("/r", 1, NOW) == SHOWN


def test_it_is_bounded_in_size_and_in_number(state, monkeypatch):
    for number in range(2 * looks._FILES):
        kept(root=f"/r{number}")
    assert len(list((state / looks.FOLDER).iterdir())) == looks._FILES
    assert recall(f"/r{2 * looks._FILES - 1}", 1, NOW) == SHOWN
    monkeypatch.setattr(looks, "_MOST", 10)
    kept(root="/large")
    monkeypatch.undo()
    assert recall("/large", 1, NOW) is None


def test_where_it_cannot_be_kept_nothing_fails(state, tmp_path):
    state.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (state / looks.FOLDER).symlink_to(tmp_path / "elsewhere")
    kept()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert recall("/r", 1, NOW) is None


def test_many_may_write_and_read_at_once():
    """Every reader sees a whole look of one of the writers, or none."""
    large = [(NOW, False, b'"%d"' % number * 4000) for number in range(40)]
    whole = {SHOWN, b"[" + b", ".join(text for *_, text in large) + b"]\n"}

    def act(number):
        kept(entries=large if number % 2 else ENTRIES)
        return recall("/r", 1, NOW)

    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(act, range(80)))
    assert found - {None} <= whole
    assert found & whole
