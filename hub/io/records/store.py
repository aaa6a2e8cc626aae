"""Small durable records below `.hub`: one form for all of them, and one way to read and to replace one.

Owns: a record's bytes (its fields, `v`, `crc`, and the seal around them), what is said of bytes that are none, and what
becomes of such a file.
Must not: know what a record means, or repair one.

Rules:
 1. The seal decides what is believed. `crc` is over everything else in the record, and only tells two faults apart: bytes
    that were damaged, and a whole record that hub did not write here.
 2. A field with a default may be added without a new version: an older record reads with the default, and members that
    nobody knows are passed over. Anything else needs a new version, and a reader for the one before it in `older`.
 3. A newer hub's record is left as it is, and nothing is written over it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar

import attrs
import msgspec

from hub.api.convert import ProblemsError, structure, unstructure
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.files import sealed
from hub.io.files.atomic import read_bounded
from hub.io.files.seal import split
from hub.io.files.sealed import NotSealed

T = TypeVar("T")
_LIMIT = 256 * 1024 * 1024
_NEWER = "Start the newer hub that wrote it. If none of yours did, move the file away."
_sorted = msgspec.json.Encoder(order="sorted").encode


class Corruption(StrEnum):
    """Why bytes are no record."""

    EMPTY = "empty"
    TRUNCATED = "truncated"
    DAMAGED = "damaged"
    NEWER_VERSION = "newer_version"
    INVALID = "invalid"


class RecordCorrupt(HubError):
    """The bytes are no record of this form."""

    def __init__(self, name: str, reason: Corruption, detail: str) -> None:
        super().__init__(Code.STATE_CORRUPT, f"{name}: {detail}", reason=reason.value)
        self.reason = reason


@attrs.frozen
class RecordForm(Generic[T]):
    """How a value is written down.

    Attributes:
        kind: The value's class.
        name: What it is called before a colon: `The pipeline run`.
        version: The one that is written.
        older: For each older version that is still read, what makes the value of its JSON; 0 is a record without one.
    """

    kind: type[T]
    name: str
    version: int = 1
    older: Mapping[int, Callable[[Any], T]] = attrs.field(factory=dict)

    def encode(self, value: T) -> bytes:
        """The record's bytes. Members stay in their order: of some it says which were used last."""
        wire = {**unstructure(value), "v": self.version}
        return msgspec.json.encode({**wire, "crc": _crc(wire)})

    def decode(self, data: bytes) -> T:
        """The value in `data`.

        Raises:
            RecordCorrupt: With the reason; no field of such bytes was believed.
        """
        wire = self._parsed(data)
        version = self._version(wire)
        crc = wire.pop("crc", None) if isinstance(wire, dict) else None
        if (crc is not None or version == self.version) and not _fits(crc, wire):
            raise self._corrupt(Corruption.DAMAGED, "its checksum does not fit")
        try:
            if version != self.version:
                return self.older[version](wire)
            return structure(wire, self.kind, closed=False)
        except ProblemsError as error:
            problems = "; ".join(f"{where}: {what}" for where, what in error.problems)
            raise self._corrupt(Corruption.INVALID, f"a field does not validate ({problems})") from error
        except (msgspec.ValidationError, ValueError, KeyError, TypeError) as error:
            raise self._corrupt(Corruption.INVALID, f"a field does not validate ({error})") from error

    def _version(self, wire: object) -> int:
        """The version comes before the checksum: how to check is itself part of a version."""
        found = wire.get("v", 0) if isinstance(wire, dict) else 0
        if isinstance(found, int) and found > self.version:
            newer = f"it has version {found}, this hub reads up to {self.version}"
            raise self._corrupt(Corruption.NEWER_VERSION, newer)
        if found != self.version and found not in self.older:
            raise self._corrupt(Corruption.DAMAGED, "it is not what hub writes there")
        return int(found)

    def _parsed(self, data: bytes) -> Any:
        if not data.strip():
            raise self._corrupt(Corruption.EMPTY, "it is empty")
        try:
            return msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            begun, ended = data.lstrip().startswith(b"{"), data.rstrip().endswith(b"}")
            if "truncated" in str(error) or (begun and not ended and "trailing" not in str(error)):
                breaks_off = f"it breaks off after {len(data)} bytes"
                raise self._corrupt(Corruption.TRUNCATED, breaks_off) from error
            raise self._corrupt(Corruption.DAMAGED, "it is not JSON") from error

    def _corrupt(self, reason: Corruption, detail: str) -> RecordCorrupt:
        return RecordCorrupt(self.name, reason, detail)


