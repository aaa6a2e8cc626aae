"""Snapshots: every byte, nothing run, nothing of the user's moved, and the same again after a crash."""

# ruff: noqa: ASYNC115, ASYNC221, ASYNC240, C901  # plain git beside hub's is the point
from __future__ import annotations

import ast
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.errors import Code, HubError
from hub.io.git import snapshot as git_snapshot
from hub.io.git.aside import note_yours
from hub.io.git.digest import reread as real_reread
from hub.io.git.discarding import Hands, left_of
from hub.io.git.refs import BASE, TAKE, newest_anchor, put_kept
from hub.io.git.repository import commit_diff, repo_state, rewind, session_diff, snapshots
from hub.io.git.snapshot import snapshot, tree_hash
from hub.io.git.store import store_commit as real_store
from hub.io.git.worktree import add_worktree
from hub.io.project.places import Places
from tests.hub.io.git.kit import (
    first_parent,
    in_commit,
    killed_at,
    make_repo,
    on_disk,
    session,
    sh,
    statuses,
    swept,
    untouched,
)
from tests.refusals import refuses

TRAILERS = {"Hub-Audit": f"7:{'ab' * 32}"}


async def take(worktree, handoff="h1"):
    return await snapshot(
        worktree.path,
        worktree.branch.removeprefix("hub/"),
        handoff,
        TRAILERS,
        root=worktree.path.parents[2],
    )


async def test_everything_an_agent_can_leave_is_in_it(root, wt):
    tree = wt.path
    before = untouched(root)
    (tree / "a.txt").write_bytes(b"changed\r\n")
    (tree / "d/b.txt").unlink()
    (tree / "d").rmdir()
    (tree / "d").write_bytes(b"was a folder")
    (tree / "link").unlink()
    (tree / "link").mkdir()
    (tree / "link/inside").write_bytes(b"was a link")
    (tree / "run.sh").chmod(0o644)
    (tree / "new").mkdir()
    (tree / "new/empty").write_bytes(b"")
    (tree / "new/bin").write_bytes(bytes(range(256)) * 5000)
    (tree / "new/tool").write_text("x")
    (tree / "new/tool").chmod(0o700)
    (tree / "out").symlink_to("/etc/passwd")
    (tree / "broken").symlink_to(b"nowhere\xff\n".decode("utf-8", "surrogateescape"))
    for name in (b"a b", b'q"uote', b"new\nline", b"cr\r", b"tab\t", b"\xff\xfe", b"back\\slash", b"-dash", b":colon",
                 b"*star", "é".encode(), b"end ", b"\x01\x7f"):  # fmt: skip
        Path(os.fsdecode(os.fsencode(tree / "new") + b"/" + name)).write_bytes(b"at " + name)
    (tree / "skip.o").write_text("ignored")
    taken = await take(wt)
    expected = on_disk(tree)
    del expected[b"skip.o"]
    assert in_commit(root, taken.sha) == expected
    assert taken.skipped == ()
    assert untouched(root) == before
    assert sh(tree, "status", "--porcelain") == ""


async def test_commit_is_on_the_branch_with_trailers_and_kept(root, wt):
    taken = await take(wt)
    assert sh(root, "rev-parse", "hub/s1", "refs/hub/s1/h1").split() == [taken.sha, taken.sha]
    assert first_parent(root, taken.sha) == wt.head
    body = sh(root, "log", "-1", "--format=%B", taken.sha)
    trailers = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=body, capture_output=True, text=True, check=True
    ).stdout
    for line in ("Hub-Session: s1", "Hub-Handoff: h1", f"Hub-Audit: 7:{'ab' * 32}"):
        assert line in trailers.splitlines()


async def test_a_session_that_began_on_anothers_snapshot_has_no_place_in_its_audit_log(root, wt):
    """After a restart it was held against the other's record, in a log that this `.hub` never had, and failed."""
    taken = await take(wt)
    await put_kept(root, "s2", BASE, taken.sha)
    assert await newest_anchor(root, "s1") == f"7:{'ab' * 32}"
    assert await newest_anchor(root, "s2") == ""
    assert await newest_anchor(root, "s3") == ""


async def test_a_snapshot_is_its_users_where_git_knows_one(root, wt, monkeypatch):
    """Whoever reads the branch asked who hub is."""
    show = ("log", "-1", "--format=%an <%ae>,%cn <%ce>")
    assert (
        sh(root, *show, (await take(wt)).sha).strip()
        == "t@example.com <t@example.com>,t@example.com <t@example.com>"
    )
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.delenv(name)
    (wt.path / "two.txt").write_text("2")
    assert sh(root, *show, (await take(wt, "h2")).sha).strip() == "hub <hub@localhost>,hub <hub@localhost>"
    sh(root, "config", "user.name", "Ada <\n> L")
    sh(root, "config", "user.email", "ada@example.com")
    (wt.path / "three.txt").write_text("3")
    assert sh(root, *show, (await take(wt, "h3")).sha).strip() == ",".join(["Ada  L <ada@example.com>"] * 2)


async def test_nothing_changed_is_a_commit_too(root, wt):
    """Every handoff has a sha."""
    first = await take(wt, "h1")
    second = await take(wt, "h2")
    assert first.sha != wt.head
    assert (first_parent(root, second.sha), second.tree) == (first.sha, first.tree)
    assert sh(root, "rev-list", "--count", f"{wt.head}..hub/s1").strip() == "2"


async def test_the_same_handoff_again_is_the_same_commit(root, wt):
    (wt.path / "n").write_text("n")
    first = await take(wt)
    again = await take(wt)
    assert again == first
    (wt.path / "n").write_text("more")
    later = await take(wt)
    assert first_parent(root, later.sha) == first.sha


async def test_changes_are_found_again_after_many_snapshots(root, wt):
    for turn in range(4):
        (wt.path / "a.txt").write_text(f"{turn}\n")
        (wt.path / f"new{turn}").write_text("same length")
        if turn == 2:
            (wt.path / "new0").unlink()
        taken = await take(wt, f"h{turn}")
        assert in_commit(root, taken.sha) == on_disk(wt.path)
    assert statuses(root, taken.sha) == {"a.txt": "M", "new3": "A"}
    (wt.path / "a.txt").write_text("a\n")
    back = await take(wt, "back")
    assert statuses(root, back.sha) == {"a.txt": "M"}


