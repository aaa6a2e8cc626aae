"""Several commits made one: whole or not at all, always the same one, and nobody's tree, index or HEAD touched."""

import stat

import pytest

from hub.errors import Code, HubError
from hub.io.git.env import GitResult
from hub.io.git.merge import merge_bases, run_base
from tests.hub.io.git.kit import make_repo, sh
from tests.refusals import refuses


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "repo")


def branch(root, name, files, base="main"):
    """A commit on a branch of its own, made in a worktree that is gone again; its id."""
    place = root.parent / f"tree-{name}"
    sh(root, "worktree", "add", "-q", "-b", name, str(place), base)
    for path, text in files.items():
        (place / path).write_text(text)
    sh(place, "add", "-A")
    sh(place, "commit", "-q", "-m", name)
    sh(root, "worktree", "remove", "--force", str(place))
    return sh(root, "rev-parse", name).strip()


def seen(root):
    """All that a user could notice: HEAD, refs, index, tree, worktrees, configuration."""
    index = root / ".git/index"
    return (
        (root / ".git/HEAD").read_text(),
        sh(root, "for-each-ref"),
        index.read_bytes(),
        index.stat().st_mtime_ns,
        sh(root, "--no-optional-locks", "status", "--porcelain", "--untracked-files=all"),
        sh(root, "worktree", "list"),
        (root / ".git/config").read_text(),
    )


async def test_two_branches_become_one_commit_with_both_as_parents(repo):
    one, two = branch(repo, "one", {"one.txt": "1\n"}), branch(repo, "two", {"two.txt": "2\n"})
    before = seen(repo)
    made = await merge_bases(repo, [one, two], "both\n")
    assert seen(repo) == before, "nothing of the user's moved"
    assert sh(repo, "log", "-1", "--format=%P", made).split() == [one, two]
    assert sh(repo, "log", "-1", "--format=%s", made).strip() == "both"
    assert sh(repo, "ls-tree", "-r", "--name-only", made).split() == [
        ".gitignore", "a.txt", "d/b.txt", "link", "one.txt", "run.sh", "two.txt",
    ]  # fmt: skip


async def test_changes_in_different_lines_of_one_file_are_merged(repo):
    text = "".join(f"{n}\n" for n in range(20))
    base = branch(repo, "base", {"a.txt": text})
    one = branch(repo, "one", {"a.txt": text.replace("1\n", "one\n", 1)}, base)
    two = branch(repo, "two", {"a.txt": text.replace("19\n", "last\n")}, base)
    made = await merge_bases(repo, [one, two], "m\n")
    merged = sh(repo, "show", f"{made}:a.txt")
    assert "one\n" in merged
    assert "last\n" in merged


async def test_the_same_commits_give_the_same_commit(repo):
    """After a crash the merge is made again; what follows it must find the same base."""
    commits = [branch(repo, name, {f"{name}.txt": name}) for name in ("one", "two", "three")]
    assert await merge_bases(repo, commits, "m\n") == await merge_bases(repo, commits, "m\n")


async def test_one_that_holds_the_others_is_taken_as_it_is(repo):
    one = branch(repo, "one", {"one.txt": "1"})
    more = branch(repo, "more", {"more.txt": "2"}, one)
    assert await merge_bases(repo, [one], "m\n") == one
    assert await merge_bases(repo, [one, more], "m\n") == more
    assert await merge_bases(repo, [more, one], "m\n") == more


async def test_a_conflict_names_the_files_and_leaves_nothing(repo):
    """Never half a merge: the node fails with a code, and no ref, index or tree has changed."""
    one = branch(repo, "one", {"a.txt": "mine\n", "d/b.txt": "mine\n"})
    two = branch(repo, "two", {"a.txt": "yours\n", "d/b.txt": "yours\n"})
    before = seen(repo)
    with refuses(Code.MERGE_CONFLICT) as caught:
        await merge_bases(repo, [one, two], "m\n")
    assert caught.value.extra["files"] == ["a.txt", "d/b.txt"]
    assert "a.txt, d/b.txt" in caught.value.detail
    assert seen(repo) == before


async def test_a_conflict_in_many_files_names_some(repo):
    names = [f"f{n:02}.txt" for n in range(14)]
    one = branch(repo, "one", dict.fromkeys(names, "mine\n"))
    two = branch(repo, "two", dict.fromkeys(names, "yours\n"))
    with pytest.raises(HubError, match=r"f09\.txt and 4 more\.$"):
        await merge_bases(repo, [one, two], "m\n")


async def test_the_third_of_three_may_be_the_one_in_conflict(repo):
    clean = [branch(repo, "one", {"a.txt": "mine\n"}), branch(repo, "two", {"two.txt": "2"})]
    third = branch(repo, "three", {"a.txt": "yours\n"})
    before = seen(repo)
    with refuses(Code.MERGE_CONFLICT):
        await merge_bases(repo, [*clean, third], "m\n")
    assert seen(repo) == before


