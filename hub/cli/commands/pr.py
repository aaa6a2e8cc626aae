"""`hub pr`: a session's result as a pull request.

Owns: the choice of the remote and of the program that opens the request, and what is said where there is none.
Must not: make a commit (`hub take --branch` does), or keep a login.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import attrs
import click

from hub.api.results import How, Take, Taken
from hub.cli.commands.result import branch_name, came_of_it, order
from hub.cli.context import project_dir, session_argument, show, with_json
from hub.client.place import root_of
from hub.errors import Code, HubError
from hub.io.git.progress import ran

_OPEN = frozenset({"open", "opened"})
_PROGRAMS = {
    "gh": ("gh", "pr", "create"),
    "glab": ("glab", "mr", "create", "--yes"),
}


@click.command()
@session_argument
@click.option(
    "--branch",
    default="",
    metavar="NAME",
    callback=branch_name,
    help="The branch's name; default: the one it is on already, else made from the task.",
)
@click.option("--draft", is_flag=True, help="Open it as a draft.")
@with_json
def pr(ctx: click.Context, *, session: str, branch: str, draft: bool, as_json: bool) -> None:
    """Push a session's work as one commit on its own branch, and open a pull request with gh or glab.

    Where the session goes on with work that has a request already, it is one more commit on that branch. If neither
    program is installed, the branch is pushed and the command printed. Your own git pushes, with your login and hooks.

    Example: hub pr
    """
    root = root_of(project_dir(ctx)) or project_dir(ctx)
    remote, url = _remote(root)
    answer = order(ctx, Taken, "/api/session/take", Take(session_id=session, how=How.BRANCH, branch=branch))
    name = answer.branch
    known = _git(root, "rev-parse", "-q", "--verify", f"refs/remotes/{remote}/{name}")
    push = ["git", "push", "--set-upstream", remote, name]
    # What came of it is said below; its hooks and its trouble are heard.
    if _run([*push, "--quiet"], root).returncode:
        raise HubError(
            Code.GIT_FAILED,
            f"{name} was made, but not pushed.",
            hint=f"Push it: {shlex.join(push)}",
        )
    command = _command(url, root, name, draft=draft)
    there = shutil.which(command[0]) is not None
    url = _request_of(command[0], root, name) if there and known else ""
    updated = bool(url)
    if there and not updated:
        done = _run(command, root, capture=True)
        url = (done.stdout or "").strip() if done.returncode == 0 else ""
    told = Pushed(
        **attrs.asdict(answer, recurse=False),
        remote=remote,
        opened=bool(url) and not updated,
        updated=updated,
        url=url,
        command=command,
    )
    show(told, as_json=as_json, text=_text)
    if there and not url:
        ctx.exit(1)


@attrs.frozen(kw_only=True)
class Pushed(Taken):
    """The branch where it was pushed to, the command for the request, and its address where it was opened."""

    remote: str
    opened: bool
    updated: bool
    """Whether a request was open already, and has the new work now."""
    url: str
    command: list[str]


def _text(told: Pushed) -> str:
    lines = [*came_of_it(told), f"pushed {told.branch} to {told.remote}"]
    if told.url:
        lines.append(f"{'updated' if told.updated else 'opened'}: {told.url}")
    else:
        lines.append(f"open the request: {shlex.join(told.command)}")
    return "\n".join(lines)


def _remote(root: Path) -> tuple[str, str]:
    """Where the user pushes to, and its address.

    Raises:
        HubError: USAGE; there is no remote.
    """
    branch = _git(root, "symbolic-ref", "-q", "--short", "HEAD")
    wanted = [
        _git(root, "config", "--get", f"branch.{branch}.pushRemote"),
        _git(root, "config", "--get", "remote.pushDefault"),
        _git(root, "config", "--get", f"branch.{branch}.remote"),
        "origin",
    ]
    known = _git(root, "remote").split()
    name = next((one for one in wanted if one in known), known[0] if known else "")
    if not name:
        raise HubError(
            Code.USAGE,
            "The repository has no remote to push to.",
            hint="Name one: git remote add origin <url>   Or keep it here: hub take",
        )
    return name, _git(root, "remote", "get-url", "--push", name)


def _command(url: str, root: Path, branch: str, *, draft: bool) -> list[str]:
    """What opens the request: glab where the address says GitLab, else gh; the commit's own words are the request's."""
    program = "glab" if "gitlab" in url.lower() else "gh"
    title, _, text = _git(root, "log", "-1", "--format=%B", branch).partition("\n")
    where = ["--head", branch] if program == "gh" else ["--source-branch", branch]
    words = ["--title", title, "--body" if program == "gh" else "--description", text.strip()]
    return [*_PROGRAMS[program], *where, *words, *(["--draft"] if draft else [])]


def _request_of(program: str, root: Path, branch: str) -> str:
    """The address of the request that is open for a branch; "" where there is none."""
    fields = ["--json", "url,state"] if program == "gh" else ["--output", "json"]
    done = subprocess.run(
        [*_PROGRAMS[program][:2], "view", branch, *fields],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        told = json.loads(done.stdout)
        return str(told.get("url") or told["web_url"]) if told["state"].lower() in _OPEN else ""
    except (ValueError, LookupError, AttributeError, TypeError):
        return ""


def _git(root: Path, *words: str) -> str:
    code, out, _ = ran(*words, root=root)
    return out.decode("utf-8", "replace").strip() if code == 0 else ""


def _run(command: list[str], root: Path, *, capture: bool = False) -> subprocess.CompletedProcess[str]:
    """The user's own program, in his terminal; what it says goes to standard error, so that --json stays one document."""
    out = subprocess.PIPE if capture else sys.stderr
    try:
        return subprocess.run(command, cwd=root, stdout=out, text=True, check=False)
    except OSError as error:
        raise HubError(Code.PROGRAM_MISSING, f"{command[0]} cannot be started: {error.strerror}.") from error
