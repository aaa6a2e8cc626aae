"""The user's repository, diffs, the list of snapshots, rewinding, and the environment git runs in."""

import os

import pytest
import trio

from hub.errors import Code
from hub.io.git.env import effective_config, git, git_capped
from hub.io.git.guard import environment, filter_overrides
from hub.io.git.meaning import failure
from hub.io.git.refs import move_refs
from hub.io.git.repository import (
    DIFF_LIMIT,
    RepoState,
    commit_diff,
    repo_state,
    rewind,
    session_diff,
    snapshots,
)
from hub.io.git.snapshot import snapshot
from hub.io.git.store import quoted
from tests.hub.io.git.kit import session, sh, statuses, untouched
from tests.refusals import refuses
from tests.waiting import changed, ends


async def test_state_of_a_repository(root):
    head = sh(root, "rev-parse", "HEAD").strip()
    assert await repo_state(root) == RepoState(head, "main")


async def test_state_without_a_commit(tmp_path):
    sh(tmp_path, "init", "-q", "-b", "trunk", "empty")
    assert await repo_state(tmp_path / "empty") == RepoState("", "trunk")


async def test_main_branch_of_a_detached_head(root):
    sh(root, "checkout", "-q", "--detach")
    assert (await repo_state(root)).main_branch == "main"
    sh(root, "branch", "-m", "main", "odd")
    state = await repo_state(root)
    assert state.main_branch == state.head_sha
    sh(root, "update-ref", "refs/remotes/origin/odd", "HEAD")
    sh(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/odd")
    assert (await repo_state(root)).main_branch == "odd"


async def test_on_a_feature_branch_the_diff_is_against_it(root):
    sh(root, "checkout", "-q", "-b", "feature/x")
    assert (await repo_state(root)).main_branch == "feature/x"


async def test_state_errors(tmp_path, root, monkeypatch):
    with refuses(Code.NOT_A_REPOSITORY):
        await repo_state(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with refuses(Code.NO_PERMISSION):
        await repo_state(root)


async def test_git_missing_and_folder_missing(root, tmp_path, monkeypatch):
    with refuses(Code.WORKTREE_MISSING):
        await git("status", cwd=tmp_path / "nowhere")
    monkeypatch.setenv("PATH", str(tmp_path))
    with refuses(Code.GIT_MISSING):
        await git("status", cwd=root)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("fatal: not a git repository", Code.NOT_A_REPOSITORY),
        ("fatal: detected dubious ownership in repository", Code.NO_PERMISSION),
        ("error: unable to write: No space left on device", Code.NO_SPACE),
        ("error: x: Read-only file system", Code.READ_ONLY),
        ("error: x: Permission denied", Code.NO_PERMISSION),
        ("fatal: something new", Code.GIT_FAILED),
        ("", Code.GIT_FAILED),
    ],
)
def test_what_git_says_has_a_code(said, code):
    error = failure("x", 128, said)
    assert error.code is code
    assert error.detail.startswith("git x: ")


def test_a_commit_that_is_gone_is_told_with_what_finds_it():
    """`git gc --prune=now` after the refs of hub's were deleted: "fatal: bad object", and "Run hub doctor."."""
    error = failure("diff-tree", 128, f"fatal: bad object {'ab' * 20}")
    assert error.detail == "git diff-tree: abababababab is not in this repository any more."
    assert error.hint.startswith("See what is missing: git fsck")


async def work(root):
    wt = await session(root)
    (wt.path / "a.txt").write_text("changed\n")
    (wt.path / "new.txt").write_text("new\n")
    first = await snapshot(wt.path, "s1", "h1", {}, root=root)
    (wt.path / "a.txt").write_text("again\n")
    second = await snapshot(wt.path, "s1", "h2", {}, root=wt.path.parents[2])
    return wt, first, second


async def test_session_diff_is_main_dot_dot_dot_branch(root):
    await work(root)
    sh(root, "commit", "-q", "--allow-empty", "-m", "user goes on")
    (root / "users").write_text("x")
    sh(root, "add", "users")
    sh(root, "commit", "-q", "-m", "user's own")
    found = await session_diff(root, "main", "hub/s1")
    assert found.diff == sh(root, "diff", "main...hub/s1")
    assert "a.txt" in found.summary
    assert "2 files changed" in found.summary
    assert not found.truncated


