"""The two lines of git at a session's end are run as they are printed: they must work in the project as it is."""

import subprocess
from pathlib import Path

import pytest

from hub.cli.taking import see_and_take
from tests.faults.harness import git

SESSION = "s-1"
BRANCH = f"hub/{SESSION}"


@pytest.fixture
def ended(repo, monkeypatch):
    """A session's branch, as an agent left it, begun at the commit that the argument names."""

    def make(base, stand="."):
        git(repo, "update-ref", f"refs/hub/{SESSION}/base", base)
        git(repo, "worktree", "add", "-q", "-b", BRANCH, "../work", base)
        work = repo.parent / "work"
        (work / "made.txt").write_text("made\n")
        (work / "README.md").write_text((work / "README.md").read_text() + "agent\n")
        git(work, "add", ".")
        git(work, "commit", "-q", "-m", "hub: snapshot")
        monkeypatch.chdir(repo / stand)
        return repo

    return make


def taken():
    """What is printed where the user stands, after both lines were run there."""
    lines = see_and_take(Path.cwd(), SESSION, [BRANCH])
    for line in lines[:2]:
        subprocess.run(line.partition(":")[2], shell=True, check=True, capture_output=True)
    return lines


def test_a_clean_checkout_merges(ended):
    """Nothing came along: the branch is merged."""
    repo = ended("main")
    assert taken()[1] == f"take it:  git merge {BRANCH}"
    assert (repo / "made.txt").read_text() == "made\n"


@pytest.mark.parametrize("stand", [".", "sub"])
def test_uncommitted_work_is_built_upon(ended, repo, stand):
    """`git merge` refused, for the very files that came along: hub.toml, fresh from `hub init`, among them."""
    (repo / "sub").mkdir()
    (repo / "hub.toml").write_text("[session]\n")
    (repo / "README.md").write_text("hello\nmine\n")
    git(repo, "add", ".")
    tree = git(repo, "stash", "create")
    git(repo, "reset", "-q")
    ended(tree, stand)
    lines = taken()
    assert "git merge" not in "\n".join(lines)
    assert (repo / "made.txt").read_text() == "made\n"
    assert (repo / "README.md").read_text() == "hello\nmine\nagent\n"
    assert (repo / "hub.toml").read_text() == "[session]\n"
    assert git(repo, "rev-parse", "HEAD") == git(repo, "rev-parse", "main"), "nothing was committed"


@pytest.mark.parametrize("committed", [True, False])
def test_several_branches_are_taken_one_after_the_other(repo, monkeypatch, committed):
    """The ends of a pipeline: both hold the first node's work, which must not be applied twice, and all came along."""
    (repo / "mine.txt").write_text("mine\n")
    git(repo, "add", ".")
    base = git(repo, "stash", "create")
    if committed:
        git(repo, "commit", "-q", "-m", "mine")
        base = "HEAD"
    git(repo, "update-ref", f"refs/hub/{SESSION}/base", base)
    git(repo, "worktree", "add", "-q", "-b", "hub/first", "../work", base)
    work = repo.parent / "work"

    def commit(branch, name):
        git(work, "switch", "-q", "-C", branch, "hub/first")
        (work / name).write_text(f"{name}\n")
        git(work, "add", ".")
        git(work, "commit", "-q", "-m", "hub: snapshot")

    for branch, name in (("hub/first", "api.txt"), ("hub/left", "docs.txt"), ("hub/right", "tests.txt")):
        commit(branch, name)
    monkeypatch.chdir(repo)
    lines = see_and_take(repo, SESSION, ["hub/left", "hub/right"])
    assert len([line for line in lines if "git diff" in line and "apply" not in line]) == 2, "both are shown"
    for line in lines:
        if (command := line[10:]).startswith("git"):
            subprocess.run(command, shell=True, check=True, capture_output=True)
    made = sorted(path.name for path in repo.glob("*.txt"))
    assert made == ["api.txt", "docs.txt", "mine.txt", "tests.txt"]
    assert ("git merge hub/left hub/right" in lines[2]) == committed
