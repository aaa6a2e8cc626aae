"""A result comes to its user whole, under his name, and over none of his work."""

import base64
import subprocess
import time

import pytest

from hub.api.results import How
from hub.domain.result.message import CommitStory
from hub.errors import Code, HubError
from hub.io.git.aside import note_yours
from hub.io.git.discarding import Hands, discard, left_of
from hub.io.git.identity import identity
from hub.io.git.repository import repo_state, session_diff
from hub.io.git.snapshot import snapshot
from hub.io.git.taking import take
from hub.io.git.work import work_of
from hub.io.git.worktree import add_worktree
from hub.io.project.places import Places
from tests.hub.io.git.kit import killed_at, make_repo, session, sh, swept
from tests.refusals import refusal, refuses

DAY = 86_400
ADA = "Ada <ada@example.com>"


def told(name="s1"):
    return CommitStory(session_id=name, task="do it", agents=("a",))


async def worked(root, name="s1", *, carry=False, **files):
    """A session that has written these files, `__` for a slash, and has ended."""
    wt = await session(root, name, carry_dirty=carry)
    for path, text in files.items():
        place = wt.path / path.replace("__", "/").replace("_", ".")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    await snapshot(wt.path, name, "end-t", {}, root=wt.path.parents[2])
    return wt


def clean(root):
    return sh(root, "status", "--porcelain", "--untracked-files=all") == ""


async def test_one_commit_of_the_users_own_on_his_branch(repo):
    await worked(repo, new_txt="new\n", d__b_txt="changed\n")
    before = sh(repo, "rev-parse", "main").strip()
    answer = await take(repo, told(), How.COMMIT)
    assert (answer.files, answer.branch, answer.left_out) == (2, "main", [])
    assert sh(repo, "rev-parse", "main^").strip() == before
    assert sh(repo, "log", "-1", "--format=%an <%ae>,%cn <%ce>").strip() == f"{ADA},{ADA}"
    assert sh(repo, "log", "-1", "--format=%s").strip() == "do it"
    assert (repo / "new.txt").read_text() == "new\n"
    assert (repo / "new.txt").stat().st_mode & 0o777 == 0o666 & ~(~repo.stat().st_mode & 0o077), (
        "as open as the project, not as hub's own files"
    )
    assert clean(repo)
    assert sh(repo, "rev-parse", "refs/hub/s1/taken") == sh(repo, "rev-parse", "hub/s1")
    with refuses(Code.NOTHING_TO_TAKE) as error:
        await take(repo, told(), How.COMMIT)
    assert answer.commit[:12] in error.value.detail


