"""`hub demo`: a whole handoff between two scripted agents, in a repository of its own.

Owns: the little project the demo works on, and what is shown when it has ended.
Must not: need an account, a network, or anything beside git; read the user's settings; leave anything behind.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from hub.api.history import Diff, HistoryEntry
from hub.api.session import Run
from hub.api.status import Status
from hub.cli.commands.diff import coloured
from hub.cli.context import document, with_json
from hub.cli.terminal.outcome import ending, exit_status
from hub.cli.terminal.timeline import pictures
from hub.cli.terminal.width import columns
from hub.errors import Code, HubError
from hub.providers.demo.story import TASK, VERIFY

CONFIG = """\
[session]
chain = ["demo-first", "demo-second"]

[providers.demo-first]
enabled = true

[providers.demo-second]
enabled = true

[redaction]
detection = false
"""
_KEPT = frozenset({"HUB_DEBUG", "HUB_DEMO_PACE", "HUB_FAILPOINTS"})
"""The only variables of hub that change a demo; a user's settings are for the user's projects."""


@click.command()
@click.option("--keep", is_flag=True, help="Keep the demo's repository and print where it is.")
@with_json
def demo(_: click.Context, *, keep: bool, as_json: bool) -> int:
    """Show a whole handoff: the first agent hits its usage limit, the second finishes, the verifier passes.

    Example: hub demo
    """
    import trio

    base = Path(tempfile.mkdtemp(prefix="hub-demo-"))
    try:
        _isolate(base)
        _repository(base / "project")
        return trio.run(_show, base / "project", as_json)
    finally:
        if keep:
            click.echo(f"kept: {base / 'project'}", err=True)
        else:
            shutil.rmtree(base, ignore_errors=True)


def _isolate(base: Path) -> None:
    """This process is the demo's daemon: it is to see neither the user's settings nor the user's keys."""
    for name in [name for name in os.environ if name.startswith(("HUB_", "GIT_")) and name not in _KEPT]:
        del os.environ[name]
    os.environ |= {"HUB_STATE_DIR": str(base / "state"), "HUB_CONFIG_DIR": str(base / "config")}
    os.environ["HUB_TRUST"] = "1"  # the demo's project is hub's own


def _repository(root: Path) -> None:
    """A repository with one commit, as a user would have it."""
    root.mkdir()
    (root / "hub.toml").write_text(CONFIG)
    who = {"GIT_AUTHOR_NAME": "demo", "GIT_AUTHOR_EMAIL": "demo@localhost"}
    who |= {"GIT_COMMITTER_NAME": "demo", "GIT_COMMITTER_EMAIL": "demo@localhost"}
    # The user's own settings may sign commits or run hooks; the demo must not ask for a passphrase.
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "start"]):
        try:
            subprocess.run(["git", *command], cwd=root, check=True, env={**os.environ, **who, **plain})
        except FileNotFoundError as error:
            raise HubError(Code.GIT_MISSING) from error


async def _show(root: Path, as_json: bool) -> int:  # noqa: FBT001  # trio.run passes by place
    from hub.cli.local.join import daemon_for
    from hub.cli.terminal.watch import ask, watch

    async with daemon_for(root, None, quiet=True) as joined:
        if not as_json:
            click.echo(click.style(f"task: {TASK}", bold=True), err=True)
        started = await joined.start_session(Run(task=TASK, verify=[VERIFY]))
        status = await watch(joined.api, started.session_id, 0, quiet=as_json)
        assert status is not None  # noqa: S101  # no key is read, so nobody can leave it at work
        diff = await ask(joined.api, Diff, "/api/session/diff")
        history = await ask(joined.api, list[HistoryEntry], "/api/history")
    if as_json:
        click.echo(document({"status": status, "diff": diff, "history": history}))
    else:
        _tell(status, diff, history)
    return exit_status(status)


def _tell(status: Status, diff: Diff, history: list[HistoryEntry]) -> None:
    click.echo("\n" + coloured(diff.diff))
    click.echo("\n".join(pictures(history, columns(sys.stdout))))
    click.echo("\n".join(ending(status, seen=True)))
    click.echo('next: in a project of your own, run: hub doctor, then: hub run "task"')
