"""What commands share: the project, the daemon, and how an answer is shown.

Owns: the resolution of `--project` and `--port`, and the two ways of output (people, one JSON document).
Must not: import Trio or the web stack; short commands stay short.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import click

from hub.cli import completing
from hub.cli.ending import answer
from hub.client.place import root_of
from hub.client.quick import Api, find
from hub.domain.text.safe import one_json
from hub.errors import Code, HubError

if TYPE_CHECKING:
    from hub.domain.redaction.redactor import Redactor
    from hub.io.project.trust import Gate

F = TypeVar("F", bound=Callable[..., object])
P = ParamSpec("P")
T = TypeVar("T")

_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")


def with_json(command: Callable[Concatenate[click.Context, P], T]) -> Callable[P, T]:
    """The last decorator of every command: `--json`, and what it is called with."""
    return _json(click.pass_context(command))


def session_id(_: click.Context, __: click.Parameter, given: str) -> str:
    """The callback of whatever names a session: an id, or the beginning of one; "" = none is named.

    Raises:
        HubError: `not_found`: no id has such letters, which the daemon would tell as a field that does not validate.
    """
    from hub.domain.session import ID, not_on_record  # only where one is named

    if given and not ID.fullmatch(given):
        raise not_on_record(given, ())
    return given


session_argument: Callable[[F], F] = click.argument(
    "session", default="", metavar="[SESSION]", callback=session_id, shell_complete=completing.sessions
)
"""Whose id may be shortened, as long as no other begins so; see `which`."""

trust_option: Callable[[F], F] = click.option(
    "--trust", "once", is_flag=True, help="Trust what the project would run, this time only."
)


def project_dir(ctx: click.Context) -> Path:
    """The folder the user means."""
    return Path(ctx.obj["project"] or ".").absolute()


def client(ctx: click.Context, timeout: float = 30.0) -> Api:
    """The project's daemon; the first call tells whether it runs."""
    return find(ctx.obj["port"] or None, project_dir(ctx), timeout=timeout)


def running(ctx: click.Context, timeout: float = 30.0) -> Api:
    """The daemon, for what concerns work that goes on: where the project has none, nothing does.

    Raises:
        HubError: `daemon_not_running`, and no advice to start one for that.
    """
    api = client(ctx, timeout)
    if api.absent and root_of(project_dir(ctx)) is not None:
        raise nothing_runs()
    return api


def nothing_runs() -> HubError:
    """Who would stop, answer or watch something is told where to look for it."""
    hint = "What has run here: hub ls   What runs in other projects: hub ls -A"
    return HubError(Code.DAEMON_NOT_RUNNING, "Nothing runs in this project.", hint=hint)


def which(session: str) -> dict[str, str]:
    """The part of a request that says which session is meant; nothing where there is only one."""
    return {"sessionId": session} if session else {}


def note_left_out(gate: Gate) -> None:
    """Say what an answer does without."""
    if gate.held_back:
        words = (
            "what hub.toml would run, send or open is left out, for you have not agreed to it. See: hub trust"
        )
        click.echo(f"note: {words}", err=True)


def hiding() -> Redactor:
    """Hides what looks like a secret, for a command that asks no daemon, which would know some by their values."""
    from hub.domain.redaction.redactor import KnownSecrets, Redactor
    from hub.io.project.places import KEY_BYTES, load_key

    return Redactor(KnownSecrets(), load_key("redaction") or os.urandom(KEY_BYTES))


def show(value: T, *, as_json: bool, text: Callable[[T], str]) -> None:
    """One answer, for people or for programs."""
    answer(document(value) if as_json else text(value))


def document(value: object) -> str:
    """One JSON document, with the names that the API has."""
    from hub.api.convert import unstructure

    return one_json(unstructure(value))
