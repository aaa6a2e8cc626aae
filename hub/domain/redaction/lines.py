"""Secrets out of a file's text, every line staying on its line.

Owns: what becomes of the lines that a secret took up.
Must not: find or mark a secret itself (`redaction` does).
"""

from __future__ import annotations

from hub.domain.redaction.redactor import Redactor


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
