"""The audit chain: each record vouches for all before it.

Owns: how a record is hashed and written, what the sealed head is, and how a log is judged.
Must not: open a file or read a clock.

hash = SHA-256(previous hash in hex + canonical({"event", "data"})); `data` carries `seq` (from 0, no gap) and
`at` (equal to `ts`), so both are covered. A record is one line of canonical JSON with the members data, event,
hash, prevHash, ts in this (sorted) order; so the line begins with the very bytes that were hashed, and the rest
has one fixed length.

A chain alone does not show a cut tail, nor a log rewritten from some point on. The head {seq, hash, bytes, mac},
sealed with a key that no agent can read, does; what even the head cannot show (log and head both put back
to an older pair) an anchor noted elsewhere does: `<seq>:<hash>` in contracts and commit trailers.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import attrs
import msgspec

from hub.domain.canonical import canonical, parse_strict

GENESIS = "0" * 64
MAX_LINE = 1 << 20
MAX_UNANCHORED = 8192
"""More records than this beyond the head are no crash's doing."""

_HASH = re.compile(r"[0-9a-f]{64}")
_TS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_ANCHOR = re.compile(r"(\d{1,16}):([0-9a-f]{64})")
_TAIL = re.compile(
    rb',"hash":"([0-9a-f]{64})","prevHash":"([0-9a-f]{64})","ts":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"\}'
)
_TAIL_LENGTH = len(f',"hash":"{GENESIS}","prevHash":"{GENESIS}","ts":"2000-01-01T00:00:00.000Z"}}')


@attrs.frozen
class AuditRecord:
    """One record of the log."""

    ts: str
    prev_hash: str
    hash: str
    event: str
    data: Mapping[str, Any]
    """The caller's data with `seq` and `at`."""
    line: bytes = attrs.field(repr=False)
    """The record as it stands in the file, newline included."""

    @property
    def seq(self) -> int:
        """Its place in the log, from 0."""
        return int(self.data["seq"])


@attrs.frozen
class Head:
    """Where the log ended when its owner last wrote: {seq, hash, bytes, mac}."""

    seq: int
    """The last record's; -1 for an empty log."""
    hash: str
    size: int
    """Length of the log up to and with that record."""
    mac: str = ""

    def sealed(self, key: bytes) -> Head:
        """The same head with its mac."""
        return attrs.evolve(self, mac=hmac.digest(key, self._body(), "sha256").hex())

    def genuine(self, key: bytes) -> bool:
        """Whether the mac was made with `key`."""
        return hmac.compare_digest(self.mac, self.sealed(key).mac)

    def to_json(self) -> dict[str, object]:
        """The wire and file form."""
        return {"seq": self.seq, "hash": self.hash, "bytes": self.size, "mac": self.mac}

    def _body(self) -> bytes:
        return canonical({"bytes": self.size, "hash": self.hash, "seq": self.seq})

    @classmethod
    def from_bytes(cls, data: bytes) -> Head:
        """Reads `audit.head`.

        Raises:
            ValueError: It is not a head.
        """
        value = parse_strict(data)
        if not isinstance(value, dict) or set(value) != {"seq", "hash", "bytes", "mac"}:
            raise ValueError("the members are not seq, hash, bytes and mac")
        seq, size = value["seq"], value["bytes"]
        if type(seq) is not int or type(size) is not int or seq < -1 or size < 0:
            raise ValueError("seq and bytes are not counts")
        if not all(isinstance(value[name], str) and _HASH.fullmatch(value[name]) for name in ("hash", "mac")):
            raise ValueError("hash and mac are not 64 hex digits")
        return cls(seq, value["hash"], size, value["mac"])


START = Head(-1, GENESIS, 0)
"""The place before the first record."""


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """A record as it stands in a line. A doubled member passes here; comparing with the canonical form finds it."""

    data: dict[str, Any]
    event: str
    hash: str
    prevHash: str  # noqa: N815  # the wire's name
    ts: str


