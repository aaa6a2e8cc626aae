"""The source files of a project: which are read, what a second scan costs, and what never opens."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from hub.domain.code.table import declared
from hub.errors import Code
from hub.io.git.repository import project_files as files
from hub.io.graph import code_scan
from hub.io.graph.code_scan import MAX_BYTES, Gone, Scanned, scan, walk
from tests.hub.io.git.kit import sh
from tests.refusals import refuses


def put(root: Path, path: str, text: str | bytes = "def f(): ...\n", *, age: float = 10.0) -> Path:
    """A file that is `age` seconds old."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    then = file.stat().st_mtime - age
    os.utime(file, (then, then))
    return file


def known(found) -> dict[str, tuple[int, int]]:
    return {each.path: (each.size, each.mtime_ns) for each in found if isinstance(each, Scanned)}


def paths(found) -> list[str]:
    return [each.path for each in found]


def test_a_file_is_read_whole(tmp_path):
    file = put(tmp_path, "src/a.py", "class A:\n    x = 1\n\ndef b(): ...\n")
    (found,) = scan(tmp_path, {})
    assert isinstance(found, Scanned)
    assert (found.path, found.size, found.mtime_ns) == ("src/a.py", 33, file.stat().st_mtime_ns)
    assert (found.language, found.mark) == ("python", None)
    assert found.symbols == declared("python", file.read_bytes()).symbols
    assert [each.body for each in found.chunks] == ["class A:\n    x = 1\n\ndef b(): ..."]


