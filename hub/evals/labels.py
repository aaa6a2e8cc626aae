"""What a person says a session's facts are.

Owns: the classes of facts, a fact's form in `facts.toml`, and the refusal of a label that says nothing.
Must not: know what hub lifts, or how.

A fact holds from one moment of its recording to another. Its words are a quotation from the session, as short as tells
it from every other; where several are given, any of them is the fact.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import attrs

from hub.domain.text.typography import typed


class Class(StrEnum):
    """What a fact is about."""

    OBJECTIVE = "objective"
    CONSTRAINTS = "constraints"
    DECISIONS = "decisions"
    DO_NOT_REDO = "do_not_redo"
    FILES = "files"
    PLAN = "plan"
    REMAINING = "remaining"
    COMMANDS = "commands"
    FAILURES = "failures"
    NEXT = "next"
    MODEL = "model"


class Way(StrEnum):
    """How a session came to be known."""

    CONTRACT = "contract"
    """Hub ran it: what the contract says."""
    STORE = "store"
    """Hub found it: what is lifted out of its store."""


@attrs.frozen
class LabelledFact:
    """One labelled fact.

    Attributes:
        kind: Its class.
        words: Any of these is the fact.
        first: The first moment at which it holds, from 1.
        last: The last one.
        exit_code: Of a command or a failure: the status it ended with; None = no part of the fact.
        way: The way on which it can be known at all; None = on both.
    """

    kind: Class
    words: tuple[str, ...]
    first: int
    last: int
    exit_code: int | None = None
    way: Way | None = None

    def holds(self, moment: int, way: Way | None = None) -> bool:
        """Whether it is a fact at this moment, and on this way."""
        return self.first <= moment <= self.last and (self.way is None or way is None or self.way is way)


def fact(value: object, moments: int) -> LabelledFact:
    """A fact from its table.

    Args:
        value: `{class, text, from, to, exit, way}`; `text` is a string or several, `from` is 1 and `to` the end where
            they are missing; without `way` it holds on both.
        moments: How many moments the recording has.

    Raises:
        ValueError: It has no such form; the text says what is wrong.
    """
    if not isinstance(value, Mapping):
        raise ValueError("a fact is a table")  # noqa: TRY004  # one kind of refusal
    if strange := value.keys() - {"class", "text", "from", "to", "exit", "way"}:
        raise ValueError(f"a fact has no {', '.join(sorted(strange))}")
    if value.get("class") not in set(Class):
        raise ValueError(f"there is no class {value.get('class')!r}; there are: {', '.join(Class)}")
    given = value.get("text")
    words = given if isinstance(given, list) else [given]
    if not words or not all(isinstance(one, str) and norm(one) for one in words):
        raise ValueError("`text` is words of the session, or a list of such")
    first, last, code = value.get("from", 1), value.get("to", moments), value.get("exit")
    if not all(type(number) is int for number in (first, last, 0 if code is None else code)):
        raise ValueError("`from`, `to` and `exit` are whole numbers")
    if not 1 <= first <= last <= moments:
        raise ValueError(
            f"a fact holds from one moment to a later one of 1 to {moments}, not {first} to {last}"
        )
    way = value.get("way")
    if way is not None and way not in set(Way):
        raise ValueError(f"there is no way {way!r}; there are: {', '.join(Way)}")
    return LabelledFact(
        Class(value["class"]), tuple(map(norm, words)), first, last, code, None if way is None else Way(way)
    )


def norm(text: str) -> str:
    """Two texts that differ in case, white space and Markdown's marks only are the same."""
    return " ".join(typed(text).replace("`", "").replace("**", "").casefold().split())
