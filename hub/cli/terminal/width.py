"""How wide the terminal is, and texts that stay within it.

Owns: the width that is drawn for, and the breaking of a line that is wider.
Must not: break what is to be copied (a command, a path), or what a program reads: without a terminal nothing is broken.
"""

from __future__ import annotations

import os
import re
from typing import TextIO

import click

_TOKEN = re.compile(r" +|[^ ]+")
_LEAST = 20
"""Columns below which no terminal is taken at its word."""


def columns(stream: TextIO) -> int:
    """The columns of the terminal behind a stream; 0 where it is none, or does not tell."""
    try:
        found = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except (OSError, ValueError):
        return 0
    return found if found >= _LEAST else 0


def visible(text: str) -> int:
    """The columns that a text takes, colours aside."""
    return len(click.unstyle(text))


def hung(text: str, width: int, hang: int) -> str:
    """One line broken at its spaces where it is wider than `width`, what follows indented by `hang`.

    A word that is wider than a line stays whole: it is a path or a command more often than not. 0 = nothing is broken.
    """
    if not width or visible(text) <= width:
        return text
    lines, line, gap = [], "", ""
    for token in _TOKEN.findall(text):
        if token.isspace():
            gap = token
        elif visible(line) + len(gap) > hang and visible(line) + len(gap) + visible(token) > width:
            lines.append(line)
            line, gap = " " * hang + token, ""
        else:
            line, gap = line + gap + token, ""
    return "\n".join([*lines, line])


def advice(text: str, width: int, indent: int) -> str:
    """A next step below what it is for; where it is too wide its command has a line of its own, to be copied."""
    before = " " * indent
    words, colon, command = text.rpartition(": ")
    if not colon or command.endswith(".") or not width or indent + visible(text) <= width:
        return hung(before + text, width, indent)
    return f"{hung(f'{before}{words}:', width, indent)}\n{before}  {command}"