async def test_a_same_size_change_in_the_second_of_the_checkout_is_seen(root, wt):
    """git compares whole seconds: such a change is only found because the index's own time is kept."""
    (wt.path / "a.txt").write_text("b\n")
    assert in_commit(root, (await take(wt)).sha)[b"a.txt"] == ("100644", b"b\n")


async def test_a_changed_file_with_its_old_times_is_seen(root, wt):
    old = (wt.path / "a.txt").stat()
    await trio.sleep(0)
    (wt.path / "a.txt").write_text("b\n")
    os.utime(wt.path / "a.txt", ns=(old.st_atime_ns, old.st_mtime_ns))
    assert in_commit(root, (await take(wt)).sha)[b"a.txt"] == ("100644", b"b\n")


HOOKS = ("pre-commit", "commit-msg", "post-commit", "post-checkout", "reference-transaction", "post-index-change",
         "prepare-commit-msg", "update", "post-rewrite", "pre-auto-gc", "fsmonitor-watchman", "post-merge")  # fmt: skip


def plant(root: Path, tree: Path, marker: Path) -> None:
    """Everything that makes git run a program."""
    program = root.parent / "planted.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> {marker}\ntr a-z A-Z\n')
    program.chmod(0o755)
    hooks = root.parent / "hooks"
    for folder in (hooks, root / ".git/hooks"):
        folder.mkdir(exist_ok=True)
        for name in HOOKS:
            shutil.copy(program, folder / name)
    included = root.parent / "included"
    included.write_text(f'[filter "inc"]\n\tclean = {program}\n\tsmudge = {program}\n\trequired = true\n')
    values = {
        "core.hooksPath": hooks, "core.fsmonitor": program, "core.pager": program, "core.editor": program,
        "core.sshCommand": program, "core.askPass": program, "core.autocrlf": "true", "core.safecrlf": "false",
        "core.alternateRefsCommand": program, "core.untrackedCache": "true", "core.splitIndex": "true",
        "pager.log": program, "pager.diff": program, "sequence.editor": program, "gpg.program": program,
        "commit.gpgSign": "true", "tag.gpgSign": "true", "log.showSignature": "true", "diff.external": program,
        "diff.evil.textconv": program, "diff.evil.command": program, "merge.evil.driver": f"{program} %O",
        "filter.evil.clean": program, "filter.evil.smudge": program, "filter.evil.required": "true",
        "filter.proc.process": program, "filter.a.b=c.clean": program, "credential.helper": program,
        "include.path": included, "alias.commit-tree": f"!{program}", "alias.status": f"!{program}",
        "uploadpack.packObjectsHook": program, "gc.auto": "1", "interactive.diffFilter": program,
    }  # fmt: skip
    for key, value in values.items():
        sh(root, "config", key, str(value))
    (tree / ".gitattributes").write_text(
        "*.txt filter=evil diff=evil merge=evil text\n*.proc filter=proc\n*.inc filter=inc diff=evil\n*.eol eol=crlf\n"
    )
    for name in ("crlf.txt", "x.proc", "y.inc", "z.eol", "mixed.md"):
        (tree / name).write_bytes(b"lower\r\ncase\n")


async def test_nothing_that_was_planted_runs_and_bytes_stay_exact(root, wt, tmp_path):
    """Security rows 7 to 9. `git add` in the same tree does run the filter: the trap is a real one."""
    from hub.io.git.snapshot import snapshot

    marker = tmp_path / "ran"
    plant(root, wt.path, marker)
    taken = await take(wt)
    await tree_hash(wt.path, root=wt.path.parents[2])
    await session_diff(root, "main", "hub/s1")
    await commit_diff(root, taken.sha)
    await rewind(root, taken.sha)
    await snapshots(root)
    await repo_state(root)
    sh(root, "branch", "-f", "other", "hub/s1")
    sh_base = subprocess.run(
        ["git", "rev-parse", "hub/s1"], cwd=root, capture_output=True, text=True, check=True
    )
    marker.unlink(missing_ok=True)
    second = Places(root).worktree("s2")
    await add_worktree(root, second, "hub/s2", sh_base.stdout.strip())
    (root / "dirty.txt").write_bytes(b"dirty\r\n")
    await add_worktree(root, Places(root).worktree("s3"), "hub/s3", sh_base.stdout.strip(), carry_dirty=True)
    await snapshot(second, "s2", "h1", {}, root=root)
    assert not marker.exists(), marker.read_text()
    stored = in_commit(root, taken.sha)
    for name in (b"crlf.txt", b"x.proc", b"y.inc", b"z.eol", b"mixed.md"):
        assert stored[name] == ("100644", b"lower\r\ncase\n")
    subprocess.run(["git", "add", "crlf.txt"], cwd=wt.path, capture_output=True, check=False)
    assert marker.exists(), "the control did not run: the trap is broken"


async def test_programs_planted_since_the_start_are_named(root, tmp_path):
    """hub runs none of them, the user's own git would: a new one, and an old one's new value; nothing of the user's."""
    sh(root, "config", "filter.lfs.clean", "git-lfs clean -- %f")
    sh(root, "config", "core.editor", "vi")
    wt = await session(root)
    assert (await take(wt)).notes == ()
    sh(root, "config", "user.name", "somebody")
    assert (await take(wt, "h2")).notes == ()
    sh(root, "config", "core.fsmonitor", "/tmp/evil")
    sh(root, "config", "filter.lfs.clean", "/tmp/evil")
    (tmp_path / "more").write_text("[diff]\n\texternal = /tmp/evil\n")
    sh(root, "config", "include.path", str(tmp_path / "more"))
    (note,) = (await take(wt, "h3")).notes
    names = "core.fsmonitor, diff.external, filter.lfs.clean, include.path"
    assert note == f"the repository's configuration names programs it did not name at the start: {names}"


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("include.path", "more", ["-f", "more", "diff.external"]),
        ("extensions.worktreeConfig", "true", ["--worktree", "core.pager"]),
    ],
    ids=["an included file", "a worktree's own file"],
)
async def test_what_another_file_than_the_repositorys_own_says_later_is_named(root, before, value, after):
    """Bug: the repository's own file stayed as it was, so nobody looked at what it includes, or what is beside it."""
    sh(root, "config", before, value)
    wt = await session(root)
    assert (await take(wt)).notes == ()
    sh(root / ".git", "config", *after, "/tmp/evil")
    (note,) = (await take(wt, "h2")).notes
    assert note.endswith(f": {after[-1]}")


