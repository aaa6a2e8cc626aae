"""What Claude Code's sessions used, from all their bytes.

Owns: the sum over whole files, each message of a request counted once.
Must not: open a file, or read any record but those with a usage.

Three records of a message repeat one usage, and a forked session's file begins with a copy of the other's records; so
what is counted is a pair of message and request, in whichever file it stands. Older versions wrote what was known when
each record was written, so the largest counts. A record is found by the bytes of its `usage`, and only what is needed of
it is decoded: reading every record whole takes eight times as long.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from hub.domain.cost import Tokens

_MARK = b'"usage":{'


class _Usage(msgspec.Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class _Message(msgspec.Struct):
    usage: _Usage | None = None
    id: str = ""
    model: str = ""


class _Record(msgspec.Struct):
    message: _Message | None = None
    requestId: str | None = None  # noqa: N815  # Claude's own name
    type: str = ""


_decode = msgspec.json.Decoder(_Record).decode


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
        sums: dict[str, Tokens] = {}
        for model, used in self._requests.values():
            cached, written = used.cache_read_input_tokens, used.cache_creation_input_tokens
            tokens = Tokens(used.input_tokens + cached + written, used.output_tokens, cached, written)
            sums[model] = sums.get(model, Tokens()) + tokens
        return sums

    def feed(self, data: bytes) -> None:
        """The next bytes of a file; what follows the last newline waits for more, or for `end`."""
        cut = data.rfind(b"\n") + 1
        if not cut:
            self._rest += data
            return
        whole = self._rest + data[:cut] if self._rest else data[:cut]
        self._rest = data[cut:]
        self._scan(whole)

    def end(self) -> None:
        """The file is over."""
        rest, self._rest = self._rest, b""
        self._scan(rest)

    def _scan(self, data: bytes) -> None:
        at = data.find(_MARK)
        while at >= 0:
            start = data.rfind(b"\n", 0, at) + 1
            stop = data.find(b"\n", at)
            stop = len(data) if stop < 0 else stop
            self._line(data[start:stop])
            at = data.find(_MARK, stop)

    def _line(self, line: bytes) -> None:
        try:
            record = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.unreadable += 1
            return
        message = record.message
        if record.type != "assistant" or message is None or message.usage is None:
            return
        name = (message.id, record.requestId) if message.id else len(self._requests)
        known = self._requests.get(name)
        if known is None or known[1].output_tokens < message.usage.output_tokens:
            self._requests[name] = (message.model, message.usage)


def total(files: Iterable[Iterable[bytes]]) -> Totals:
    """The sums over files, each given as its pieces in their order."""
    sums = Totals()
    for pieces in files:
        for piece in pieces:
            sums.feed(piece)
        sums.end()
    return sums
