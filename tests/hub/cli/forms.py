"""One command in every form in which it is met: on terminals of three widths, without colour, in a pipe, as JSON, cut off.

Owns: how it is started in each, and what of its words is of the moment.
Must not: know a command.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from tests import forks
from tests.stories import said
from tests.stories.said import plain

WIDTHS = (40, 80, 120)
LIMIT = 60.0
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_TAKEN_BACK = re.compile(r"[^\n]* \.\.\.\r\x1b\[K")
"""What a person was told while a slow machine kept him waiting (`hub.cli.terminal.meanwhile`)."""
_COLUMNS = re.compile(r"(?<=\S) {2,}")
_NUMBERS = re.compile(r"(\b(?:port|process|kill)\s+|127\.0\.0\.1:)\d+")
"""Of a process and a port."""
_PROCESS = re.compile(r"\bprocess\s+\d+\s+on\b")
"""Where its line is broken hangs on how many digits it has."""
_DAYS = re.compile(r"\b20\d\d-\d\d-\d\d\b")


@attrs.frozen
class Said:
    """What a command said, and its exit status."""

    out: str
    err: str
    status: int


def on_terminal(words: Sequence[str], cwd: Path, env: Mapping[str, str], columns: int) -> Said:
    """On a terminal so wide; nothing can be typed. Both outputs are one there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with os.fdopen(theirs, "wb", buffering=0) as terminal:
        process = forks.fork(words, cwd=cwd, env={**env, "TERM": "xterm-256color"}, out=terminal)
    data = b""
    try:
        while part := os.read(ours, 65_536):
            data += part
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(ours)
    return Said(data.decode().replace("\r\n", "\n"), "", process.wait(LIMIT))


def in_pipe(words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> Said:
    """Read by a program."""
    done = forks.run(words, cwd=cwd, env=env, timeout=LIMIT)
    return Said(done.stdout, done.stderr, done.returncode)


def cut_off(words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> Said:
    """With its standard output closed."""
    done = forks.run(words, cwd=cwd, env=env, mute=True, timeout=LIMIT)
    return Said(done.stdout, done.stderr, done.returncode)


def settled(text: str, folder: Path) -> str:
    """The words without what is of the moment; what a terminal acts on is taken out, and columns are as wide as they are."""
    left = _TAKEN_BACK.sub("", text)
    lines = [plain(line, folder).rstrip() for line in ESCAPE.sub("", left).split("\n")]
    return _of_the_moment("\n".join(_COLUMNS.sub("  ", line) for line in lines)).strip("\n")


def settled_json(text: str, folder: Path) -> str:
    """The same of a JSON document, a member a line."""
    value = said.settled(documents(text)[0], folder)
    return _of_the_moment(json.dumps(value, indent=1, ensure_ascii=False))


def _of_the_moment(text: str) -> str:
    text = _PROCESS.sub("process <number> on", text)
    return _DAYS.sub("<day>", _NUMBERS.sub(r"\1<number>", text))


def too_wide(text: str, columns: int) -> list[str]:
    """Lines that run over the edge although all their words are short: they could have been broken."""
    lines = (line.rstrip() for line in ESCAPE.sub("", text).split("\n"))
    return [line for line in lines if len(line) > columns and max(map(len, line.split())) <= columns // 2]


def documents(text: str) -> list[object]:
    """The JSON of an output; a document a line where there are several."""
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]
