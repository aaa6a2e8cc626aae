"""Only what hub made goes, and nothing that is in nobody's hands."""

import attrs
import pytest

from hub.api.history import HistoryEntry
from hub.api.results import How
from hub.domain.result.fate import TAKES, fate
from hub.errors import Code
from hub.io.git.discarding import Hands, discard, left_of, looked_after
from hub.io.git.repository import session_diff
from hub.io.git.snapshot import snapshot
from hub.io.git.taking import take
from tests.hub.io.git.kit import make_repo, session, sh
from tests.hub.io.git.test_taking import goes_on, told, worked
from tests.refusals import refuses
from tests.sample import sample


async def test_what_was_not_taken_stays_unless_it_is_forced(repo):
    await worked(repo, new_txt="new\n")
    assert (await left_of(repo, "s1")).hands is Hands.UNTAKEN
    with refuses(Code.NOT_TAKEN):
        await discard(repo, "s1")
    assert (repo / ".hub/worktrees/s1/new.txt").exists()
    gone = await discard(repo, "s1", force=True)
    assert not (repo / ".hub/worktrees/s1").exists()
    assert sh(repo, "branch", "--list", "hub/*") == ""
    assert "worktrees" not in sh(repo, "worktree", "list")
    assert sh(repo, "rev-parse", "refs/hub/s1/end-t").startswith(gone.tip), "every snapshot is there still"
    assert (await discard(repo, "s1", force=True)).tip == "", "a second call is content"
    assert "new.txt" in (await session_diff(repo, "main", "hub/s1")).summary, "what it was can still be seen"


async def test_folders_that_are_locked_against_writing_go_too_and_links_lead_nowhere(repo, tmp_path):
    """As a module cache is; what a link points to is somebody else's."""
    wt = await worked(repo)
    (wt.path / "cache/deep").mkdir(parents=True)
    (wt.path / "cache/deep/file").write_text("x")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/kept").write_text("x")
    (wt.path / "cache/link").symlink_to(tmp_path / "mine")
    for folder in ("cache/deep", "cache"):
        (wt.path / folder).chmod(0o500)
    await discard(repo, "s1", force=True)
    assert list((repo / ".hub/worktrees").iterdir()) == []
    assert (tmp_path / "mine/kept").exists()


async def test_a_discard_that_was_cut_off_is_finished_by_the_next_one(repo):
    wt = await worked(repo, new_txt="new\n")
    await take(repo, told(), How.COMMIT)
    wt.path.rename(wt.path.with_name("s1.going"))
    await discard(repo, "s1")
    assert list((repo / ".hub/worktrees").iterdir()) == []
    assert sh(repo, "branch", "--list", "hub/*") == ""


async def test_what_is_in_hand_goes_and_nothing_else(repo):
    await worked(repo, new_txt="new\n")
    await worked(repo, "s2", other_txt="x\n")
    sh(repo, "branch", "mine")
    await take(repo, told(), How.COMMIT)
    assert (await left_of(repo, "s1")).hands is Hands.TAKEN
    await discard(repo, "s1")
    assert sh(repo, "branch", "--format=%(refname:short)").split() == ["hub/s2", "main", "mine"]
    assert (repo / ".hub/worktrees/s2/other.txt").exists()


@pytest.mark.parametrize(
    ("how", "hands"), [("merge", Hands.MERGED), ("elsewhere", Hands.MERGED), ("edit", Hands.EDITED)]
)
async def test_in_whose_hands_a_work_is(repo, how, hands):
    wt = await worked(repo, new_txt="new\n")
    if how == "merge":
        sh(repo, "merge", "-q", "hub/s1")
    if how == "elsewhere":
        sh(repo, "branch", "mine", "hub/s1")
    if how == "edit":
        await take(repo, told(), How.COMMIT)
        (wt.path / "later.txt").write_text("somebody went on in the worktree")
    assert (await left_of(repo, "s1")).hands is hands


async def test_what_a_later_session_took_along_is_in_hand_too(repo):
    """The nodes of a pipeline before its end stayed for ever: `hub clean` told that their results were not taken yet."""
    await worked(repo, new_txt="new\n")
    await goes_on(repo, more_txt="more\n")
    assert (await left_of(repo, "s1")).hands is Hands.UNTAKEN
    await take(repo, told("s2"), How.COMMIT)
    left = await left_of(repo, "s1")
    assert (left.hands, left.here) == (Hands.TAKEN, True)
    await discard(repo, "s1")
    assert sh(repo, "branch", "--list", "hub/s1") == ""


