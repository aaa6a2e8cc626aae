"""Records that are believed at one place only, and databases likewise."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from hub.errors import Code, HubError
from hub.io.files import sealed, sealed_db
from hub.io.files.atomic import write_atomic
from tests.refusals import refuses


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "project" / ".hub"
    made.mkdir(parents=True, mode=0o700)
    return made


def refused(path):
    with pytest.raises(sealed.NotSealed) as caught:
        sealed.read_sealed(path, 1000)
    assert (caught.value.code, str(path) in caught.value.detail) == (Code.NOT_SEALED, True)


def test_a_record_is_read_back_where_it_was_written(folder):
    sealed.write_sealed(folder / "a.json", b'{"a":1}')
    assert sealed.read_sealed(folder / "a.json", 1000) == b'{"a":1}'
    with pytest.raises(FileNotFoundError):
        sealed.read_sealed(folder / "b.json", 1000)


def test_through_a_link_to_the_project_it_is_the_same_place(folder, tmp_path):
    sealed.write_sealed(folder / "a.json", b'{"a":1}')
    (tmp_path / "link").symlink_to(tmp_path / "project")
    assert sealed.read_sealed(tmp_path / "link" / ".hub" / "a.json", 1000) == b'{"a":1}'


def test_elsewhere_under_another_name_or_on_another_machine_it_is_not(folder, tmp_path, state):
    sealed.write_sealed(folder / "a.json", b'{"a":1}')
    shutil.copy(folder / "a.json", folder / "b.json")
    refused(folder / "b.json")
    shutil.copytree(tmp_path / "project", tmp_path / "copy")
    refused(tmp_path / "copy" / ".hub" / "a.json")
    shutil.rmtree(state)
    refused(folder / "a.json")
    assert not state.exists(), "reading makes no key"


def test_the_key_is_one_of_its_own_and_nobody_elses(folder, state):
    sealed.write_sealed(folder / "a.json", b'{"a":1}')
    (key,) = (state / "keys").iterdir()
    assert (key.name, key.stat().st_mode & 0o777) == ("seal.key", 0o600)


def test_a_link_and_a_flood_are_not_read(folder, tmp_path):
    (tmp_path / "elsewhere").write_bytes(b"x" * 2000)
    (folder / "a.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HubError):
        sealed.read_sealed(folder / "a.json", 1000)
    write_atomic(folder / "b.json", b"x" * 2000)
    with refuses(Code.TOO_LARGE):
        sealed.read_sealed(folder / "b.json", 1000)


def test_what_is_not_believed_is_kept(folder):
    (folder / "a.json").write_bytes(b"theirs")
    aside = sealed.put_aside(folder / "a.json")
    assert aside.name.startswith("a.json.unsealed-")
    assert aside.read_bytes() == b"theirs"
    assert list(folder.iterdir()) == [aside]


def test_the_key_of_a_run_is_that_runs_alone(folder):
    keys = {sealed.run_key(folder / "run" / name) for name in ("d-1", "d-2", "d-1")}
    assert len(keys) == 2


# --- databases ------------------------------------------------------------------------------------------


def opened(path):
    return closing(sqlite3.connect(path, isolation_level=None))


def test_an_empty_database_is_marked_and_known_again(folder):
    path = folder / "x.db"
    for _ in range(2):
        with opened(path) as db:
            sealed_db.claim(db, path)
    with opened(path) as db:
        assert len(db.execute("SELECT code FROM hub_seal").fetchall()) == 1


HOSTILE = {
    "no mark": "CREATE TABLE events (id)",
    "another mark": "CREATE TABLE hub_seal (code); INSERT INTO hub_seal VALUES ('00')",
    "two marks": "CREATE TABLE hub_seal (code); INSERT INTO hub_seal VALUES ('{code}'), ('{code}')",
    "a number": "CREATE TABLE hub_seal (code); INSERT INTO hub_seal VALUES (5)",
    "letters beyond ASCII": "CREATE TABLE hub_seal (code); INSERT INTO hub_seal VALUES ('é')",
    "a view": "CREATE VIEW hub_seal AS SELECT '{code}' AS code",
    "a view without end": "CREATE VIEW hub_seal AS WITH RECURSIVE c(code) AS (SELECT 1 UNION ALL SELECT code + 1 FROM c)"
    " SELECT max(code) AS code FROM c",
    "too long": "CREATE TABLE hub_seal (code); INSERT INTO hub_seal VALUES (hex(zeroblob(2000000)))",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_database_that_hub_did_not_make_is_refused(folder, name):
    """Security row 30. A mark that is shown by a view is none: reading it would run what the file brings."""
    path = folder / "x.db"
    with opened(path) as db:
        db.executescript(HOSTILE[name].replace("{code}", sealed.mark(path)))
    with opened(path) as db, pytest.raises(sqlite3.DatabaseError):
        sealed_db.claim(db, path)


def test_a_mark_is_for_one_place(folder):
    path = folder / "x.db"
    with opened(path) as db:
        sealed_db.claim(db, path)
    path.rename(folder / "y.db")
    with opened(folder / "y.db") as db, pytest.raises(sealed_db.ForeignDatabaseError):
        sealed_db.claim(db, folder / "y.db")


def test_a_planted_rollback_journal_is_not_acted_upon(folder):
    """SQLite deletes the file that such a journal names as its superior."""
    (folder / "x.db-journal").write_bytes(b"x")
    with pytest.raises(sealed_db.ForeignDatabaseError):
        sealed_db.insist_no_journal(folder / "x.db")