async def test_hooks_planted_since_the_start_are_named(root):
    """Bug: a hook that an agent laid into the shared repository, for the user's own git, was told by nobody."""
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-push", "post-merge"):
        (hooks / name).write_text("#!/bin/sh\n")
        (hooks / name).chmod(0o755)
    wt = await session(root)
    assert (await take(wt)).notes == ()
    (hooks / "pre-push").write_text("#!/bin/sh\nevil\n")
    (hooks / "pre-commit").symlink_to("/bin/true")
    (hooks / "idle").write_text("not to be run")
    (note,) = (await take(wt, "h2")).notes
    assert note.endswith(": hooks/pre-commit, hooks/pre-push")


def test_no_command_that_loses_work_is_in_the_source():
    """P3: no reset, clean, stash or forced removal, ever. Read from the calls themselves."""
    forbidden = {"reset", "clean", "stash", "checkout", "switch", "restore", "rm", "remove", "prune", "gc", "rebase",
                 "merge", "add", "commit", "--hard", "--force", "-f", "-D"}  # fmt: skip
    # A forced fast-import writes to the shadow only; checkout-index fills a worktree no agent has had;
    # `worktree add` makes one.
    allowed = {("fast-import", "--force"), ("checkout-index", "-f"), ("worktree", "add")}
    commands = set()
    for path in Path(git_snapshot.__file__).parent.glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            name = getattr(getattr(call, "func", None), "id", "")
            if isinstance(call, ast.Call) and name in {"git", "git_capped"}:
                words = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
                assert words, f"{ast.unparse(call)} in {path.name} does not show its command"
                commands.add(words[0])
                for word in words:
                    assert word not in forbidden or (words[0], word) in allowed, f"{words} in {path.name}"
    assert {"diff-files", "fast-import", "update-ref", "read-tree"} <= commands, "the calls were not found"


@pytest.mark.parametrize("style", ["add", "partly", "new"])
async def test_what_was_staged_is_not_lost_and_status_is_true(root, wt, style):
    (wt.path / "a.txt").write_text("staged\n")
    if style == "new":
        (wt.path / "fresh").write_text("staged\n")
    sh(wt.path, "add", "-A")
    staged_tree = sh(wt.path, "write-tree").strip()
    if style != "add":
        (wt.path / "a.txt").write_text("later\n")
    if style == "new":
        (wt.path / "fresh").unlink()
    await take(wt)
    assert sh(wt.path, "status", "--porcelain") == ""
    kept = sh(root, "rev-parse", "-q", "--verify", "refs/hub/s1/h1-index^{tree}", check=False).strip()
    assert kept == ("" if style == "add" else staged_tree)
    await take(wt, "h2")
    assert sh(root, "for-each-ref", "refs/hub/s1/h2-index") == ""


async def test_what_was_staged_in_an_index_of_two_parts_is_not_lost(root, wt):
    """`core.splitIndex`: most of it lies in a `sharedindex.*` beside it. A pipe that is called so is in nobody's way."""
    os.mkfifo(root / ".git/worktrees/s1/sharedindex.0")
    (wt.path / "fresh").write_text("staged\n")
    sh(wt.path, "add", "fresh")
    sh(wt.path, "update-index", "--split-index")
    (wt.path / "fresh").unlink()
    await take(wt)
    assert sh(root, "show", "refs/hub/s1/h1-index:fresh") == "staged\n"


async def test_a_setting_about_names_that_is_not_so_hides_nothing(root):
    """`core.ignoreCase` in a file system that tells them apart: git speaks of no `A.TXT` beside `a.txt`."""
    sh(root, "config", "core.ignoreCase", "true")
    wt = await session(root)
    for name in ("A.TXT", "D/B.txt"):
        (wt.path / name).parent.mkdir(exist_ok=True)
        (wt.path / name).write_text("agent\n")
    assert in_commit(root, (await take(wt)).sha) == on_disk(wt.path)


async def test_the_agents_own_commits_are_the_parent(root, wt):
    (wt.path / "a.txt").write_text("mine\n")
    sh(wt.path, "commit", "-q", "-a", "-m", "agent's")
    mine = sh(wt.path, "rev-parse", "HEAD").strip()
    (wt.path / "b").write_text("after")
    taken = await take(wt)
    assert first_parent(root, taken.sha) == mine
    assert statuses(root, taken.sha) == {"b": "A"}


async def test_ignored_but_tracked_stays(root, wt):
    """`git add -f`, committed or only staged: tracked is tracked."""
    (wt.path / "committed.o").write_text("1")
    sh(wt.path, "add", "-f", "committed.o")
    sh(wt.path, "commit", "-q", "-m", "forced")
    (wt.path / "staged.o").write_text("2")
    sh(wt.path, "add", "-f", "staged.o")
    (wt.path / "loose.o").write_text("3")
    taken = await take(wt)
    names = set(in_commit(root, taken.sha))
    assert {b"committed.o", b"staged.o"} <= names
    assert b"loose.o" not in names
    (wt.path / "committed.o").unlink()
    assert b"committed.o" not in in_commit(root, (await take(wt, "h2")).sha)


async def test_nested_repositories_keep_their_files(root, wt):
    nested = wt.path / "vendor/lib"
    make_repo(nested.parent.parent / "tmp")
    nested.parent.mkdir()
    (wt.path / "tmp").rename(nested)
    make_repo(nested / "deep")
    (nested / "deep/x.o").write_text("ignored inside")
    (nested / "untracked").write_text("u")
    # An agent that runs `git add .` makes a link of it, and would lose the files.
    sh(wt.path, "add", "-A")
    sh(wt.path, "commit", "-q", "-m", "oops")
    assert "160000" in sh(wt.path, "ls-tree", "-r", "HEAD")
    taken = await take(wt)
    stored = in_commit(root, taken.sha)
    assert stored[b"vendor/lib/untracked"] == ("100644", b"u")
    assert stored[b"vendor/lib/deep/d/b.txt"] == ("100644", b"b\n")
    assert b"vendor/lib/deep/x.o" not in stored
    assert not [name for name in stored if b".git/" in name]
    assert {skip.path for skip in taken.skipped} == {"vendor/lib/.git", "vendor/lib/deep/.git"}


