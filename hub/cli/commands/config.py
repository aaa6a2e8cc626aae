"""`hub config`: every setting in force and where it comes from, and changes of one at a time.

Owns: how a setting is named on a command line, and how its value is written and shown.
Must not: know any setting (`hub.domain.config` does), or show a token or an agent's variables.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from hub import userdirs
from hub.api.convert import unstructure
from hub.cli import completing
from hub.cli.base import Group
from hub.cli.context import hiding, note_left_out, project_dir, show, with_json
from hub.cli.terminal.table import table
from hub.cli.trusting import in_session
from hub.domain.config.reader import Config
from hub.domain.text.safe import clean, marked, one_json
from hub.domain.trust.settings import misplaced
from hub.errors import Code, HubError
from hub.io.config.file import read_file, settings, user_config
from hub.io.config.patch import patch, unwatched
from hub.io.project.places import Places, find_project
from hub.io.project.trust import Gate

_HIDDEN = frozenset({"token", "env"})
"""Keys whose values are nobody's to see who looks over a shoulder."""
_QUERY = re.compile(r"(https?://[^\s?\"]+)\?[^\s\"]+")
_SECRET = "(set, not shown)"  # noqa: S105  # what stands instead of one

user_option = click.option("--user", "own", is_flag=True, help="Your own configuration, for all projects.")


@click.group(cls=Group)
def config() -> None:
    """Show settings and where they come from, and change them; your comments stay.

    Example: hub config list --show-origin
    """


@config.command(name="list")
@click.option("--show-origin", is_flag=True, help="Also show where each value comes from.")
@with_json
def list_(ctx: click.Context, *, show_origin: bool, as_json: bool) -> None:
    """List every setting. Needs no daemon.

    Example: hub config list --show-origin
    """
    values, origins = _in_force(ctx)
    rows = [
        {"key": key, "value": value, "origin": origins.get(key, "built-in")} for key, value in _flat(values)
    ]
    show(rows, as_json=as_json, text=partial(_table, show_origin=show_origin))


def _table(rows: list[dict[str, Any]], *, show_origin: bool) -> str:
    cells = [
        (
            clean(row["key"]),
            _briefly(row["origin"]) if show_origin else "",
            _shown(row["value"]),
        )
        for row in rows
    ]
    return table(("SETTING", "FROM", "VALUE"), cells, folds=True)


def _shown(value: object) -> str:
    """A value as people read it; TOML has no word for one that nobody has set."""
    return "not set" if value is None else one_json(value)


def _briefly(origin: str) -> str:
    """A file as people name it."""
    home = re.escape(userdirs.home())
    return "hub.toml" if Path(origin).name == "hub.toml" else re.sub(rf"^{home}(?=/)", "~", origin)


def _settings(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Every setting by its whole name, for a shell."""
    found = completing.config_of(completing.places_of(ctx)) or Config()
    return completing.items((key for key, _ in _flat(unstructure(found))), incomplete)


@config.command()
@click.argument("key", shell_complete=_settings)
@with_json
def get(ctx: click.Context, *, key: str, as_json: bool) -> None:
    """Print one setting. Needs no daemon.

    Example: hub config get session.threshold
    """
    values, _ = _in_force(ctx)
    found: object = values
    for part in _parts(key):
        if not isinstance(found, Mapping) or part not in found:
            raise HubError(
                Code.NOT_FOUND,
                f"There is no setting {key!r}.{_near(key, values)}",
                hint="See: hub config list",
            )
        found = found[part]
    text = marked(found) if isinstance(found, str) else _shown(found)
    click.echo(one_json({"key": key, "value": found}) if as_json else text)


@config.command(name="set")
@click.argument("key", shell_complete=_settings)
@click.argument("value", nargs=-1, required=True)
@user_option
@with_json
def set_(ctx: click.Context, *, key: str, value: tuple[str, ...], own: bool, as_json: bool) -> None:
    """Set one in hub.toml, or with --user in your own configuration. Needs no daemon.

    Comments stay. VALUE is written as in TOML; anything else is taken as text. Several values make an array.

    Example: hub config set session.verify "make test" "make lint"
    """
    plain = [_value(text) for text in value]
    wanted = plain if len(plain) > 1 or _is_array(ctx, key, plain[0], own=own) else plain[0]
    _change(ctx, key, wanted, own=own, as_json=as_json)


@config.command()
@click.argument("key", shell_complete=_settings)
@user_option
@with_json
def unset(ctx: click.Context, *, key: str, own: bool, as_json: bool) -> None:
    """Remove one, so that your own configuration or the built-in value applies. Needs no daemon.

    Example: hub config unset session.threshold
    """
    _change(ctx, key, None, own=own, as_json=as_json)


@config.command()
@user_option
@with_json
def edit(ctx: click.Context, *, own: bool, as_json: bool) -> None:
    """Open the file in your editor ($VISUAL, $EDITOR), then check it. Needs no daemon.

    Example: hub config edit
    """
    path = _file(ctx, own=own)
    if not path.exists():
        hint = "Write one: hub config set --user KEY VALUE" if own else "Write one: hub init"
        raise HubError(Code.NOT_FOUND, f"There is no {path} yet.", hint=hint)
    try:
        click.edit(filename=str(path))
    except click.ClickException as error:
        raise HubError(Code.PROGRAM_MISSING, error.message, hint="Name another in EDITOR.") from error
    _in_force(ctx) if not own else read_file(path)
    click.echo(json.dumps({"path": str(path)}) if as_json else f"{path} is valid")


# --- files ------------------------------------------------------------------------------------------------


def _file(ctx: click.Context, *, own: bool) -> Path:
    return user_config(os.environ) if own else Places(find_project(project_dir(ctx))).config


def _in_force(ctx: click.Context) -> tuple[Mapping[str, object], Mapping[str, str]]:
    """Every value as TOML has it, without what is secret, and the origin of those that are not built-in."""
    path = _file(ctx, own=False)
    gate = Gate.of(path.parent, os.environ)
    found = settings(path, environ=os.environ, gate=gate)
    note_left_out(gate)
    shown: Mapping[str, object] = _veiled(unstructure(found.config), hiding().text)
    return shown, found.origin


def _veiled(value: object, hide: Callable[[str], str]) -> Any:
    """Without a token or a variable's value, and without what looks like a secret anywhere else; a URL has no query."""
    if isinstance(value, Mapping):
        return {
            key: _SECRET if key in _HIDDEN and inner else _veiled(inner, hide) for key, inner in value.items()
        }
    if isinstance(value, str):
        return hide(_QUERY.sub(r"\1?...", value))
    return [_veiled(inner, hide) for inner in value] if isinstance(value, list | tuple) else value


def _flat(values: Mapping[str, object], path: tuple[str, ...] = ()) -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, (*path, key))
        else:
            yield ".".join((*path, key)), value


