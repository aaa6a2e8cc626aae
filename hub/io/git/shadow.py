"""hub's own git directory and index for a working tree.

Owns: the *shadow*: a git directory that shares the objects of the repository and nothing else, and the index kept
in it; a bare one of the same kind.
Must not: touch the working tree, its own index, HEAD or any ref of the repository.

Why: the shadow's configuration is hub's, so no filter, no fsmonitor and no include of the repository exists in
it, not even for the moment between a check and its use. The kept index is the one that the checkout wrote: it
knows every file as it was checked out by its stat data, so only what changed since is read. It is never written
to again. What changed since the checkout is read at each snapshot: slower than trusting a timestamp, and never
fooled by one.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path

import attrs
import trio

from hub.io.files.atomic import coded_errors
from hub.io.git.env import effective_config, git
from hub.io.git.layout import common_dir
from hub.io.git.programs import note_programs
from hub.io.project.places import make_private_dir
from hub.io.runner.proc import OWN_END, own

_CARRIED = (
    "core.filemode",
    "core.symlinks",
    "core.precomposeunicode",
    "core.trustctime",
    "core.checkstat",
    "core.autocrlf",
    "core.eol",
    "core.sparsecheckout",
)
"""Plain words of the repository's configuration by which git compares a file with its index entry."""
_INNER = ("refs", "objects", "info")
_CHUNK = 1 << 20


@attrs.frozen
class Shadow:
    """hub's git directory for one working tree."""

    worktree: Path
    git_dir: Path
    index: Path
    objects: Path
    algorithm: str
    """The repository's object format, `sha1` or `sha256`."""
    executable_bit: bool
    """False where the file system has none."""
    unseen: Mapping[bytes, tuple[str, str]] = attrs.field(factory=dict)
    """Mode and id of what a sparse checkout keeps out of the working tree: where it is missing, it is not gone."""

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


async def open_shadow(worktree: Path, common: Path, index: Path) -> Shadow:
    """The shadow beside `index`, made on first use; the index itself may not be there yet."""
    git_dir = index.with_name(f"{index.name}.gitdir")
    config = git_dir / "config"
    if not config.is_file():  # one stat
        await _make_shadow(worktree, common, git_dir)
    settings = config.read_text(encoding="utf-8")  # a few bytes
    with coded_errors(git_dir):
        exclude = common / "info" / "exclude"
        if exclude.is_file():
            shutil.copyfile(exclude, git_dir / "info" / "exclude")
        for report in git_dir.glob("fast_import_crash_*"):
            report.unlink(missing_ok=True)
    return Shadow(
        worktree,
        git_dir,
        index,
        common / "objects",
        "sha256" if "objectFormat = sha256" in settings else "sha1",
        executable_bit='filemode = "false"' not in settings,
    )


async def _make_shadow(worktree: Path, common: Path, git_dir: Path) -> None:
    settings = await effective_config(worktree)
    known = {key: settings[key] for key in _CARRIED if re.fullmatch(r"[a-z]+", settings.get(key, ""))}
    lines = ["bare = false", *(f'{key.removeprefix("core.")} = "{value}"' for key, value in known.items())]
    with coded_errors(git_dir):
        _make_folders(git_dir)
        # Asked, not read: where it is said and not so, a new `A.txt` beside `a.txt` would be in no snapshot.
        lines.append(f'ignorecase = "{str((git_dir / "head").exists()).lower()}"')
        (git_dir / "info" / "attributes").write_text("* -filter -diff -merge\n", encoding="utf-8")
        await note_programs(git_dir, worktree, common)
        _configure(git_dir, settings, lines)


