"""The audit journal on disk: durable, mended after a crash, and never fooled."""

import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys

import attrs
import pytest

from hub.domain.audit import GENESIS, ChainState, Head, make_record, parse_anchor
from hub.domain.session import SessionRecord
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.audit.journal import HEAD_SYNC, MAX_GROUP, AuditJournal, verify_file
from hub.io.project.places import Places, make_private_dir
from hub.io.records.sessions import session_store
from tests.refusals import refuses

KEY = bytes(range(32))
NOW = 1_795_237_567.089


@pytest.fixture
def places(tmp_path):
    made = Places(tmp_path / "project", tmp_path / "state")
    made.root.mkdir()
    make_private_dir(made.hub_dir)
    return made


@pytest.fixture
def journal(places):
    opened = AuditJournal.open(places, KEY, clock=lambda: NOW)
    yield opened
    opened.close()


def reopen(places):
    opened = AuditJournal.open(places, KEY, clock=lambda: NOW)
    opened.close()
    return opened


def append_many(journal, entries):
    """One group, as the audit actor writes it."""
    draft = journal.draft()
    for event, data in entries:
        draft.add(event, data)
    journal.commit(draft)
    return draft.records


def append(journal, event, data):
    return append_many(journal, [(event, data)])[0]


def fill(places, count=8):
    opened = AuditJournal.open(places, KEY, clock=lambda: NOW)
    records = [append(opened, "agent_event", {"n": n}) for n in range(count)]
    opened.close()
    return records


def test_records_carry_seq_and_time_and_are_0600(places, journal):
    records = append_many(journal, [("a", {"x": 1}), ("b", {"x": 2})])
    assert [r.seq for r in records] == [0, 1]
    assert records[0].ts == "2026-11-21T05:06:07.089Z"
    assert records[1].prev_hash == records[0].hash
    assert places.audit.read_bytes() == b"".join(r.line for r in records)
    for path in (places.audit, places.audit_head):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_head_file_is_json_of_one_sector(places, journal):
    records = append_many(journal, [("a", {})] * 3)
    raw = places.audit_head.read_bytes()
    assert len(raw) == 512
    head = journal.head()
    assert json.loads(raw) == head.to_json()
    assert (head.seq, head.hash, head.size) == (2, records[2].hash, places.audit.stat().st_size)
    assert head.genuine(KEY)


def test_goes_on_after_a_restart(places):
    first = fill(places, 3)
    journal = AuditJournal.open(places, KEY)
    record = append(journal, "b", {})
    journal.close()
    assert (record.seq, record.prev_hash) == (3, first[2].hash)
    assert verify_file(places, KEY).records == 4


def test_read_back(journal):
    written = append_many(journal, [("a", {"n": n}) for n in range(10)])
    assert journal.read(0, 100) == written
    assert journal.read(4, 3) == written[4:7]
    assert journal.read(10, 100) == []
    assert journal.read(0, 0) == []
    assert len(journal) == 10


def test_nothing_is_written_when_one_entry_has_no_canonical_form(places, journal):
    with pytest.raises(ValueError, match="float"):
        append_many(journal, [("a", {}), ("b", {"x": 1.5})])
    assert places.audit.read_bytes() == b""
    assert append(journal, "c", {}).seq == 0


@pytest.mark.parametrize(("action", "code"), [("enospc", Code.NO_SPACE), ("erofs", Code.READ_ONLY)])
def test_a_full_disk_is_said_and_the_next_append_works(places, journal, action, code):
    """Fault matrix F6."""
    append(journal, "a", {})
    failpoints.arm(f"audit.append={action}@1")
    with refuses(code):
        append(journal, "b", {})
    assert append(journal, "c", {}).seq == 1
    assert verify_file(places, KEY).state is ChainState.INTACT


def test_a_half_written_group_is_taken_back(places, journal, monkeypatch):
    append(journal, "a", {})
    real = os.write

    def half(fd, data):
        if len(data) > 50:
            return real(fd, bytes(data[:50]))
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "write", lambda fd, data: half(fd, data) if half.on else real(fd, data))
    half.on = True
    with refuses(Code.NO_SPACE):
        append(journal, "b", {"text": "x" * 20})
    half.on = False
    assert append(journal, "c", {}).seq == 1
    assert verify_file(places, KEY).state is ChainState.INTACT