def dated(root, date):
    """A first commit of the index, as git would not make it."""
    body = f"tree {sh(root, 'write-tree')}author a <a@x> {date}\ncommitter a <a@x> {date}\n\nm\n"
    words = ("git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
    made = subprocess.run(words, cwd=root, input=body.encode(), capture_output=True, check=True)
    sh(root, "update-ref", "refs/heads/main", made.stdout.decode().strip())


@pytest.mark.parametrize("date", ["99999999999999999999 +0000", "-5 +0000", "x +0000", "1700000000", ""])
async def test_a_commit_with_a_date_that_git_would_not_write_again_is_gone_on_from(repo, date):
    """Bug: histories that another program wrote have such; no session could begin there, or end."""
    dated(repo, date)
    await worked(repo, new_txt="new\n")
    await take(repo, told(), How.COMMIT)
    assert (repo / "new.txt").read_text() == "new\n"
    assert abs(int(sh(repo, "log", "-1", "--format=%ct", "hub/s1")) - time.time()) < DAY


@pytest.mark.parametrize("how", [("--no-cone", "/*", "!/d/"), ("--cone", "--sparse-index", "e")])
async def test_work_outside_of_the_users_sparse_checkout_is_taken_and_stays_out_of_sight(repo, how):
    """Bug: of files that git keeps out of the worktree none was looked at again: what an agent made there was lost."""
    sh(repo, "sparse-checkout", "set", *how)
    await worked(repo, d__b_txt="changed\n", d__new_txt="new\n")
    (repo / "d").mkdir()
    (repo / "d/b.txt").write_text("mine\n")
    with refuses(Code.UNCOMMITTED, "d/b.txt"):
        await take(repo, told(), How.COMMIT)
    assert (repo / "d/b.txt").read_text() == "mine\n"
    (repo / "d/b.txt").unlink()
    (repo / "d").rmdir()
    sh(repo, "sparse-checkout", "reapply")
    answer = await take(repo, told(), How.COMMIT)
    assert answer.files == 2
    assert sh(repo, "show", "HEAD:d/b.txt", "HEAD:d/new.txt") == "changed\nnew\n"
    assert clean(repo)
    assert not (repo / "d").exists()


async def test_unfinished_work_outside_of_the_users_sparse_checkout_comes_along(repo):
    """`git status` names it; the session began without it."""
    sh(repo, "sparse-checkout", "set", "--no-cone", "/*", "!/d/")
    (repo / "d").mkdir()
    (repo / "d/b.txt").write_text("mine\n")
    await session(repo, carry_dirty=True)
    assert sh(repo, "show", "hub/s1:d/b.txt") == "mine\n"
    assert sh(repo, "diff", "--name-only", "main", "hub/s1") == "d/b.txt\n"


async def test_a_branch_that_its_user_deleted_is_made_anew_by_the_command_that_is_named(repo):
    """It was "Look at its snapshots: hub history", where `hub discard` wanted that it is taken first: a circle."""
    await worked(repo, new_txt="new\n")
    sh(repo, "update-ref", "-d", "refs/heads/hub/s1")
    gone = await refusal(session_diff(repo, "main", "hub/s1"), Code.BRANCH_MISSING)
    again = await refusal(take(repo, told(), How.COMMIT), Code.BRANCH_MISSING)
    assert gone.hint == again.hint
    sh(repo, *gone.hint.partition(": git ")[2].split())
    assert (await take(repo, told(), How.COMMIT)).files == 1


async def test_in_a_shallow_clone_nothing_before_its_end_is_asked_for(repo, tmp_path):
    for number in range(3):
        (repo / "a.txt").write_text(f"{number}\n")
        sh(repo, "commit", "-qam", str(number))
    clone = tmp_path / "clone"
    sh(tmp_path, "clone", "-q", "--depth=1", repo.as_uri(), str(clone))
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.com")):
        sh(clone, "config", key, value)
    Places(clone).ensure()
    await worked(clone, new_txt="new\n")
    (clone / "mine.txt").write_text("mine\n")
    sh(clone, "add", "-A")
    sh(clone, "commit", "-qm", "mine")
    await take(clone, told(), How.COMMIT)
    assert (clone / "new.txt").read_text() == "new\n"
    assert clean(clone)


async def test_uncommitted_work_beside_it_stays_as_it_is(repo):
    """It came along into the branch, and is no part of what is taken."""
    (repo / "a.txt").write_text("mine\n")
    (repo / "mine.txt").write_text("mine too\n")
    sh(repo, "add", "mine.txt")
    await worked(repo, carry=True, new_txt="new\n")
    await take(repo, told(), How.COMMIT)
    assert sh(repo, "show", "--format=", "--name-only", "main").split() == ["new.txt"]
    assert sh(repo, "status", "--porcelain").splitlines() == [" M a.txt", "A  mine.txt"]


@pytest.mark.parametrize("mine", ["edited", "staged", "untracked", "ignored", "removed", "folder"])
async def test_work_of_the_users_in_the_way_is_named_and_nothing_is_touched(repo, mine):
    """Never is a byte overwritten that is in no commit."""
    (repo / ".git/info/exclude").write_text(".hub\nsecret.txt\n")
    await worked(repo, a_txt="agent\n", new__x_txt="agent\n", secret_txt="agent\n")
    path, text = {
        "edited": ("a.txt", "mine\n"),
        "staged": ("a.txt", "mine\n"),
        "untracked": ("new/x.txt", "mine\n"),
        "ignored": ("secret.txt", "mine\n"),
        "removed": ("a.txt", None),
        "folder": ("new", "a file where a folder is to be\n"),
    }[mine]
    place = repo / path
    if text is None:
        place.unlink()
    else:
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    if mine == "staged":
        sh(repo, "add", path)
        place.write_text("a\n")
    head, status = sh(repo, "rev-parse", "HEAD"), sh(repo, "status", "--porcelain")
    if mine == "ignored":
        # What git ignores is in no snapshot, unless the agent committed it.
        wt = repo / ".hub/worktrees/s1"
        sh(wt, "add", "-f", "secret.txt")
        sh(wt, "commit", "-q", "-m", "agent's")
    with refuses(Code.UNCOMMITTED) as error:
        await take(repo, told(), How.COMMIT)
    assert error.value.extra["files"] == [path]
    assert sh(repo, "rev-parse", "HEAD") == head
    assert sh(repo, "status", "--porcelain") == status
    assert text is None or place.read_text() in (text, "a\n")


@pytest.mark.parametrize("name", ["a.txt", "new.txt"])
async def test_an_agent_that_went_on_in_uncommitted_lines_asks_for_a_commit_of_them(repo, name):
    """It was a conflict with main, which had changed nothing; to merge it by hand git refused, for the same files."""
    (repo / name).write_text("half of mine\n")
    await worked(repo, carry=True, **{name.replace(".", "_"): "half of mine\nagent\n"})
    with pytest.raises(HubError) as error:
        await take(repo, told(), How.COMMIT)
    assert (error.value.code, error.value.extra["files"]) == (Code.UNCOMMITTED, [name])
    assert (repo / name).read_text() == "half of mine\n"
    sh(repo, "add", name)
    sh(repo, "commit", "-qm", "mine")
    await take(repo, told(), How.COMMIT)
    assert (repo / name).read_text() == "half of mine\nagent\n"


async def test_a_conflict_with_commits_names_the_files_and_both_ways_out(repo):
    await worked(repo, a_txt="agent\n")
    (repo / "a.txt").write_text("user\n")
    sh(repo, "commit", "-qam", "mine")
    with refuses(Code.MERGE_CONFLICT) as error:
        await take(repo, told(), How.COMMIT)
    assert error.value.extra["files"] == ["a.txt"]
    assert "hub take s1 --branch" in error.value.hint
    assert "hub run --continue s1" in error.value.hint
    assert clean(repo)
    answer = await take(repo, told(), How.BRANCH, "mine-to-merge", "main")
    assert sh(repo, "show", "mine-to-merge:a.txt") == "agent\n"
    assert answer.branch == "mine-to-merge"


async def test_a_merge_has_both_parents(repo):
    await worked(repo, new_txt="new\n")
    (repo / "other.txt").write_text("x")
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "mine")
    before = [sh(repo, "rev-parse", name).strip() for name in ("main", "hub/s1")]
    await take(repo, told(), How.MERGE)
    assert sh(repo, "log", "-1", "--format=%P").split() == before
    assert clean(repo)


