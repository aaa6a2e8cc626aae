"""Agents whose sessions hold copies of each other's answers: what all of them used takes every byte of every file.

Owns: which these are, and the port to what counts them.
Must not: import a store: whatever a count imports before its first process begins is time in which none counts.
Tests: tests/hub/providers/claude/test_claude_totals.py, tests/hub/usage/test_counting.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Protocol

import attrs

_WHERE: Mapping[str, str] = {"claude": "hub.providers.claude.totals"}


class Totals(Protocol):
    """What takes whole files, and sums up what they tell: an answer that several hold counts once."""

    def feed(self, data: bytes) -> None:
        """The next bytes of a file."""

    def end(self) -> None:
        """The file is over."""

    def answer(self, question: bytes) -> bytes:
        """What `Summed.merged` wants to know of each that has counted; `b""` is its first question."""


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


@attrs.frozen
class Summed:
    """How the files of one agent are summed up.

    Attributes:
        everywhere: From the home directory and the environment: where every file lies that counts.
        totals: Makes what takes them.
        merged: What several have counted together; its argument asks each a question.
    """

    everywhere: Callable[[str, Mapping[str, str]], Sequence[Tree]]
    totals: Callable[[], Totals]
    merged: Callable[[Callable[[bytes], Sequence[bytes]]], Sum]


def names() -> Sequence[str]:
    """The names of these agents. Imports none of them."""
    return tuple(_WHERE)


def load(name: str) -> Summed:
    """How the agent of this name is summed up.

    Raises:
        KeyError: It is none of them.
    """
    found: Summed = import_module(_WHERE[name]).SUMMED
    return found