@pytest.mark.parametrize("call", ["write", "fdatasync", "pwrite", "ftruncate"])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_a_failed_disk_ends_the_journal(places, journal, monkeypatch, call, number):
    """F10: EIO is not retried, nor is any error of a sync; what the disk holds is judged at the next start."""
    append(journal, "a", {})

    def fail(*_):
        raise OSError(number, "io")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        if call == "ftruncate":
            patch.setattr(os, "write", fail)
        with pytest.raises(HubError) as first:
            append(journal, "b", {})
    mended = call == "write" and number == errno.ENOSPC
    assert first.value.code is (
        Code.NO_SPACE if mended or (call == "ftruncate" and number == errno.ENOSPC) else Code.DISK_FAILED
    )
    if first.value.code is Code.DISK_FAILED:
        with pytest.raises(HubError) as caught:
            append(journal, "c", {})
        assert caught.value is first.value
    assert reopen(places).broken is None
    assert verify_file(places, KEY).ok


def test_a_stranger_who_writes_meanwhile_is_found(places, journal):
    append(journal, "a", {})
    with places.audit.open("ab") as file:
        file.write(b"{}\n")
    with refuses(Code.AUDIT_BROKEN):
        append(journal, "b", {})
    assert len(journal.read(0, 100)) == 1


def test_too_large_a_record(journal):
    with refuses(Code.TOO_LARGE):
        append(journal, "a", {"x": "y" * (1 << 20)})


@pytest.mark.parametrize("tail", [b"{", b'{"data":{}', b"\x00\x00\x00", b"x" * 70_000])
def test_torn_tail_is_put_aside_and_told(places, tail):
    """X3: bytes kept in audit.torn-<ts>, event `audit.recovered` with their length and hash."""
    fill(places, 2)
    with places.audit.open("ab") as file:
        file.write(tail)
    journal = AuditJournal.open(places, KEY, clock=lambda: NOW)
    (record,) = journal.read(2, 100)
    journal.close()
    assert record.event == "audit.recovered"
    assert record.data["bytes"] == len(tail)
    assert (places.hub_dir / record.data["keptAs"]).read_bytes() == tail
    assert verify_file(places, KEY).state is ChainState.INTACT


def test_a_log_one_group_ahead_of_its_head_is_taken_in(places):
    """A2: the crash between append and head."""
    fill(places, 3)
    old = places.audit_head.read_bytes()
    journal = AuditJournal.open(places, KEY)
    append_many(journal, [("b", {})] * 5)
    journal.close()
    places.audit_head.write_bytes(old)
    assert verify_file(places, KEY).unanchored == 5
    journal = AuditJournal.open(places, KEY)
    assert journal.read(8, 1)[0].data["unanchored"] == 5
    journal.close()
    assert verify_file(places, KEY).unanchored == 0


_KILLED = """
import sys
from pathlib import Path
from hub.io.audit.journal import AuditJournal
from hub.io.project.places import Places
root, state = map(Path, sys.argv[1:])
journal = AuditJournal.open(Places(root, state), bytes(range(32)))
for n in range(5):
    draft = journal.draft()
    for _ in range(3):
        draft.add("a", {"n": n})
    journal.commit(draft)
    print(n, flush=True)
"""


def dies(places, spot):
    """A process that appends, and dies there."""
    env = {**os.environ, "HUB_FAILPOINTS": spot}
    argv = [sys.executable, "-c", _KILLED, str(places.root), str(places.state)]
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("spot", ["audit.append=kill9@3", "*=kill9@1", "*=exit:3@5"])
def test_kill9_loses_nothing_that_was_acknowledged(places, spot):
    done = dies(places, spot)
    assert done.returncode != 0
    told = len(done.stdout.split())
    journal = reopen(places)
    assert journal.broken is None
    assert sum(1 for r in _read_all(places) if r["event"] == "a") >= 3 * told
    assert verify_file(places, KEY).state is ChainState.INTACT


def _read_all(places):
    return [json.loads(line) for line in places.audit.read_bytes().splitlines()]


def test_recovery_itself_may_be_killed(places):
    """I9: kill -9 at any point during recovery, recover again: same end state."""
    fill(places, 2)
    with places.audit.open("ab") as file:
        file.write(b"torn")
    for spot in ("recover.audit=kill9", "audit.append=kill9"):
        assert dies(places, spot).returncode == -9
    assert reopen(places).broken is None
    assert verify_file(places, KEY).state is ChainState.INTACT
    kept = [path for path in places.hub_dir.iterdir() if path.name.startswith("audit.torn-")]
    assert {path.read_bytes() for path in kept} == {b"torn"}


