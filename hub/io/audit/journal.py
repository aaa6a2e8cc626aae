"""The audit log on disk.

Owns: `audit.jsonl` and `audit.head`: appending with group commit, the mending of a torn tail, the judgement at
the start, reading back.
Must not: repair anything before the tail, change a record, or know what the events mean.

Durability. A group of records is one write() and one fdatasync(); when `commit` returns, the group survives a
power cut. Then the head is written over in place: it is one sector, so it is the old one or the new one. The
head itself is synced at most every `HEAD_SYNC` records and when the log is closed. So after a kill the log may
be one group ahead of its head, after a power cut up to `HEAD_SYNC` records and a group: such records are judged
like all others, taken in, and reported by an `audit.recovered` record. A log *behind* its head was cut.
"""

from __future__ import annotations

import array
import contextlib
import errno
import hashlib
import io
import os
import stat
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import attrs

from hub.domain import audit
from hub.domain.audit import AuditRecord, ChainState, ChainVerdict, Head
from hub.domain.canonical import canonical
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.files.atomic import coded_errors, is_still, read_bounded, write_atomic
from hub.io.files.growing import line_ends, pread_all
from hub.io.project.places import Places
from hub.io.records.sessions import found
from hub.io.runner.files import write_all

HEAD_SYNC = 4096
"""At most this many records are appended between two syncs of the head."""
MAX_GROUP = 1024
"""Most records of one write."""
_SECTOR = 512
_OPEN_WRITTEN = "something else wrote to the log, or put it away, while it was open"
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT


@attrs.define
class AuditDraft:
    """A group of records: hashed, not written yet."""

    seq: int
    """The last record's."""
    hash: str
    at: str
    records: list[AuditRecord] = attrs.field(factory=list)

    def add(self, event: str, data: Mapping[str, object]) -> None:
        """Hash one more.

        Raises:
            HubError: TOO_LARGE for a record over 1 MiB.
            NotCanonicalError: The data has no canonical form.
        """
        record = audit.make_record(self.hash, self.seq + 1, self.at, event, data)
        if len(record.line) > audit.MAX_LINE:
            raise HubError(Code.TOO_LARGE, f"The audit record {event} is larger than 1 MiB.")
        self.records.append(record)
        self.seq, self.hash = self.seq + 1, record.hash