class _PeekData(msgspec.Struct):
    at: str


class _Peek(msgspec.Struct):
    """Just the two timestamps, which must agree: only `at` is under the hash."""

    data: _PeekData
    ts: str


_decode_line = msgspec.json.Decoder(_Line).decode
_peek = msgspec.json.Decoder(_Peek).decode


class ChainState(StrEnum):
    """What a log turned out to be."""

    INTACT = "intact"
    TORN = "torn"
    """Whole but for an unfinished last line: a crash, mended at the next start."""
    BROKEN = "broken"


@attrs.frozen
class ChainVerdict:
    """The judgement on a log."""

    state: ChainState
    records: int
    """How many records, from the first, are good."""
    last: Head
    """Where the good part ends (without mac)."""
    seq: int | None = None
    """The first bad record's place; None when no record is at fault."""
    reason: str = ""
    unanchored: int = 0
    """Records beyond the head: good in themselves, not yet vouched for by it."""

    @property
    def ok(self) -> bool:
        """Whether nothing was tampered with."""
        return self.state is not ChainState.BROKEN

    def to_json(self) -> dict[str, object]:
        """For the command line."""
        return {
            "state": self.state.value,
            "ok": self.ok,
            "records": self.records,
            "head": {"seq": self.last.seq, "hash": self.last.hash},
            "seq": self.seq,
            "reason": self.reason,
            "unanchored": self.unanchored,
        }


def make_record(prev_hash: str, seq: int, at: str, event: str, data: Mapping[str, object]) -> AuditRecord:
    """The next record of a chain.

    Args:
        prev_hash: The previous record's hash, or `GENESIS`.
        seq: Its place.
        at: Timestamp, ISO 8601 UTC with milliseconds.
        event: Its name.
        data: Canonical data; `seq` and `at` are put in, whatever they were.

    Raises:
        NotCanonicalError: `data` has no canonical form.
        ValueError: `at` has not the one form.
    """
    if not _TS.fullmatch(at):
        raise ValueError(f"{at!r} is not a timestamp with milliseconds")
    full = {**data, "seq": seq, "at": at}
    body = canonical({"data": full, "event": event})
    digest = _digest(prev_hash, body)
    tail = f',"hash":"{digest}","prevHash":"{prev_hash}","ts":"{at}"}}\n'.encode()
    return AuditRecord(at, prev_hash, digest, event, full, body[:-1] + tail)