@pytest.mark.parametrize(
    "setting",
    [
        ("diff.orderFile", "/nowhere"),
        ("diff.algorithm", "x"),
        ("diff.context", "x"),
        ("diff.relative", "true"),
    ],
)
async def test_no_setting_of_an_agent_s_hides_what_it_changed(root, setting):
    """Bug: an agent that set `diff.orderFile` to no file had "nothing changed" in `hub diff`, and hub took two files."""
    await work(root)
    expected = sh(root, "diff", "main...hub/s1")
    sh(root, "config", *setting)
    found = await session_diff(root, "main", "hub/s1")
    assert found.diff == expected
    assert "2 files changed" in found.summary


async def test_a_diff_that_git_does_not_make_is_no_empty_one(root):
    await work(root)
    with refuses(Code.GIT_FAILED):
        await git_capped("diff-tree", "-p", "main", "0" * 40, "--", cwd=root, limit=1000)


async def test_session_diff_without_the_main_branch_uses_where_the_session_began(root):
    await work(root)
    sh(root, "branch", "-m", "main", "renamed")
    assert "new.txt" in (await session_diff(root, "main", "hub/s1")).diff
    with refuses(Code.BRANCH_MISSING):
        await session_diff(root, "renamed", "hub/none")


async def test_a_huge_diff_is_cut_and_says_so(root, wt):
    (wt.path / "big").write_text("line of text\n" * 200_000)
    await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    found = await session_diff(root, "main", "hub/s1")
    assert found.truncated
    assert len(found.diff) < DIFF_LIMIT + 200
    assert "(cut at" in found.diff.splitlines()[-1]
    assert "big" in found.summary


async def test_snapshots_newest_first_and_by_session(root):
    _, first, second = await work(root)
    other = await session(root, "s2")
    third = await snapshot(other.path, "s2", "h9", {}, root=other.path.parents[2])
    everything = await snapshots(root)
    assert {entry.sha for entry in everything} == {first.sha, second.sha, third.sha}
    found = [entry for entry in everything if entry.session_id == "s1"]
    assert [entry.sha for entry in found] == [second.sha, first.sha]
    assert found[1].subject == "hub: snapshot h1"
    assert found[1].short == first.sha[:12]
    assert (found[1].session_id, found[1].handoff_id) == ("s1", "h1")
    assert found[1].when.endswith("Z")


async def test_a_subject_may_hold_what_ends_a_line_elsewhere(root):
    """An agent can write any commit and any ref: a form feed in a subject is no second snapshot."""
    _, first, _ = await work(root)
    odd = sh(root, "commit-tree", "-m", "one\ftwo\u2028three", f"{first.sha}^{{tree}}").strip()
    sh(root, "update-ref", "refs/hub/s1/odd", odd)
    subjects = {entry.sha: entry.subject for entry in await snapshots(root)}
    assert len(subjects) == 3
    assert subjects[odd] == "one\ftwo\u2028three"


async def test_commit_diff_is_against_the_first_parent(root):
    _, first, second = await work(root)
    assert (await commit_diff(root, second.sha)).diff == sh(root, "diff", first.sha, second.sha)
    assert (await commit_diff(root, first.sha[:12])).diff == sh(root, "diff", "main", first.sha)
    root_commit = sh(root, "rev-list", "--max-parents=0", "main").strip()
    assert "b/d/b.txt" in (await commit_diff(root, root_commit)).diff


BAD = ["--output=/tmp/x", "-p", "HEAD", "HEAD@{0}", "a..b", ":/regex", "main", "refs/heads/main", "", "abc", "f" * 40,
       "f" * 65, "ABCDEF0", "abcdef0\n", "abcdef0^{/x}", "hub/s1"]  # fmt: skip