# --- one change -------------------------------------------------------------------------------------------


def _change(ctx: click.Context, key: str, value: object, *, own: bool, as_json: bool) -> None:
    """Write it, as the user's own word: what it lets the project do is agreed to with it."""
    parts, path = _parts(key), _file(ctx, own=own)
    gate = Gate.of(path.parent, os.environ)

    def watch(before: Mapping[str, object], after: Mapping[str, object]) -> None:
        accounts = f"{userdirs.state_dir(os.environ)}/accounts"
        if list(misplaced(after, str(Path.home()), accounts)):
            raise HubError(
                Code.CONFIG_INVALID,
                f"{key} is read from your own configuration alone.",
                hint=f"Set it there: hub config set --user {key} VALUE",
            )
        if (
            not in_session()
        ):  # an agent cannot speak for its user: what it sets is asked for like any other change
            gate.follow(before, after)

    if own:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    patch(path, {parts: value}, unwatched if own else watch)
    veiled = _SECRET if value is not None and _HIDDEN & set(parts) else value
    if as_json:
        click.echo(one_json({"key": key, "value": veiled, "path": str(path)}))
    elif value is None:
        click.echo(f"took {key} out of {path}")
    else:
        click.echo(f"{key} = {one_json(veiled)} in {path}")
    _tell_who_wins(ctx, key, path, own=own)


def _tell_who_wins(ctx: click.Context, key: str, path: Path, *, own: bool) -> None:
    """Another layer may be above the one that was changed."""
    if own:
        return
    _, origins = _in_force(ctx)
    winner = origins.get(key, "")
    if winner.startswith("HUB_"):
        click.echo(f"note: {winner} is set, and wins over {path}", err=True)


def _parts(key: str) -> tuple[str, ...]:
    """The tables and the key that a dotted name means, quoted parts as in TOML."""
    try:
        found: object = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError as error:
        raise HubError(
            Code.USAGE,
            f"{key!r} is not a setting's name.",
            hint="One is: session.threshold. See: hub config list",
        ) from error
    parts = []
    while isinstance(found, dict):
        ((part, found),) = found.items()
        parts.append(part)
    return tuple(parts)


def _value(text: str) -> object:
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return found["value"] if len(found) == 1 else text


def _is_array(ctx: click.Context, key: str, value: object, *, own: bool) -> bool:
    """Whether one value is meant as the only one of an array."""
    if isinstance(value, list):
        return False
    found: object = unstructure(Config()) if own else _in_force(ctx)[0]
    for part in _parts(key):
        found = found.get(part) if isinstance(found, Mapping) else None
    return isinstance(found, list | tuple)


def _near(key: str, values: Mapping[str, object]) -> str:
    import difflib

    near = difflib.get_close_matches(key, [name for name, _ in _flat(values)], 1)
    return f" Did you mean {near[0]!r}?" if near else ""
