"""An index that hub rewrites is the one that git would have written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.io.git import index as module
from hub.io.git.index import note_entries, rewrite
from hub.io.git.shadow import Shadow
from hub.io.git.store import apply
from tests.hub.io.git.kit import make_repo, session, sh
from tests.hub.io.git.test_snapshot import take

NAMES = st.lists(st.sampled_from(["a", "b", "a.b", "a0", "\u00fc"]), min_size=1, max_size=3).map(
    lambda steps: "/".join(steps).encode()
)
ENTRIES = st.tuples(
    st.sampled_from(["100644", "100755", "120000", "160000"]), st.sampled_from("123").map(lambda c: c * 40)
)
QUICK = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def kept(tmp_path: Path, entries, *, algorithm: str = "sha1", config: tuple[str, ...] = ()) -> Shadow:
    """A kept index with these entries, and the ids of its trees in it, as a checkout leaves them."""
    root = tmp_path / "repo"
    shadow = Shadow(
        root, root / ".git", root / ".git/index", root / ".git/objects", algorithm, executable_bit=True
    )
    if not root.exists():
        root.mkdir()
        sh(root, "init", "-q", f"--object-format={algorithm}")
    shadow.index.unlink(missing_ok=True)
    (shadow.git_dir / "entries").unlink(missing_ok=True)
    lines = b"".join(b"%b %b\t%b\0" % (m.encode(), o.encode(), path) for path, (m, o) in entries.items())
    put(shadow, lines, *config)
    sh(root, *config, "write-tree", "--missing-ok")
    os.utime(shadow.index, ns=(10**18, 10**18))
    return shadow


def put(shadow: Shadow, lines: bytes, *config: str) -> None:
    """Entries as git takes them."""
    argv = ["git", *config, "update-index", "-z", "--index-info"]
    subprocess.run(argv, cwd=shadow.worktree, input=lines, check=True)


def alone(paths) -> bool:
    """Whether none of these files is a directory of another."""
    return not any(other.startswith(path + b"/") for path in paths for other in paths)


async def by_git(shadow: Shadow, entries) -> bytes:
    """What git makes of it."""
    await apply(shadow, entries)
    return shadow.index.read_bytes()


@QUICK
@given(before=st.dictionaries(NAMES, ENTRIES, min_size=1).filter(alone), data=st.data(), noted=st.booleans())
async def test_it_is_what_git_writes(tmp_path, before, data, noted):
    """Byte for byte; and it is left to git exactly where a file and a directory take each other's place."""
    names = NAMES | st.sampled_from(sorted(before))
    changes = data.draw(st.dictionaries(names, st.none() | ENTRIES))
    shadow, target = kept(tmp_path, before), tmp_path / "target"
    target.unlink(missing_ok=True)
    after = {path: entry for path, entry in {**before, **changes}.items() if entry is not None}
    folders = {path[:at] for path in before for at in range(len(path)) if path[at : at + 1] == b"/"}
    if noted:
        note_entries(shadow)
    done = rewrite(shadow, target, changes)
    assert done is (alone(after) and not folders & set(changes))
    assert target.exists() is done
    if done:
        assert target.read_bytes() == await by_git(shadow, changes)


LONG = b"d/" * 2100 + b"file"


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
async def test_names_of_any_length_and_both_kinds_of_ids(tmp_path, algorithm):
    """A length of 4095 or more is not told, and the name's end is looked for."""
    digits = 64 if algorithm == "sha256" else 40
    entry, other = ("100644", "1" * digits), ("100755", "2" * digits)
    names = [b"n" * length for length in range(1, 20)]
    shadow = kept(tmp_path, dict.fromkeys([LONG, *names], entry), algorithm=algorithm)
    changes = {LONG: other, LONG + b"r": entry, names[7]: None, names[11]: other, b"zz": entry}
    assert rewrite(shadow, tmp_path / "target", changes)
    assert (tmp_path / "target").stat().st_mtime_ns == shadow.index.stat().st_mtime_ns
    assert (tmp_path / "target").read_bytes() == await by_git(shadow, changes)


async def test_without_changes_it_is_a_copy(tmp_path):
    shadow = kept(tmp_path, {b"a/b": ("100644", "1" * 40)})
    assert rewrite(shadow, tmp_path / "target", {})
    assert (tmp_path / "target").read_bytes() == shadow.index.read_bytes()