def write_deep(folder):
    """A file whose path is longer than a system call takes."""
    where = os.open(folder, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("x" * 250, dir_fd=where)
        below = os.open("x" * 250, os.O_RDONLY, dir_fd=where)
        os.close(where)
        where = below
    os.close(os.open("deep.txt", os.O_WRONLY | os.O_CREAT, dir_fd=where))
    os.close(where)


async def test_submodules_keep_their_commit_and_are_named(root, tmp_path):
    make_repo(tmp_path / "sub")
    sh(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "sub"), "sub")
    sh(root, "commit", "-q", "-m", "with a submodule")
    wt = await session(root)
    untouched_sub = await take(wt, "h0")
    assert in_commit(root, untouched_sub.sha)[b"sub"][0] == "160000"
    sh(wt.path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    (wt.path / "sub/new").write_text("x")
    sh(wt.path / "sub", "add", "-A")
    sh(wt.path / "sub", "commit", "-q", "-m", "inside")
    inside = sh(wt.path / "sub", "rev-parse", "HEAD").strip()
    taken = await take(wt)
    assert inside in sh(root, "ls-tree", taken.sha, "sub")
    assert [skip.path for skip in taken.skipped] == ["sub"]


async def test_what_an_agent_writes_into_an_empty_submodule_is_named(root, tmp_path):
    """git tells of nothing below one; the user's own that were put there are no agent's work."""
    make_repo(tmp_path / "sub")
    for name in ("sub", "lent"):
        sh(root, "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(tmp_path / "sub"), name)
    sh(root, "commit", "-q", "-m", "with submodules")
    wt = await session(root)
    note_yours(wt.kept_index, [b"lent/mine"])
    (wt.path / "lent/mine").write_text("x")
    assert (await take(wt)).skipped == ()
    write_deep(wt.path / "sub")
    (named,) = (await take(wt, "h2")).skipped
    assert (named.path, "not filled" in named.reason) == ("sub", True), "also where nobody sees what"


async def test_what_is_no_file_is_named_and_not_opened(root, wt, monkeypatch):
    os.mkfifo(wt.path / "fifo")
    (wt.path / "a.txt").unlink()
    os.mkfifo(wt.path / "a.txt")
    monkeypatch.chdir(wt.path)  # a socket's path may have 108 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
    with trio.fail_after(20):
        taken = await take(wt)
    assert {skip.path for skip in taken.skipped} == {"a.txt", "fifo", "sock"}
    assert b"a.txt" not in in_commit(root, taken.sha)


async def test_specials_are_found_in_old_and_new_folders(wt):
    """Git does not speak of them; nothing below a link is the tree's."""
    os.mkfifo(wt.path / "d/in-old")
    (wt.path / "d/new/deep").mkdir(parents=True)
    os.mkfifo(wt.path / "d/new/deep/in-new")
    (wt.path / "out").symlink_to("/dev")
    expected = {"d/in-old", "d/new/deep/in-new"}
    assert {skip.path for skip in (await take(wt, "h1")).skipped} == expected
    assert {skip.path for skip in (await take(wt, "h2")).skipped} == expected


@pytest.mark.parametrize("name", [".GIT/x", "d/git~1/x", ".git ./x", "d/.Git"])
async def test_names_git_cannot_hold_are_named(root, wt, name):
    (wt.path / name).parent.mkdir(parents=True, exist_ok=True)
    (wt.path / name).write_text("x")
    (wt.path / "good").write_text("x")
    taken = await take(wt)
    assert [skip.path for skip in taken.skipped] == [name]
    assert b"good" in in_commit(root, taken.sha)
    assert sh(root, "fsck", "--strict", taken.sha) == ""


async def test_links_never_lead_out_of_the_tree(root, tmp_path):
    """Security row 27: a tracked folder that became a link to somewhere with the same names."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/b.txt").write_text("secret")
    wt = await session(root)
    shutil.rmtree(wt.path / "d")
    (wt.path / "d").symlink_to(tmp_path / "outside")
    stored = in_commit(root, (await take(wt)).sha)
    assert stored[b"d"] == ("120000", os.fsencode(tmp_path / "outside"))
    assert b"d/b.txt" not in stored


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
async def test_unreadable_files_keep_what_was_there_and_are_named(root, wt):
    (wt.path / "a.txt").write_text("changed")
    (wt.path / "a.txt").chmod(0)
    taken = await take(wt)
    assert [skip.path for skip in taken.skipped] == ["a.txt"]
    assert in_commit(root, taken.sha)[b"a.txt"] == ("100644", b"a\n")


_WITHOUT_ROOTS_POWERS = (
    ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
)
_SKIPPED = """
import sys, trio
from functools import partial
from pathlib import Path
from hub.io.git.discarding import left_of
from hub.io.git.snapshot import snapshot
root, wt = map(Path, sys.argv[1:])
for skip in trio.run(partial(snapshot, wt, "s1", "h1", {}, root=root)).skipped:
    print(skip.path, skip.reason)
print(trio.run(left_of, root, "s1").hands)
"""


async def test_folders_that_cannot_be_read_are_named_and_stay(root, wt):
    """git passes over them with a warning: nothing was said of them, and `hub clean` removed them."""
    shut = [wt.path / name for name in ("shut", "a\nb", "data.o")]
    for folder in shut:
        folder.mkdir()
        (folder / "work.txt").write_text("x")
    shut.append(wt.path / "d")
    for folder in shut:
        folder.chmod(0)
    words = [*_WITHOUT_ROOTS_POWERS, sys.executable, "-c", _SKIPPED, str(root), str(wt.path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    for folder in shut:
        folder.chmod(0o700)
    why = "cannot be read: Permission denied"
    assert done.stdout == f"a\nb/ {why}\nd/ {why}\nshut/ {why}\nedited\n", done.stderr
    assert in_commit(root, "hub/s1")[b"d/b.txt"] == ("100644", b"b\n")


async def test_what_lies_deeper_than_git_can_name_is_named_and_stays(root, wt):
    """Only folders without a permission were."""
    (wt.path / "work.txt").write_text("x")
    write_deep(wt.path)
    [skipped] = (await take(wt)).skipped
    assert skipped.path.startswith("x" * 250 + "/")
    assert skipped.reason == "cannot be read: File name too long"
    assert (await left_of(root, "s1")).hands is Hands.UNTAKEN


async def test_an_index_lock_left_behind_does_not_matter(root, wt):
    """X6: git killed in the agent's hands."""
    (root / ".git/worktrees/s1/index.lock").write_text("")
    (wt.path / "a.txt").write_text("x")
    taken = await take(wt)
    assert in_commit(root, taken.sha)[b"a.txt"] == ("100644", b"x")
    assert any("index.lock" in note for note in taken.notes)
    assert (root / ".git/worktrees/s1/index.lock").exists()
    assert sh(wt.path, "--no-optional-locks", "status", "--porcelain") == ""


@pytest.mark.parametrize("damage", ["delete", "junk", "empty", "folder"])
async def test_the_agents_damaged_index_is_made_good(root, wt, damage):
    index = root / ".git/worktrees/s1/index"
    match damage:
        case "delete":
            index.unlink()
        case "junk":
            index.write_bytes(b"junk" * 100)
        case "empty":
            index.write_bytes(b"")
        case "folder":
            index.unlink()
            index.mkdir()
            (index / "kept").touch()
    (wt.path / "new").write_text("x")
    taken = await take(wt)
    assert in_commit(root, taken.sha) == on_disk(wt.path)
    assert sh(wt.path, "status", "--porcelain") == ""
    assert len([*index.parent.rglob("kept")]) == (damage == "folder")


async def test_flags_the_agent_set_do_not_hide_changes(root, wt):
    sh(wt.path, "update-index", "--assume-unchanged", "a.txt")
    sh(wt.path, "update-index", "--skip-worktree", "d/b.txt")
    (wt.path / "a.txt").write_text("hidden")
    (wt.path / "d/b.txt").write_text("hidden")
    assert in_commit(root, (await take(wt)).sha) == on_disk(wt.path)


@pytest.mark.parametrize("how", [("--cone",), ("--no-cone",), ("--cone", "--sparse-index")])
async def test_what_the_agents_sparse_checkout_leaves_out_is_not_deleted(root, wt, how):
    """The snapshot had every file outside the cone as deleted, and so had whoever took the work."""
    tree = wt.path
    (tree / "d/new.txt").write_text("committed, then out of sight\n")
    (tree / "e").mkdir()
    (tree / "e/seen.txt").write_text("seen\n")
    sh(tree, "add", "-A")
    sh(tree, "commit", "-q", "-m", "more")
    whole = in_commit(root, wt.branch)
    sh(tree, "sparse-checkout", "set", *how, "e")
    assert not (tree / "d").exists()
    (tree / "e/seen.txt").write_text("changed\n")
    taken = await take(wt)
    assert in_commit(root, taken.sha) == {**whole, b"e/seen.txt": ("100644", b"changed\n")}
    assert sh(tree, "status", "--porcelain") == ""
    assert await tree_hash(tree, root=root) == taken.tree

    (tree / "d").mkdir()
    (tree / "d/b.txt").write_text("made anew\n")
    (tree / "e/seen.txt").unlink()
    again = in_commit(root, (await take(wt, "h2")).sha)
    assert again == {
        **{k: v for k, v in whole.items() if k[:2] != b"e/"},
        b"d/b.txt": ("100644", b"made anew\n"),
    }


async def test_a_file_in_the_place_of_a_folder_out_of_sight_takes_its_place(root, wt):
    sh(wt.path, "sparse-checkout", "set", "--cone", "e")
    (wt.path / "d").write_text("was a folder\n")
    found = in_commit(root, (await take(wt)).sha)
    assert found[b"d"][1] == b"was a folder\n"
    assert b"d/b.txt" not in found


async def conflict(root):
    wt = await session(root)
    sh(wt.path, "checkout", "-q", "-b", "side")
    (wt.path / "a.txt").write_text("side\n")
    sh(wt.path, "commit", "-q", "-a", "-m", "side")
    sh(wt.path, "checkout", "-q", "hub/s1")
    (wt.path / "a.txt").write_text("ours\n")
    sh(wt.path, "commit", "-q", "-a", "-m", "ours")
    return wt


async def test_a_merge_in_progress_stays_one(root):
    wt = await conflict(root)
    sh(wt.path, "merge", "side", check=False)
    (wt.path / "new").write_text("x")
    taken = await take(wt)
    assert in_commit(root, taken.sha) == on_disk(wt.path)
    assert b"<<<<<<<" in in_commit(root, taken.sha)[b"a.txt"][1]
    assert sh(wt.path, "status", "--porcelain") == "UU a.txt\n"
    (wt.path / "a.txt").write_text("both\n")
    sh(wt.path, "add", "-A")
    sh(wt.path, "commit", "-q", "--no-edit")
    assert sh(wt.path, "rev-parse", "HEAD^1", "HEAD^2").split() == [
        taken.sha,
        sh(root, "rev-parse", "side").strip(),
    ]


async def test_a_rebase_in_progress_stays_one(root):
    wt = await conflict(root)
    ours = sh(root, "rev-parse", "hub/s1").strip()
    sh(wt.path, "rebase", "side", check=False)
    assert sh(wt.path, "symbolic-ref", "-q", "HEAD", check=False) == ""
    status = sh(wt.path, "status", "--porcelain")
    taken = await take(wt)
    assert in_commit(root, taken.sha) == on_disk(wt.path)
    assert sh(wt.path, "status", "--porcelain") == status
    parents = sh(root, "rev-parse", "hub/s1^1", "hub/s1^2").split()
    assert parents == [sh(root, "rev-parse", "side").strip(), ours]


async def test_detached_head_behind_and_ahead_of_the_branch(root, wt):
    first = await take(wt, "h0")
    sh(wt.path, "checkout", "-q", "--detach", wt.head)
    behind = await take(wt, "h1")
    assert sh(root, "rev-parse", f"{behind.sha}^1", f"{behind.sha}^2").split() == [wt.head, first.sha]
    sh(wt.path, "checkout", "-q", "--detach", "hub/s1")
    sh(wt.path, "commit", "-q", "--allow-empty", "-m", "ahead")
    ahead = sh(wt.path, "rev-parse", "HEAD").strip()
    taken = await take(wt, "h2")
    assert sh(root, "rev-list", "--parents", "-1", taken.sha).split()[1:] == [ahead]
    assert sh(root, "rev-parse", "hub/s1").strip() == taken.sha
    assert (await take(wt, "h2")).sha == taken.sha


async def test_on_another_branch_that_branch_is_left_alone(root, wt):
    sh(wt.path, "checkout", "-q", "-b", "feature")
    (wt.path / "new").write_text("x")
    sh(wt.path, "add", "new")
    feature = sh(root, "rev-parse", "feature")
    taken = await take(wt)
    assert sh(root, "rev-parse", "feature") == feature
    assert sh(wt.path, "status", "--porcelain") == "A  new\n"
    assert sh(root, "rev-parse", "hub/s1").strip() == taken.sha


async def test_an_orphan_head_has_the_branch_as_parent(root, wt):
    sh(wt.path, "checkout", "-q", "--orphan", "fresh")
    taken = await take(wt)
    assert first_parent(root, taken.sha) == wt.head


@pytest.mark.parametrize("log", [True, False])
async def test_a_deleted_branch_is_made_anew(root, wt, log):
    """X6. With the worktree's log at the agent's own last commit, without it at the newest kept snapshot."""
    first = await take(wt, "h0")
    sh(wt.path, "commit", "-q", "--allow-empty", "-m", "agent's")
    mine = sh(wt.path, "rev-parse", "HEAD").strip()
    sh(root, "update-ref", "-d", "refs/heads/hub/s1")
    if not log:
        (root / ".git/worktrees/s1/logs/HEAD").unlink()
    taken = await take(wt, "h1")
    assert first_parent(root, taken.sha) == (mine if log else first.sha)
    assert any("was gone" in note for note in taken.notes)


async def test_a_deleted_branch_is_not_made_anew_at_a_commit_of_the_users(root, wt, monkeypatch):
    """Bug: what was taken while the agent worked was the newest that is kept, and the work went on from there."""
    first = await take(wt, "h0")
    with monkeypatch.context() as later:
        later.setenv("GIT_COMMITTER_DATE", "@4102444800 +0000")
        mine = sh(root, "commit-tree", "main^{tree}", "-p", "main", "-m", "taken").strip()
    await put_kept(root, "s1", TAKE, mine)
    sh(root, "update-ref", "-d", "refs/heads/hub/s1")
    assert first_parent(root, (await take(wt, "h1")).sha) == first.sha


async def test_a_deleted_branch_with_nothing_kept_is_said(root, wt):
    sh(root, "update-ref", "-d", "refs/heads/hub/s1")
    sh(root, "update-ref", "-d", "refs/hub/s1/base")
    with refuses(Code.BRANCH_MISSING):
        await take(wt)


def _elsewhere(wt, tmp_path):
    other = make_repo(tmp_path / "other")
    (wt.path / ".git").write_text(f"gitdir: {other / '.git'}\n")


def _no_file(wt, tmp_path):
    (wt.path / ".git").unlink()


def _own_repository(wt, tmp_path):
    (wt.path / ".git").unlink()
    sh(wt.path, "init", "-q")


def _link(wt, tmp_path):
    shutil.copy(wt.path / ".git", tmp_path / "copy")
    (wt.path / ".git").unlink()
    (wt.path / ".git").symlink_to(tmp_path / "copy")


def _junk(wt, tmp_path):
    (wt.path / ".git").write_bytes(b"\xff\x00" * 9000)


def _no_path(wt, tmp_path):
    (wt.path / ".git").write_bytes(b"gitdir: a\0b\n")


def _unregistered(wt, tmp_path):
    shutil.rmtree(wt.path.parents[2] / ".git/worktrees/s1")


def _foreign_commondir(wt, tmp_path):
    (wt.path.parents[2] / ".git/worktrees/s1/commondir").write_text(f"{tmp_path}\n")


def _no_head(wt, tmp_path):
    """git says of it that there is no repository, and hub said to make one."""
    (wt.path.parents[2] / ".git/worktrees/s1/HEAD").write_text("garbage\n")


def _replaced_by_link(wt, tmp_path):
    wt.path.rename(tmp_path / "moved")
    wt.path.symlink_to(tmp_path / "moved")


def _deleted(wt, tmp_path):
    """X5."""
    shutil.rmtree(wt.path)


@pytest.mark.parametrize(
    "tamper",
    [
        _elsewhere,
        _no_file,
        _own_repository,
        _link,
        _junk,
        _no_path,
        _unregistered,
        _foreign_commondir,
        _no_head,
        _replaced_by_link,
        _deleted,
    ],
)
async def test_a_tampered_worktree_is_said(wt, tmp_path, tamper):
    """Security row 8."""
    tamper(wt, tmp_path)
    for call in (take(wt), tree_hash(wt.path, root=wt.path.parents[2])):
        with refuses(Code.WORKTREE_MISSING if tamper is _deleted else Code.WORKTREE_TAMPERED):
            await call


@pytest.mark.parametrize("left", ["as it was", "changed"])
async def test_the_agents_index_is_never_a_second_name_of_hubs_own(root, wt, left):
    """The next one is made from that name: what wrote to the agent's in place would change what hub believes."""
    before = wt.kept_index.read_bytes()
    (wt.path / "a.txt").write_text("staged\n")
    sh(wt.path, "add", "a.txt")
    (wt.path / "a.txt").write_text("a\n" if left == "as it was" else "again\n")
    taken = await take(wt)
    agents = Path(sh(wt.path, "rev-parse", "--path-format=absolute", "--git-path", "index").strip())
    assert not agents.samefile(wt.kept_index)
    assert wt.kept_index.stat().st_nlink == 1
    assert wt.kept_index.read_bytes() == before
    assert sh(wt.path, "write-tree").strip() == taken.tree


@pytest.mark.parametrize("loss", ["index", "everything", "note", "half"])
async def test_hubs_own_index_can_be_made_anew(root, wt, loss):
    (wt.path / "a.txt").write_text("1\n")
    await take(wt, "h0")
    (wt.path / "b").write_text("2\n")
    gitdir = wt.kept_index.with_name("index.gitdir")
    match loss:
        case "index":
            wt.kept_index.unlink()
        case "everything":
            shutil.rmtree(wt.kept_index.parent)
        case "note":
            (gitdir / "base-tree").unlink()
            (gitdir / "agent-index").unlink()
        case "half":
            (gitdir / "next-index").write_bytes(b"x")
            (gitdir / "next-index.lock").write_bytes(b"x")
            (gitdir / "base-tree").write_text("junk")
            (gitdir / "agent-index").write_text("junk")
    taken = await take(wt)
    assert in_commit(root, taken.sha) == on_disk(wt.path)
    assert statuses(root, taken.sha) == {"b": "A"}


@pytest.mark.parametrize(("changes", "settled"), [(1, [False, False]), (9, [False, False, True])])
async def test_a_file_that_changes_meanwhile_is_stored_whole(root, wt, monkeypatch, changes, settled):
    """One that never holds still is taken as it is at the third look."""
    calls = []

    async def meddled(*args, **more):
        calls.append(more["settle"])
        if len(calls) <= changes:
            (wt.path / "log").write_text(f"{len(calls)}")
        return await real_store(*args, **more)

    (wt.path / "log").write_text("0")
    monkeypatch.setattr(git_snapshot, "store_commit", meddled)
    taken = await take(wt)
    assert calls == settled
    assert in_commit(root, taken.sha)[b"log"] == ("100644", b"%d" % min(changes, len(calls)))


async def test_a_large_file_is_stored_once(root, wt, monkeypatch):
    """Each snapshot wrote it again, to find out at its end that it was there: gigabytes, for a line in another file."""
    stored = []

    def noted(tree, path, size):
        stored.append(path)
        return real_reread(tree, path, size)

    monkeypatch.setattr("hub.io.git.store.reread", noted)
    data = os.urandom(1 << 20)
    for name in ("one.dat", "two.dat"):
        (wt.path / name).write_bytes(data)
    sh(wt.path, "add", "one.dat")  # a loose object, which nobody has seen to the disk
    taken = [await take(wt, "h1")]
    assert stored == [b"one.dat", b"two.dat"]
    (wt.path / "two.dat").unlink()
    (wt.path / "a.txt").write_text("more\n")
    taken.append(await take(wt, "h2"))
    assert stored[2:] == [b"a.txt"]
    assert in_commit(root, taken[1].sha) == on_disk(wt.path)


async def test_a_file_that_goes_away_meanwhile_is_gone(root, wt, monkeypatch):
    (wt.path / "log").write_text("0")

    async def meddled(*args, **more):
        (wt.path / "log").unlink(missing_ok=True)
        return await real_store(*args, **more)

    monkeypatch.setattr(git_snapshot, "store_commit", meddled)
    assert b"log" not in in_commit(root, (await take(wt)).sha)


async def test_a_branch_that_moves_meanwhile_is_followed(root, wt, monkeypatch):
    """Compare-and-swap: what came in between is a parent, never lost."""
    (wt.path / "n").write_text("n")
    moved = []

    async def meddled(*args, **more):
        if not moved:
            sh(wt.path, "commit", "-q", "--allow-empty", "-m", "meanwhile")
            moved.append(sh(wt.path, "rev-parse", "HEAD").strip())
        return await real_store(*args, **more)

    monkeypatch.setattr(git_snapshot, "store_commit", meddled)
    taken = await take(wt)
    assert first_parent(root, taken.sha) == moved[0]
    assert sh(root, "rev-parse", "hub/s1").strip() == taken.sha


async def test_the_clock_may_go_back(root, wt, monkeypatch):
    """F8: commit dates never fall behind their parents'."""
    monkeypatch.setattr(time, "time", lambda: 1_000_000.0)
    taken = await take(wt)
    dates = sh(root, "log", "-2", "--format=%ct", taken.sha).split()
    assert dates[0] >= dates[1]


async def test_a_full_disk_is_said_and_moves_nothing(root, wt):
    (wt.path / "n").write_text("n")
    tip = sh(root, "rev-parse", "hub/s1")
    small = root / ".git/objects/pack"
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True, check=False
    ).returncode:
        pytest.skip("this system lets no test mount a file system: the full disk was NOT tried")
    try:
        (wt.path / "big").write_bytes(os.urandom(1_000_000))
        with pytest.raises(HubError) as caught:
            await take(wt)
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert caught.value.code is Code.NO_SPACE
    assert sh(root, "rev-parse", "hub/s1") == tip
    assert in_commit(root, (await take(wt)).sha) == on_disk(wt.path)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("spot", range(1, 10))
async def test_killed_at_any_git_the_redo_ends_the_same(root, wt, spot, when):
    """F4 and F5: same tree hash, the ref compared and swapped, the user's own untouched."""
    (wt.path / "a.txt").write_text("work\n")
    (wt.path / "new").write_text("more\n")
    sh(wt.path, "add", "new")
    before = untouched(root)
    what = (
        "from functools import partial\n"
        "from hub.io.git.snapshot import snapshot\n"
        "tree = root / '.hub/worktrees/s1'\n"
        "trio.run(partial(snapshot, tree, 's1', 'h1', {}, root=root))"
    )
    killed = killed_at(root, what, spot, when)
    swept(root)
    first = sh(root, "rev-parse", "-q", "--verify", "refs/hub/s1/h1", check=False).strip()
    taken = await snapshot(wt.path, "s1", "h1", {}, root=wt.path.parents[2])
    assert killed or first
    assert in_commit(root, taken.sha) == on_disk(wt.path)
    assert first_parent(root, taken.sha) == wt.head
    assert statuses(root, taken.sha).keys() == {"a.txt", "new"}
    assert sh(root, "rev-parse", "hub/s1", "refs/hub/s1/h1").split() == [taken.sha] * 2
    assert first in {"", taken.sha}
    assert sh(wt.path, "status", "--porcelain") == ""
    assert untouched(root) == before


async def test_cancelled_at_any_moment_it_leaves_no_process_and_works_again(root, wt):
    (wt.path / "n").write_text("n")
    for tick in range(8):
        with trio.move_on_after(tick * 0.006):
            await take(wt)
    mine = subprocess.run(
        ["ps", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    )
    assert "git " not in mine.stdout
    assert in_commit(root, (await take(wt)).sha) == on_disk(wt.path)


async def test_tree_hash_is_the_snapshots_tree_and_leaves_nothing(root, wt):
    (wt.path / "a.txt").write_text("x\n")
    (wt.path / "forced.o").write_text("x\n")
    sh(wt.path, "add", "-f", "forced.o")
    (wt.path / "n").write_text("y")
    refs, objects = sh(root, "for-each-ref"), sh(root, "count-objects", "-v")
    index = (root / ".git/worktrees/s1/index").read_bytes()
    found = await tree_hash(wt.path, root=wt.path.parents[2])
    assert (sh(root, "for-each-ref"), sh(root, "count-objects", "-v")) == (refs, objects)
    assert (root / ".git/worktrees/s1/index").read_bytes() == index
    taken = await take(wt)
    assert taken.tree == found == await tree_hash(wt.path, root=wt.path.parents[2])


@pytest.mark.parametrize(("name", "form"), [("repo", "sha256"), ('we ird"é\n:x', "sha1")])
async def test_another_object_format_and_a_strange_place(tmp_path, name, form):
    root = make_repo(tmp_path / name, f"--object-format={form}")
    wt = await session(root)
    (wt.path / "n").write_text("n")
    taken = await take(wt)
    assert len(taken.sha) == {"sha1": 40, "sha256": 64}[form]
    assert in_commit(root, taken.sha) == on_disk(wt.path)
    assert await tree_hash(wt.path, root=wt.path.parents[2]) == taken.tree


@pytest.mark.parametrize("bad", ["", "../x", "a/b", "A", "-x", "x" * 65, "a b"])
async def test_ids_are_ids(wt, bad):
    for session_id, handoff in ((bad, "h1"), ("s1", bad)):
        with pytest.raises(ValueError, match="id"):
            await snapshot(wt.path, session_id, handoff, {}, root=wt.path.parents[2])


async def test_a_trailer_cannot_smuggle_another(wt):
    with pytest.raises(ValueError, match="one line"):
        await snapshot(wt.path, "s1", "h1", {"Hub-Audit": "1:a\nHub-Session: other"}, root=wt.path.parents[2])


@pytest.mark.parametrize("setting", ["true", "input", "false"])
async def test_exact_bytes_whatever_autocrlf_says(tmp_path, setting):
    root = make_repo(tmp_path / "repo")
    (root / ".gitattributes").write_text("*.bat text eol=crlf\n*.uc ident\n")
    (root / "x.bat").write_bytes(b"echo\n")
    (root / "i.uc").write_bytes(b"$Id$\n")
    sh(root, "config", "core.autocrlf", setting)
    sh(root, "config", "core.safecrlf", "false")
    sh(root, "add", "-A")
    sh(root, "commit", "-q", "-m", "attributes")
    wt = await session(root)
    assert (wt.path / "x.bat").read_bytes() == b"echo\r\n"
    idle = await take(wt, "h0")
    assert statuses(root, idle.sha) == {}, "what nobody touched is what was committed"
    (wt.path / "a.txt").write_bytes(b"crlf\r\nlf\n")
    (wt.path / "x.bat").write_bytes(b"lf only\n")
    (wt.path / "i.uc").write_bytes(b"$Id: 123 $\n")
    stored = in_commit(root, (await take(wt)).sha)
    assert stored[b"a.txt"][1] == b"crlf\r\nlf\n"
    assert stored[b"x.bat"][1] == b"lf only\n"
    assert stored[b"i.uc"][1] == b"$Id: 123 $\n"


NAMES = st.sampled_from(
    ["a.txt", "d", "d/b.txt", "run.sh", "link", "n", "n/x", "n/x/y", "é", "sp ace", "w\nl", "k.o"]
)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, st.sampled_from([b"", b"a\n", b"b\n", b"a\r\n", b"\xff\x00"])),
        st.tuples(st.just("link"), NAMES, st.sampled_from([b"a.txt", b"n", b"/nowhere"])),
        st.tuples(st.just("remove"), NAMES, st.just(b"")),
        st.tuples(st.just("mode"), NAMES, st.just(b"")),
        st.tuples(st.just("commit"), st.just("."), st.just(b"")),
        st.tuples(st.just("add"), st.just("."), st.just(b"")),
        st.tuples(st.just("snapshot"), st.just("."), st.just(b"")),
    ),
    max_size=12,
)


