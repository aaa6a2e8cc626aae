"""What passes between the HTTP server and the wire protocols.

Owns: `Seen` (a recorded request), `Reply` (what to send), and the small helpers every protocol needs.
Must not: do input or output.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import attrs

from .scenario import Finish, Turn

_COUNTER = itertools.count(1)


@attrs.frozen
class Seen:
    """One request as it arrived."""

    number: int
    account: str
    method: str
    path: str
    """Without the query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any
    main: bool = False
    """Whether it asks for a turn of the scripted model (not a title, a token count, a probe)."""

    @property
    def text(self) -> str:
        """Every string of the body, joined by newlines: what the model was told."""
        return "\n".join(strings(self.body))


@attrs.frozen
class Pause:
    """Wait in the middle of a stream; None = until released, or until the client has gone."""

    seconds: float | None


@attrs.frozen
class Cut:
    """Break the connection here."""


Part = bytes | Pause | Cut


@attrs.frozen
class Reply:
    """An answer: a whole body, or parts that are streamed."""

    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    parts: Iterable[Part] | None = None


class Wire(Protocol):
    """A vendor's protocol: a module with these four functions."""

    def serves(self, path: str) -> bool:
        """Whether the path belongs to this protocol."""

    def aside(self, seen: Seen, now: float) -> Reply | None:
        """The answer to a request that is not for a model's turn (token counts, usage, titles), else None."""

    def answer(self, seen: Seen, turn: Turn, now: float) -> Reply:
        """The scripted model's turn in this protocol."""

    def sidestep(self, seen: Seen, now: float) -> Reply:
        """A short harmless answer for a model request beside the main conversation."""

    def is_main(self, body: Any) -> bool:
        """Whether a request for the model is the main conversation (it carries the agent's tools)."""


def fresh(prefix: str) -> str:
    """An id like the vendors make: unique in this process and alike from run to run."""
    return f"{prefix}{next(_COUNTER):020d}"


def json_reply(status: int, value: Any, headers: Iterable[tuple[str, Any]] = ()) -> Reply:
    """A JSON document."""
    rest = [(name, str(content)) for name, content in headers]
    return Reply(status, [("content-type", "application/json"), *rest], json.dumps(value).encode())


def stream_reply(parts: Iterable[Part], headers: Iterable[tuple[str, Any]] = ()) -> Reply:
    """Server-sent events."""
    rest = [(name, str(content)) for name, content in headers]
    return Reply(
        200,
        [("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"), *rest],
        parts=parts,
    )


def sse(value: Any, event: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def words(turn: Turn) -> Iterator[str | Pause | Cut]:
    """The turn's text in pieces, with the pauses and the end the turn asks for."""
    pieces = turn.say.split(" ")
    for number, piece in enumerate(pieces):
        yield piece if number == len(pieces) - 1 else piece + " "
        if turn.delay:
            yield Pause(turn.delay)
        if turn.finish is Finish.CUT and number >= len(pieces) // 2:
            yield Cut()
            return
    if turn.finish is Finish.HOLD:
        yield Pause(None)


def strings(value: Any) -> Iterator[str]:
    """Every string value in a JSON value, depth first."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from strings(inner)


_CWD = (
    r"(?:Primary )?working directory: (\S+)",
    r"<cwd>([^<]+)</cwd>",
    r"current working directory is[:\s]+`?(/[^\s<`'\",]+)",
    r"Workspace Directories:\*{0,2}\s*-\s+(/[^\s<`'\",]+)",
    r"(?:currently working in the directory|in the directory):?\s+`?(/[^\s<`'\",]+)",
    r"following director(?:y|ies):\s*-\s+(/[^\s<`'\",]+)",
)


def working_directory(text: str) -> str:
    """The agent's working directory as its own prompt tells it; "." when it does not."""
    for pattern in _CWD:
        if found := re.search(pattern, text, re.IGNORECASE):
            return found.group(1).rstrip(".")
    return "."