async def test_what_a_later_session_took_along_and_its_user_let_go_of_again_is_in_nobodys_hands(repo):
    await worked(repo, new_txt="new\n")
    await goes_on(repo, more_txt="more\n")
    await take(repo, told("s2"), How.COMMIT)
    sh(repo, "update-ref", "refs/heads/main", "HEAD~1")
    assert (await left_of(repo, "s1")).hands is Hands.UNTAKEN
    assert (await left_of(repo, "s2")).hands is Hands.TAKEN


async def test_what_was_taken_before_another_went_on_elsewhere_is_no_take(repo):
    """Only a take that has the work in it counts: s1 went on after s2 had begun at it."""
    await worked(repo, new_txt="new\n")
    await goes_on(repo, more_txt="more\n")
    await take(repo, told("s2"), How.COMMIT)
    await worked(repo, "s1", later_txt="later\n")
    assert (await left_of(repo, "s1")).hands is Hands.UNTAKEN


async def test_a_session_that_changed_nothing_has_nothing_to_lose(repo):
    await worked(repo)
    assert (await left_of(repo, "s1")).hands is Hands.NOTHING
    await discard(repo, "s1")
    assert (await left_of(repo, "s1")).hands is Hands.GONE


async def test_a_branch_that_is_checked_out_elsewhere_is_its_users_to_leave(repo, tmp_path):
    await worked(repo, new_txt="new\n")
    sh(repo, "worktree", "add", "-q", "-f", str(tmp_path / "mine"), "hub/s1")
    with refuses(Code.UNCOMMITTED) as error:
        await discard(repo, "s1", force=True)
    assert str(tmp_path / "mine") in error.value.detail
    assert (repo / ".hub/worktrees/s1/new.txt").exists()


async def test_a_folder_in_place_of_the_worktree_is_nobody_hub_knows(repo):
    wt = await worked(repo, new_txt="new\n")
    sh(repo, "worktree", "remove", "--force", str(wt.path))
    wt.path.mkdir()
    (wt.path / "mine.txt").write_text("mine\n")
    with refuses(Code.WORKTREE_TAMPERED):
        await discard(repo, "s1", force=True)
    assert (wt.path / "mine.txt").exists()


async def test_a_submodule_that_was_filled_is_in_nobodys_hands(repo, tmp_path):
    """Its git directory lies with the worktree's: what was committed in it is nowhere else."""
    other = make_repo(tmp_path / "other")
    sh(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "lib")
    sh(repo, "commit", "-qm", "lib")
    wt = await session(repo, "s1")
    sh(wt.path, "-c", "protocol.file.allow=always", "submodule", "update", "--init", "-q")
    (wt.path / "lib/work.txt").write_text("work")
    await snapshot(wt.path, "s1", "end-t", {}, root=wt.path.parents[2])
    assert (await left_of(repo, "s1")).hands is Hands.EDITED
    with refuses(Code.NOT_TAKEN):
        await discard(repo, "s1")
    assert (wt.path / "lib/work.txt").exists()


