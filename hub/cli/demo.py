"""`hub demo`: a whole handoff between two scripted agents, in a repository of its own.

Owns: the little project the demo works on.
Must not: need an account, a network, or anything beside git.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import click

from hub.cli.context import json_option
from hub.errors import Code, HubError
from hub.providers.demo.story import TASK, VERIFY

CONFIG = """\
[session]
chain = ["demo-first", "demo-second"]

[providers.demo-first]
enabled = true

[providers.demo-second]
enabled = true
"""


@click.command()
@click.option("--keep", is_flag=True, help="Keep the demo's repository, and say where it is.")
@json_option
@click.pass_context
def demo(ctx: click.Context, keep: bool, as_json: bool) -> int:  # noqa: FBT001 - click passes flags by name
    """Show a whole handoff: the first agent hits its usage limit, the second finishes, the verifier passes.

    Example: hub demo
    """
    import trio

    root = Path(tempfile.mkdtemp(prefix="hub-demo-"))
    try:
        _repository(root)
        return trio.run(_show, root, as_json)
    finally:
        if keep:
            click.echo(f"kept: {root}", err=True)
        else:
            shutil.rmtree(root, ignore_errors=True)


def _repository(root: Path) -> None:
    """A repository with one commit, as a user would have it."""
    (root / "hub.toml").write_text(CONFIG)
    identity = {"GIT_AUTHOR_NAME": "demo", "GIT_AUTHOR_EMAIL": "demo@localhost"}
    identity |= {"GIT_COMMITTER_NAME": "demo", "GIT_COMMITTER_EMAIL": "demo@localhost"}
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "start"]):
        try:
            subprocess.run(["git", *command], cwd=root, check=True, env={**os.environ, **identity})  # noqa: S603, S607
        except FileNotFoundError as error:
            raise HubError(Code.GIT_MISSING) from error


async def _show(root: Path, as_json: bool) -> int:  # noqa: FBT001
    from hub.cli.diff import coloured
    from hub.cli.run import daemon_for, post
    from hub.cli.watch import ask, exit_status, summary, watch

    os.environ.pop("HUB_PORT", None)
    async with daemon_for(root, None, quiet=True) as api:
        if not as_json:
            click.echo(click.style(f"task: {TASK}", bold=True), err=True)
        started = await post(api, "/api/run", {"task": TASK, "verify": [VERIFY]})
        status = await watch(api, started["sessionId"], 0, quiet=as_json)
        diff: dict[str, Any] = await ask(api, "/api/session/diff")
        history = await ask(api, "/api/history")
    if as_json:
        click.echo(json.dumps({"status": status, "diff": diff, "history": history}))
    else:
        click.echo("\n" + coloured(diff["diff"]))
        click.echo("\n".join(f"{r['ts'][11:23]}  {r['summary']}" for r in history if r["event"] == "handoff"))
        click.echo(summary(status).rpartition("\nsee it")[0])
        click.echo('next: in a project of your own, run: hub doctor, then: hub run "task"')
    return exit_status(status)