async def test_unfinished_work_that_came_along_is_committed_by_a_merge_and_lost_by_none(repo):
    """It is on the branch already, exactly as it lies in the checkout: so it is in nobody's way."""
    (repo / "mine.txt").write_text("mine\n")
    await worked(repo, carry=True, new_txt="new\n")
    await take(repo, told(), How.MERGE)
    assert (repo / "mine.txt").read_text() == "mine\n"
    assert clean(repo)


async def test_a_patch_is_whole_and_touches_nothing(repo, tmp_path):
    await worked(repo, a_txt="agent\n", bin="\0\1")
    before = sh(repo, "rev-parse", "HEAD"), sh(repo, "for-each-ref", "refs/heads")
    answer = await take(repo, told(), How.PATCH)
    assert (sh(repo, "rev-parse", "HEAD"), sh(repo, "for-each-ref", "refs/heads")) == before
    (tmp_path / "x.patch").write_bytes(base64.b64decode(answer.patch))
    sh(repo, "apply", str(tmp_path / "x.patch"))
    assert (repo / "a.txt").read_text() == "agent\n"
    assert (repo / "bin").read_bytes() == b"\0\1"


async def test_a_branch_stands_where_the_session_left_its_users(repo):
    """The unfinished work that came along is not the agent's, and in no pull request."""
    (repo / "mine.txt").write_text("mine\n")
    await worked(repo, carry=True, new_txt="new\n")
    await take(repo, told(), How.BRANCH, "feature", "main")
    assert sh(repo, "rev-parse", "feature^") == sh(repo, "rev-parse", "main")
    assert sh(repo, "show", "--format=", "--name-only", "feature").split() == ["new.txt"]
    assert sh(repo, "symbolic-ref", "--short", "HEAD").strip() == "main"