def test_head_is_synced_now_and_then(places, journal, monkeypatch):
    synced = []
    real = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: synced.append(fd) or real(fd))
    for _ in range(HEAD_SYNC // MAX_GROUP):
        append_many(journal, [("a", {})] * MAX_GROUP)
    assert synced.count(journal._head_fd) == 1
    assert synced.count(journal._fd) == HEAD_SYNC // MAX_GROUP


# The twelve tamper operations. Each gets the project and the records it held.


def _lines(places):
    return places.audit.read_bytes().splitlines(keepends=True)


def _put(places, lines):
    places.audit.write_bytes(b"".join(lines))


def edit_byte(places, records):
    _put(places, [line.replace(b'"n":3', b'"n":9') for line in _lines(places)])


def edit_ts(places, records):
    lines = _lines(places)
    lines[3] = lines[3].replace(b'"ts":"2026', b'"ts":"2025')
    _put(places, lines)


def delete_middle(places, records):
    lines = _lines(places)
    _put(places, lines[:3] + lines[4:])


def delete_first(places, records):
    _put(places, _lines(places)[1:])


def delete_tail(places, records):
    _put(places, _lines(places)[:-1])


def swap(places, records):
    lines = _lines(places)
    lines[2], lines[3] = lines[3], lines[2]
    _put(places, lines)


def duplicate(places, records):
    lines = _lines(places)
    _put(places, lines[:4] + lines[3:])


def _chain(records, prev, first):
    out = []
    for seq, record in enumerate(records, first):
        out.append(make_record(prev, seq, record.ts, record.event, {"n": 7}))
        prev = out[-1].hash
    return [record.line for record in out]


def insert(places, records):
    """A whole new record, with all hashes after it made anew."""
    tail = _chain([records[0], *records[4:]], records[3].hash, 4)
    _put(places, _lines(places)[:4] + tail)


def replace_suffix(places, records):
    """The same count and the same length, all hashes made anew (ai-memory-mcp#1850)."""
    size = places.audit.stat().st_size
    _put(places, _lines(places)[:5] + _chain(records[5:], records[4].hash, 5))
    assert places.audit.stat().st_size == size


def replace_all(places, records):
    _put(places, _chain(records, GENESIS, 0))


def delete_everything_but_the_head(places, records):
    places.audit.unlink()


def roll_back_both(places, records):
    """Log and head together, to an older pair that was genuine: only an anchor noted elsewhere finds it."""
    keep = _lines(places)[:5]
    _put(places, keep)
    head = Head(4, records[4].hash, sum(map(len, keep))).sealed(KEY)
    places.audit_head.write_bytes(json.dumps(head.to_json()).encode())


LOCAL = [edit_byte, edit_ts, delete_middle, delete_first, delete_tail, swap, duplicate, insert, replace_suffix,
         replace_all, delete_everything_but_the_head]  # fmt: skip


@pytest.mark.parametrize("tamper", LOCAL)
def test_tampering_is_found_without_help_and_never_repaired(places, tamper):
    records = fill(places)
    tamper(places, records)
    before = places.audit.read_bytes() if places.audit.exists() else b""
    verdict = verify_file(places, KEY)
    assert verdict.state is ChainState.BROKEN
    assert verdict.reason
    journal = AuditJournal.open(places, KEY)
    try:
        with refuses(Code.AUDIT_BROKEN) as caught:
            append(journal, "x", {})
        assert caught.value.extra["reason"]
    finally:
        journal.close()
    assert places.audit.read_bytes() == before


def test_the_bad_record_is_named(places):
    records = fill(places)
    edit_byte(places, records)
    assert verify_file(places, KEY).seq == 3
    broken = reopen(places).broken
    assert broken.extra["seq"] == 3


def test_a_rollback_needs_an_outside_anchor(places):
    records = fill(places)
    anchor = parse_anchor(f"7:{records[7].hash}")
    assert verify_file(places, KEY, anchor).state is ChainState.INTACT
    roll_back_both(places, records)
    assert verify_file(places, KEY).state is ChainState.INTACT
    assert verify_file(places, KEY, anchor).state is ChainState.BROKEN


def test_a_log_that_was_taken_away_with_its_head_is_missed_where_a_session_is_on_record(places):
    """It was said to be intact, with no records."""
    fill(places)
    places.audit.unlink()
    places.audit_head.unlink()
    assert verify_file(places, KEY).state is ChainState.INTACT
    record = SessionRecord(session_id="s-1", branch="hub/s-1", worktree=str(places.worktree("s-1")))
    session_store(places).save(record)
    verdict = verify_file(places, KEY)
    assert verdict.state is ChainState.BROKEN
    assert verdict.reason == "the log and its head are gone, but the session s-1 is on record"


@pytest.mark.parametrize("damage", ["delete", "empty", "junk", "other key"])
def test_a_head_that_is_not_genuine_breaks_the_log(places, damage):
    fill(places)
    match damage:
        case "delete":
            places.audit_head.unlink()
        case "empty":
            places.audit_head.write_bytes(b"")
        case "junk":
            places.audit_head.write_bytes(b"\xff" * 512)
        case "other key":
            head = attrs.evolve(Head.from_bytes(places.audit_head.read_bytes()), seq=7).sealed(bytes(32))
            places.audit_head.write_bytes(json.dumps(head.to_json()).encode())
    verdict = verify_file(places, KEY)
    assert verdict.state is ChainState.BROKEN
    assert "audit.head" in verdict.reason
    assert reopen(places).broken is not None


def test_no_log_yet_is_an_intact_empty_one(places):
    verdict = verify_file(places, KEY)
    assert (verdict.state, verdict.records) == (ChainState.INTACT, 0)


def test_both_files_gone_is_found_by_an_anchor(places):
    records = fill(places)
    places.audit.unlink()
    places.audit_head.unlink()
    assert verify_file(places, KEY, parse_anchor(f"2:{records[2].hash}")).state is ChainState.BROKEN


def test_unreadable_is_its_own_answer(places):
    fill(places)
    places.audit.unlink()
    places.audit.mkdir()
    with refuses(Code.AUDIT_UNREADABLE):
        verify_file(places, KEY)


def _socket(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


@pytest.mark.parametrize("put", [os.mkdir, os.mkfifo, _socket])
def test_what_is_no_file_in_place_of_the_log_is_said_and_not_waited_for(places, put):
    """Of a folder a command told a bug of hub's own, and for a pipe's other end it waited for ever."""
    fill(places)
    places.audit.unlink()
    put(places.audit)
    for read in (verify_file, AuditJournal.look, AuditJournal.open):
        with refuses(Code.AUDIT_UNREADABLE):
            read(places, KEY)


def test_a_link_in_place_of_the_log_is_refused(places, tmp_path):
    (tmp_path / "victim").write_text("precious")
    places.audit.symlink_to(tmp_path / "victim")
    with refuses(Code.AUDIT_UNREADABLE):
        AuditJournal.open(places, KEY)
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_real_full_disk(tmp_path):
    """F6 on a real file system of 128 KiB: said, nothing half-written, and it goes on when there is room."""
    mount = tmp_path / "small"
    mount.mkdir()
    if (
        shutil.which("mount") is None
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(mount)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("this system lets no test mount a file system: the real full disk was NOT tried")
    try:
        places = Places(mount, tmp_path / "state")
        make_private_dir(places.hub_dir)
        filler = mount / "filler"
        filler.write_bytes(b"x" * 60_000)
        journal = AuditJournal.open(places, KEY)
        with refuses(Code.NO_SPACE):
            for _ in range(1000):
                append(journal, "a", {"text": "x" * 2000})
        count = len(journal)
        assert verify_file(places, KEY).records == count > 0
        filler.unlink()
        assert append(journal, "b", {}).seq == count
        journal.close()
        assert verify_file(places, KEY).state is ChainState.INTACT
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_a_look_at_the_chain_finds_what_was_changed_since_the_last_one(places, journal):
    """For the score of a handoff: one byte of a record, or one record more, and the chain does not vouch."""
    assert journal.intact()
    append(journal, "a", {"text": "kept"})
    assert journal.intact()
    before = places.audit.read_bytes()
    append(journal, "contract", {"sha256": "0" * 64})
    whole = places.audit.read_bytes()
    for bad in (whole.replace(b"0" * 64, b"1" * 64), whole + b"{}\n", before, whole[:-1]):
        with places.audit.open("r+b") as file:
            file.truncate(0)
            file.write(bad)
        assert not journal.intact()
    with places.audit.open("r+b") as file:
        file.truncate(0)
        file.write(whole)
    assert journal.intact()


def test_a_look_costs_only_what_was_appended(places, journal, monkeypatch):
    """A log of years is not read again at every handoff."""
    append_many(journal, [("a", {"n": n}) for n in range(50)])
    assert journal.intact()
    append(journal, "b", {})
    read = []
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: read.append(size) or real(fd, size, at))
    assert journal.intact()
    assert sum(read) < 1000
