"""From the files of a working tree to a git tree, exact to the byte.

Owns: hub's own git directory and index for a working tree, finding what changed since the index was written, and
writing blobs and trees.
Must not: touch the working tree, its own index, HEAD or any ref; run anything the tree or the repository names.

Why a directory of hub's own (the *shadow*): it shares the objects of the repository and nothing else. Its
configuration is hub's, so no filter, no fsmonitor and no include of the repository exists in it, not even for the
moment between a check and its use. The index in it is kept from snapshot to snapshot and knows the files by
their stat data, as git's own does; so only what changed is read. What hub itself writes into it carries no stat
data and is read again next time: that is slower, and it cannot be fooled by a timestamp.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping
from functools import partial
from pathlib import Path

import attrs
import trio

from hub.errors import Code, HubError
from hub.io.atomic import coded_errors
from hub.io.git_digest import ABSENT, LINK, SUBMODULE, Absent, Content, Found, Unstorable, look
from hub.io.git_env import effective_config, git
from hub.io.places import make_private_dir

_CARRIED = ("core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode", "core.trustctime",
            "core.checkstat", "core.autocrlf", "core.eol")  # fmt: skip
_PLAIN = re.compile(rb"[A-Za-z0-9._/+@=,-]+")
_ATTEMPTS = 3
_REMOVED = "0" * 6


@attrs.frozen
class Shadow:
    """hub's git directory for one working tree."""

    worktree: Path
    git_dir: Path
    index: Path
    objects: Path
    algorithm: str
    executable_bit: bool

    @property
    def where(self) -> dict[str, str]:
        """The environment that names it."""
        return {
            "GIT_DIR": str(self.git_dir),
            "GIT_WORK_TREE": str(self.worktree),
            "GIT_INDEX_FILE": str(self.index),
            "GIT_OBJECT_DIRECTORY": str(self.objects),
        }

    @property
    def zero(self) -> str:
        """The id that stands for nothing."""
        return "0" * (64 if self.algorithm == "sha256" else 40)


@attrs.frozen
class Skipped:
    """A path that is not in the tree, or not wholly, and why."""

    path: str
    reason: str


@attrs.frozen
class Built:
    """A tree and what was learnt on the way."""

    tree: str
    contents: Mapping[bytes, Content]
    """What was read, by path."""
    skipped: tuple[Skipped, ...]


@attrs.frozen
class _Scan:
    """What differs from the index: path -> (mode, id) in the index, `None` for paths it does not have."""

    paths: Mapping[bytes, tuple[str, str] | None]
    nested: tuple[bytes, ...]
    specials: tuple[bytes, ...]


class _MovingError(Exception):
    """A file changed between two looks at it."""


def show(path: bytes) -> str:
    """A path for people and for JSON; bytes that are no UTF-8 are escaped."""
    return path.decode("utf-8", "backslashreplace")


async def open_shadow(worktree: Path, common: Path, index: Path) -> Shadow:
    """hub's git directory beside `index`, made on first use; the index itself may not be there yet."""
    git_dir = index.with_name(f"{index.name}.gitdir")
    config = git_dir / "config"
    if not config.is_file():
        await _make_shadow(worktree, git_dir, config)
    settings = config.read_text(encoding="utf-8")
    with coded_errors(git_dir):
        exclude = common / "info" / "exclude"
        if exclude.is_file():
            shutil.copyfile(exclude, git_dir / "info" / "exclude")
        _unlink(
            index.with_name(f"{index.name}.lock")
        )  # left by a git that was killed; only hub uses this index
    return Shadow(
        worktree,
        git_dir,
        index,
        common / "objects",
        "sha256" if "objectFormat = sha256" in settings else "sha1",
        executable_bit='filemode = "false"' not in settings,
    )


