"""What Claude Code's sessions used, from all their bytes.

Owns: the sum over whole files, each message of a request counted once.
Must not: open a file, or read any record but those with a usage.

Three records of a message repeat one usage, and a forked session's file begins with a copy of the other's records; so
what is counted is a pair of message and request, in whichever file it stands. Older versions wrote what was known when
each record was written, so the largest counts. Of a record only what is needed is decoded, and most bytes are not even
looked at: they are results of tools, whose records say at their beginning that they are no answer. Reading every record
whole takes ten times as long. The files may be shared out among processes: what each has seen is merged, not added, for
one answer may stand in the files of two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec

from hub.domain.cost import Tokens

_MARK = b'"usage":{'
_KIND = b'"type":"'
_ANSWER = b'"type":"assistant"'
_NOTHING = (0, 0, 0, 0)
"""Output, fresh input, written to the cache, read from it."""
_LONG = 2048
"""Bytes of a record above which it costs less to see what it is than to look through it."""


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class _Usage(msgspec.Struct, gc=False):
    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cache_creation_input_tokens: _Count = 0
    cache_read_input_tokens: _Count = 0


class _Message(msgspec.Struct, gc=False):
    usage: _Usage | None = None
    id: str = ""
    model: str = ""


class _Record(msgspec.Struct, gc=False):
    message: _Message | None = None
    requestId: str | None = None  # noqa: N815  # Claude's own name
    type: str = ""


_Name = tuple[str, str | None]
"""Message and request."""
_Used = tuple[int, str, int, int, int]
"""Output, model, fresh input, written to the cache, read from it."""


class _Seen(msgspec.Struct, array_like=True, gc=False):
    """What was counted, in columns: they are read three times as fast as as many rows."""

    names: list[_Name]
    used: tuple[list[int], list[str], list[int], list[int], list[int]]
    sums: dict[str, list[int]]
    unreadable: int


_decode = msgspec.json.Decoder(_Record).decode
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(_Seen).decode


class Totals:
    """The sums of everything that was fed.

    Attributes:
        unreadable: Lines that tell of a usage, or seem to, and could not be read.
    """

    def __init__(self) -> None:
        self.unreadable = 0
        self._requests: dict[_Name, _Used] = {}
        self._sums: dict[str, list[int]] = {}
        self._rest: list[bytes] = []

    def by_model(self) -> dict[str, Tokens]:
        """Tokens, by model."""
        return {
            model: Tokens(fresh + written + cached, out, cached, written)
            for model, (out, fresh, written, cached) in self._sums.items()
        }

    def feed(self, data: bytes) -> None:
        """The next bytes of a file; what follows the last newline waits for more, or for `end`."""
        first = 0
        if self._rest:
            first = data.find(b"\n") + 1
            self._rest.append(data[:first] if first else data)
            if not first:
                return
            self.end()
        cut = data.rfind(b"\n") + 1
        self._scan(data, first, cut)
        if cut < len(data):
            self._rest.append(data[cut:])

    def end(self) -> None:
        """The file is over."""
        if self._rest:
            rest = b"".join(self._rest)
            self._rest.clear()
            self._scan(rest, 0, len(rest))

    def seen(self) -> bytes:
        """All that was counted, for `merge` in another process."""
        columns = zip(*self._requests.values(), strict=True) if self._requests else [()] * 5
        return _pack((list(self._requests), list(columns), self._sums, self.unreadable))

    def merge(self, seen: bytes) -> None:
        """Count what another has seen as well."""
        found = _unpack(seen)
        theirs = dict(zip(found.names, zip(*found.used, strict=True), strict=True))
        for model, figures in found.sums.items():
            known = self._sums.get(model, _NOTHING)
            self._sums[model] = [a + b for a, b in zip(known, figures, strict=True)]
        for name in self._requests.keys() & theirs.keys():
            mine, other = self._requests[name], theirs[name]
            theirs[name] = max(mine, other)
            self._tally(min(mine, other), -1)
        self._requests |= theirs
        self.unreadable += found.unreadable

    def _scan(self, data: bytes, at: int, end: int) -> None:
        """The lines of a part of `data`, which begins with one."""
        find, before = data.find, data.rfind
        while at < end:
            start, at = at, find(b"\n", at, end) + 1 or end
            if at - start > _LONG and _no_answer(data, start, at):
                continue
            # It stands near the end of its record.
            if before(_MARK, start, at) < 0:
                continue
            try:
                record = _decode(data[start:at])
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self.unreadable += 1
                continue
            message = record.message
            if record.type == "assistant" and message is not None and message.usage is not None:
                self._count(message, message.usage, record.requestId)

    def _count(self, message: _Message, usage: _Usage, request: str | None) -> None:
        name = (message.id, request)
        known = self._requests.get(name)
        if known is not None and known[0] >= usage.output_tokens:
            return
        used = (
            usage.output_tokens,
            message.model,
            usage.input_tokens,
            usage.cache_creation_input_tokens,
            usage.cache_read_input_tokens,
        )
        if message.id:  # without one it counts by itself
            self._requests[name] = used
        if known is not None:
            self._tally(known, -1)
        self._tally(used, 1)

    def _tally(self, used: _Used, times: int) -> None:
        out, model, fresh, written, cached = used
        sum_ = self._sums.get(model) or self._sums.setdefault(model, [*_NOTHING])
        sum_[0] += times * out
        sum_[1] += times * fresh
        sum_[2] += times * written
        sum_[3] += times * cached


def _no_answer(data: bytes, start: int, end: int) -> bool:
    """Whether the record says that it is of another kind, before anything is nested in it or escaped.

    What stands there is a member of the record itself: in a string its quotes would be escaped. A record that tells its
    kind twice is none that JSON gives a meaning.
    """
    nested = data.find(b"{", start + 1, end)
    if nested < 0:
        return True
    kind = data.rfind(_KIND, start, nested)
    return kind >= 0 and not data.startswith(_ANSWER, kind) and data.find(b"\\", start, nested) < 0


def total(files: Iterable[Iterable[bytes]]) -> Totals:
    """The sums over files, each given as its pieces in their order."""
    sums = Totals()
    for pieces in files:
        for piece in pieces:
            sums.feed(piece)
        sums.end()
    return sums
