"""What Git LFS keeps stays out of git's own history, and its bytes are where its user looks for them."""

import hashlib
import os

import pytest

from hub.api.results import How
from hub.errors import Code, HubError
from hub.io.git import lfs
from hub.io.git.merge import merge_bases
from hub.io.git.repository import session_diff
from hub.io.git.taking import take
from hub.io.project.places import Places
from hub.io.runner.proc import OWN_END
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
    assert not list(Places(large).git_dir.glob(".added.*"))


async def test_nothing_beside_a_file_is_swept(large):
    """In the user's checkout and his store hub removes nothing by its name: a folder of his own was deleted."""
    wt = await session(large)
    (wt.path / "new.bin").write_bytes(NEW)
    await ended(wt)
    stored(large, NEW).parent.mkdir(parents=True)
    names = (".report.2024-11.draft.tmp", f".hub.1-1.a{OWN_END}")
    places = [folder / name for name in names for folder in (large, stored(large, NEW).parent)]
    for place in places:
        place.mkdir()
        (place / "file").write_bytes(NEW[:9])
    await take(large, told(), How.COMMIT)
    assert [(place / "file").read_bytes() for place in places] == [NEW[:9]] * 4
    assert (large / "new.bin").read_bytes() == NEW


async def test_a_node_after_two_others_finds_the_bytes(large):
    """Where agents go on with it a pointer would be of no use: what is taken in the end is one."""
    tips = []
    for name, data in (("s1", NEW), ("s2", OLD)):
        wt = await session(large, name)
        (wt.path / f"{name}.bin").write_bytes(data)
        tips.append((await ended(wt, name)).sha)
    made = await merge_bases(large, tips, "both\n")
    assert sh(large, "cat-file", "blob", f"{made}:s1.bin").encode() == NEW
    assert sh(large, "cat-file", "blob", f"{made}:s2.bin").encode() == OLD


async def test_where_git_knows_no_lfs_the_bytes_are_kept(large):
    """As git itself adds them; there were pointers in the checkout, and nothing to bring their bytes."""
    for key in ("clean", "smudge"):
        sh(large, "config", "--unset", f"filter.lfs.{key}")
    wt = await session(large)
    (wt.path / "new.bin").write_bytes(NEW)
    await ended(wt)
    await take(large, told(), How.COMMIT)
    assert (large / "new.bin").read_bytes() == NEW
    assert not stored(large, NEW).exists()


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """The user's own configuration."""
    file = tmp_path / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(file))
    file.write_text("[user]\nname = Ada\nemail = ada@example.com\n")
    return file


async def test_the_store_may_be_elsewhere(large, tmp_path, settings):
    for given, place in (("shared", large / ".git/shared"), (str(tmp_path / "far"), tmp_path / "far")):
        sh(large, "config", "--file", str(settings), "lfs.storage", given)
        assert await lfs.store_of(large) == lfs.LfsStore(place, ("objects",))
    wt = await session(large)
    (wt.path / "new.bin").write_bytes(NEW)
    await ended(wt)
    await take(large, told(), How.COMMIT)
    assert [file.read_bytes() for file in (tmp_path / "far").rglob("*") if file.is_file()] == [NEW]
    assert (large / "new.bin").read_bytes() == NEW


@pytest.mark.parametrize("scope", ["--local", "--worktree"])
async def test_no_agent_says_where_the_store_is(large, tmp_path, scope):
    """It can write the repository's configuration: hub wrote there, in the name of the user."""
    wt = await session(large)
    sh(large, "config", "extensions.worktreeConfig", "true")
    sh(large, "config", scope, "lfs.storage", str(tmp_path / "far"))
    (wt.path / "new.bin").write_bytes(NEW)
    await ended(wt)
    await take(large, told(), How.COMMIT)
    assert not (tmp_path / "far").exists()
    assert stored(large, NEW).read_bytes() == NEW


async def test_nothing_but_the_file_itself_comes_in_place_of_a_pointer(large, tmp_path):
    """A secret came into the checkout, by a link in the store under an id that an agent had invented."""
    secret = tmp_path / "secret"
    secret.write_bytes(NEW)
    oids = {name: name * 64 for name in "abcdef"} | {"e": hashlib.sha256(NEW).hexdigest()}
    pointers = {name: pointer(NEW).replace(oids["e"], oid) for name, oid in oids.items()}
    store = large / ".git/lfs/objects"
    for oid in oids.values():
        (store / oid[:2]).mkdir()
    (store / "aa/aa").mkdir()
    (store / "aa/aa" / oids["a"]).symlink_to(secret)
    (store / "bb/bb").mkdir()
    (store / "bb/bb" / oids["b"]).write_bytes(b"other bytes")
    (store / "cc/cc").mkdir()
    os.mkfifo(store / "cc/cc" / oids["c"])
    (store / "dd/dd/" / oids["d"]).mkdir(parents=True)
    (tmp_path / oids["e"]).write_bytes(NEW)
    (store / oids["e"][:2] / oids["e"][2:4]).symlink_to(tmp_path)
    wt = await session(large)
    for name, text in pointers.items():
        (wt.path / f"{name}{name}.bin").write_text(text)
    await ended(wt)
    await take(large, told(), How.COMMIT)
    assert {name: (large / f"{name}{name}.bin").read_text() for name in pointers} == pointers


@pytest.mark.parametrize("link", ["lfs", "lfs/objects"])
async def test_a_store_that_leads_elsewhere_is_refused(large, tmp_path, link):
    wt = await session(large)
    away = large / ".git" / link
    away.rename(tmp_path / "far")
    away.symlink_to(tmp_path / "far")
    (wt.path / "new.bin").write_bytes(NEW)
    await ended(wt)
    before = sorted((tmp_path / "far").rglob("*"))
    with pytest.raises(HubError) as caught:
        await take(large, told(), How.COMMIT)
    assert caught.value.code is Code.NO_PERMISSION
    assert sorted((tmp_path / "far").rglob("*")) == before


async def test_other_bytes_under_the_name_of_a_file_give_way(large):
    """Whoever had put them there first decided what was kept of it: nothing."""
    stored(large, NEW).parent.mkdir(parents=True)
    stored(large, NEW).write_bytes(b"other bytes")
    wt = await session(large)
    (wt.path / "new.bin").write_bytes(NEW)
    await ended(wt)
    await take(large, told(), How.COMMIT)
    assert stored(large, NEW).read_bytes() == (large / "new.bin").read_bytes() == NEW