@pytest.mark.parametrize("clone", [True, False])
async def test_what_lies_in_the_folder_of_a_submodule_is_in_nobodys_hands(repo, tmp_path, clone):
    """In no snapshot, and `hub clean` removed it with all that was taken."""
    make_repo(tmp_path / "sub")
    sh(repo, "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(tmp_path / "sub"), "sub")
    sh(repo, "commit", "-qm", "with a submodule")
    wt = await worked(repo, new_txt="new\n")
    await take(repo, told(), How.COMMIT)
    assert (await left_of(repo, "s1")).hands is Hands.TAKEN
    if clone:
        sh(tmp_path, "clone", "-q", str(tmp_path / "sub"), str(wt.path / "sub"))
    else:
        (wt.path / "sub/work.txt").write_text("x")
    assert (await left_of(repo, "s1")).hands is Hands.EDITED
    with refuses(Code.NOT_TAKEN):
        await discard(repo, "s1")


async def test_what_no_snapshot_can_hold_is_in_nobodys_hands(repo):
    """A file that cannot be read, or, here, that git has no name for: `hub clean` removed it with all that was taken."""
    wt = await worked(repo, new_txt="new\n")
    await take(repo, told(), How.COMMIT)
    (wt.path / "d/git~1").write_text("x")
    assert (await left_of(repo, "s1")).hands is Hands.EDITED


async def test_a_branch_of_the_users_that_has_the_work_is_his_hands(repo):
    """As `hub pr` makes one; without that branch, or with more work, it is in nobody's again."""
    wt = await worked(repo, new_txt="new\n")
    await take(repo, told(), How.BRANCH, "mine", "main")
    assert (await left_of(repo, "s1")).hands is Hands.MERGED
    sh(repo, "branch", "-m", "mine", "renamed")
    assert (await left_of(repo, "s1")).hands is Hands.MERGED
    (wt.path / "more.txt").write_text("more")
    await snapshot(wt.path, "s1", "late-t", {}, root=wt.path.parents[2])
    assert (await left_of(repo, "s1")).hands is Hands.UNTAKEN


async def test_what_a_later_session_brought_to_a_branch_is_in_hand_as_long_as_that_branch_is_there(repo):
    """`hub clean` kept the session before it for ever: only what was taken into the user's own branch counted."""
    await worked(repo, new_txt="new\n")
    await goes_on(repo, more_txt="more\n")
    await take(repo, told("s2"), How.BRANCH, "mine", "main")
    for session_id in ("s1", "s2"):
        left = await left_of(repo, session_id)
        assert (left.hands, left.here) == (Hands.MERGED, False)
    sh(repo, "merge", "-q", "mine")
    assert (await left_of(repo, "s1")).here, "the branch was merged where the user stands"
    sh(repo, "update-ref", "refs/heads/main", "HEAD~1")
    sh(repo, "branch", "-D", "mine")
    assert (await left_of(repo, "s1")).hands is Hands.UNTAKEN


async def test_a_branch_that_is_gone_is_nobodys_hands(repo):
    await worked(repo, new_txt="new\n")
    await take(repo, told(), How.BRANCH, "mine", "main")
    sh(repo, "branch", "-D", "mine")
    assert (await left_of(repo, "s1")).hands is Hands.UNTAKEN


async def test_a_take_holds_while_a_branch_of_the_users_has_its_commit(repo, tmp_path):
    """The log tells for ever that it was taken; a reset may have undone that, and hub's own branches do not count."""
    await worked(repo, new_txt="new\n")
    taken = sample(
        HistoryEntry, event="taken", commit=(await take(repo, told(), How.COMMIT)).commit, branch="main"
    )

    async def held_by(root=repo, record=taken):
        (told,) = await looked_after(root, [record])
        return told.held_by

    assert await held_by() == "main"
    sh(repo, "branch", "mine/kept")
    sh(repo, "branch", "hub/s2")
    sh(repo, "reset", "-q", "--hard", "HEAD~1")
    assert await held_by() == "mine/kept"
    sh(repo, "branch", "-q", "-D", "mine/kept")
    sh(repo, "update-ref", "refs/remotes/hub/main", taken.commit)
    assert await held_by() == "hub/main", "a remote may be called as hub's own branches are"
    sh(repo, "update-ref", "-d", "refs/remotes/hub/main")
    assert await held_by() == ""
    assert await held_by(record=attrs.evolve(taken, commit="1" * 40)) == "", "git has forgotten it"
    assert await held_by(record=attrs.evolve(taken, commit="")) is None, "a patch"
    (tmp_path / "none").mkdir()
    assert await held_by(tmp_path / "none") is None, "where git does not answer the log is believed"


async def test_takes_are_looked_after_back_to_one_that_holds(repo):
    """Taken to a branch, then to one where that was undone: "not taken yet", said every face."""
    await worked(repo, new_txt="new\n")
    aside = await take(repo, told(), How.BRANCH, "mine", "main")
    sh(
        repo, "commit", "-q", "--allow-empty", "-m", "meanwhile"
    )  # on the same commit, within a second, it would be the same
    takes = [aside, await take(repo, told(), How.COMMIT)]
    mine, gone = (sample(HistoryEntry, event="taken", commit=one.commit, branch=one.branch) for one in takes)
    sh(repo, "reset", "-q", "--hard", "HEAD~1")
    patch = attrs.evolve(mine, commit="", branch="")

    async def held_by(*records):
        return [one.held_by for one in await looked_after(repo, records)]

    assert await held_by(mine, mine, gone, patch) == [None, "mine", "", None]
    assert await held_by(mine, *[gone] * TAKES) == [None, *[""] * TAKES], "there is an end of looking"
    assert fate([], await looked_after(repo, [mine, gone, patch])).held_by == "mine"
    assert fate([], await looked_after(repo, [gone])) is None
