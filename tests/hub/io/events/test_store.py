"""The event log on disk: ids without a gap, nothing twice, nothing lost."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import types
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.events import store as sqlite
from hub.io.events.store import EventStore, NewEvent
from tests.refusals import refuses

AT = 1_795_237_567_089


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.db"


@pytest.fixture
def store(path):
    return EventStore.open(path)


def event(msg="m", **more):
    return NewEvent(more.pop("tag", "text"), msg, more.pop("meta", {}), more.pop("at_ms", AT), **more)


def test_ids_begin_at_one_and_go_on_over_restarts(path):
    for start in (1, 4):
        store = EventStore.open(path)
        assert [r.id for r in store.append([event()] * 3)] == [start, start + 1, start + 2]
        store.close()
    assert EventStore.open(path).close() is None


def test_record_has_time_of_day_and_meta(store):
    (record,) = store.append(
        [event("hé\u2028", tag="tool_use", meta={"sessionId": "s1", "n": [1, {"a": None}]})]
    )
    assert record.to_json() == {
        "id": 1,
        "ts": "05:06:07.089",
        "tag": "tool_use",
        "msg": "hé\u2028",
        "meta": {"sessionId": "s1", "n": [1, {"a": None}], "at": "2026-11-21T05:06:07.089Z"},
    }
    assert store.since(0) == [record]


def test_since_is_exclusive_ordered_and_limited(store):
    store.append([event(str(n)) for n in range(10)])
    assert [r.id for r in store.since(3, 4)] == [4, 5, 6, 7]
    assert store.since(10) == []
    assert [r.id for r in store.since(-5, 2)] == [1, 2]
    assert [r.id for r in store.since(0, 3, newest=True)] == [8, 9, 10]


def test_for_session(store):
    store.append([event(meta={"sessionId": "s1" if n % 2 else "s2"}) for n in range(6)])
    assert [r.id for r in store.since(0, session_id="s1")] == [2, 4, 6]
    assert [r.id for r in store.since(2, 1, "s1")] == [4]
    assert store.since(0, session_id="none") == []
    assert [r.id for r in store.since(0, 2, "s1", 5, newest=True)] == [2, 4]


def test_for_dispatch(store):
    """The newest of a dispatch's own stream: neither another's, nor what hub says of it under a key of its own."""
    store.append([
        event(tag=tag, dispatch_id=dispatch, offset=place, index=index, meta={"n": place})
        for tag, dispatch, place, index in (
            ("tool_result", "d", 5, 0), ("tool_result", "d", 5, 1), ("text", "d", 6, 0), ("tool_result", "e", 7, 0),
            ("tool_result", "d", -1, 0), ("tool_result", "", 8, 0), ("tool_result", "d", 9, 0),
        )
    ])  # fmt: skip
    assert [r.id for r in store.for_dispatch("d", "tool_result", 10)] == [1, 2, 7]
    assert [r.id for r in store.for_dispatch("d", "tool_result", 2)] == [2, 7]
    assert store.for_dispatch("", "tool_result", 10) == []


def test_a_replayed_event_is_not_added_twice(store):
    """The daemon's death: the next one replays the spool from its first byte."""
    first = store.append(
        [event("a", dispatch_id="d", offset=0), event("b", dispatch_id="d", offset=0, index=1)]
    )
    before = store.last_id
    again = store.append([event("a", dispatch_id="d", offset=0), event("c", dispatch_id="d", offset=7)])
    assert again[0] == first[0]
    assert again[0].id <= before < again[1].id == 3
    assert store.last_id == 3


def test_a_replay_inside_one_batch_counts_once(store):
    a, b = store.append([event("a", dispatch_id="d", offset=0)] * 2)
    assert a == b


def test_files_are_0600_whatever_the_umask(path, open_umask):
    store = EventStore.open(path)
    store.append([event()])
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()}
    store.close()
    assert "events.db-wal" in modes
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("bad", [{"x": object()}, {1: b"x" * 3, "y": {1j}}])
def test_a_bad_event_uses_no_id_and_leaves_nothing(store, bad):
    with pytest.raises(TypeError):
        store.append([event("good"), event("bad", meta=bad)])
    assert store.last_id == 0
    assert store.append([event()])[0].id == 1


def test_a_fault_before_the_write_uses_no_id(store):
    failpoints.arm("events.append=eio@1")
    with pytest.raises(OSError):
        store.append([event()])
    assert store.append([event()])[0].id == 1


def test_a_full_disk_is_said_and_mended(path, store):
    """F6: 507, no id used up, and it goes on when there is room."""
    store.append([event()])
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count={pages + 2}").fetchall()
    with refuses(Code.NO_SPACE):
        store.append([event("x" * 100_000)])
    assert store.last_id == 1
    store._db.execute("PRAGMA max_page_count=1000000").fetchall()
    assert store.append([event("x" * 100_000)])[0].id == 2


