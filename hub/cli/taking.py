"""How the work of a session is seen and taken: two lines of git that work in the project as it is.

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


def see_and_take(root: Path, began: str, branches: Sequence[str]) -> list[str]:
    """The lines for what `branches` hold more than the work that the session `began` began with.

    Where uncommitted changes came along they are on the branch as well, and a merge would stumble over those in the
    checkout: then the agents' part is applied on top of them, by a patch.

    From a folder below the top, `git apply` would pass over what lies beside it in silence, so the lines name the top
    wherever the user does not stand there.

    Args:
        root: A folder of the project.
        began: The id of the session.
        branches: What is to be taken; the first one is shown.
    """
    base = f"refs/hub/{began}/base"
    top = root_of(root) or root
    git = "git" if top == Path.cwd() else f"git -C {shlex.quote(str(top))}"
    if _on_head(root, base) or len(branches) > 1:
        return [f"see it:   {git} diff HEAD...{branches[0]}", f"take it:  {git} merge {' '.join(branches)}"]
    both = f"{base} {branches[0]}"
    return [
        f"see it:   {git} diff {both}",
        f"take it:  {git} diff --binary {both} | {git} apply",
        "          (on top of your uncommitted changes, which came along and are on the branch too)",
    ]


def _on_head(root: Path, base: str) -> bool:
    """Whether the checkout's commit holds all that the session began with, as far as git can say."""
    command = ["git", "-C", str(root), "merge-base", "--is-ancestor", base, "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)  # noqa: S603  # no shell
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 1