async def test_what_tells_where_things_are_in_the_file_is_left_out(tmp_path):
    """An index made for several threads says where each one begins: that is not true any more, and needed by nobody."""
    many = {b"f%05d" % number: ("100644", "1" * 40) for number in range(20_001)}
    shadow = kept(tmp_path, many, config=("-c", "index.threads=2"))
    assert b"IEOT" in shadow.index.read_bytes()[-200:]
    changes = {b"f00007": None, b"new": ("100755", "2" * 40)}
    assert rewrite(shadow, tmp_path / "target", changes)
    shadow.index.write_bytes((tmp_path / "target").read_bytes())
    read = sh(shadow.worktree, "ls-files", "-s").splitlines()
    assert len(read) == 20_001
    assert read[7].endswith("f00008")
    assert read[-1] == f"100755 {'2' * 40} 0\tnew"


def version_4(shadow: Shadow) -> None:
    sh(shadow.worktree, "update-index", "--index-version", "4")


def sparse(shadow: Shadow) -> None:
    sh(shadow.worktree, "update-index", "--skip-worktree", "a")


def split(shadow: Shadow) -> None:
    sh(shadow.worktree, "update-index", "--split-index")


def conflict(shadow: Shadow) -> None:
    put(shadow, f"100644 {'3' * 40} 2\tb\0".encode())


def cut(shadow: Shadow) -> None:
    shadow.index.write_bytes(shadow.index.read_bytes()[:-30])


def empty(shadow: Shadow) -> None:
    shadow.index.write_bytes(b"")


def noted_wrongly(shadow: Shadow) -> None:
    found = shadow.index.stat()
    (shadow.git_dir / "entries").write_bytes(b"%d %d\0" % (found.st_mtime_ns, found.st_size) + b"x" * 12)


OTHER_FORMS = [version_4, sparse, split, conflict, cut, empty, noted_wrongly]


@pytest.mark.parametrize("form", OTHER_FORMS, ids=lambda form: form.__name__)
async def test_any_other_form_is_left_to_git(tmp_path, form):
    shadow = kept(tmp_path, {b"a": ("100644", "1" * 40)})
    form(shadow)
    note_entries(shadow)
    assert not rewrite(shadow, tmp_path / "target", {b"b": ("100644", "2" * 40)})
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize("entry", [("040000", "1" * 40), ("100644", "1" * 64), ("100644", "no id")])
async def test_what_is_no_entry_is_left_to_git(tmp_path, entry):
    shadow = kept(tmp_path, {b"a": ("100644", "1" * 40)})
    assert not rewrite(shadow, tmp_path / "target", {b"b": entry})


async def test_a_note_of_another_index_is_not_believed(tmp_path):
    """Of the same size, and written later."""
    kept(tmp_path, {b"a" * 70: ("100644", "1" * 40), b"b": ("100644", "1" * 40)})
    shadow = kept(tmp_path, {b"a" * 70: ("100644", "1" * 40), b"b": ("100644", "1" * 40)})
    note_entries(shadow)
    lines = b"0 %b\t%b\0" % (b"0" * 40, b"a" * 70) + b"100644 %b\t%b\0" % (b"1" * 40, b"c" * 70)
    put(shadow, lines)
    changes = {b"b": None}
    assert rewrite(shadow, tmp_path / "target", changes)
    assert (tmp_path / "target").read_bytes() == await by_git(shadow, changes)


@pytest.mark.parametrize("largest", [module.LARGEST, 10])
async def test_the_agents_status_is_clean_whoever_wrote_its_index(tmp_path, monkeypatch, largest):
    """hub, or git where an index is too large to be held in memory."""
    asked: list[bool] = []
    monkeypatch.setattr(module, "LARGEST", largest)
    monkeypatch.setattr(
        sys.modules["hub.io.git.snapshot"], "rewrite", lambda *args: asked.append(rewrite(*args)) or asked[-1]
    )
    wt = await session(make_repo(tmp_path / "repo"))
    (wt.path / "a.txt").write_text("other")
    (wt.path / "d/new").write_text("new")
    (wt.path / "run.sh").unlink()
    taken = await take(wt)
    assert asked == [largest > 10]
    assert sh(wt.path, "status", "--porcelain") == ""
    assert sh(wt.path, "write-tree").strip() == taken.tree
    assert sh(wt.path, "fsck", "--no-dangling") == ""