async def goes_on(repo, **files):
    """A session `s2` that goes on with the work of `s1`, as `hub run --continue` begins one."""
    first = sh(repo, "rev-parse", "hub/s1").strip()
    sh(repo, "update-ref", "refs/hub/s2/base", first)
    sh(repo, "update-ref", "refs/heads/hub/s2", first)
    await worked(repo, "s2", **files)


def names_of(repo, commit):
    return sh(repo, "show", "--format=", "--name-only", commit).split()


async def test_what_goes_on_with_work_on_a_branch_is_one_more_commit_there(repo):
    """A request that was reviewed is gone on with; what its user put on the branch stays."""
    await worked(repo, one_txt="1\n")
    first = await take(repo, told(), How.BRANCH, "feature", "main")
    again = await take(repo, told(), How.BRANCH, "", "main")
    assert (again.branch, again.commit, again.files) == ("feature", first.commit, 1), (
        "asked again: it is there"
    )
    sh(repo, "worktree", "add", "-q", "other", "feature")
    (repo / "other/mine.txt").write_text("mine\n")
    sh(repo / "other", "add", "mine.txt")
    sh(repo / "other", "commit", "-qm", "mine")
    await goes_on(repo, two_txt="2\n")
    with refuses(Code.INVALID, "checked out"):
        await take(repo, told("s2"), How.BRANCH, "", "main")
    sh(repo, "worktree", "remove", "other")
    answer = await take(repo, told("s2"), How.BRANCH, "", "main")
    assert (answer.branch, answer.files) == ("feature", 1)
    assert names_of(repo, "feature") == ["two.txt"]
    assert sh(repo, "log", "--format=%s", "main..feature").split("\n")[:3] == ["do it", "mine", "do it"]
    assert (await left_of(repo, "s2")).hands is not Hands.UNTAKEN


async def test_lines_that_somebody_changed_on_the_branch_are_a_conflict(repo):
    await worked(repo, a_txt="one\n")
    await take(repo, told(), How.BRANCH, "feature", "main")
    sh(repo, "checkout", "-q", "feature")
    (repo / "a.txt").write_text("mine\n")
    sh(repo, "commit", "-qam", "mine")
    sh(repo, "checkout", "-q", "main")
    before = sh(repo, "rev-parse", "feature")
    await goes_on(repo, a_txt="two\n")
    with pytest.raises(HubError) as error:
        await take(repo, told("s2"), How.BRANCH, "", "main")
    assert (error.value.code, error.value.extra["files"]) == (Code.MERGE_CONFLICT, ["a.txt"])
    assert sh(repo, "rev-parse", "feature") == before


async def test_a_branch_of_the_users_own_gets_nothing(repo):
    """Its name may be the one that is made from a task."""
    sh(repo, "branch", "do-it")
    await worked(repo, new_txt="new\n")
    with pytest.raises(HubError) as error:
        await take(repo, told(), How.BRANCH, "", "main")
    assert (error.value.code, error.value.hint) == (Code.INVALID, "Give another name: --branch")
    assert sh(repo, "rev-parse", "do-it") == sh(repo, "rev-parse", "main")


async def test_a_request_that_was_merged_is_not_gone_on_with(repo):
    """What comes after it is a branch of its own, of the new work alone; the checkout has the rest."""
    await worked(repo, one_txt="1\n")
    await take(repo, told(), How.BRANCH, "feature", "main")
    sh(repo, "merge", "-q", "--no-ff", "-m", "merged", "feature")
    await goes_on(repo, two_txt="2\n")
    answer = await take(repo, told("s2"), How.BRANCH, "", "main")
    assert (answer.branch, names_of(repo, "do-it")) == ("do-it", ["two.txt"])
    await take(repo, told("s2"), How.COMMIT)
    assert names_of(repo, "main") == ["two.txt"]