@pytest.mark.parametrize(("room", "found"), [(0, HubError), (1 << 30, sqlite3.OperationalError)])
def test_a_disk_without_room_for_the_index_beside_the_log_is_full(path, monkeypatch, room, found):
    """F6: SQLite calls that an I/O error, and a start said to report it as a fault of hub."""
    EventStore.open(path).close()
    here = os.statvfs(path.parent)
    monkeypatch.setattr(
        os, "statvfs", lambda _: types.SimpleNamespace(f_bavail=room // here.f_frsize, f_frsize=here.f_frsize)
    )
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    try:
        with pytest.raises(found) as caught:
            EventStore.open(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert getattr(caught.value, "code", Code.NO_SPACE) is Code.NO_SPACE
    EventStore.open(path).close()


class Failing(sqlite3.Connection):
    """A connection whose every statement fails as on a disk in trouble."""

    def execute(self, *_):
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error


def test_an_error_of_the_disk_is_not_its_own_cause(monkeypatch, path):
    """Whoever followed the causes of a failed start never came to an end: `hub run` on a full disk hung, at 100 %."""
    plain = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda at, **options: plain(at, factory=Failing, **options))
    with pytest.raises(sqlite3.OperationalError) as caught:
        EventStore.open(path)
    assert caught.value.__cause__ is None


def test_durable_settings(store):
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._db.execute("PRAGMA synchronous").fetchone() == (1,)


_KILLED = """
import os, sys
from pathlib import Path
from hub.io.events.store import EventStore, NewEvent
store = EventStore.open(Path(sys.argv[1]))
for n in range(1000):
    (record,) = store.append([NewEvent("text", str(n), {}, n, "d", n)])
    print(record.id, flush=True)
    if n == 20:
        os.kill(os.getpid(), 9)
"""


def test_kill9_loses_nothing_acknowledged_and_the_replay_doubles_nothing(path):
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == -9
    told = [int(word) for word in done.stdout.split()]
    store = EventStore.open(path)
    store.append([event(str(n), dispatch_id="d", offset=n) for n in range(30)])
    records = store.since(0)
    store.close()
    assert [r.id for r in records][: len(told)] == told
    assert [r.msg for r in records] == [str(n) for n in range(30)]
    assert [r.id for r in records] == list(range(1, 31))


def test_an_id_that_a_power_cut_took_back_is_never_given_again(path, monkeypatch):
    """A client may have seen what was published before it was synced: after the machine went down, ids go on above."""
    store = EventStore.open(path)
    store.append([event(), event()])
    store._let_go()  # no word of a good end
    assert EventStore.open(path).last_id == 2, "a process that died has lost nothing: no gap"
    monkeypatch.setattr(sqlite, "boot_id", lambda: "another boot")
    again = EventStore.open(path)
    assert again.append([event()])[0].id > 10_000


def test_a_machine_that_was_shut_down_in_order_leaves_no_gap(path, monkeypatch):
    store = EventStore.open(path)
    store.append([event(), event()])
    store.close()
    monkeypatch.setattr(sqlite, "boot_id", lambda: "another boot")
    again = EventStore.open(path)
    assert again.append([event()])[0].id == 3


def test_sync_moves_a_long_wal_into_the_database(path, store, monkeypatch):
    """Without it the WAL of a long-lived daemon grows without end, and every start reads it."""
    monkeypatch.setattr(sqlite, "_CHECKPOINT", 100_000)
    before = path.stat().st_size
    store.append([event("x" * 200_000)])
    assert path.stat().st_size == before
    store.sync()
    assert path.stat().st_size > before + 200_000
    wal = path.with_name("events.db-wal")
    size = wal.stat().st_size
    store.append([event("y" * 1000)])
    assert wal.stat().st_size == size, "it is written from its start again"
    assert [len(r.msg) for r in store.since(0)] == [200_000, 1000]


def test_a_sync_that_failed_is_an_error(store):
    store.append([event()])
    failpoints.arm("events.sync=eio@1")
    with pytest.raises(OSError):
        store.sync()


def corrupt(path: Path, kind: str) -> None:
    data = bytearray(path.read_bytes())
    match kind:
        case "header":
            data[:16] = b"not a database!!"
        case "root":
            data[4096:8192] = b"\xfe" * 4096
        case "cut":
            del data[len(data) // 2 :]
        case "middle":
            middle = len(data) // 8192 * 4096
            data[middle : middle + 4096] = b"\xff" * 4096
        case "text":
            data[:] = b"hello\n"
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("kind", ["header", "root", "cut", "text", "middle"])
def test_a_damaged_database_is_kept_aside_and_the_log_goes_on(path, kind):
    store = EventStore.open(path)
    store.append([event("x" * 500) for _ in range(500)])
    store.close()
    corrupt(path, kind)
    damaged = path.read_bytes()
    store = EventStore.open(path)
    record = store.append([event("after")])[0]
    try:
        if store.damage is None:
            # Damage away from the edge shows when it is read; it is never silent.
            assert kind == "middle"
            assert record.id == 501
            with refuses(Code.STATE_CORRUPT):
                store.since(0)
            return
        assert store.damage.code is Code.STATE_CORRUPT
        (aside,) = [p for p in path.parent.iterdir() if ".corrupt-" in p.name and p.name[-1].isdigit()]
        assert aside.name in store.damage.detail
        assert aside.read_bytes()[:1000] == damaged[:1000]
        assert store.since(0)[-1].msg == "after"
        assert record.id == store.last_id > 500, "a client's `since` must never point into the future"
    finally:
        store.close()
    assert EventStore.open(path).append([event()])[0].id == record.id + 1


def test_ids_go_on_right_after_the_highest_that_can_be_read(path):
    store = EventStore.open(path)
    store.append([event("x" * 500) for _ in range(500)])
    store.close()
    corrupt(path, "root")
    store = EventStore.open(path)
    assert store.append([event()])[0].id == 501


def test_a_running_log_that_turns_bad_goes_on_above_its_last_id(path, store):
    store.append([event("x" * 500) for _ in range(300)])
    store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    data = bytearray(path.read_bytes())
    for page in range(1, len(data) // 4096):
        data[page * 4096 : (page + 1) * 4096] = b"\xff" * 4096
    store._db.execute("PRAGMA cache_size=0").fetchall()
    path.write_bytes(bytes(data))
    store._db.execute("PRAGMA shrink_memory").fetchall()
    record = store.append([event("after")])[0]
    assert record.id == 301
    assert store.damage is not None


def test_a_link_in_place_of_the_database_is_refused(path, tmp_path):
    (tmp_path / "victim").write_text("precious")
    path.symlink_to(tmp_path / "victim")
    with refuses(Code.NO_PERMISSION):
        EventStore.open(path)
    assert (tmp_path / "victim").read_text() == "precious"


def test_an_old_owner_says_nothing_of_the_next_ones_database(tmp_path):
    """It would be told that it has no log, and after a kill what is in there was put aside as somebody else's."""
    folder = tmp_path / "hub"
    folder.mkdir()
    path = folder / "events.db"
    with closing(EventStore.open(path)) as first:
        first.append([event("before")])
    shutil.copytree(folder, tmp_path / "backup")
    old = EventStore.open(path)
    folder.rename(tmp_path / "moved")
    (tmp_path / "backup").rename(folder)
    new = EventStore.open(path)
    reserved = path.with_name("events.reserved").read_bytes()
    old.close()
    assert path.with_name("events.reserved").read_bytes() == reserved, "ids would be given a second time"
    new.append([event("kept")])
    shutil.copytree(folder, tmp_path / "killed")
    new.close()
    folder.rename(tmp_path / "ended")
    (tmp_path / "killed").rename(folder)
    with closing(EventStore.open(path)) as found:
        assert found.damage is None
        assert [record.msg for record in found.since(0)] == ["before", "kept"]


def test_closed_is_said(path):
    store = EventStore.open(path)
    store.close()
    store.close()
    with refuses(Code.UNAVAILABLE):
        store.append([event()])


def test_a_foreign_trigger_cannot_be_smuggled_in_by_meta(store):
    store.append([event("'); DROP TABLE events; --", meta={"sessionId": "' OR 1=1 --"})])
    assert store.since(0, session_id="' OR 1=1 --")[0].id == 1
    assert store.since(0, session_id="x") == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batches=st.lists(
        st.lists(st.tuples(st.sampled_from(["", "d", "e"]), st.integers(-1, 4), st.integers(0, 1)))
    )
)
def test_any_order_of_appends_keeps_ids_gapless_and_places_unique(tmp_path_factory, batches):
    path = tmp_path_factory.mktemp("events") / "events.db"
    seen = set()
    count = 0
    for batch in batches:
        store = EventStore.open(path)
        store.append([event(dispatch_id=d, offset=o, index=i) for d, o, i in batch])
        store.close()
        for place in batch:
            if not place[0] or place[1] < 0 or place not in seen:
                count += 1
            seen.add(place)
    with closing(sqlite3.connect(path)) as db, db:
        ids = [row[0] for row in db.execute("SELECT id FROM events ORDER BY id")] if batches else []
    db.close()
    assert ids == list(range(1, count + 1))


def test_a_new_log_that_cannot_be_begun_leaves_nothing_open(path, monkeypatch):
    """Beside a damaged one: it stayed open where the disk had no room for what is noted beside it."""
    store = EventStore.open(path)
    store.append([event()])
    store.close()
    corrupt(path, "header")
    made, plain = [], sqlite3.connect

    def connect(*args, **options):
        made.append(plain(*args, **options))
        return made[-1]

    def full(*_):
        raise HubError(Code.NO_SPACE, "full")

    monkeypatch.setattr(sqlite3, "connect", connect)
    monkeypatch.setattr("hub.io.events.store.write_sealed", full)
    with pytest.raises(HubError, match="full"):
        EventStore.open(path)
    assert len(made) == 2
    for db in made:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            db.execute("SELECT 1")
