"""How the work of a session is seen and taken: lines of git that work in the project as it is.

Owns: the choice between a merge and a patch.
Must not: need a daemon, or change anything.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from hub.client.place import root_of

_PATIENCE = 10.0
_SHORT = 12


def see_and_take(root: Path, began: str, branches: Sequence[str]) -> list[str]:
    """The lines for what `branches` hold more than the work that the session `began` began with.

    Where uncommitted changes came along they are on the branch as well, and a merge would stumble over those in the
    checkout: then the agents' part is applied on top of them, by a patch.

    From a folder below the top, `git apply` would pass over what lies beside it in silence, so the lines name the top
    wherever the user does not stand there.

    Args:
        root: A folder of the project.
        began: The id of the session.
        branches: What is to be taken, one after the other; they may share work.
    """
    base = f"refs/hub/{began}/base"
    for branch in branches:
        if brought := _own_folders(root, base, branch):
            return [
                f"not to be merged: {branch} brings {', '.join(brought)}, which hub would read in your project",
                "          take what hub itself has stored: hub history --commits",
            ]
    top = root_of(root) or root
    git = "git" if top == Path.cwd() else f"git -C {shlex.quote(str(top))}"
    if _on_head(root, base):
        seen = [f"{git} diff HEAD...{branch}" for branch in branches]
        return [*_rows("see it:", seen), *_rows("take it:", [f"{git} merge {' '.join(branches)}"])]
    pairs = [
        f"{_shared(root, base, branch, branches[:place])} {branch}" for place, branch in enumerate(branches)
    ]
    return [
        *_rows("see it:", [f"{git} diff {both}" for both in pairs]),
        *_rows("take it:", [f"{git} diff --binary {both} | {git} apply" for both in pairs]),
        "          (on top of your uncommitted changes, which came along and are on the branch too)",
    ]


def _own_folders(root: Path, base: str, branch: str) -> list[str]:
    """What a branch would put in the place of a `.hub`: a commit of the agent's own that no snapshot came after."""
    from hub.io.git.own_folder import folders_in

    options = ("-r", "-z", "--name-only", "--no-renames", "--diff-filter=d", "--ignore-submodules=dirty")
    done = _git(root, "diff-tree", *options, base, branch, "--")
    return folders_in(done.stdout) if done is not None and done.returncode == 0 else []


def _rows(title: str, commands: Sequence[str]) -> list[str]:
    """The commands one below the other, the first beside the title."""
    return [f"{title if not place else '':<10}{command}" for place, command in enumerate(commands)]


def _shared(root: Path, base: str, branch: str, taken: Sequence[str]) -> str:
    """What a branch has in common with the base and with those taken before it: that is not to be applied twice."""
    if not taken:
        return base
    done = _git(root, "merge-base", branch, *taken)
    return done.stdout.decode().strip()[:_SHORT] if done is not None and done.returncode == 0 else base


def _on_head(root: Path, base: str) -> bool:
    """Whether the checkout's commit holds all that the session began with, as far as git can say."""
    done = _git(root, "merge-base", "--is-ancestor", base, "HEAD")
    return done is None or done.returncode != 1


def _git(root: Path, *words: str) -> subprocess.CompletedProcess[bytes] | None:
    """What git answers; None where it does not."""
    command = ["git", "-C", str(root), *words]
    try:
        return subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