async def test_what_programs_leave_behind_and_hubs_own_folder_stay_out(repo):
    wt = await worked(repo, new_txt="new\n")
    (wt.path / "__pycache__").mkdir()
    (wt.path / "__pycache__/a.pyc").write_text("x")
    await snapshot(wt.path, "s1", "end-t2", {}, root=wt.path.parents[2])
    (wt.path / ".hub").mkdir(exist_ok=True)
    (wt.path / ".hub/fsm.json").write_text("{}")
    sh(wt.path, "add", "-f", ".hub/fsm.json")
    sh(wt.path, "commit", "-qm", "agent's")
    answer = await take(repo, told(), How.COMMIT)
    assert answer.left_out == [".hub/fsm.json", "__pycache__/a.pyc"]
    assert sh(repo, "show", "--format=", "--name-only", "main").split() == ["new.txt"]
    await worked(repo, "s2", x_txt="x")
    sh(repo, "update-ref", "refs/heads/hub/s2", sh(wt.path, "rev-parse", "HEAD").strip())
    with refuses(Code.TRACKED):
        await take(repo, told("s2"), How.MERGE)


async def test_a_session_that_goes_on_with_another_brings_what_was_not_taken(repo):
    """Its own diff is only its own; what its user lacks is more."""
    await worked(repo, one_txt="1\n")
    first = sh(repo, "rev-parse", "hub/s1").strip()
    await goes_on(repo, two_txt="2\n")
    head = sh(repo, "rev-parse", "HEAD").strip()
    assert (await work_of(repo, "s2", head)).base == head
    await take(repo, told(), How.COMMIT)
    assert (await work_of(repo, "s2", sh(repo, "rev-parse", "HEAD").strip())).base == first
    await take(repo, told("s2"), How.COMMIT)
    assert sh(repo, "show", "--format=", "--name-only", "main").split() == ["two.txt"]


@pytest.mark.parametrize("carry", [False, True])
async def test_several_ends_of_a_pipeline_are_taken_one_after_the_other(repo, carry):
    """Both hold the first node's work, which is not to be there twice; what came along stays the user's."""
    (repo / "mine.txt").write_text("mine\n")
    await worked(repo, carry=carry, api_txt="api\n")
    first = sh(repo, "rev-parse", "hub/s1").strip()
    for name, files in (("s2", {"docs_txt": "docs\n"}), ("s3", {"tests_txt": "tests\n"})):
        sh(repo, "update-ref", f"refs/hub/{name}/base", first)
        sh(repo, "update-ref", f"refs/heads/hub/{name}", first)
        await worked(repo, name, **files)
    taken = [(await take(repo, told(name), How.COMMIT)).commit for name in ("s2", "s3")]
    assert [names_of(repo, commit) for commit in taken] == [["api.txt", "docs.txt"], ["tests.txt"]]
    assert sh(repo, "status", "--porcelain").split() == ["??", "mine.txt"]


async def test_what_is_there_already_is_nothing_to_take(repo):
    await worked(repo, new_txt="new\n")
    (repo / "new.txt").write_text("new\n")
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "by hand")
    with refuses(Code.NOTHING_TO_TAKE):
        await take(repo, told(), How.COMMIT)
    assert sh(repo, "rev-parse", "refs/hub/s1/taken") == sh(repo, "rev-parse", "hub/s1"), (
        "and so it is in hand"
    )


@pytest.mark.parametrize(
    ("under_way", "what"),
    [("MERGE_HEAD", "merge"), ("rebase-merge", "rebase"), ("rebase-apply/applying", "am")],
)
async def test_in_the_middle_of_a_merge_nothing_is_taken(repo, under_way, what):
    await worked(repo, new_txt="new\n")
    (repo / ".git" / under_way).parent.mkdir(exist_ok=True)
    (repo / ".git" / under_way).write_text(sh(repo, "rev-parse", "HEAD"))
    with refuses(Code.UNCOMMITTED) as error:
        await take(repo, told(), How.COMMIT)
    assert f"git {what} --abort" in error.value.hint


