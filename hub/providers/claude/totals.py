"""What Claude Code's sessions used, from all their bytes.

Owns: the sum over whole files, each message of a request counted once.
Must not: open a file, or read any record but those with a usage.

Three records of a message repeat one usage, and a forked session's file begins with a copy of the other's records; so
what is counted is a pair of message and request, in whichever file it stands. Older versions wrote what was known when
each record was written, so the largest counts. A record is found by the bytes of its `usage`, and only what is needed of
it is decoded: reading every record whole takes eight times as long. The files may be shared out among
processes: what each has seen is merged, not added, for one answer may stand in the files of two.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from hub.domain.cost import Tokens

_MARK = b'"usage":{'


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class _Message(msgspec.Struct, gc=False):
    usage: _Usage | None = None
    id: str = ""
    model: str = ""


class _Record(msgspec.Struct, gc=False):
    message: _Message | None = None
    requestId: str | None = None  # noqa: N815  # Claude's own name
    type: str = ""


_Name = tuple[str, str | None] | int | None
"""Message and request; anything else of a message without a name, which counts by itself."""


class _Seen(msgspec.Struct, array_like=True, gc=False):
    name: _Name
    model: str
    usage: _Usage


_decode = msgspec.json.Decoder(_Record).decode
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(list[_Seen]).decode


class Totals:
    """The sums of everything that was fed.

    Attributes:
        unreadable: Lines with a usage that could not be read.
    """

    def __init__(self) -> None:
        self.unreadable = 0
        self._requests: dict[tuple[str, str | None] | int, tuple[str, _Usage]] = {}
        self._rest = b""

    def by_model(self) -> dict[str, Tokens]:
        """Tokens, by model."""
        sums: dict[str, list[int]] = {}
        for model, used in self._requests.values():
            cached, written = used.cache_read_input_tokens, used.cache_creation_input_tokens
            sum_ = sums.get(model) or sums.setdefault(model, [0, 0, 0, 0])
            sum_[0] += used.input_tokens + cached + written
            sum_[1] += used.output_tokens
            sum_[2] += cached
            sum_[3] += written
        return {model: Tokens(*figures) for model, figures in sums.items()}

    def feed(self, data: bytes) -> None:
        """The next bytes of a file; what follows the last newline waits for more, or for `end`."""
        first = 0
        if self._rest:
            first = data.find(b"\n") + 1
            self._rest += data[:first] if first else data
            if not first:
                return
            self.end()
        cut = data.rfind(b"\n") + 1
        self._scan(data, first, cut)
        self._rest = data[cut:]

    def end(self) -> None:
        """The file is over."""
        rest, self._rest = self._rest, b""
        self._scan(rest, 0, len(rest))

    def seen(self) -> bytes:
        """All that was counted, for `merge` in another process."""
        return _pack([_Seen(name, *known) for name, known in self._requests.items()])

    def merge(self, seen: bytes) -> None:
        """Count what another has seen as well."""
        for one in _unpack(seen):
            self._count(one.name, one.model, one.usage)

    def _scan(self, data: bytes, at: int, end: int) -> None:
        """The lines of a part of `data`."""
        find, before = data.find, data.rfind
        while (mark := find(_MARK, at, end)) >= 0:
            start = before(b"\n", at, mark) + 1 or at
            at = find(b"\n", mark, end)
            at = end if at < 0 else at
            try:
                record = _decode(data[start:at])
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self.unreadable += 1
                continue
            message = record.message
            if record.type == "assistant" and message is not None and message.usage is not None:
                name = (message.id, record.requestId) if message.id else None
                self._count(name, message.model, message.usage)

    def _count(self, name: _Name, model: str, usage: _Usage) -> None:
        key = name if isinstance(name, tuple) else len(self._requests)
        known = self._requests.get(key)
        if known is None or known[1].output_tokens < usage.output_tokens:
            self._requests[key] = (model, usage)


def total(files: Iterable[Iterable[bytes]]) -> Totals:
    """The sums over files, each given as its pieces in their order."""
    sums = Totals()
    for pieces in files:
        for piece in pieces:
            sums.feed(piece)
        sums.end()
    return sums