def read_record(line: bytes) -> AuditRecord:
    """The record of one line, as written; says nothing about its place in a chain.

    Raises:
        ValueError: The line is not a record.
    """
    try:
        wire = _decode_line(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return AuditRecord(wire.ts, wire.prevHash, wire.hash, wire.event, wire.data, line)


def parse_anchor(text: str) -> Head:
    """Reads `<seq>:<hash>` as a head without bytes.

    Raises:
        ValueError: It is not an anchor.
    """
    match = _ANCHOR.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not <seq>:<hash>")
    return Head(int(match[1]), match[2], -1)


def verify_lines(
    lines: Iterable[bytes], head: Head | None = None, expect: Head | None = None, *, after: Head = START
) -> ChainVerdict:
    """Judges a log.

    Args:
        lines: The file's lines, each with its newline.
        head: The head, whose mac the caller has checked; None = judge the chain alone.
        expect: An anchor noted elsewhere that the log must contain.
        after: The place before the first line, when what lies before was judged already.

    Returns:
        The first fault found, in the order of the file; then what head and anchor say about the whole.
    """
    last = after
    torn = False
    for line in lines:
        torn = not line.endswith(b"\n") and len(line) <= MAX_LINE
        if torn:
            break
        reason, digest = _judge(line, last)
        tip = Head(last.seq + 1, digest, last.size + len(line))
        reason = reason or _contradiction(head, tip, "the head") or _contradiction(expect, tip, "the anchor")
        if reason:
            return ChainVerdict(ChainState.BROKEN, tip.seq, last, tip.seq, reason)
        last = tip
    records = last.seq + 1
    reason = _missing(head, last, "the head") or _missing(expect, last, "the anchor")
    unanchored = last.seq - (head or after).seq
    if not reason and head is not None and unanchored > MAX_UNANCHORED:
        reason = f"{unanchored} records follow the one the head vouches for, more than a crash can leave"
    if reason:
        return ChainVerdict(ChainState.BROKEN, records, last, records, reason)
    if torn:
        return ChainVerdict(ChainState.TORN, records, last, None, "the last line is unfinished", unanchored)
    return ChainVerdict(ChainState.INTACT, records, last, unanchored=unanchored)


def _contradiction(mark: Head | None, tip: Head, who: str) -> str:
    """Why the record at `tip` is not the one that a head or an anchor vouches for."""
    if mark is None or mark.seq != tip.seq:
        return ""
    if mark.hash != tip.hash:
        return f"its hash is not the one {who} vouches for"
    if mark.size not in {-1, tip.size}:
        return f"the log up to it has not the length {who} vouches for"
    return ""


def _missing(mark: Head | None, last: Head, who: str) -> str:
    if mark is None or mark.seq <= last.seq:
        return ""
    return (
        f"the log ends after {last.seq + 1} records, {who} vouches for {mark.seq + 1}: it was cut or put back"
    )


def _judge(line: bytes, last: Head) -> tuple[str, str]:
    """Why a line cannot follow `last` ("" when it can), and its hash."""
    if len(line) > MAX_LINE:
        return "the line is too long to be a record", ""
    body, tail = line[: -_TAIL_LENGTH - 1], _TAIL.fullmatch(line, len(line) - 1 - _TAIL_LENGTH, len(line) - 1)
    if tail is None:
        return "the line is not a record", ""
    try:
        record = read_record(line)
        written = canonical({"data": record.data, "event": record.event})
    except ValueError as error:
        return f"the line is not a record: {error}", ""
    reason = "" if written == body + b"}" else "the line is not in its canonical form"
    reason = reason or _misfit(record, last)
    if not reason and _digest(last.hash, written) != record.hash:
        reason = "its hash does not match its content"
    return reason, record.hash


def _misfit(record: AuditRecord, last: Head) -> str:
    """Why a well-formed record has no place after `last`."""
    if record.data.get("seq") != last.seq + 1 or type(record.data["seq"]) is not int:
        return f"its seq is {record.data.get('seq')!r}: a record is missing, doubled or moved"
    if record.prev_hash != last.hash:
        return "its prevHash is not the hash of the record before it"
    if record.data.get("at") != record.ts:
        return "its ts is not the at it was hashed with"
    return ""


def quick_tip(chunk: bytes, last: Head) -> Head | None:
    """Follows the hashes through whole lines without reading what they say; None where the chain does not fit.

    Whoever compares the result with a genuine head has verified every byte: no other content has that hash.
    """
    seq, digest, size = last.seq, last.hash, last.size
    for line in chunk.splitlines(keepends=True):
        tail = _TAIL.fullmatch(line, max(0, len(line) - 1 - _TAIL_LENGTH), len(line) - 1)
        if tail is None:
            return None
        found = hashlib.sha256(b"%b%b}" % (digest.encode(), line[: -_TAIL_LENGTH - 1])).hexdigest()
        if tail[2] != digest.encode() or tail[1] != found.encode() or not _times_agree(line):
            return None
        seq, digest, size = seq + 1, found, size + len(line)
    return Head(seq, digest, size)


def _times_agree(line: bytes) -> bool:
    try:
        peek = _peek(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return peek.data.at == peek.ts


def _digest(prev: str, body: bytes) -> str:
    return hashlib.sha256(prev.encode() + body).hexdigest()