@pytest.mark.parametrize("lock", ["index.lock", "refs/heads/main.lock"])
async def test_a_lock_that_another_git_holds_is_named_and_no_work_of_the_users_is(repo, lock):
    """It said that his own files were in the way, and to commit them; or that hub doctor should be run."""
    await worked(repo, new_txt="new\n")
    (repo / ".git" / lock).touch()
    with refuses(Code.GIT_FAILED) as error:
        await take(repo, told(), How.COMMIT)
    assert f"rm {repo / '.git' / lock}" in error.value.hint
    (repo / ".git" / lock).unlink()
    await take(repo, told(), How.COMMIT)
    assert (repo / "new.txt").read_text() == "new\n"
    assert clean(repo)


@pytest.mark.parametrize("how", [How.COMMIT, How.BRANCH])
@pytest.mark.parametrize("broken", [True, False])
async def test_work_that_no_snapshot_has_is_not_passed_over(repo, how, broken):
    """The agent removed the worktree's `.git`, or its user went on there: it said that all of it was on main already."""
    wt = await worked(repo)
    (wt.path / "new.txt").write_text("new\n")
    if broken:
        (wt.path / ".git").unlink()
    for _ in range(2):
        with refuses(Code.NOTHING_TO_TAKE) as error:
            await take(repo, told(), how)
        assert "in no snapshot" in error.value.detail
        assert str(wt.path) in error.value.hint


async def test_a_commit_that_is_checked_out_and_missing_is_not_taken_for_none(repo):
    """As where the repository that it borrows objects from is away: `git commit --allow-empty` would hide all there was."""
    await worked(repo, new_txt="new\n")
    sha = sh(repo, "rev-parse", "HEAD").strip()
    (repo / ".git/objects" / sha[:2] / sha[2:]).unlink()
    for asked in (repo_state(repo), take(repo, told(), How.COMMIT)):
        with refuses(Code.GIT_FAILED) as error:
            await asked
        assert sha[:12] in error.value.detail
        assert "git fsck" in error.value.hint


async def test_without_a_branch_or_a_name_the_next_step_is_said(repo):
    await worked(repo, new_txt="new\n")
    sh(repo, "config", "--unset", "user.email")
    if "@" not in str(await identity(repo)).replace("hub@localhost", ""):
        with pytest.raises(HubError) as error:
            await take(repo, told(), How.COMMIT)
        assert "git config" in error.value.hint
    sh(repo, "config", "user.email", "ada@example.com")
    sh(repo, "checkout", "-q", "--detach")
    with refuses(Code.UNCOMMITTED):
        await take(repo, told(), How.COMMIT)


_TAKE = """
from hub.io.git.taking import take
from hub.api.results import How
from hub.domain.result.message import CommitStory
trio.run(take, root, CommitStory(session_id="s1", task="do it", agents=("a",)), How.COMMIT)
"""


@pytest.mark.parametrize("when", ["before", "after"])
async def test_killed_at_any_git_it_is_finished_by_the_next_call(tmp_path, when, monkeypatch):
    """Intent first, then files, index and branch, then the evidence: there is one commit in the end, and nothing is lost."""
    monkeypatch.delenv("GIT_AUTHOR_EMAIL", raising=False)
    left = set[str]()
    for spot in range(1, 100):
        root = make_repo(tmp_path / f"repo-{when}-{spot}")
        (root / ".gitattributes").write_text("*.txt text\n")
        sh(root, "add", "-A")
        sh(root, "commit", "-qm", "attributes")
        sh(root, "config", "user.name", "Ada")
        sh(root, "config", "user.email", "ada@example.com")
        await worked(root, new_txt="new\r\n", d__b_txt="changed\n")
        (root / "mine.txt").write_text("mine\n")
        if not killed_at(root, _TAKE, spot, when):
            assert spot > 10
            break
        left.update(swept(root))
        try:
            await take(root, told(), How.COMMIT)
        except HubError as error:
            assert error.code is Code.NOTHING_TO_TAKE, f"killed {when} git {spot}: {error}"  # noqa: PT017
        assert sh(root, "rev-list", "--count", "main").strip() == "3"
        assert sh(root, "status", "--porcelain", "--untracked-files=all") == "?? mine.txt\n"
        assert sh(root, "rev-parse", "refs/hub/s1/taken") == sh(root, "rev-parse", "hub/s1")
    assert {name.split(".")[1] for name in left} >= {"added", "index"}


async def refused(repo, how=How.COMMIT):
    with pytest.raises(HubError) as error:
        await take(repo, told(), how)
    return error.value