def test_only_what_has_changed_is_opened_again(tmp_path, monkeypatch):
    """An unchanged file costs a stat: the opening of one is what a second scan must not do."""
    for name in ("a.py", "b.go", "c/d.rs"):
        put(tmp_path, name)
    before = known(scan(tmp_path, {}))
    assert sorted(before) == ["a.py", "b.go", "c/d.rs"]
    opened: list[object] = []
    really = os.open

    def watched(path, flags, *rest, **more):
        if not flags & os.O_DIRECTORY:
            opened.append(path)
        return really(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", watched)
    assert list(scan(tmp_path, before)) == []
    assert opened == []
    put(tmp_path, "b.go", "package b\n")
    (tmp_path / "a.py").unlink()
    assert paths(scan(tmp_path, before)) == ["b.go", "a.py"]
    assert opened == [b"b.go"]


def test_a_file_as_young_as_the_clock_s_grain_is_read_again(tmp_path):
    """It may change once more within the same tick, at the same size: git calls such an entry racy."""
    put(tmp_path, "a.py", age=0)
    (first,) = scan(tmp_path, {})
    assert isinstance(first, Scanned)
    assert first.mtime_ns == 0
    assert paths(scan(tmp_path, known([first]))) == ["a.py"]


@pytest.mark.parametrize("became", ["deleted", "huge", "binary", "link", "folder", "unreadable"])
def test_a_known_file_that_is_no_source_any_more_is_gone(tmp_path, became):
    file = put(tmp_path, "a.py")
    before = known(scan(tmp_path, {}))
    file.unlink()
    match became:
        case "huge":
            put(tmp_path, "a.py", b"x" * (MAX_BYTES + 1))
        case "binary":
            put(tmp_path, "a.py", b"def f(): ...\n\0")
        case "link":
            file.symlink_to(put(tmp_path, "other.txt"))
        case "folder":
            file.mkdir()
        case "unreadable":
            put(tmp_path, "a.py").chmod(0)
            if os.access(file, os.R_OK):  # root reads everything
                file.unlink()
    assert list(scan(tmp_path, before)) == [Gone("a.py")]


def test_the_bounds(tmp_path, monkeypatch):
    put(tmp_path, "full.py", b"x" * MAX_BYTES)
    put(tmp_path, "late.py", b"x" * 8000 + b"\0")
    put(tmp_path, "more.py")
    assert paths(scan(tmp_path, {})) == ["full.py", "late.py", "more.py"]
    monkeypatch.setattr(code_scan, "MAX_FILES", 2)
    assert paths(scan(tmp_path, {"more.py": (1, 1)})) == ["full.py", "late.py", "more.py"]
    assert list(scan(tmp_path, {"more.py": (1, 1)}))[-1] == Gone("more.py")


def test_nothing_but_files_is_opened_and_nothing_outside(tmp_path):
    """A FIFO would block for ever, a link would read what the user shows to nobody."""
    root = tmp_path / "root"
    put(root, "real.py")
    put(tmp_path, "outside/secret.py", "def secret(): ...\n")
    (root / "link.py").symlink_to(tmp_path / "outside/secret.py")
    (root / "linked").symlink_to(tmp_path / "outside")
    os.mkfifo(root / "fifo.py")
    here = Path.cwd()
    os.chdir(root)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.py")
        os.chdir(here)
        names = [
            "fifo.py",
            "link.py",
            "linked/secret.py",
            "../outside/secret.py",
            "real.py/../real.py",
            "socket.py",
        ]
        hostile = [
            name.encode() for name in (*names, str(tmp_path / "outside/secret.py"), "real.py", "real.py")
        ]
        assert paths(scan(root, {}, hostile)) == ["real.py"]
        assert paths(scan(root, {})) == ["real.py"]


def test_a_name_that_is_no_utf8(tmp_path):
    """It comes back as the system's own functions take it."""
    name = os.fsdecode(b"caf\xe9.py")
    put(tmp_path, name)
    (found,) = scan(tmp_path, {})
    assert found.path == name
    assert list(scan(tmp_path, known([found]))) == []


def test_generated_and_vendored_files_are_marked(tmp_path):
    put(tmp_path, "a_pb2.py")
    put(tmp_path, "b.go", "// Code generated by x. DO NOT EDIT.\npackage b\n")
    put(tmp_path, "vendor/c.go")
    put(tmp_path, "z.go")
    assert {each.path: each.mark for each in scan(tmp_path, {}) if isinstance(each, Scanned)} == {
        "a_pb2.py": "generated",
        "b.go": "generated",
        "vendor/c.go": "vendored",
        "z.go": None,
    }


def test_a_walk_ends_when_it_is_over(tmp_path):
    """Asked of what is listed, too: a folder of a million files is no reason to read it to its end."""
    for name in "abcd":
        (tmp_path / name).touch()
    asked = iter([False] * 4 + [False, True])
    assert len(list(walk(tmp_path, lambda: next(asked)))) == 1
    asked = iter([False, True, True])
    assert list(walk(tmp_path, lambda: next(asked))) == []


def test_a_walk_leaves_out_what_tools_fill(tmp_path):
    for name in ("a.py", "node_modules/x/y.js", ".hub/z.py", "src/.venv/b.py", "src/c.py", ".git/hooks/d.py"):
        put(tmp_path, name)
    assert [os.fsdecode(path) for path in walk(tmp_path)] == ["a.py", "src/c.py"]
    assert paths(scan(tmp_path, {})) == ["a.py", "src/c.py"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OSError, match="missing"):
        list(scan(tmp_path / "missing", {}))


async def test_git_says_what_is_ignored(tmp_path):
    """Nested rules, exceptions, `.git/info/exclude`, tracked files that a rule would ignore: all as git has them."""
    root = tmp_path / "repo"
    root.mkdir()
    sh(root, "init", "-q")
    put(root, ".gitignore", "build/\n*.gen.py\n!keep.gen.py\n")
    put(root, "sub/.gitignore", "/local.py\n")
    put(root, ".git/info/exclude", ".hub/\n")
    wanted = ["a.py", "keep.gen.py", "local.py", "tracked.gen.py", "sub/deep/local.py", "odd \n name.py"]
    for name in (*wanted, "build/out.py", "x.gen.py", "sub/local.py", ".hub/worktrees/s/a.py"):
        put(root, name)
    sh(root, "add", "-f", "tracked.gen.py", "a.py")
    put(root, "inner/.git/HEAD", "ref: refs/heads/main\n")
    listed = await files(root)
    assert listed == sorted(listed)
    assert paths(scan(root, {}, listed)) == sorted(wanted)
    (root / "a.py").unlink()
    assert b"a.py" in await files(root)
    assert "a.py" not in paths(scan(root, {}, await files(root)))
    assert [path for path in await files(root / "sub") if path.endswith(b".py")] == [b"deep/local.py"]


async def test_a_folder_outside_of_every_repository(tmp_path):
    with refuses(Code.NOT_A_REPOSITORY):
        await files(tmp_path)