async def test_no_program_of_the_repository_runs(repo, tmp_path):
    """An agent can write the repository's configuration: a merge driver, a filter or a hook in it must not run."""
    ran = tmp_path / "ran"
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {ran}\nexit 0\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    base = branch(repo, "base", {"a.txt": "1\n", ".gitattributes": "* merge=evil filter=evil diff=evil\n"})
    sh(repo, "merge", "-q", "base")
    text = {"one": "one\n", "two": "1\ntwo\n"}
    one, two = (
        branch(repo, "one", {"b.txt": text["one"]}, base),
        branch(repo, "two", {"a.txt": text["two"]}, base),
    )
    again = branch(repo, "again", {"a.txt": "three\n"}, base)
    for key in (
        "merge.evil.driver",
        "filter.evil.clean",
        "filter.evil.smudge",
        "diff.evil.textconv",
        "diff.external",
    ):
        sh(repo, "config", key, str(program))
    sh(repo, "config", "merge.renormalize", "true")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("post-merge", "pre-merge-commit", "reference-transaction", "post-commit"):
        (hooks / hook).symlink_to(program)
    sh(repo, "config", "core.hooksPath", str(hooks))
    ran.unlink(missing_ok=True)
    await merge_bases(repo, [one, two], "m\n")
    with refuses(Code.MERGE_CONFLICT):
        await merge_bases(repo, [two, again], "m\n")
    assert not ran.exists()


async def test_attributes_left_in_hubs_own_directory_do_not_count(repo):
    """What an agent plants beside the merge is gone before it."""
    one, two = branch(repo, "one", {"one.txt": "1"}), branch(repo, "two", {"two.txt": "2"})
    await merge_bases(repo, [one, two], "m\n")
    planted = repo / ".hub/git/merge/info/attributes"
    planted.write_text("* merge=binary\n")
    (repo / ".hub/git/merge/config").write_text("[merge]\n\tdefault = evil\n")
    await merge_bases(repo, [one, two], "m\n")
    assert not planted.exists()
    assert "evil" not in (repo / ".hub/git/merge/config").read_text()


async def test_a_commit_that_is_gone_is_said(repo):
    one = branch(repo, "one", {"one.txt": "1"})
    with refuses(Code.BRANCH_MISSING):
        await merge_bases(repo, [one, "0" * 39 + "1"], "m\n")


async def test_an_old_git_is_named(repo, monkeypatch):
    """merge-tree writes trees since git 2.38; before, it prints its usage and exits 129."""
    from hub.io.git import merge as git_merge

    one, two = branch(repo, "one", {"one.txt": "1"}), branch(repo, "two", {"two.txt": "2"})
    real = git_merge.git

    async def old(*args, **options):
        return (
            GitResult(129, b"", "usage: git merge-tree")
            if args[0] == "merge-tree"
            else await real(*args, **options)
        )

    monkeypatch.setattr(git_merge, "git", old)
    with pytest.raises(HubError) as caught:
        await merge_bases(repo, [one, two], "m\n")
    assert (caught.value.code, "2.38" in caught.value.hint) == (Code.GIT_FAILED, True)


async def test_in_a_sha256_repository(tmp_path):
    repo = make_repo(tmp_path / "repo", "--object-format=sha256")
    one, two = branch(repo, "one", {"one.txt": "1"}), branch(repo, "two", {"two.txt": "2"})
    made = await merge_bases(repo, [one, two], "m\n")
    assert len(made) == 64
    assert sh(repo, "show", f"{made}:two.txt") == "2"


async def test_a_run_begins_at_the_users_work(repo):
    """Uncommitted and untracked work comes along; asked again it is the same commit, whatever was edited since."""
    head = sh(repo, "rev-parse", "HEAD").strip()
    (repo / "a.txt").write_text("edited\n")
    (repo / "new.txt").write_text("new\n")
    index = (repo / ".git/index").read_bytes()
    made = await run_base(repo, "p-1", head)
    assert sh(repo, "show", f"{made}:a.txt") == "edited\n"
    assert sh(repo, "show", f"{made}:new.txt") == "new\n"
    (repo / "new.txt").write_text("newer\n")
    assert await run_base(repo, "p-1", head) == made
    assert await run_base(repo, "p-2", head) != made
    assert (repo / ".git/index").read_bytes() == index
    sh(repo, "gc", "--prune=now", "-q")
    assert sh(repo, "cat-file", "-t", made).strip() == "commit"


async def test_a_run_in_a_clean_tree_begins_at_the_users_commit(repo):
    head = sh(repo, "rev-parse", "HEAD").strip()
    assert await run_base(repo, "p-1", head) == head
