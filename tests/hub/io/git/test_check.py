"""`tree_matches` and the tree a snapshot would have always agree; when a handoff looks."""

import errno
from functools import partial
from types import SimpleNamespace

import attrs
import pytest
import trio
import trio.testing

from hub.errors import Code, HubError
from hub.io.git import check
from hub.io.git.check import tree_matches
from hub.io.git.env import together
from hub.io.git.snapshot import tree_hash
from tests.hub.io.git.test_snapshot import make_repo, session, sh, take

CHANGES = {
    "nothing": lambda _: None,
    "edited": lambda tree: (tree / "a.txt").write_text("other\n"),
    "edited, same size": lambda tree: (tree / "a.txt").write_text(
        (tree / "a.txt").read_text()[::-1].strip() + "\n"
    ),
    "edited and back": lambda tree: [
        (tree / "mine").write_text("nime\n"),
        (tree / "mine").write_text("mine\n"),
    ],
    "added": lambda tree: (tree / "late").write_text("x"),
    "removed": lambda tree: (tree / "mine").unlink(),
    "made executable": lambda tree: (tree / "mine").chmod(0o755),
    "became a link": lambda tree: [(tree / "mine").unlink(), (tree / "mine").symlink_to("a.txt")],
    "became a folder": lambda tree: [
        (tree / "mine").unlink(),
        (tree / "mine").mkdir(),
        (tree / "mine" / "in").write_text("x"),
    ],
    "ignored file tracked": lambda tree: [(tree / "f.o").write_text("x"), sh(tree, "add", "-f", "f.o")],
    "untracked": lambda tree: sh(tree, "rm", "-q", "--cached", "a.txt"),
    "back to the start": lambda tree: sh(tree, "checkout", "-q", "HEAD~1", "--", "."),
    "folder removed": lambda tree: [(tree / "deep" / "e").unlink(), (tree / "deep").rmdir()],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_agrees_with_the_tree_of_a_snapshot(tmp_path, change):
    """After any change the answer is whether the next snapshot's tree would be the same."""
    root = make_repo(tmp_path / "repo")
    wt = await session(root)
    (wt.path / "a.txt").write_text("edited\n")
    (wt.path / "mine").write_text("mine\n")
    (wt.path / "deep").mkdir()
    (wt.path / "deep" / "e").write_text("deep\n")
    taken = await take(wt)
    assert await tree_matches(wt.path, taken.tree, root=wt.path.parents[2])
    change(wt.path)
    assert await tree_matches(wt.path, taken.tree, root=wt.path.parents[2]) is (
        await tree_hash(wt.path, root=wt.path.parents[2]) == taken.tree
    )


@attrs.define
class Look:
    """What the comparison of a worktree finds, and when it is over."""

    answers: list[bool | Exception]
    begun: int = 0
    over: trio.Event = attrs.field(factory=trio.Event)

    async def __call__(self, *_args, **_more):
        self.begun += 1
        await self.over.wait()
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def record():
    handoff = SimpleNamespace(snapshot_tree="t")
    return SimpleNamespace(worktree="/w", handoff_id="h-1", handoff=handoff)


def looking(monkeypatch, *answers):
    look = Look([*answers])
    monkeypatch.setattr(check, "tree_matches", look)
    return look, check.WorktreeCheck("/r")


async def test_an_early_look_is_beside_what_is_done_until_the_dispatch(monkeypatch, record, autojump_clock):
    """The handoff stood still until it was over: 25 ms of its records could have been written meanwhile."""
    look, of = looking(monkeypatch, True)
    done = trio.Event()

    async def meanwhile():
        done.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(of.run)
        of.look_early(record)
        await trio.testing.wait_all_tasks_blocked()
        assert look.begun == 1
        answers = []

        async def ask():
            same, _ = await together(partial(of.same_tree, record), meanwhile)
            answers.append(same)

        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        assert (done.is_set(), answers) == (True, []), "nobody is let into the worktree before it is over"
        look.over.set()
        await trio.testing.wait_all_tasks_blocked()
        assert (look.begun, answers) == (1, [True])
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("error", [HubError(Code.WORKTREE_MISSING), OSError(errno.EMFILE, "many files")])
async def test_what_goes_wrong_early_is_met_again_where_it_is_told(monkeypatch, record, error):
    look, of = looking(monkeypatch, error, error)
    look.over.set()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(of.run)
        of.look_early(record)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(type(error)):
            await of.same_tree(record)
        nursery.cancel_scope.cancel()
    assert look.begun == 2


async def test_a_look_that_was_asked_for_is_not_made_behind_the_dispatch(monkeypatch, record):
    """The next agent is in the worktree by then: a second receiver would be told of the first one's work."""
    look, of = looking(monkeypatch, True, False)
    look.over.set()
    of.look_early(record)
    assert await of.same_tree(record)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(of.run)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert look.begun == 1
    assert not await of.same_tree(record)