@pytest.mark.parametrize("sha", BAD)
async def test_a_name_from_outside_is_an_id_or_nothing(root, sha):
    """Security row 6."""
    await work(root)
    refs = sh(root, "for-each-ref")
    for call in (commit_diff(root, sha), rewind(root, sha)):
        with refuses(Code.NOT_FOUND):
            await call
    assert sh(root, "for-each-ref") == refs


async def test_the_id_of_a_tree_or_a_blob_is_no_snapshot(root):
    for name in ("HEAD^{tree}", "HEAD:a.txt"):
        with refuses(Code.NOT_FOUND):
            await commit_diff(root, sh(root, "rev-parse", name).strip())


async def test_rewind_makes_a_branch_and_moves_nothing(root):
    wt, first, second = await work(root)
    before = untouched(root)
    refs = sh(root, "for-each-ref")
    names = [await rewind(root, first.sha), await rewind(root, first.sha[:12])]
    assert names == [f"hub/rewind/{first.sha[:12]}-1", f"hub/rewind/{first.sha[:12]}-2"]
    assert sh(root, "rev-parse", *names).split() == [first.sha] * 2
    for name in names:
        sh(root, "update-ref", "-d", f"refs/heads/{name}")
    assert sh(root, "for-each-ref") == refs
    assert untouched(root) == before
    assert sh(wt.path, "rev-parse", "HEAD").strip() == second.sha


async def test_refs_move_only_from_where_they_were_said_to_be(root):
    head = sh(root, "rev-parse", "HEAD").strip()
    zero = "0" * 40
    assert await move_refs([("refs/hub/x/y", head, zero)], "w", cwd=root, where={})
    assert not await move_refs([("refs/hub/x/y", head, zero)], "w", cwd=root, where={})
    assert not await move_refs(
        [("refs/hub/x/z", head, zero), ("refs/hub/x/y", head, "1" * 40)], "w", cwd=root, where={}
    )
    assert sh(root, "for-each-ref", "--format=%(refname)", "refs/hub").split() == ["refs/hub/x/y"]


def test_the_environment_has_nothing_of_the_daemons(monkeypatch):
    """Security rows 7 and 19: no key, no inherited GIT_*, nothing that names a program."""
    for name in (
        "ANTHROPIC_API_KEY",
        "GIT_DIR",
        "GIT_CONFIG_PARAMETERS",
        "SSH_AUTH_SOCK",
        "HUB_SIGNING_KEY",
        "LD_PRELOAD",
    ):
        monkeypatch.setenv(name, "secret")
    env = environment({}, [("x.y", "z")])
    assert "secret" not in env.values()
    assert env["GIT_CONFIG_GLOBAL"] == os.devnull
    assert env["GIT_CONFIG_NOSYSTEM"] == "1"
    last = int(env["GIT_CONFIG_COUNT"]) - 1
    assert (env[f"GIT_CONFIG_KEY_{last}"], env[f"GIT_CONFIG_VALUE_{last}"]) == ("x.y", "z")


@pytest.mark.parametrize(
    ("key", "planted"),
    [
        *((key, "/evil") for key in ("core.pager", "core.sshCommand", "core.gitProxy", "core.askPass", "core.alternateRefsCommand",
                                     "core.attributesFile", "credential.helper", "diff.external", "core.hooksPath", "core.fsmonitor")),
        *((key, "true") for key in ("commit.gpgSign", "tag.gpgSign", "log.showSignature", "submodule.recurse", "maintenance.auto",
                                    "core.untrackedCache", "core.splitIndex", "hook.post-checkout.enabled")),
        ("gc.auto", "1"),
        ("protocol.allow", "always"),
    ],
)  # fmt: skip
async def test_no_setting_of_a_repository_that_runs_or_asks_something_is_in_force(root, key, planted):
    sh(root, "config", key, planted)
    settings = await effective_config(root)
    assert settings[key.lower()] != planted


def test_every_filter_is_taken_away_by_name():
    names = [
        "filter.lfs.clean",
        "filter.lfs.required",
        "filter.a.b=c.process",
        "core.bare",
        "filter.x.smudge",
        "hook.lint.v2.command",
        "hook.lint.v2.event",
    ]
    found = dict(filter_overrides(names))
    assert found["filter.lfs.clean"] == ""
    assert found["filter.lfs.required"] == "false"
    assert found["filter.a.b=c.process"] == ""
    assert found["hook.lint.v2.enabled"] == "false"  # git 2.54 runs hooks that the configuration names
    assert len(found) == 13


