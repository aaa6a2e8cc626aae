"""The task of a session, wherever it is written.

Owns: its sources: the command line, a file, standard input, the user's editor.
Must not: look at what it says.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hub.api.session import MAX_TASK
from hub.errors import Code, HubError

_TEMPLATE = """

# Say what is to be done. Lines that begin with # are left out; an empty text starts nothing.
# Agents see the repository; say what they cannot see: why, what is not to change, how you will look at it.
"""
_STDIN = "-"


def task_of(words: str, file: str) -> str:
    """The task: the words themselves, of standard input (`-`), of a file, else of the user's editor.

    Raises:
        HubError: `usage`; there is none, or two were named.
    """
    if words and file:
        raise HubError(Code.USAGE, "The task is named twice.", hint="Leave out the words, or --file.")
    try:
        text = _written(words, file).strip()
        text.encode()  # what Python could not read as UTF-8 it may have put in its own way
    except UnicodeError as error:
        what = file if file not in ("", _STDIN) else "The task"
        raise HubError(
            Code.USAGE, f"{what} is not UTF-8 text.", hint="Save or convert it as UTF-8."
        ) from error
    if not text:
        raise HubError(Code.USAGE, "The task is empty.", hint='Say what is to be done: hub run "..."')
    if len(text) > MAX_TASK:
        hint = "Put the details into a file of the repository, and name it."
        raise HubError(Code.USAGE, f"The task is longer than {MAX_TASK:,} characters.", hint=hint)
    return text


def _written(words: str, file: str) -> str:
    """The text, wherever it is."""
    if file:
        return _read(file)
    if words == _STDIN:
        return _piped()
    return words or _edited()


def _piped() -> str:
    if sys.stdin.isatty():
        click.echo("write the task; Ctrl-D on a line of its own ends it", err=True)
    return sys.stdin.read(MAX_TASK + 1)


def _read(file: str) -> str:
    if file == _STDIN:
        return _piped()
    try:
        with Path(file).open(encoding="utf-8-sig") as opened:
            return opened.read(MAX_TASK + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise HubError(Code.NOT_FOUND, f"{file} cannot be read: {why}.", hint="Name a file.") from error


def _edited() -> str:
    """Of `$VISUAL` or `$EDITOR`, where somebody sits at a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = 'Say what is to be done: hub run "..."   or: hub run --file TASK.md   or: ... | hub run -'
        raise HubError(Code.USAGE, "There is no task.", hint=hint)
    try:
        written = click.edit(_TEMPLATE, extension=".md", require_save=True)
    except click.ClickException as error:
        hint = 'Name another in EDITOR, or say it here: hub run "..."'
        raise HubError(Code.PROGRAM_MISSING, error.message, hint=hint) from error
    lines = (written or "").splitlines()
    return "\n".join(line for line in lines if not line.startswith("#"))
