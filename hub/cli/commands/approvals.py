"""`hub approvals`, `hub approve`, `hub deny`: what waits for a person's word, and the answer.

Owns: the words a user answers with, and how what waits is shown.
Must not: decide whether a request may still be answered; the daemon does.
"""

from __future__ import annotations

import attrs
import click

from hub.api.approvals import Approval, Resolution, Resolved
from hub.cli import completing
from hub.cli.context import running, show, with_json
from hub.cli.local.records import Records
from hub.cli.terminal.clock import Clock
from hub.client.quick import Api
from hub.domain.session import ID
from hub.errors import Code, HubError

_ID = click.argument("number", metavar="[ID]", default="", shell_complete=completing.approvals)
_NOTE = click.option("--note", default="", metavar="TEXT", help="A note for the agent.")
_COLOURS = {"info": "blue", "warn": "yellow", "danger": "red"}


@click.command()
@with_json
def approvals(ctx: click.Context, *, as_json: bool) -> None:
    """List what waits for your approval. Needs no daemon.

    Example: hub approvals
    """
    show(Records(ctx).read(list[Approval], "/api/approvals"), as_json=as_json, text=listed)


@click.command()
@_ID
@_NOTE
@click.option("--always", is_flag=True, help="Also allow the same request again in this session.")
@with_json
def approve(ctx: click.Context, number: str, note: str, *, always: bool, as_json: bool) -> None:
    """Allow a request. The ID may be shortened, or left out if it is the only one.

    Without an ID, the request is shown in full, and on a terminal you are asked first.

    Example: hub approve a-1f2e --note "only this once"
    """
    from hub.cli.trusting import insist_on_user  # as below: it loads what most commands need not

    insist_on_user()
    said = Resolution(id=number, approved=True, note=note, always=always)
    _answer(running(ctx), said, as_json=as_json)


@click.command()
@_ID
@_NOTE
@with_json
def deny(ctx: click.Context, number: str, note: str, *, as_json: bool) -> None:
    """Refuse a request; the agent gets your note and carries on.

    Example: hub deny --note "use the staging database"
    """
    _answer(running(ctx), Resolution(id=number, approved=False, note=note), as_json=as_json)


def _answer(api: Api, said: Resolution, *, as_json: bool) -> None:
    waiting = api.read(list[Approval], "/api/approvals")
    meant = only(waiting, said.id)
    if said.approved and not said.id:
        _consider(next(one for one in waiting if one.id == meant), always=said.always)
    answer = api.order(Resolved, "/api/approvals/{id}", attrs.evolve(said, id=meant))
    show(answer, as_json=as_json, text=lambda _: "approved" if said.approved else "denied")


def _consider(request: Approval, *, always: bool) -> None:
    """Show the whole of what nobody has named, and ask where somebody can be asked; stdout is the answer's.

    Raises:
        HubError: `input_needed`; the user did not say yes.
    """
    from hub.cli.terminal.answering import picture as whole  # with an ID nothing is shown
    from hub.cli.terminal.plain import lines  # as above
    from hub.cli.trusting import on_terminal  # as above

    for told in whole(request):
        click.echo("\n".join(line for line in lines(told) if line), err=True)
    lasting = " for the rest of the session" if always else ""
    if on_terminal() and not click.confirm(f"Allow it{lasting}?", default=False, err=True):
        raise HubError(
            Code.INPUT_NEEDED,
            "You did not say yes, and it waits still.",
            hint=f"Refuse it: hub deny {request.id}",
        )


def only(waiting: list[Approval], number: str = "") -> str:
    """The id of the one that is meant: by its id or the beginning of it, else the only one that waits.

    Raises:
        HubError: Nothing waits, or several do.
    """
    meant = [one.id for one in waiting if one.id.startswith(number)]
    if len(meant) == 1:
        return meant[0]
    if number and meant:
        raise HubError(Code.USAGE, f"{number} may be {' or '.join(meant)}: say which.")
    if number and not ID.fullmatch(number):
        raise HubError(Code.NOT_FOUND, f"There is no request {number}.", hint="See what waits: hub approvals")
    if number:
        return number  # the daemon knows whether it was answered already
    if not waiting:
        raise HubError(Code.NOT_FOUND, "Nothing waits for an answer.", hint="See: hub status")
    hint = "Say which: hub approve ID, or hub deny ID"
    raise HubError(Code.USAGE, f"{len(waiting)} requests wait.\n{listed(waiting)}", hint=hint)


def listed(waiting: list[Approval]) -> str:
    """What waits, for people; each with its session where there are several."""
    named = len({one.session_id for one in waiting}) > 1
    return "\n".join(picture(one, named=named) for one in waiting) or "nothing waits for an answer"


def picture(approval: Approval, *, named: bool = False) -> str:
    """One request in one to five lines: a reason that the action tells already is not said again."""
    mark = click.style(approval.severity, fg=_COLOURS.get(approval.severity))
    lines = [f"{approval.id}  {mark}  {approval.who}  {approval.action}"]
    if named:
        lines.append(f"  in session {approval.session_id}")
    lines += [f"  {line}" for line in (approval.why, approval.cut, approval.lapse(Clock().at)) if line]
    return "\n".join(lines)
