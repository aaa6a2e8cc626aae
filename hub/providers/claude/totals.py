"""What Claude Code's sessions used, from all their bytes.

Owns: where every file of records lies, and the sum over whole files, each message of a request counted once.
Must not: open a file, or read any record but those with a usage. Nor import a store: whatever a count imports before its
first process begins is time in which none counts.

Three records of a message repeat one usage, and a forked session's file begins with a copy of the other's records; so
what is counted is a pair of message and request, in whichever file it stands. Older versions wrote what was known when
each record was written, so the largest counts. Of a record only what is needed is decoded, and most bytes are not even
looked at: they are results of tools, whose records say at their beginning that they are no answer. Reading every record
whole takes ten times as long.

The files may be shared out among processes, and an answer may then stand in those of two. So each process tells all of its
answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import attrs
import msgspec

from hub.providers.homes import home_of

_MARK = b'"usage":{'
_KIND = b'"type":"'
_ANSWER = b'"type":"assistant"'
_LONG = 2048
"""Bytes of a record above which it costs less to see what it is than to look through it."""
_DEEP = 5
"""Folders below each other in which records are looked for; a subagent's subagent lies in the last of them."""


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


@attrs.frozen
class Tree:
    """Files below `root/folder` of this suffix: in its folders, in theirs, and so on, so many deep."""

    root: str
    folder: str
    suffix: str
    depth: int


@attrs.frozen
class Sum:
    """What was counted.

    Attributes:
        models: Output, fresh input, input written to a cache and read from it, by model.
        unreadable: Records that should tell of a usage and could not be read.
    """

    models: Mapping[str, Sequence[int]]
    unreadable: int


@attrs.define
class _Usage:
    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cache_creation_input_tokens: _Count = 0
    cache_read_input_tokens: _Count = 0


@attrs.define
class _Message:
    usage: _Usage | None = None
    id: str = ""
    model: str = ""


@attrs.define
class _Record:
    message: _Message | None = None
    requestId: str | None = None  # noqa: N815  # Claude's own name
    type: str = ""


_Name = tuple[str, str | None]
"""Message and request."""
_Used = tuple[int, str, int, int, int]
"""Output, model, fresh input, written to the cache, read from it."""


@attrs.frozen
class Told:
    """What one process has counted.

    Attributes:
        answers: Each once, by its name.
        nameless: Each is one of its own.
        unreadable: As `ClaudeTotals.unreadable`.
    """

    answers: list[tuple[_Name, _Used]]
    nameless: list[_Used]
    unreadable: int


_decode = msgspec.json.Decoder(_Record).decode


def everywhere(home: str, env: Mapping[str, str]) -> list[Tree]:
    """Every file of records: a subagent's lies below its session's, and for some months all were below `.config`."""
    roots = [home_of(home, env, "CLAUDE_CONFIG_DIR", ".claude")]
    if not env.get("CLAUDE_CONFIG_DIR"):
        roots.append(home_of(home, env, "XDG_CONFIG_HOME", ".config") + "/claude")
    return [Tree(root, "projects", ".jsonl", _DEEP) for root in roots]


class ClaudeTotals:
    """All answers that were fed.

    Attributes:
        unreadable: Lines that tell of a usage, or seem to, and could not be read.
    """

    def __init__(self) -> None:
        self.unreadable = 0
        self._answers: dict[_Name, _Used] = {}
        self._nameless: list[_Used] = []
        self._rest: list[bytes] = []

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

    def told(self) -> Told:
        """All of it, for `merged`."""
        return Told(list(self._answers.items()), self._nameless, self.unreadable)

    def _scan(self, data: bytes, at: int, end: int) -> None:
        """The lines of a part of `data`, which begins with one."""
        find, before = data.find, data.rfind
        message, request, most = "", None, -1
        while at < end:
            start, at = at, find(b"\n", at) + 1 or end
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
            told = record.message
            if told is None or (usage := told.usage) is None or record.type != "assistant":
                continue
            # Most records repeat the one before.
            if told.id == message and record.requestId == request and usage.output_tokens <= most:
                continue
            message, request, most = told.id, record.requestId, usage.output_tokens if told.id else -1
            self._count(told, usage, request)

    def _count(self, message: _Message, usage: _Usage, request: str | None) -> None:
        used = (
            usage.output_tokens,
            message.model,
            usage.input_tokens,
            usage.cache_creation_input_tokens,
            usage.cache_read_input_tokens,
        )
        if not message.id:
            self._nameless.append(used)
        elif self._answers.setdefault((message.id, request), used)[0] < used[0]:
            self._answers[message.id, request] = used


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


def merged(shares: Iterable[Told]) -> Sum:
    """What several have counted, an answer that more than one of them has once."""
    largest: dict[_Name, _Used] = {}
    each: list[_Used] = []
    unreadable = 0
    for one in shares:
        unreadable += one.unreadable
        each += one.nameless
        for name, used in one.answers:
            known = largest.setdefault(name, used)
            if known < used:
                largest[name] = used
    sums: dict[str, list[int]] = {}
    for out, model, fresh, written, cached in (*each, *largest.values()):
        row = sums.setdefault(model, [0, 0, 0, 0])
        row[0] += out
        row[1] += fresh
        row[2] += written
        row[3] += cached
    return Sum(sums, unreadable)