class AuditJournal:
    """The one writer of a project's audit log. Not to be used from two threads at once.

    Attributes:
        broken: Set when the log was tampered with: it can be read, and every append raises this.
    """

    def __init__(self, places: Places, key: bytes, fd: int, head_fd: int, clock: Callable[[], float]) -> None:
        self.broken: HubError | None = None
        self._places = places
        self._key = key
        self._fd = fd
        self._head_fd = head_fd
        self._clock = clock
        self._tip = audit.START
        self._judged = audit.START
        self._ends = array.array("Q")
        self._unsynced = 0
        self._touched = 0
        """When the file was changed last, by this journal or before it was judged."""

    @classmethod
    def open(cls, places: Places, key: bytes, *, clock: Callable[[], float] = time.time) -> AuditJournal:
        """Opens the log, judging every record of it.

        A torn tail is moved to `audit.torn-<ts>` and reported by a first record `audit.recovered`. A log that
        was tampered with is opened for reading; see `broken`.

        Raises:
            HubError: NO_PERMISSION, NO_SPACE, READ_ONLY, or AUDIT_UNREADABLE when the file cannot be read.
        """
        with coded_errors(places.audit):
            if not places.audit.exists() and not places.audit_head.exists():
                empty = audit.START.sealed(key)
                write_atomic(places.audit_head, _head_bytes(empty))
            fd = _opened(places.audit, _APPEND)
        journal = cls(places, key, fd, -1, clock)
        try:
            journal._start()
        except BaseException:
            journal.close()
            raise
        return journal

    @classmethod
    def look(cls, places: Places, key: bytes) -> AuditJournal:
        """Opens the log for reading alone: every record is judged, nothing is mended or made; see `broken`.

        Raises:
            HubError: AUDIT_BROKEN when the log is gone; AUDIT_UNREADABLE.
        """
        try:
            fd = _opened(places.audit, os.O_RDONLY)
        except FileNotFoundError as error:
            raise HubError(Code.AUDIT_BROKEN, f"{places.audit} is gone.", seq=0) from error
        except OSError as error:
            raise HubError(
                Code.AUDIT_UNREADABLE, f"{places.audit} cannot be read: {error.strerror}."
            ) from error
        journal = cls(places, key, fd, -1, time.time)
        journal._start(mend=False)
        return journal

    def draft(self) -> AuditDraft:
        """An empty group. Nothing else may be appended before it is committed or dropped.

        Raises:
            HubError: AUDIT_BROKEN.
        """
        if self.broken is not None:
            raise self.broken
        return AuditDraft(self._tip.seq, self._tip.hash, iso(self._clock()))

    def commit(self, draft: AuditDraft) -> None:
        """Writes a group, of at most `MAX_GROUP` records; when it returns they are durable. All of it or nothing.

        Raises:
            HubError: AUDIT_BROKEN for a log that was tampered with while it was open; NO_SPACE, READ_ONLY (nothing
                was written, and a later group may succeed); DISK_FAILED: nobody knows what the disk holds, and the
                journal takes no more records until it is opened again.
        """
        self._write([record.line for record in draft.records])
        self._tip = Head(draft.seq, draft.hash, self._ends[-1])
        self._write_head(len(draft.records))

    def head(self, seq: int = -1) -> Head:
        """Where the log ends, sealed; or where it ended with the record `seq`, if it has that."""
        tip = Head(seq, self.read(seq, 1)[0].hash, self._ends[seq]) if 0 <= seq < len(self) else self._tip
        return tip.sealed(self._key)

    def intact(self) -> bool:
        """Whether what stands in the file behind the place judged last is the chain that was written, to its end.

        One pass over the bytes that came since; nothing before them is read, so a look costs what was appended.
        """
        fresh = pread_all(self._fd, self._judged.size, os.fstat(self._fd).st_size - self._judged.size)
        tip = audit.quick_tip(fresh, self._judged)
        if tip is None or (tip.seq, tip.hash, tip.size) != (self._tip.seq, self._tip.hash, self._tip.size):
            return False
        self._judged = tip
        return True

    def recheck(self) -> None:
        """Judges every record anew where something else has touched the file since it was written; see `broken`.

        The kernel keeps the time of every change, and whoever changes the bytes cannot choose it.
        """
        now = os.fstat(self._fd)
        if self.broken is not None or now.st_ctime_ns == self._touched:
            return
        data = pread_all(self._fd, 0, now.st_size)
        verdict = audit.verify_lines(io.BytesIO(data), self._tip)
        if verdict.ok and (len(data) != self._tip.size or not is_still(self._places.audit, now)):
            verdict = ChainVerdict(
                ChainState.BROKEN, len(self._ends), self._tip, len(self._ends), _OPEN_WRITTEN
            )
        if verdict.state is ChainState.BROKEN:
            self._ends = line_ends(data)[: verdict.records]
            self.broken = _broken_error(verdict)
        self._touched = now.st_ctime_ns

    def changed_at(self) -> str:
        """When the file was last written, by its own word; ISO 8601."""
        return iso(os.fstat(self._fd).st_mtime)

    def __len__(self) -> int:
        return len(self._ends)

    def read(self, first: int, limit: int) -> list[AuditRecord]:
        """The records from the number `first` on, at most `limit`."""
        stop = min(len(self._ends), first + limit)
        if first >= stop:
            return []
        begin = self._ends[first - 1] if first else 0
        data = pread_all(self._fd, begin, self._ends[stop - 1] - begin)
        ends = [begin, *self._ends[first:stop]]
        return [audit.read_record(data[a - begin : b - begin]) for a, b in pairwise(ends)]

    def places_of(self, mark: bytes, first: int, stop: int) -> list[int]:
        """The numbers of the records from `first` to before `stop` whose line has these bytes; none is parsed."""
        begin = self._ends[first - 1] if first else 0
        data = pread_all(self._fd, begin, self._ends[stop - 1] - begin) if stop > first else b""
        found: list[int] = []
        at = data.find(mark)
        while at >= 0:
            seq = bisect_right(self._ends, begin + at, first, stop)
            found.append(seq)
            at = data.find(mark, self._ends[seq] - begin)
        return found

    def close(self) -> None:
        """Syncs the head and closes the files. A second call does nothing."""
        for fd in (self._head_fd, self._fd):
            if fd >= 0:
                try:
                    os.fsync(fd)
                finally:
                    os.close(fd)
        self._fd = self._head_fd = -1

    def _write(self, written: list[bytes]) -> None:
        size = self._tip.size
        self.recheck()
        if self.broken is not None:
            raise self.broken
        with self._final_errors(), coded_errors(self._places.audit):
            try:
                failpoints.hit("audit.append")
                write_all(self._fd, b"".join(written))
            except OSError:
                os.ftruncate(self._fd, size)
                self._touched = os.fstat(self._fd).st_ctime_ns
                raise
        with self._final_errors():
            # Not to be tried again, whatever it says: the kernel may have thrown away what it could not write.
            os.fdatasync(self._fd)
            self._touched = os.fstat(self._fd).st_ctime_ns
        for line in written:
            size += len(line)
            self._ends.append(size)

    def _write_head(self, records: int) -> None:
        with self._final_errors():
            os.pwrite(self._head_fd, _head_bytes(self.head()), 0)
            self._unsynced += records
            if self._unsynced >= HEAD_SYNC:
                os.fdatasync(self._head_fd)
                self._unsynced = 0

    @contextlib.contextmanager
    def _final_errors(self) -> Iterator[None]:
        """What no later append can make good ends the journal."""
        try:
            yield
        except OSError as error:
            self.broken = HubError(
                Code.DISK_FAILED, f"The disk failed under {self._places.audit} ({error.strerror})."
            )
            raise self.broken from error

    def _start(self, *, mend: bool = True) -> None:
        head, why = _read_head(self._places.audit_head, self._key)
        touched = os.fstat(self._fd).st_ctime_ns
        tail, verdict = self._judge(head)
        if why:
            verdict = ChainVerdict(ChainState.BROKEN, verdict.records, verdict.last, None, why)
        if verdict.state is ChainState.BROKEN:
            self.broken = _broken_error(verdict)
            return
        self._tip = self._judged = verdict.last
        self._touched = touched
        if not mend:
            return
        with coded_errors(self._places.audit_head):
            self._head_fd = os.open(self._places.audit_head, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        if tail or verdict.unanchored:
            self._recover(tail, verdict.unanchored)

    def _judge(self, head: Head | None) -> tuple[bytes, ChainVerdict]:
        """The torn tail and the verdict; fills the table of record ends up to the last good one."""
        data = pread_all(self._fd, 0, os.fstat(self._fd).st_size)
        whole = data.rfind(b"\n") + 1
        self._ends = line_ends(data)
        if head is not None and whole >= head.size >= 0:
            tip = audit.quick_tip(data[: head.size], audit.START)
            if tip is not None and (tip.seq, tip.hash, tip.size) == (head.seq, head.hash, head.size):
                rest = audit.verify_lines(io.BytesIO(data[head.size :]), tip, after=tip)
                return data[rest.last.size :] if rest.state is ChainState.TORN else b"", rest
        verdict = audit.verify_lines(io.BytesIO(data), head)
        return data[whole:] if verdict.state is ChainState.TORN else b"", verdict

    def _recover(self, tail: bytes, unanchored: int) -> None:
        """Moves a torn tail aside, then says what was found, as a record of its own."""
        found: dict[str, object] = {"unanchored": unanchored}
        failpoints.hit("recover.audit")
        if tail:
            digest = hashlib.sha256(tail).hexdigest()
            aside = self._places.hub_dir / f"audit.torn-{int(self._clock() * 1000)}"
            write_atomic(aside, tail)
            with coded_errors(self._places.audit):
                os.ftruncate(self._fd, self._tip.size)
                os.fsync(self._fd)
            self._touched = os.fstat(self._fd).st_ctime_ns
            found |= {"bytes": len(tail), "sha256": digest, "keptAs": aside.name}
        draft = self.draft()
        draft.add("audit.recovered", found)
        self.commit(draft)


def verify_file(places: Places, key: bytes, expect: Head | None = None) -> ChainVerdict:
    """Judges the log on disk, reading every record as a stranger would.

    Args:
        places: The project.
        key: The audit key.
        expect: An anchor noted elsewhere (`audit.parse_anchor`).

    Raises:
        HubError: AUDIT_UNREADABLE when there is a log that cannot be read.
    """
    head, why = _read_head(places.audit_head, key)
    try:
        with os.fdopen(_opened(places.audit, os.O_RDONLY), "rb") as file:
            verdict = audit.verify_lines(iter(lambda: file.readline(audit.MAX_LINE + 1), b""), head, expect)
    except FileNotFoundError:
        if not places.audit_head.exists():
            known = found(places)  # each session begins after the log's first record
            why = (
                f"the log and its head are gone, but the session {known[-1].session_id} is on record"
                if known
                else ""
            )
        verdict = audit.verify_lines((), head, expect)
    except OSError as error:
        raise HubError(Code.AUDIT_UNREADABLE, f"{places.audit} cannot be read: {error.strerror}.") from error
    if why and verdict.ok:
        return ChainVerdict(ChainState.BROKEN, verdict.records, verdict.last, None, why)
    return verdict


def _read_head(path: Path, key: bytes) -> tuple[Head | None, str]:
    """The head, or why there is none to trust."""
    try:
        head = Head.from_bytes(read_bounded(path, 4096))
    except FileNotFoundError:
        return None, "audit.head is missing"
    except (ValueError, HubError) as error:
        return None, f"audit.head cannot be read: {error}"
    if not head.genuine(key):
        return None, "audit.head was not sealed with this key"
    return head, ""


def _head_bytes(head: Head) -> bytes:
    """One sector, so that it is replaced in place all at once."""
    return canonical(head.to_json()).ljust(_SECTOR - 1) + b"\n"


def _opened(path: Path, flags: int) -> int:
    """A descriptor of a log; of a named pipe nobody waits for the other end.

    Raises:
        HubError: AUDIT_UNREADABLE for what is no file.
        OSError: As of `os.open`.
    """
    try:
        fd = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.ENXIO, errno.ELOOP):  # a folder, a socket, a link
            raise
    else:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
    raise HubError(Code.AUDIT_UNREADABLE, f"{path} cannot be read: it is no file.")


def _broken_error(verdict: ChainVerdict) -> HubError:
    where = (
        f"Record {verdict.seq} of the audit log is bad: "
        if verdict.seq is not None
        else "The audit log is bad: "
    )
    return HubError(Code.AUDIT_BROKEN, f"{where}{verdict.reason}.", seq=verdict.seq, reason=verdict.reason)
