"""Which files a command of git would show is known before it runs, and nothing that an agent writes there is run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hub.domain.permission import reach
from hub.io.git.showing import files_shown
from tests.hub.io.git.kit import make_repo, sh


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """`a.txt` in the first commit, `d/b.txt` changed in the second, `late.txt` in the third; one change is in no commit."""
    made = make_repo(tmp_path / "repo")
    (made / "d/b.txt").write_text("second\n")
    sh(made, "commit", "-qam", "second")
    (made / "late.txt").write_text("x\n")
    sh(made, "add", "late.txt")
    sh(made, "commit", "-qm", "third")
    (made / "run.sh").write_text("changed\n")
    return made


async def names(root: Path, line: str) -> set[str] | None:
    [(folder, shown), *_] = reach.shown(line)
    found = await files_shown(str(root / folder), shown)
    return None if found is None else {name.removeprefix(f"{root}/") for name in found}


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("git diff", {"run.sh"}),
        ("git diff HEAD~1", {"run.sh", "late.txt"}),
        ("git diff HEAD~2 -- d", {"d/b.txt"}),
        ("git diff HEAD~2..HEAD d", {"d/b.txt"}),
        ("git diff --cached", set()),
        ("git show", {"late.txt"}),
        ("git show HEAD~1", {"d/b.txt"}),
        ("git show HEAD~1 HEAD", {"d/b.txt", "late.txt"}),
        ("git log -p -1", {"late.txt"}),
        ("git log -p -n 2", {"late.txt", "d/b.txt"}),
        ("git log --patch -- d", {"d/b.txt"}),
        ("git --no-pager log -p --author x -1", {"late.txt"}),
        ("git merge HEAD~2", set()),
        ("git cherry-pick HEAD~1", {"d/b.txt"}),
        ("git reset --hard", {"run.sh"}),
        ("git reset --hard HEAD~1", {"run.sh", "late.txt"}),
        ("git checkout HEAD~2", {"run.sh", "late.txt", "d/b.txt"}),
        ("git bundle create x --all", {".gitignore", "a.txt", "d/b.txt", "late.txt", "link", "run.sh"}),
    ],
)
async def test_the_names_are_those_of_the_command(root, line, files):
    assert await names(root, line) == files


@pytest.mark.parametrize(
    "line",
    [
        "git show $X",
        "git show nothing",
        "git cat-file -p abc",
        "git stash show -p",
        "git -c a=b diff",
        "git --git-dir=x diff",
        "git diff --relative=d",
        "git log -p --stdin",
        "git log -p -n -output=planted",
        "git add -p",
    ],
)
async def test_what_cannot_be_told_is_not(root, line):
    assert await names(root, line) is None
    assert not (root / "planted").exists()


async def test_an_object_that_is_no_commit_is_not_taken_for_a_harmless_one(root):
    blob = sh(root, "rev-parse", "HEAD:a.txt").strip()
    assert await names(root, f"git show {blob}") is None
    assert await names(root, f"git diff {blob} {blob}") is None


async def test_settings_of_the_repository_neither_run_nor_hide(root):
    """An agent may write them."""
    sh(root, "checkout", "-qb", "side", "HEAD~1")
    (root / "side.txt").write_text("x")
    sh(root, "add", "side.txt")
    sh(root, "commit", "-qm", "side")
    sh(root, "merge", "-q", "--no-edit", "main")
    for key, value in (
        ("diff.external", "touch ran"),
        ("core.fsmonitor", "touch ran"),
        ("diff.relative", "true"),
        ("log.diffMerges", "off"),
    ):
        sh(root, "config", key, value)
    assert await names(root, "git -C d diff HEAD~1") == {"run.sh", "late.txt"}
    assert await names(root, "git show") == {"late.txt", "side.txt"}
    assert not list(root.rglob("ran"))


async def test_no_filter_of_the_repository_or_of_one_within_runs(root, tmp_path):
    """A look for an agent's `git diff`, before anybody has allowed it, ran what cleans a file that was only touched."""
    inner = make_repo(root / "inner")
    sh(root, "add", "inner")
    sh(root, "commit", "-qm", "inner")
    for one in (root, inner):
        sh(one, "config", "filter.f.clean", f"touch {tmp_path}/ran; cat")
        (one / ".gitattributes").write_text("* filter=f\n")
        os.utime(one / "a.txt", (1, 1))
    assert await names(root, "git diff") == {"run.sh"}
    assert not (tmp_path / "ran").exists()


async def test_the_files_of_a_submodule_are_not_told(root):
    assert await names(root, "git diff --submodule=diff") is None
    sh(root, "config", "diff.submodule", "diff")
    assert await names(root, "git diff") is None


async def test_a_folder_that_is_none_tells_nothing(tmp_path):
    [(_, shown)] = reach.shown("git diff")
    assert await files_shown(str(tmp_path / "gone"), shown) is None
    assert await files_shown(str(tmp_path), shown) is None


def test_what_shows_nothing_of_files_is_not_asked_for():
    for line in ("git status", "git log", "git log --stat -3", "git show --stat", "git diff --name-only", "git show HEAD:a.txt", "git commit -m x",
                 "git worktree list", "git stash", "git cat-file -p HEAD:a.txt"):  # fmt: skip
        assert reach.shown(line) == [], line
