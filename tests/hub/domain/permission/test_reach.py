"""What a command line reaches without naming it is told: the folders it takes, and what git would show of its store."""

import pytest

from hub.domain.permission.reach import Shown, searched, shown


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("git diff", Shown("diff")),
        ("git --no-pager diff --cached HEAD~1 -- a b", Shown("diff", ("--cached",), ("HEAD~1",), ("a", "b"))),
        ("git difftool x", Shown("diff", (), ("x",))),
        ("git show x", Shown("show", (), ("x",))),
        ("git show --format=%H x", Shown("show", (), ("x",))),
        ("git log -p -n 2 --all", Shown("log", ("-2", "--all"))),
        ("git log --patch -3 --author me d", Shown("log", ("-3",), ("d",))),
        ("git log -p -- d", Shown("log", (), (), ("d",))),
        ("git log -p --max-count 2 x", Shown("log", ("-2",), ("x",))),
        ("git bundle create x --all", Shown("log", ("--all",))),
        ("git worktree add ../x", Shown("log", ("--all",))),
    ],
)
def test_git_shows_what_its_words_say(line, told):
    assert shown(line) == [("", told)]


@pytest.mark.parametrize(
    "line",
    [
        "git cat-file -p abc",
        "git cat-file --batch",
        "git log -p -n",
        "git log -p -n two",
        "git log -p --stdin",
        "git log -p --glob=x",
        "git log -p --exclude=x --all",
        "git log -p --bisect",
        "git diff --pathspec-from-file=x",
        "git commit -v",
        "git commit --verbose",
        "git diff --relative=d",
        "git -c a=b diff",
        "git --git-dir x diff",
        "git stash show -p",
        "git add -p",
        "git checkout --patch",
    ],
)
def test_nobody_can_say_what_it_shows(line):
    assert [one for _, one in shown(line)] == [Shown()]


@pytest.mark.parametrize(
    "line",
    ["git add -A; git diff --cached", "git commit -qam x && git show", "git fetch && git merge origin/main", "git tag a b; git show a",
     "sudo git -C d stash; git diff HEAD", "git branch -f a b\ngit diff a", "env X=1 git add . ; sh -c 'git diff --staged'"],
)  # fmt: skip
def test_what_a_line_shows_of_its_own_changes_nobody_can_say_before(line):
    """A look before the line runs finds another index, or another commit, than the line itself will."""
    assert Shown() in [one for _, one in shown(line)]


@pytest.mark.parametrize(
    "line", ["git status && git diff", "git branch --show-current; git diff", "git diff; git add -A", "git remote -v; git diff"]
)  # fmt: skip
def test_what_only_looks_changes_nothing_of_what_is_shown(line):
    assert [one for _, one in shown(line)] == [Shown("diff")]


@pytest.mark.parametrize(
    "line",
    ["git", "git status", "git log", "git log -- -p", "git show HEAD:a", "git diff --stat", "git diff --no-index a b",
     "git cat-file -p HEAD:a", "git cat-file --batch-check HEAD:a", "git worktree list", "git add a", "git commit -m x"],
)  # fmt: skip
def test_it_shows_nothing_of_what_git_keeps(line):
    assert shown(line) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("git merge x", Shown("diff", (), ("HEAD...x",))),
        ("git merge -m 'a change' x", Shown("diff", (), ("HEAD...x",))),
        ("git rebase", Shown("diff", (), ("HEAD...@{upstream}",))),
        ("git cherry-pick x y", Shown("show", (), ("x", "y"))),
        ("git revert x", Shown("show", (), ("x",))),
        ("git stash pop", Shown("show", (), ("stash",))),
        ("git stash apply stash@{1}", Shown("show", (), ("stash@{1}",))),
        ("git reset --hard", Shown("diff", (), ("HEAD",))),
        ("git reset --hard x", Shown("diff", (), ("x",))),
        ("git -C a checkout x", Shown("diff", (), ("x",))),
        ("git checkout -", Shown("diff", (), ("@{-1}",))),
        ("git switch -c new x", Shown("diff", (), ("x",))),
        ("git pull", Shown()),
        ("git pull --rebase origin main", Shown()),
        ("git --git-dir x merge y", Shown()),
        ("git --work-tree x merge y", Shown()),
    ],
)
def test_what_git_brings_back_is_what_its_words_say(line, told):
    assert told in [one for _, one in shown(line)]


@pytest.mark.parametrize(
    "line",
    ["git reset x", "git reset --soft x", "git checkout -b new", "git checkout x -- a", "git merge --abort", "git rebase --continue",
     "git stash", "git stash push a", "git stash list", "git fetch"],
)  # fmt: skip
def test_it_brings_nothing_but_what_it_names(line):
    assert shown(line) == []


@pytest.mark.parametrize(
    ("line", "folders"),
    [
        ("rg key", ["."]),
        ("grep -r key a b", ["a", "b"]),
        ("grep key a", []),
        ("tar c a", ["c", "a"]),
        ("tar c -T list", ["."]),
        ("fd key a -x cat", ["key", "a", "cat", "."]),
        ("fdfind key a -x cat", ["key", "a", "cat", "."]),
        ("git archive HEAD", ["."]),
        ("git grep key HEAD", ["HEAD", "."]),
        ("git grep key -- a", ["a"]),
        ("git checkout x -- a", ["a"]),
        ("git checkout main a", ["main", "a"]),
        ("git restore a", ["a"]),
        ("git switch main", ["main"]),
        ("git switch -c main", []),
        ("git switch -C main", []),
        ("git -c a=b --work-tree . checkout x -- a", ["a"]),
        ("git -c a=b -c c=d rm -r a", ["a"]),
        ("git checkout -B main", []),
        ("git add a", []),
        ("git diff --no-index a b", ["a", "b"]),
        ("git mv a b", ["a", "b"]),
        ("git rm -r a", ["a"]),
        ("docker run --mount type=bind,src=a,dst=/b x", ["a"]),
        ("docker run --mount type=bind,source=./a,target=/b x", ["./a"]),
        ("podman run -v a:/b x", ["a"]),
        ("docker build a", ["build", "a"]),
        ("docker image build -t x a", ["image", "build", "x", "a"]),
        ("aws s3 sync a s3://x", ["s3", "sync", "a", "s3://x"]),
    ],
)
def test_folders_are_taken_whole(line, folders):
    assert [word for _, word in searched(line)] == folders


def test_git_looks_where_it_may_be():
    """Rather one place too many: `cd` may fail."""
    assert ("a/b", Shown("diff")) in shown("cd a && git -C b diff")
    assert ("a/b", Shown("diff")) in shown("git -C a --no-pager -C b diff")
