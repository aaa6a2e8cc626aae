"""What a session has made, into its user's hands: `hub take`, `hub discard`, `hub clean`.

Owns: the words a user gives these orders with, and what is said afterwards.
Must not: run git, or decide whether an order is possible.
"""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path
from typing import TypeVar

import click

from hub.api.results import BRANCH, Clean, Cleaned, Discard, Discarded, How, Take, Taken
from hub.cli import completing
from hub.cli.context import session_argument, session_id, show, with_json
from hub.domain.result.fate import left_behind
from hub.domain.text.figures import counted, first_of
from hub.errors import Code, HubError

T = TypeVar("T")

PATIENCE = 120.0
"""Seconds: in a large repository a checkout takes its time."""
_NAMED = 5
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def order(ctx: click.Context, kind: type[T], path: str, body: object) -> T:
    """One of the orders about what sessions have made, to whoever can carry it out."""
    from hub.cli.local.alone import ordered

    return ordered(ctx, kind, path, body, PATIENCE)


def branch_name(_: click.Context, __: click.Parameter, given: str) -> str:
    """The callback of an option that names a branch; "" = none is named.

    Raises:
        click.BadParameter: The daemon takes no such name.
    """
    if not re.search(BRANCH, given):
        raise click.BadParameter(
            f"{given!r} is no name for a branch: letters, digits and . _ / - (200 at most), the first a letter or a digit"
        )
    return given


@click.command()
@session_argument
@click.option("--merge", is_flag=True, help="Merge the session's branch with all its commits.")
@click.option(
    "--branch",
    default="",
    metavar="NAME",
    callback=branch_name,
    help="Put it on this branch, a new one or one with earlier work of it; touch nothing else.",
)
@click.option(
    "--patch",
    default="",
    metavar="FILE",
    shell_complete=completing.files,
    help="Write a patch (- for standard output); touch nothing else.",
)
@with_json
def take(ctx: click.Context, *, session: str, merge: bool, branch: str, patch: str, as_json: bool) -> None:
    """Take a session's work as one commit, under your name, on the current branch. Needs no daemon.

    Without an id: the newest session. Your uncommitted work stays as it is; if it is in the way, nothing is touched and
    the files are named. No hook of the repository runs, and the commit is not signed. New files
    that programs leave behind (bytecode, caches, coverage) stay out.

    Example: hub take
    """
    if merge + bool(branch) + bool(patch) > 1:
        raise HubError(Code.USAGE, "--merge, --branch and --patch exclude each other.")
    how = How.MERGE if merge else How.BRANCH if branch else How.PATCH if patch else How.COMMIT
    answer = order(ctx, Taken, "/api/session/take", Take(session_id=session, how=how, branch=branch))
    if patch and not (patch == "-" and as_json):  # the document has it
        _write_patch(patch, base64.b64decode(answer.patch))
        if patch == "-":
            for line in _caveats(answer):
                click.echo(line, err=True)
            return
    show(answer, as_json=as_json, text=lambda got: _taken(got, patch))


def _write_patch(name: str, data: bytes) -> None:
    if name == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        Path(name).write_bytes(data)
    except OSError as error:
        raise HubError(Code.NO_PERMISSION, f"{name} cannot be written: {error.strerror}.") from error


def came_of_it(answer: Taken) -> list[str]:
    """The files, and what is to be known of them."""
    return [answer.summary.rstrip(), *_caveats(answer)]


def _caveats(answer: Taken) -> list[str]:
    """What is not among the files, and that the work was not accepted, where that is so."""
    lines = []
    if left := answer.left_out:
        lines.append(f"left out: {first_of(left, _NAMED)}")
    if answer.worktree_has_more:
        lines.append(left_behind(answer.session_id))
    if answer.verified is False:
        words = "not verified: its acceptance commands failed. See: hub logs --full"
        lines.append(click.style(f"{words} {answer.session_id}", fg="yellow"))
    return lines


def _taken(answer: Taken, patch: str) -> str:
    lines = came_of_it(answer)
    files, short = counted(answer.files, "file"), answer.commit[:12]
    match answer.how:
        case How.PATCH:
            lines.append(f"{files} in {patch} - apply it: git apply --3way {patch}")
        case How.BRANCH:
            lines.append(f"{answer.branch}: {short}, {files} - look at it: git show {answer.branch}")
        case _:
            done = click.style(f"taken as {short} on {answer.branch}", fg="green", bold=True)
            lines.append(f"{done}, {files}")
            if not answer.worktree_has_more:
                lines.append(f"its worktree is no longer needed: hub discard {answer.session_id}")
    return "\n".join(lines)


@click.command()
@click.argument("session", metavar="SESSION", callback=session_id, shell_complete=completing.sessions)
@click.option("--force", is_flag=True, help="Also discard work that was not taken.")
@with_json
def discard(ctx: click.Context, *, session: str, force: bool, as_json: bool) -> None:
    """Delete a session's worktree and branch. Its snapshots stay: hub history --commits.

    Example: hub discard s-1a2b3c
    """
    answer = order(ctx, Discarded, "/api/session/discard", Discard(session_id=session, force=force))
    show(answer, as_json=as_json, text=_discarded)


def _discarded(answer: Discarded) -> str:
    back = f" - get it back: hub rewind {answer.tip}" if answer.tip else ""
    return f"{answer.session_id}: worktree and branch are gone{back}"


def _age(_ctx: click.Context, _param: click.Parameter, value: str) -> int | None:
    """`14d`, `12h`, `90m`, `2w` in seconds."""
    if not value:
        return None
    found = re.fullmatch(r"(\d{1,5})([mhdw])", value)
    if found is None:
        raise click.BadParameter("give a number and m, h, d or w, as in 14d")
    return int(found[1]) * _UNITS[found[2]]


@click.command()
@click.option("--merged", is_flag=True, help="Only work that is on the current branch.")
@click.option(
    "--older",
    default="",
    metavar="AGE",
    callback=_age,
    help="Only what ended at least this long ago, such as 14d or 12h.",
)
@click.option("--force", is_flag=True, help="Also discard work that was not taken.")
@click.option("--dry-run", "dry", is_flag=True, help="Only show what would be discarded.")
@with_json
def clean(
    ctx: click.Context, *, merged: bool, older: int | None, force: bool, dry: bool, as_json: bool
) -> None:
    """Discard every ended session whose work you have taken, or that changed nothing.

    Example: hub clean --older 14d
    """
    body = Clean(merged=merged, force=force, dry=dry, older=older)
    answer = order(ctx, Cleaned, "/api/sessions/clean", body)
    show(answer, as_json=as_json, text=lambda got: _cleaned(got, dry=dry))


def _cleaned(answer: Cleaned, *, dry: bool) -> str:
    word = (
        "would be removed" if dry else "removed, with its worktree; its snapshots stay: hub history --commits"
    )
    lines = [f"{row.session_id}: {word}" for row in answer.gone]
    lines += [f"{row.session_id}: stays, {row.detail}" for row in answer.kept]
    return "\n".join(lines) or "nothing to clean"
