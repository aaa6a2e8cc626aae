"""What the model does, turn by turn.

Owns: `Turn` (one answer of the model), `Call` (an abstract tool call) and `Script` (an account's turns in order).
Must not: know any wire protocol or open anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from .wire import Seen

FOR_EVER = None


class Kind(StrEnum):
    """How the model answers."""

    ANSWER = "answer"
    """Thinking, text and tool calls, as the turn has them."""
    LIMIT = "limit"
    """The subscription's usage limit (or the daily quota), with its reset."""
    MINUTE = "minute"
    """A short-window 429 with a Retry-After of a second."""
    OVERLOAD = "overload"
    REFUSAL = "refusal"
    AUTH = "auth"
    CONTEXT = "context"


class Finish(StrEnum):
    """How the body of an answer ends."""

    WHOLE = "whole"
    HOLD = "hold"
    """The text is streamed, then nothing more comes until the client leaves or the test calls `release`."""
    CUT = "cut"
    """The connection breaks in the middle of the text."""


@attrs.frozen
class Call:
    """An abstract tool call; each protocol's answer maps it to a tool the agent offers.

    `verb` is `write` (path, text), `shell` (command), `plan` (items: list of [text, status]) or
    `native` (name, arguments), which is passed as it is.
    """

    verb: str
    args: dict[str, Any]


@attrs.frozen
class Turn:
    """One answer of the model. `repeat` answers alike in a row; None = for ever."""

    kind: Kind = Kind.ANSWER
    say: str = ""
    think: str = ""
    calls: Sequence[Call] = ()
    finish: Finish = Finish.WHOLE
    delay: float = 0.0
    """Seconds between two words of the streamed text."""
    repeat: int | None = 1
    resets_in: int = 7200
    dated: bool = False
    """Whether a vendor of Chat Completions, whose limits tell no reset, names it in its words all the same."""
    used: float = 0.42
    """Fraction of the five-hour window the answer's headers report."""

    @classmethod
    def text(cls, say: str, *, think: str = "", used: float = 0.42) -> Turn:
        """A final text."""
        return cls(say=say, think=think, used=used)

    @classmethod
    def tools(cls, *calls: Call, say: str = "Calling a tool.", think: str = "", used: float = 0.42) -> Turn:
        """Several tool calls in one answer."""
        return cls(say=say, think=think, calls=calls, used=used)

    @classmethod
    def tool(
        cls, verb: str, *args: Any, say: str = "Calling a tool.", think: str = "", used: float = 0.42
    ) -> Turn:
        """One abstract tool call: `tool("write", path, text)`, `tool("shell", command)`, `tool("native", name, args)`."""
        names = {
            "write": ("path", "text"),
            "shell": ("command",),
            "plan": ("items",),
            "native": ("name", "arguments"),
        }
        call = Call(verb, dict(zip(names[verb], args, strict=True)))
        return cls.tools(call, say=say, think=think, used=used)

    @classmethod
    def write(cls, path: str, text: str, *, think: str = "", used: float = 0.42) -> Turn:
        """The agent's own write tool (a path relative to its working directory)."""
        return cls.tool("write", path, text, think=think, used=used)

    @classmethod
    def shell(cls, command: str, *, think: str = "", used: float = 0.42) -> Turn:
        """The agent's own shell tool."""
        return cls.tool("shell", command, think=think, used=used)

    @classmethod
    def plan(cls, *items: tuple[str, str]) -> Turn:
        """The agent's own plan or todo tool; skipped over by a text where it offers none."""
        return cls.tool("plan", [list(item) for item in items])

    @classmethod
    def limit(cls, resets_in: int = 7200, *, repeat: int | None = FOR_EVER, dated: bool = False) -> Turn:
        """The usage limit is reached; it comes back in `resets_in` seconds."""
        return cls(kind=Kind.LIMIT, resets_in=resets_in, dated=dated, repeat=repeat, used=1.0)

    @classmethod
    def minute(cls, repeat: int = 2) -> Turn:
        """A short-window rate limit that the agent itself should wait out."""
        return cls(kind=Kind.MINUTE, repeat=repeat)

    @classmethod
    def overload(cls, repeat: int | None = FOR_EVER) -> Turn:
        """The vendor is overloaded, `repeat` times in a row."""
        return cls(kind=Kind.OVERLOAD, repeat=repeat)

    @classmethod
    def refusal(cls) -> Turn:
        """The model's safeguards stop the answer, each time."""
        return cls(kind=Kind.REFUSAL, repeat=FOR_EVER)

    @classmethod
    def auth(cls) -> Turn:
        """The key is not accepted."""
        return cls(kind=Kind.AUTH, repeat=FOR_EVER)

    @classmethod
    def context(cls) -> Turn:
        """The prompt does not fit the model's context."""
        return cls(kind=Kind.CONTEXT, repeat=FOR_EVER)

    @classmethod
    def slow(cls, words: int = 100, delay: float = 0.05) -> Turn:
        """A long text, word by word, with a pause between two."""
        return cls(say=_words(words), delay=delay)

    @classmethod
    def hold(cls, words: int = 8) -> Turn:
        """A text that begins and then hangs: an agent to be interrupted."""
        return cls(say=_words(words), finish=Finish.HOLD)

    @classmethod
    def cut(cls, words: int = 8, *, repeat: int = 1) -> Turn:
        """A text whose connection breaks."""
        return cls(say=_words(words), finish=Finish.CUT, repeat=repeat)


def _words(count: int) -> str:
    return " ".join(f"chunk{number}" for number in range(count))


Choice = Turn | Callable[["Seen"], Turn]
"""A turn, or a function that makes it from the request: for a model that does what the request tells."""

DONE = Turn.text("Done.")


class Script:
    """An account's turns in order. After the last one the model only says that it is done."""

    def __init__(self, *choices: Choice) -> None:
        self._choices = list(choices)
        self._answered = 0

    def peek(self) -> Turn:
        """The fixed turn whose place it is; `DONE` where a function will decide or nothing is left."""
        head = self._choices[0] if self._choices else DONE
        return head if isinstance(head, Turn) else DONE

    def next(self, seen: Seen) -> Turn:
        """The turn for this request; moves on when it has been given `repeat` times."""
        if not self._choices:
            return DONE
        head = self._choices[0]
        turn = head if isinstance(head, Turn) else head(seen)
        self._answered += 1
        if turn.repeat is not FOR_EVER and self._answered >= turn.repeat:
            self._choices.pop(0)
            self._answered = 0
        return turn
