"""What keeps git from asking the network, running a helper, or being shown other objects than those that were stored."""

import re
import subprocess
from pathlib import Path

import pytest

from hub.errors import HubError
from hub.io.git.env import git
from hub.io.git.guard import environment
from hub.io.git.repository import commit_diff
from hub.io.git.snapshot import snapshot
from tests.hub.io.git.kit import in_commit, make_repo, sh

LAZY = tuple(map(int, re.findall(r"\d+", sh(Path(), "version"))[:3])) >= (2, 39, 4)
"""Whether this git knows `GIT_NO_LAZY_FETCH`."""


@pytest.mark.parametrize("allow", ["user", "always"])
async def test_no_protocol_is_spoken_whatever_a_repository_names(root, tmp_path, allow):
    """`protocol.allow`: an address of the form `ext::command` is a command, and one of a folder runs its hooks' programs.

    With the shipped defaults git would speak to a folder at once, and to anything the repository's own settings allow.
    Bug: `protocol.ext.allow` of a repository went before hub's `protocol.allow`, and its address ran a program.
    """
    mark = tmp_path / "ran"
    helper = tmp_path / "helper"
    helper.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    helper.chmod(0o755)
    sh(root, "config", "protocol.ext.allow", allow)
    make_repo(tmp_path / "other")
    sh(root, "remote", "add", "folder", str(tmp_path / "other"))
    sh(root, "remote", "add", "command", f"ext::{helper}")
    for remote in ("folder", "command"):
        with pytest.raises(HubError):
            await git("ls-remote", remote, cwd=root)
        with pytest.raises(HubError):
            await git("fetch", remote, cwd=root)
    assert sh(root, "for-each-ref", "refs/remotes") == ""
    assert not mark.exists()
    shown = await git("config", "--get", "protocol.allow", cwd=root)
    assert shown.text == "never"


def test_a_missing_object_is_not_fetched(root, tmp_path):
    """`GIT_NO_LAZY_FETCH`: in a partial clone, a look at an object that is not there starts a transport's program.

    It holds by itself, also where a protocol were allowed. (A git too old to know it speaks no protocol either.)
    """
    mark = tmp_path / "ran"
    helper = tmp_path / "upload"
    helper.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    helper.chmod(0o755)
    make_repo(tmp_path / "other")
    sh(root, "remote", "add", "origin", str(tmp_path / "other"))
    sh(root, "config", "remote.origin.promisor", "true")
    sh(root, "config", "remote.origin.uploadpack", str(helper))
    sh(root, "config", "core.repositoryFormatVersion", "1")
    sh(root, "config", "extensions.partialClone", "origin")

    def ran(env):
        mark.unlink(missing_ok=True)
        subprocess.run(
            ["git", "cat-file", "-e", "1" * 40], cwd=root, env=env, check=False, capture_output=True
        )
        return mark.exists()

    allowed = environment({}, [("protocol.allow", "always")])
    del allowed["GIT_ALLOW_PROTOCOL"]
    assert not ran(environment({}))
    assert ran({**allowed, "GIT_NO_LAZY_FETCH": "0"}), "without it git does fetch, so the test can tell"
    assert environment({})["GIT_NO_LAZY_FETCH"] == "1"
    if LAZY:
        assert not ran(allowed)


async def test_a_replacement_is_not_seen(root, wt):
    """`GIT_NO_REPLACE_OBJECTS`: an agent's `git replace` would show a snapshot, and a diff, that were never made."""
    (wt.path / "work.txt").write_text("true")
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    blob = sh(root, "rev-parse", f"{taken.sha}:work.txt").strip()
    (wt.path / "work.txt").write_text("false")
    forged = sh(wt.path, "hash-object", "-w", "work.txt").strip()
    sh(wt.path, "replace", blob, forged)
    assert sh(root, "show", f"{taken.sha}:work.txt") == "false", (
        "whoever does not look away is shown the other one"
    )
    assert "+true" in (await commit_diff(root, taken.sha)).diff
    (wt.path / "work.txt").write_text("true")
    other = sh(wt.path, "commit-tree", "-m", "forged", f"{wt.base}^{{tree}}").strip()
    sh(wt.path, "replace", taken.sha, other)
    again = await snapshot(wt.path, "s1", "h2", {}, root=wt.path.parents[2])
    parents = sh(root, "--no-replace-objects", "rev-parse", f"{again.sha}^@").split()
    assert parents == [taken.sha]
    assert in_commit(root, again.sha)[b"work.txt"][0] == "100644"
