"""What Git LFS keeps stays out of git's own history, and its bytes are where its user looks for them."""

import hashlib

import pytest

from hub.api.results import How
from hub.io.git import lfs
from hub.io.git.repository import session_diff
from hub.io.git.taking import take
from hub.io.project.places import Places
from tests.hub.io.git.kit import session, sh
from tests.hub.io.git.test_converting import ended, keeps
from tests.hub.io.git.test_taking import told

OLD, NEW = b"\0old\r\n" * 2000, b"\0new\r\n" * 3000


def pointer(data):
    """As git-lfs 3.3 writes it."""
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(data).hexdigest()}\nsize {len(data)}\n"


def stored(root, data):
    oid = hashlib.sha256(data).hexdigest()
    return root / ".git/lfs/objects" / oid[:2] / oid[2:4] / oid


@pytest.fixture
def large(repo):
    """A repository with one file that Git LFS keeps."""
    keeps(repo, "*.bin filter=lfs diff=lfs merge=lfs -text\n", {"a.bin": pointer(OLD).encode()})
    sh(repo, "config", "filter.lfs.clean", "git-lfs clean -- %f")
    sh(repo, "config", "filter.lfs.smudge", "git-lfs smudge -- %f")
    stored(repo, OLD).parent.mkdir(parents=True)
    stored(repo, OLD).write_bytes(OLD)
    (repo / "a.bin").write_bytes(OLD)
    return repo


async def test_a_file_is_taken_as_its_pointer(large):
    """The bytes were committed: whoever pushed that had them in the history for ever."""
    wt = await session(large)
    (wt.path / "a.bin").write_bytes(OLD)  # `git lfs pull`
    (wt.path / "new.bin").write_bytes(NEW)
    (wt.path / "new.bin").chmod(0o700)
    (wt.path / "empty.bin").write_bytes(b"")
    (wt.path / "short.bin").write_text(pointer(NEW))
    await ended(wt)
    shown = (await session_diff(large, "main", "hub/s1", wt.path)).diff
    assert not stored(large, NEW).exists(), "a look keeps nothing"
    assert "a.bin" not in shown
    assert f"+oid sha256:{hashlib.sha256(NEW).hexdigest()}\n" in shown
    answer = await take(large, told(), How.COMMIT)
    assert answer.files == 3
    assert sh(large, "cat-file", "blob", f"{answer.commit}:new.bin") == pointer(NEW)
    assert sh(large, "cat-file", "blob", f"{answer.commit}:short.bin") == pointer(NEW)
    assert sh(large, "cat-file", "blob", f"{answer.commit}:empty.bin") == ""
    assert sh(large, "ls-tree", answer.commit, "new.bin").split()[0] == "100755"
    assert stored(large, NEW).read_bytes() == NEW
    assert [path.name for path in stored(large, NEW).parent.iterdir()] == [stored(large, NEW).name]
    assert (large / "new.bin").read_bytes() == (large / "short.bin").read_bytes() == NEW
    assert (large / "new.bin").stat().st_mode & 0o100
    assert "size: 0\t" in sh(large, "ls-files", "--debug", "new.bin"), (
        "git compares what its filter makes of it"
    )
    assert not list(Places(large).git_dir.glob("added-*"))


async def test_a_user_whose_git_knows_no_lfs_has_the_pointers(large):
    for key in ("clean", "smudge"):
        sh(large, "config", "--unset", f"filter.lfs.{key}")
    wt = await session(large)
    (wt.path / "new.bin").write_bytes(NEW)
    await ended(wt)
    await take(large, told(), How.COMMIT)
    assert (large / "new.bin").read_text() == pointer(NEW)
    assert stored(large, NEW).read_bytes() == NEW


async def test_the_store_may_be_elsewhere(large, tmp_path):
    for given, place in (("shared", large / ".git/shared"), (str(tmp_path / "far"), tmp_path / "far")):
        sh(large, "config", "lfs.storage", given)
        assert await lfs.store_of(large) == place / "objects"
    wt = await session(large)
    (wt.path / "new.bin").write_bytes(NEW)
    await ended(wt)
    await take(large, told(), How.BRANCH, "aside")
    assert [file.read_bytes() for file in (tmp_path / "far").rglob("*") if file.is_file()] == [NEW]