async def test_the_users_ignores_and_trust_are_respected(root, tmp_path, monkeypatch):
    """`core.excludesFile` and `safe.directory` are the user's own, and only count outside a repository."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[core]\n\texcludesFile = ~/ignored\n\thooksPath = /evil\n[safe]\n\tdirectory = /somewhere\n"
    )
    (home / "ignored").write_text("*.swp\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    wt = await session(root)
    (wt.path / "x.swp").write_text("x")
    (wt.path / "x").write_text("x")
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    assert statuses(root, taken.sha) == {"x": "A"}
    settings = await effective_config(root)
    assert settings["safe.directory"] == "/somewhere"
    assert settings["core.hookspath"] == os.devnull


async def test_output_is_read_no_further_than_asked(root):
    (root / "big").write_bytes(b"x\n" * 4_000_000)
    sh(root, "add", "-A")
    blob = sh(root, "rev-parse", ":big").strip()
    with trio.fail_after(20):
        data, more = await git_capped("cat-file", "blob", blob, cwd=root, limit=1000)
    assert (data, more) == (b"x\n" * 500, True)
    assert await git_capped("rev-parse", "--is-bare-repository", cwd=root, limit=1000) == (b"false\n", False)


@pytest.fixture
def fake_git(tmp_path, monkeypatch):
    """Puts a shell script in the place of git."""

    def put(script):
        fake = tmp_path / "bin"
        fake.mkdir()
        (fake / "git").write_text(f"#!/bin/sh\n{script}")
        (fake / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{fake}:{os.environ['PATH']}")
        monkeypatch.setattr("hub.io.git.env._protected_of", {_key(): []})

    return put


async def test_cancelling_ends_a_git_that_hangs(root, tmp_path, fake_git, monkeypatch):
    """A git that ignores SIGTERM is killed with its whole group."""
    pids = tmp_path / "pids"
    fake_git(f"trap '' TERM\nsleep 1000 &\necho $$ $! > {pids}\nwait\nwait\n")
    monkeypatch.setattr("hub.io.git.env._GRACE", 0.1)
    monkeypatch.setattr("hub.io.git.env._LEAVING", 0.1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_hang, root)
        await changed(tmp_path, lambda: pids.exists() and pids.read_text().strip())
        nursery.cancel_scope.cancel()
    await ends(*map(int, pids.read_text().split()))


async def test_a_cancelled_git_is_not_stopped_where_it_makes_a_lock(root, tmp_path, fake_git, monkeypatch):
    """It leaves the lock in the instant before it knows of it: of 1,000 short ones that were cancelled 125 did."""
    monkeypatch.setattr("hub.io.git.env._GRACE", 60.0)
    lock, go = root / ".git" / "index.lock", tmp_path / "go"
    os.mkfifo(go)
    way = os.open(go, os.O_RDWR)
    fake_git(f": > {lock}\nread word < {go}\nrm {lock}\n")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_hang, root)
        await changed(root / ".git", lock.exists)
        nursery.cancel_scope.cancel()
        os.write(way, b"go\n")
    os.close(way)
    assert not lock.exists()


def _key():
    return tuple(os.environ.get(name) for name in ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"))


async def _hang(root):
    await git("status", cwd=root)


@pytest.mark.parametrize(
    ("path", "line"),
    [(b"a/b-c.txt", b"a/b-c.txt"), (b"a b", b'"a\\040b"'), (b'q"', b'"q\\042"'), (b"\\", b'"\\134"'), (b"\n\r\t", b'"\\012\\015\\011"'),
     (b"\xff", b'"\\377"'), ("é".encode(), b'"\\303\\251"'), (b"#", b'"#"'), (b"~", b'"~"')],
)  # fmt: skip
def test_paths_are_quoted_as_git_reads_them(path, line):
    assert quoted(path) == line