@attrs.define
class RecordStore(Generic[T]):
    """One record at its place. One owner writes; others may `look`.

    Attributes:
        path: The file.
        form: How it is written.
        hint: What is said to a user whose record is not hub's own.
        failpoint: Hit before it is read; none when empty.
        refused: Why nothing may be written: the record is a newer hub's.
    """

    path: Path
    form: RecordForm[T]
    hint: str = ""
    failpoint: str = ""
    refused: HubError | None = None

    def look(self) -> T | None:
        """The record; None where there is none. The file is as it was.

        Raises:
            RecordCorrupt, NotSealed: It cannot be believed.
            HubError: As `read_bounded`; DISK_FAILED.
        """
        try:
            if self.failpoint:
                failpoints.hit(self.failpoint)
            data = read_bounded(self.path, _LIMIT)
        except FileNotFoundError:
            return None
        except OSError as error:
            detail = f"Cannot read {self.path}: the disk failed ({error.strerror})."
            raise HubError(Code.DISK_FAILED, detail) from error
        try:
            body = sealed.opened(self.path, data)
        except NotSealed:
            self.form.decode(split(data)[0])  # only to say what ails it
            raise
        return self.form.decode(body)

    def load(self) -> tuple[T | None, HubError | None]:
        """The owner's look: the record, and why there is none although there is a file.

        What is damaged, or not hub's own, is kept aside; a newer hub's stays where it is, and `save` refuses from now on.

        Raises:
            HubError: As `read_bounded`; DISK_FAILED. Whatever the record says, nothing may be done before it can be read.
        """
        try:
            return self.look(), None
        except RecordCorrupt as error:
            if error.reason is Corruption.NEWER_VERSION:
                self.refused = HubError(error.code, f"{error}; it was left as it is.", hint=_NEWER)
                return None, self.refused
            aside = sealed.put_aside(self.path, "corrupt")
            return None, HubError(error.code, f"{error}; the file was kept as {aside.name}.")
        except NotSealed as error:
            aside = sealed.put_aside(self.path)
            return None, HubError(error.code, f"{error} It was kept as {aside.name}.", hint=self.hint)

    def save(self, value: T, failpoint: str = "") -> None:
        """Replace the record; durable when this returns.

        Raises:
            HubError: NO_SPACE, READ_ONLY, NO_PERMISSION; STATE_CORRUPT where it is a newer hub's. The old one is whole.
        """
        if self.refused is not None:
            raise self.refused
        try:
            sealed.write_sealed(self.path, self.form.encode(value), failpoint=failpoint)
        except OSError as error:
            # The old record is whole, and the next try writes a new file from its first byte: so it may be tried.
            detail = f"Cannot write {self.path}: the disk failed ({error.strerror})."
            raise HubError(Code.READ_ONLY, detail) from error


def as_named(wire: object, kind: type[T]) -> T:
    """For `older`: a value whose members have the names of its fields, as the first hubs wrote them.

    Raises:
        msgspec.ValidationError: It is none.
    """
    return msgspec.convert(wire, kind)


def _fits(crc: object, wire: object) -> bool:
    try:
        return crc == _crc(wire)
    except (ValueError, OverflowError, RecursionError):  # hub never wrote such a value
        return False


def _crc(wire: object) -> str:
    return hashlib.sha256(_sorted(wire)).hexdigest()[:16]