async def _make_shadow(worktree: Path, git_dir: Path, config: Path) -> None:
    settings = await effective_config(worktree)
    with coded_errors(git_dir):
        for directory in (
            git_dir.parent.parent,
            git_dir.parent,
            git_dir,
            *(git_dir / n for n in ("refs", "objects", "info")),
        ):
            make_private_dir(directory)
        (git_dir / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
        (git_dir / "info" / "attributes").write_text("* -filter -diff -merge\n", encoding="utf-8")
        lines = ["[core]", "repositoryFormatVersion = 1", "bare = false"]
        lines += [
            f'{key.removeprefix("core.")} = "{settings[key]}"'
            for key in _CARRIED
            if re.fullmatch(r"[a-z]+", settings.get(key, ""))
        ]
        if settings.get("extensions.objectformat") == "sha256":
            lines += ["[extensions]", "objectFormat = sha256"]
        temp = config.with_name("config.new")
        temp.write_text("\n".join(lines) + "\n", encoding="utf-8")
        temp.replace(config)


async def seed_index(shadow: Shadow, tree: str) -> None:
    """Makes the kept index anew from a tree; files that equal it are then known by their stat data."""
    await git("read-tree", tree, cwd=shadow.worktree, where=shadow.where)
    await git("update-index", "-q", "--refresh", cwd=shadow.worktree, where=shadow.where, accept=(0, 1))


def copy_index(source: Path, target: Path) -> None:
    """Copies an index with its modification time, by which git tells entries it may trust from those it may not."""
    temp = target.with_name(f"{target.name}.hub-new")
    with coded_errors(target):
        _unlink(temp)
        with (
            source.open("rb") as file,
            open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as copy,
        ):
            shutil.copyfileobj(file, copy, 1 << 20)
            found = os.fstat(file.fileno())
        os.utime(temp, ns=(found.st_atime_ns, found.st_mtime_ns))
        temp.replace(target)


@contextlib.asynccontextmanager
async def scratch(shadow: Shadow, source: Path) -> AsyncIterator[Shadow]:
    """The same shadow with a throw-away copy of an index."""
    with tempfile.TemporaryDirectory(prefix="index-", dir=shadow.git_dir) as directory:
        index = Path(directory) / "index"
        await trio.to_thread.run_sync(copy_index, source, index)
        yield attrs.evolve(shadow, index=index)


async def build_tree(shadow: Shadow, also: Iterable[str] = ()) -> Built:
    """Brings the shadow's index in line with the working tree and writes its tree.

    Args:
        shadow: With an index.
        also: Trees whose paths belong to the result when they are in the working tree, ignored or not: what is
            tracked stays tracked.

    Raises:
        HubError: GIT_FAILED, NO_SPACE, READ_ONLY or NO_PERMISSION.
    """
    scan = await _scan(shadow)
    skipped = [Skipped(show(p), "not a file") for p in scan.specials]
    for nested in scan.nested:
        skipped.append(
            Skipped(show(nested + b".git"), "the history of a nested repository; its files are kept")
        )
    contents = await _take(shadow, scan.paths, skipped)
    tree = await _write_tree(shadow)
    for other in dict.fromkeys(also):
        lost = await _lost(shadow, other, tree) if other != tree else {}
        lost = {path: old for path, old in lost.items() if path not in contents}
        more = await _take(shadow, lost, skipped) if lost else {}
        if any(isinstance(found, Content) for found in more.values()):
            tree = await _write_tree(shadow)
        contents |= more
    stored = {path: found for path, found in contents.items() if isinstance(found, Content)}
    return Built(tree, stored, tuple(sorted(set(skipped), key=lambda item: item.path)))


async def _write_tree(shadow: Shadow) -> str:
    done = await git("write-tree", "--missing-ok", cwd=shadow.worktree, where=shadow.where)
    return done.text


async def _take(
    shadow: Shadow, paths: Mapping[bytes, tuple[str, str] | None], skipped: list[Skipped]
) -> dict[bytes, Found]:
    """Looks at paths, stores what is new and updates the index; says what it found."""
    for attempt in range(_ATTEMPTS):
        found = await trio.to_thread.run_sync(
            partial(
                look, shadow.worktree, sorted(paths), shadow.algorithm, executable_bit=shadow.executable_bit
            )
        )
        submodules = {path for path, old in paths.items() if old is not None and old[0] == SUBMODULE}
        try:
            found |= await _store(shadow, paths, found, last=attempt == _ATTEMPTS - 1)
        except _MovingError:
            continue
        await _update_index(shadow, paths, found, submodules)
        skipped.extend(
            Skipped(show(p), what.reason) for p, what in found.items() if isinstance(what, Unstorable)
        )
        skipped.extend(Skipped(show(p), "a submodule: only its commit is kept") for p in submodules)
        return found
    raise HubError(Code.GIT_FAILED, f"Files in {shadow.worktree} do not hold still long enough to be stored.")


async def _store(
    shadow: Shadow, paths: Mapping[bytes, tuple[str, str] | None], found: Mapping[bytes, Found], *, last: bool
) -> dict[bytes, Found]:
    """Writes the blobs the index does not know yet; gives what differs from what was found.

    git reads each file a second time. When it saw something else than the first reading did, the file is being
    written to: all is looked at again, and the last time what git stored is what counts.
    """
    fresh = [
        (path, what)
        for path, what in found.items()
        if isinstance(what, Content) and ((old := paths[path]) is None or old[1] != what.oid)
    ]
    if not fresh:
        return {}
    with tempfile.TemporaryDirectory(prefix="links-", dir=shadow.git_dir) as links:
        lines = []
        for number, (path, what) in enumerate(fresh):
            source = path
            if what.target is not None:
                link = Path(links) / str(number)
                link.write_bytes(what.target)
                source = os.fsencode(link)
            lines.append(_quoted(source))
        done = await git(
            "hash-object", "-w", "--no-filters", "--stdin-paths",
            cwd=shadow.worktree, where=shadow.where, stdin=b"".join(lines), accept=(0, 128),
        )  # fmt: skip
    stored = done.text.splitlines() if done.out else []
    if done.code:
        if last or not _may_pass(done.err):
            raise _hash_failure(done.err)
        raise _MovingError
    moved = {path: (what, oid) for (path, what), oid in zip(fresh, stored, strict=True) if what.oid != oid}
    if moved and not last:
        raise _MovingError
    return {path: attrs.evolve(what, oid=oid, sha256="") for path, (what, oid) in moved.items()}


def _may_pass(said: str) -> bool:
    """Whether git tripped over a file that went away, not over the disk."""
    return "No such file" in said or "could not open" in said or "Not a directory" in said


def _hash_failure(said: str) -> HubError:
    full = "No space left" in said
    return HubError(Code.NO_SPACE if full else Code.GIT_FAILED, f"git hash-object: {said.strip()[:400]}")


async def _update_index(
    shadow: Shadow,
    paths: Mapping[bytes, tuple[str, str] | None],
    found: Mapping[bytes, Found],
    submodules: set[bytes],
) -> None:
    gone: list[bytes] = []
    kept: list[bytes] = []
    for path, what in found.items():
        old = paths[path]
        if path in submodules and isinstance(what, Absent) and old is not None:
            commit = await _submodule_commit(shadow, path)
            if commit:
                kept.append(_entry(SUBMODULE, commit, path))
                continue
        if isinstance(what, Content):
            if old != (what.mode, what.oid):
                kept.append(_entry(what.mode, what.oid, path))
        elif old is not None and (isinstance(what, Absent) or what.special):
            gone.append(_entry(_REMOVED, shadow.zero, path))
    if gone or kept:
        stdin = b"".join((*gone, *kept))
        await git("update-index", "-z", "--index-info", cwd=shadow.worktree, where=shadow.where, stdin=stdin)


def _entry(mode: str, oid: str, path: bytes) -> bytes:
    return b"%b %b\t%b\0" % (mode.encode(), oid.encode(), path)


async def _submodule_commit(shadow: Shadow, path: bytes) -> str:
    """The commit a submodule stands at; "" when it is not there."""
    inside = Path(os.fsdecode(os.path.join(os.fsencode(shadow.worktree), path)))  # noqa: PTH118  # bytes
    if not (inside / ".git").exists():
        return ""
    done = await git("rev-parse", "--verify", "-q", "HEAD^{commit}", cwd=inside, accept=(0, 1, 128))
    return done.text if done.code == 0 else ""


async def _scan(shadow: Shadow) -> _Scan:
    """Three looks at once: tracked files by their stat data, untracked ones, and what is no file at all."""
    paths: dict[bytes, tuple[str, str] | None] = {}
    untracked: list[bytes] = []
    nested: list[bytes] = []
    specials: list[bytes] = []

    async def tracked() -> None:
        done = await git(
            "diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=dirty",
            cwd=shadow.worktree, where=shadow.where,
        )  # fmt: skip
        paths.update(_raw(done.out, shadow.zero))

    async def others() -> None:
        found, inner = await _untracked(shadow)
        untracked.extend(found)
        nested.extend(inner)

    async def odd() -> None:
        specials.extend(await trio.to_thread.run_sync(_specials, shadow.worktree))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(tracked)
        nursery.start_soon(others)
        nursery.start_soon(odd)
    for path in untracked:
        paths.setdefault(path, None)
    return _Scan(paths, tuple(nested), tuple(path for path in specials if path not in paths))


def _raw(out: bytes, zero: str) -> dict[bytes, tuple[str, str] | None]:
    """The paths of a raw diff and what its left side has there."""
    fields = out.split(b"\0")
    found: dict[bytes, tuple[str, str] | None] = {}
    for head, path in zip(fields[0:-1:2], fields[1::2], strict=True):
        mode, _, oid, _, status = head[1:].decode("ascii").split(" ")
        # An unmerged path comes twice; the line that says so has no content, and must win.
        if status[0] == "U":
            found[path] = (_REMOVED, zero)
        else:
            found.setdefault(path, None if status[0] == "A" else (mode, oid))
    return found


async def _lost(shadow: Shadow, other: str, tree: str) -> dict[bytes, tuple[str, str] | None]:
    """Paths that `other` has and `tree` has not."""
    done = await git(
        "diff-tree", "-r", "-z", "--raw", "--no-renames", "--diff-filter=D", other, tree,
        cwd=shadow.worktree, where=shadow.where,
    )  # fmt: skip
    return dict.fromkeys(
        (path for path, old in _raw(done.out, shadow.zero).items() if old and old[0] != SUBMODULE)
    )


async def _untracked(shadow: Shadow, prefix: bytes = b"") -> tuple[list[bytes], list[bytes]]:
    """Untracked files that are not ignored, those of nested repositories too, and where these are."""
    inside = Path(os.fsdecode(os.path.join(os.fsencode(shadow.worktree), prefix)))  # noqa: PTH118  # bytes
    where = shadow.where
    if prefix:
        where |= {"GIT_WORK_TREE": str(inside), "GIT_INDEX_FILE": str(shadow.git_dir / "no-index")}
    done = await git("ls-files", "-o", "-z", "--exclude-standard", cwd=inside, where=where)
    files: list[bytes] = []
    nested: list[bytes] = []
    for name in done.out.split(b"\0")[:-1]:
        if not name.endswith(b"/"):
            files.append(prefix + name)
            continue
        nested.append(prefix + name)
        inner, deeper = await _untracked(shadow, prefix + name)
        files += inner
        nested += deeper
    return files, nested


def _specials(root: Path) -> list[bytes]:
    """FIFOs, sockets and devices. Blocking; directory entries tell their type, so nothing is stat'ed."""
    found: list[bytes] = []
    stack = [b""]
    base = os.fsencode(root)
    while stack:
        directory = stack.pop()
        with contextlib.suppress(OSError), os.scandir(os.path.join(base, directory)) as entries:  # noqa: PTH118
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != b".git":
                        stack.append(directory + entry.name + b"/")
                elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
                    found.append(directory + entry.name)
    return found


def _quoted(path: bytes) -> bytes:
    """A line of `--stdin-paths`: git reads a quoted name as C does, so any byte can be said."""
    if _PLAIN.fullmatch(path):
        return path + b"\n"
    return (
        b'"'
        + b"".join(
            b"\\%03o" % byte if byte < 0x23 or byte in b'"\\\x7f' or byte > 0x7E else b"%c" % byte
            for byte in path
        )
        + b'"\n'
    )


def _unlink(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        path.unlink()


__all__ = [
    "ABSENT", "LINK", "Built", "Shadow", "Skipped", "build_tree", "copy_index", "open_shadow", "scratch",
    "seed_index", "show",
]  # fmt: skip
