"""`hub pr`: pushed by the user's own git, opened by the program that is there, else the command is said."""

import json
import os

import pytest

from tests.faults.harness import git
from tests.hub.cli.command import hub

_STAND_IN = """#!/bin/sh
if [ "$2" = view ]; then
    echo "$GH_VIEW"
    exit
fi
printf '%s\\n' "$@" > "$GH_SAID"
echo https://example.org/pull/1
exit ${GH_EXIT:-0}
"""


@pytest.fixture
def ran(work, tmp_path):
    """A project with a remote, in which a session has written a file."""
    work.script("demo-first", {"write": {"path": "made.txt", "text": "made\n"}}, {"done": "made it"})
    work.configure()
    done = hub("run", "-q", "Make a file", cwd=work.root, env=work.environ())
    assert done.returncode == 0, done.stderr
    git(work.root, "init", "-q", "--bare", str(tmp_path / "remote.git"))
    tools = tmp_path / "tools"
    tools.mkdir()
    return work, tools, tmp_path


def say(ran, *args, remote="remote.git", **env):
    work, tools, folder = ran
    if remote:
        git(work.root, "remote", "add", "origin", str(folder / remote))
    path = f"{tools}:/usr/bin:/bin"
    said = str(folder / "said")
    return hub(*args, cwd=work.root, env=work.environ(PATH=path, GH_SAID=said, **env))


def stand_in(ran, name):
    program = ran[1] / name
    program.write_text(_STAND_IN)
    program.chmod(0o755)


def test_a_request_is_opened_with_the_commits_own_words(ran):
    stand_in(ran, "gh")
    done = say(ran, "pr", "--json", "--draft")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["branch"], told["opened"], told["url"]) == (
        "make-a-file",
        True,
        "https://example.org/pull/1",
    )
    words = (ran[2] / "said").read_text()
    assert words.startswith("pr\ncreate\n--head\nmake-a-file\n--title\nMake a file\n--body\n")
    assert "Hub-Session: " in words
    assert words.endswith("--draft\n")
    assert git(ran[2] / "remote.git", "log", "--format=%s", "make-a-file").split("\n")[0] == "Make a file"
    assert not (ran[0].root / "made.txt").exists(), "the checkout is not touched"


def test_without_a_program_the_branch_is_pushed_and_the_command_is_said(ran):
    if any(os.access(f"{place}/gh", os.X_OK) for place in ("/usr/bin", "/bin")):
        pytest.skip("gh is installed here")
    done = say(ran, "pr", "--branch", "mine/feature")
    assert done.returncode == 0, done.stderr
    assert "pushed mine/feature to origin\nopen the request: gh pr create --head mine/feature" in done.stdout


def test_what_only_the_worktree_has_is_told_beside_the_request(ran):
    stand_in(ran, "gh")
    (worktree,) = (ran[0].root / ".hub/worktrees").iterdir()
    (worktree / "later.txt").write_text("somebody went on in it\n")
    done = say(ran, "pr")
    assert done.returncode == 0, done.stderr
    assert f"its worktree has more, which is in no snapshot: .hub/worktrees/{worktree.name}\n" in done.stdout


def test_a_gitlab_remote_is_glabs(ran):
    stand_in(ran, "glab")
    git(ran[0].root, "init", "-q", "--bare", str(ran[2] / "gitlab.git"))
    done = say(ran, "pr", remote="gitlab.git")
    assert done.returncode == 0, done.stderr
    assert (ran[2] / "said").read_text().startswith("mr\ncreate\n--yes\n--source-branch\nmake-a-file\n")


def test_what_fails_says_how_to_go_on(ran):
    done = say(ran, "pr", remote="")
    assert done.returncode == 2
    assert "git remote add origin" in done.stderr
    stand_in(ran, "gh")
    done = say(ran, "pr", GH_EXIT="1")
    assert done.returncode == 1
    assert "open the request: gh pr create" in done.stdout
    git(ran[0].root, "remote", "set-url", "origin", "/nowhere/x.git")
    done = say(ran, "pr", "--branch", "again", remote="")
    assert done.returncode == 1
    assert "Push it: git push --set-upstream origin again" in done.stderr
    git(ran[0].root, "remote", "set-url", "origin", str(ran[2] / "remote.git"))
    done = say(ran, "pr", remote="")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "opened: https://example.org/pull/1"), (
        "again"
    )


VIEWS = {
    "gh": '{"state": "OPEN", "url": "https://example.org/pull/1"}',
    "glab": '{"state": "opened", "web_url": "https://example.org/pull/1"}',
}


@pytest.mark.parametrize("program", VIEWS)
def test_what_goes_on_with_a_request_is_brought_to_it(ran, program):
    """Reviewed, gone on with, pushed: no second request for the same work."""
    work, _, folder = ran
    stand_in(ran, program)
    remote = "gitlab.git" if program == "glab" else "github.git"
    git(work.root, "init", "-q", "--bare", str(folder / remote))
    assert say(ran, "pr", remote=remote).stdout.splitlines()[-1] == "opened: https://example.org/pull/1"
    (folder / "said").unlink()
    work.script("demo-first", {"write": {"path": "more.txt", "text": "more\n"}}, {"done": "made more"})
    session = json.loads(hub("ls", "--json", cwd=work.root, env=work.environ()).stdout)["sessions"][0][
        "sessionId"
    ]
    done = hub("run", "-q", "--continue", session, "And more", cwd=work.root, env=work.environ())
    assert done.returncode == 0, done.stderr
    done = say(ran, "pr", "--json", remote="", GH_VIEW=VIEWS[program])
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["branch"], told["updated"], told["url"]) == (
        "make-a-file",
        True,
        "https://example.org/pull/1",
    )
    assert not (folder / "said").exists(), "no request was opened"
    assert git(folder / remote, "log", "--format=%s", "make-a-file").split("\n")[:2] == [
        "And more",
        "Make a file",
    ]


@pytest.mark.parametrize("said", ['{"state": "MERGED", "url": "x"}', "no pull requests found", "[]", "{}"])
def test_a_request_that_is_over_is_no_open_one(ran, said):
    stand_in(ran, "gh")
    assert say(ran, "pr", GH_EXIT="1").returncode == 1
    done = say(ran, "pr", remote="", GH_VIEW=said)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "opened: https://example.org/pull/1")
