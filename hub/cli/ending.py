"""How a command ends when it does not end well.

Owns: the way from any error to what, why and the next step, as text or one JSON document, and to the exit status.
Must not: let a traceback reach a user who has not asked for it (`HUB_DEBUG=1`).
"""

from __future__ import annotations

import errno
import json
import os
import select
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import click

from hub.cli.terminal.width import advice, columns, hung
from hub.errors import Code, HubError
from hub.installed import install_broken
from hub.io.shortage import shortage

_INDENT = 5
"""Columns before what is below `hub: `."""
_INTERNAL = "Run it again with HUB_DEBUG=1, and report that with the output of: hub doctor"


class ReaderLeftError(Exception):
    """Nobody reads our output any more. It stands for BrokenPipeError, which click would turn into status 1."""


def ended_by(error: BaseException, *, as_json: bool) -> int:
    """Say what happened and what to do next; returns the exit status."""
    cause = cause_of(error)
    if isinstance(cause, BrokenPipeError | ReaderLeftError):
        _leave_quietly(sys.stdout)
        _leave_quietly(sys.stderr)
        return 0
    if isinstance(cause, click.exceptions.NoArgsIsHelpError):
        click.echo(cause.format_message())
        return 0
    if debugging():
        _traceback(error)
    failed = coded(cause)
    for output, document in ((sys.stdout, as_json), (sys.stderr, False)):
        try:
            _tell(failed, as_json=document)
            break
        except OSError:  # the output is what failed; the other one may still be heard
            _leave_quietly(output)
    return failed.exit_status


def debugging() -> bool:
    """Whether the user wants to see how hub works inside."""
    return os.environ.get("HUB_DEBUG", "0") not in ("", "0")


def cause_of(error: BaseException) -> BaseException:
    """The one error that groups were raised for: a coded one, a reader that left, Ctrl-C, else the first."""
    leaves = list(_leaves(error))
    for kind in (HubError, BrokenPipeError, KeyboardInterrupt):
        found = next((leaf for leaf in leaves if isinstance(leaf, kind)), None)
        if found is not None:
            return found
    return leaves[0]


def coded(error: BaseException) -> HubError:
    """Any error as one of the closed list."""
    if isinstance(error, HubError):
        return error
    if isinstance(error, click.ClickException):
        return HubError(Code.USAGE, " ".join(error.format_message().split()), hint=_see(error))
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return HubError(Code.INTERRUPTED)
    if isinstance(error, ImportError):
        return install_broken(error, hint="Run it again.")
    return _unforeseen(error)


def _unforeseen(error: BaseException) -> HubError:
    if isinstance(error, FileNotFoundError) and _stands_nowhere():
        return HubError(
            Code.USAGE, "The folder where hub was called is gone.", hint="Change to one that is there."
        )
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return HubError(
            Code.NO_SPACE, f"{error.filename or 'The output'} could not be written: {error.strerror}."
        )
    if short := shortage(error):
        return short
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        hint = "End what takes much of it, or raise your limit: ulimit -v"
        return HubError(Code.UNAVAILABLE, "There is not enough memory.", hint=hint)
    return HubError(Code.INTERNAL, f"{type(error).__name__}: {error}", hint=_INTERNAL)


def _see(error: click.ClickException) -> str:
    """Where the right words are, if it was the words that were wrong."""
    if not isinstance(error, click.UsageError):
        return ""
    return f"See: {error.ctx.command_path if error.ctx else 'hub'} --help"


def _stands_nowhere() -> bool:
    """Whether this process's folder was removed under it."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _tell(error: HubError, *, as_json: bool) -> None:
    from hub.domain.text.safe import clean
    from hub.domain.wallclock import respoken

    if as_json:
        click.echo(json.dumps({"error": error.problem()}))
    else:
        width = columns(sys.stderr)
        detail = respoken(clean(error.detail), lambda at: f"{at:%Y-%m-%d %H:%M %Z}")
        for line in f"hub: {detail}".splitlines():
            click.echo(hung(line, width, _INDENT), err=True)
        for line in filter(None, (*several(error), error.hint)):
            click.echo(advice(clean(line), width, _INDENT), err=True)


def several(error: HubError) -> list[str]:
    """Where there are several problems: each with its place."""
    problems = [item for item in error.extra.get("errors", ()) if isinstance(item, dict)]
    return [_each(item) for item in problems] if len(problems) > 1 else []


def _each(problem: dict[str, object]) -> str:
    """One of several problems: the line, where it is of a file, what it is about, and what is wrong."""
    line = f"line {problem['line']}: " if problem.get("line") else ""
    return f"{line}{problem.get('path', '')}: {problem.get('message', problem.get('detail', ''))}"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _leaves(part)
    else:
        yield error


def _traceback(error: BaseException) -> None:
    import traceback

    traceback.print_exception(error, file=sys.stderr)


def _leave_quietly(output: TextIO) -> None:
    # The reader has left (`hub logs | head`): nothing is wrong, and nothing more can be said. The interpreter
    # flushes once more at its end; what is left then goes nowhere.
    os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())


def answer(text: str) -> None:
    """A command's answer: what it found, and so its exit status, is the same whoever has left (`hub run x | true`)."""
    try:
        click.echo(text)
    except BrokenPipeError:
        _leave_quietly(sys.stdout)


def rest(seconds: float) -> None:
    """Wait for the next look; a command that keeps looking ends when nobody reads what it says.

    Raises:
        BrokenPipeError: The reader of stdout has left.
    """
    out = select.poll()
    out.register(sys.stdout.fileno(), 0)  # nothing is asked for: an error and a hang-up are told anyway
    if out.poll(seconds * 1000):
        raise BrokenPipeError