def act(tree: Path, kind: str, name: str, data: bytes) -> None:
    path = tree / name
    if kind in {"add", "commit"}:
        sh(tree, "add", "-A")
        if kind == "commit":
            sh(tree, "commit", "-q", "--allow-empty", "-m", "agent")
        return
    if kind == "mode":
        if path.is_file() and not path.is_symlink():
            path.chmod(path.stat().st_mode ^ 0o111)
        return
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
    if kind == "remove":
        return
    for parent in reversed(path.relative_to(tree).parents):
        here = tree / parent
        if here.is_symlink() or here.is_file():
            here.unlink()
        here.mkdir(exist_ok=True)
    if kind == "write":
        path.write_bytes(data)
    else:
        path.symlink_to(os.fsdecode(data))


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(actions=ACTIONS)
def test_whatever_an_agent_does_the_tree_is_what_is_on_disk(tmp_path_factory, actions):
    """I1, as a property: any order of writes, links, removals, commits and snapshots."""
    root = make_repo(tmp_path_factory.mktemp("p") / "repo")

    async def scenario():
        wt = await session(root)
        before = untouched(root)
        for number, (kind, name, data) in enumerate([*actions, ("snapshot", ".", b"")]):
            if kind != "snapshot":
                act(wt.path, kind, name, data)
                continue
            wanted = {path: item for path, item in on_disk(wt.path).items() if not path.endswith(b".o")}
            tree = await tree_hash(wt.path, root=wt.path.parents[2])
            taken = await take(wt, f"h{number}")
            assert in_commit(root, taken.sha) == wanted
            assert taken.tree == tree
            assert sh(wt.path, "status", "--porcelain") == ""
        assert untouched(root) == before

    trio.run(scenario)
