"""`hub completion`: what a shell needs to complete hub's commands.

Owns: where each shell looks for such a file.
Must not: change a shell's own start file; where one has to be changed, it says the line.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
import click
from click.shell_completion import get_completion_class

from hub.cli.context import with_json
from hub.errors import Code, HubError
from hub.io.files.atomic import coded_errors


@attrs.frozen
class _Shell:
    """Where a shell finds what completes a command, and what else it needs to look there."""

    place: Callable[[Mapping[str, str], Path], Path]
    """From the environment and the home directory."""
    then: str = ""


def _data(environ: Mapping[str, str], home: Path) -> Path:
    return Path(environ.get("XDG_DATA_HOME") or home / ".local/share")


SHELLS: Mapping[str, _Shell] = {
    "bash": _Shell(
        lambda env, home: _data(env, home) / "bash-completion/completions/hub",
        "install the package bash-completion, which looks there",
    ),
    "zsh": _Shell(
        lambda env, home: _data(env, home) / "zsh/site-functions/_hub",
        "in ~/.zshrc, before compinit: fpath=({folder} $fpath)",
    ),
    "fish": _Shell(
        lambda env, home: Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "fish/completions/hub.fish"
    ),
}


@click.command()
@click.argument("shell", type=click.Choice([*SHELLS, "install"]))
@with_json
def completion(ctx: click.Context, shell: str, *, as_json: bool) -> None:
    """Print shell completion, or install it where your shell looks.

    Example: hub completion install
    """
    if shell != "install":
        click.echo(
            json.dumps({"shell": shell, "script": _script(ctx, shell)}) if as_json else _script(ctx, shell)
        )
        return
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise HubError(
            Code.USAGE,
            f"hub cannot complete in {name!r}." if name else "Which shell is yours is not known.",
            hint=f"Take one of these, and keep what it prints: hub completion {'|'.join(SHELLS)}",
        )
    path = SHELLS[name].place(os.environ, Path.home())
    with coded_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_script(ctx, name))
    then = SHELLS[name].then.format(folder=shlex.quote(str(path.parent)))
    if as_json:
        click.echo(json.dumps({"shell": name, "path": str(path), "then": then}))
        return
    click.echo(f"wrote {path}; a new shell has it")
    if then:
        click.echo(f"unless it is there already, {then}")


def _script(ctx: click.Context, shell: str) -> str:
    kind = get_completion_class(shell)
    if kind is None:  # pragma: no cover  # click has all three
        raise HubError(Code.USAGE, f"hub has no completion for {shell!r}.")
    return kind(ctx.find_root().command, {}, "hub", "_HUB_COMPLETE").source()
