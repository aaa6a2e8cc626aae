"""Secrets out of a file's text, every line staying on its line.

Owns: what becomes of the lines that a secret took up, and that many short texts are looked at as one.
Must not: find or mark a secret itself (`redaction` does).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from hub.domain.redaction.redactor import Redactor
from hub.domain.text.safe import clean


def hidden_in_place(redactor: Redactor, text: str) -> str:
    """As `Redactor.text`, but with as many lines as `text` has: the rest of a secret's lines stay, empty.

    A line number that was told before still leads to its line. The same object where there is no secret.
    """
    spans, _ = redactor.scan(text, 0, final=True)
    if not spans:
        return text
    out: list[str] = []
    done = 0
    for span in spans:
        if span.start >= done:
            out += (text[done : span.start], redactor.mark(span))
            done = span.start
        if span.end > done:
            out.append("\n" * text.count("\n", done, span.end))
            done = span.end
    return "".join((*out, text[done:]))


def shown(texts: Sequence[str], hide: Callable[[str], str]) -> list[str]:
    """Each text as it may be shown: nothing that a terminal acts on, nothing secret.

    They are looked at as one text: by itself, a name of twenty characters costs ten times as much.

    Args:
        texts: Each keeps its lines, unless it holds line ends that are no newlines.
        hide: Hides what is secret in a text, every line on its line; the same object where there is nothing.
    """
    whole = "\n".join(texts)
    if clean(whole) is not whole:
        texts = [clean(text) for text in texts]
        whole = "\n".join(texts)
    told = hide(whole)
    if told is whole:
        return [*texts]
    lines = iter(told.split("\n"))
    return ["\n".join(islice(lines, text.count("\n") + 1)) for text in texts]