def _make_folders(git_dir: Path) -> None:
    for directory in (git_dir.parent.parent, git_dir.parent, git_dir, *map(git_dir.joinpath, _INNER)):
        make_private_dir(directory)
    (git_dir / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")


def _configure(git_dir: Path, settings: Mapping[str, str], core: Iterable[str]) -> None:
    lines = ["[core]", "repositoryFormatVersion = 1", *core]
    if settings.get("extensions.objectformat") == "sha256":
        lines += ["[extensions]", "objectFormat = sha256"]
    temp = git_dir / "config.new"
    temp.write_text("\n".join(lines) + "\n", encoding="utf-8")
    temp.replace(git_dir / "config")


async def bare(root: Path, directory: Path) -> tuple[Path, dict[str, str]]:
    """A bare git directory of hub's, made anew so that nothing left in it counts, and the environment that names it."""
    common = common_dir(root)
    settings = await effective_config(root)
    with coded_errors(directory):
        _make_folders(directory)
        (directory / "info" / "attributes").unlink(missing_ok=True)
        _configure(directory, settings, ["bare = true"])
    return directory, {
        "GIT_DIR": str(directory),
        "GIT_OBJECT_DIRECTORY": str(common / "objects"),
        # Where there is one, git does not ask for what came before.
        "GIT_SHALLOW_FILE": str(common / "shallow"),
    }


async def seed_index(shadow: Shadow, tree: str) -> None:
    """Makes the kept index from a tree; files that equal it are then known by their stat data."""
    async with scratch(shadow) as spare:
        await git("read-tree", tree, cwd=shadow.worktree, where=spare.where)
        await git("update-index", "-q", "--refresh", cwd=shadow.worktree, where=spare.where, accept=(0, 1))
        await trio.to_thread.run_sync(copy_index, spare.index, shadow.index)


async def base_tree(shadow: Shadow) -> str:
    """The tree of the kept index; asked of git once and noted beside the index it was true for."""

    async def written() -> bytes:
        async with scratch(shadow, shadow.index) as spare:
            done = await git("write-tree", "--missing-ok", cwd=shadow.worktree, where=spare.where)
        return done.text.encode()

    return (await _once(shadow, "base-tree", written)).decode("ascii")


async def submodules(shadow: Shadow) -> tuple[bytes, ...]:
    """The paths at which the kept index has another repository's commit; noted as `base_tree` is."""

    async def listed() -> bytes:
        done = await git("ls-files", "--stage", "-z", cwd=shadow.worktree, where=shadow.where)
        lines = (line.partition(b"\t") for line in done.out.split(b"\0"))
        return b"\0".join(path for head, _, path in lines if head.startswith(b"160000 "))

    return tuple(filter(None, (await _once(shadow, "submodules", listed)).split(b"\0")))


async def _once(shadow: Shadow, name: str, ask: Callable[[], Awaitable[bytes]]) -> bytes:
    """What is asked of the kept index, once as long as that is the same."""
    found = shadow.index.stat()  # one stat
    stamp = f"{found.st_mtime_ns} {found.st_size}"
    answer = noted(shadow, name, stamp)
    if answer is None:
        answer = await ask()
        note(shadow, name, stamp, answer)
    return answer


def noted(shadow: Shadow, name: str, stamp: str) -> bytes | None:
    """What was noted under a name of an index with this stamp; None where nothing was, or of another one."""
    with contextlib.suppress(OSError):
        known, _, answer = (shadow.git_dir / name).read_bytes().partition(b"\n")
        return answer if known == stamp.encode() else None
    return None


def note(shadow: Shadow, name: str, stamp: str, answer: bytes) -> None:
    """Remembers that, in the place of what was noted before."""
    temp = shadow.git_dir / f"{name}.new"
    temp.write_bytes(b"%b\n%b" % (stamp.encode(), answer))
    temp.replace(shadow.git_dir / name)


def copy_index(source: Path, target: Path) -> None:
    """Copies an index with its modification time, by which git tells entries it may trust from those it may not.

    Guarantees: `target` appears whole or not at all. Of one in two parts (`core.splitIndex`) the other lies beside it.
    """
    temp = target.with_name(f"{target.name}.hub-new")
    with coded_errors(target), source.open("rb") as file:
        for shared in source.parent.glob("sharedindex.*"):
            _second_name(shared, target.with_name(shared.name))
        temp.unlink(missing_ok=True)
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as copy:
            shutil.copyfileobj(file, copy, _CHUNK)
        like = os.fstat(file.fileno())
        os.utime(temp, ns=(like.st_atime_ns, like.st_mtime_ns))
        temp.replace(target)


def _second_name(file: Path, name: Path) -> None:
    """A file that git never writes again, but may remove once no index needs it, under another name too."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(file.lstat().st_mode):
            return
        try:
            name.hardlink_to(file)
        except FileExistsError:
            return
        except OSError:  # on another file system, or of another owner
            shutil.copyfile(file, name)


@contextlib.contextmanager
def throwaway(parent: Path, name: str) -> Iterator[Path]:
    """A folder for as long as this lasts; if this process is killed meanwhile, for as long as nobody sweeps.

    Raises:
        HubError: NO_SPACE, READ_ONLY, NO_PERMISSION, also of what is written there.
    """
    with coded_errors(parent), tempfile.TemporaryDirectory(OWN_END, own(name), parent) as directory:
        yield Path(directory)


@contextlib.asynccontextmanager
async def scratch(shadow: Shadow, source: Path | None = None) -> AsyncIterator[Shadow]:
    """The same shadow with a throw-away index: a copy of `source`, or none yet."""
    with throwaway(shadow.git_dir, "index") as directory:
        index = directory / "index"
        if source is not None:
            await trio.to_thread.run_sync(copy_index, source, index)
        yield attrs.evolve(shadow, index=index)