async def test_what_git_ignores_is_the_users_all_the_same(repo):
    """`read-tree` removes an ignored file where a folder gives way to a file; nobody has another copy of it."""
    (repo / ".gitignore").write_text("*.log\nout/\n")
    (repo / "data").mkdir()
    (repo / "data/a").write_text("1")
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "data")
    wt = await session(repo, "s1")
    (wt.path / "data/a").unlink()
    (wt.path / "data").rmdir()
    (wt.path / "data").write_text("a file now")
    (wt.path / "out").write_text("out/ is no pattern for a file")
    await snapshot(wt.path, "s1", "end-t", {}, root=wt.path.parents[2])
    (repo / "data/keep.log").write_text("precious")
    (repo / "out").mkdir()
    (repo / "out/model.bin").write_text("precious")
    error = await refused(repo)
    assert (error.code, sorted(error.extra["files"])) == (
        Code.UNCOMMITTED,
        ["data/keep.log", "out/model.bin"],
    )
    assert (repo / "data/keep.log").read_text() == (repo / "out/model.bin").read_text() == "precious"
    (repo / "data/keep.log").unlink()
    (repo / "out/model.bin").unlink()
    await take(repo, told(), How.COMMIT)
    assert (repo / "data").read_text() == "a file now"


async def test_a_submodule_gives_way_to_a_file_only_where_nothing_is_in_it(repo, tmp_path):
    """Its folder has the user's work, and may have the one copy of a history."""
    other = make_repo(tmp_path / "other")
    sh(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "lib")
    sh(repo, "commit", "-qm", "lib")
    wt = await session(repo, "s1")
    (wt.path / "lib").rmdir()
    (wt.path / "lib").write_text("a file now")
    await snapshot(wt.path, "s1", "end-t", {}, root=wt.path.parents[2])
    (repo / "lib/mine.txt").write_text("mine")
    assert (await refused(repo)).code is Code.UNCOMMITTED
    assert (repo / "lib/mine.txt").read_text() == "mine"


async def test_a_tag_of_the_branchs_name_is_in_nobodys_way(repo):
    """An agent may make one in its worktree; `main` is two things then."""
    await worked(repo, new_txt="new\n")
    sh(repo, "tag", "main")
    assert (await take(repo, told(), How.COMMIT)).branch == "main"
    assert clean(repo)


async def test_a_merge_does_not_bring_what_was_lent(repo):
    """The last tree leaves it out; the agent's own commits have it, and a push would send it."""
    wt = await session(repo, "s1")
    note_yours(wt.kept_index, [b"config/local.toml"])
    (wt.path / "config").mkdir()
    (wt.path / "config/local.toml").write_text("SECRET=1")
    (wt.path / "new.txt").write_text("work")
    sh(wt.path, "add", "-A")
    sh(wt.path, "commit", "-qm", "agent's own")
    await snapshot(wt.path, "s1", "end-t", {}, root=wt.path.parents[2])
    error = await refused(repo, How.MERGE)
    assert (error.code, "config/local.toml" in error.detail, "hub take" in error.hint) == (
        Code.TRACKED,
        True,
        True,
    )
    await take(repo, told(), How.COMMIT)
    assert sh(repo, "log", "--format=", "--name-only", "main").split().count("config/local.toml") == 0


async def test_the_work_of_a_session_that_was_let_go_comes_with_what_went_on_with_it(repo):
    """Else the second one would be taken by half, and count as taken."""
    first = await session(repo, "s1")
    (first.path / "one.txt").write_text("1")
    kept = await snapshot(first.path, "s1", "end-t", {}, root=first.path.parents[2])
    place = Places(repo).worktree("s2")
    await add_worktree(repo, place, "hub/s2", sh(repo, "rev-parse", "HEAD").strip(), first=kept.sha)
    (place / "two.txt").write_text("2")
    await snapshot(place, "s2", "end-t", {}, root=repo)
    await discard(repo, "s1", force=True)
    answer = await take(repo, told("s2"), How.COMMIT)
    assert sorted(sh(repo, "show", "--format=", "--name-only", answer.commit).split()) == [
        "one.txt",
        "two.txt",
    ]
