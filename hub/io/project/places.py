"""Where everything lies: in the project, and outside of it.

Owns: the paths of `.hub/` and of the state directory, how they are made safely, how a project is found, and the
keys.
Must not: read or write the files whose paths it names (but for the keys), or put a key where an agent can read it.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from pathlib import Path
from shlex import quote
from typing import Literal

import attrs

from hub import userdirs
from hub.errors import Code, HubError
from hub.io.files.atomic import coded_errors, create_atomic, read_bounded, write_atomic

KEY_BYTES = 32
_PRIVATE = 0o700
_KEY_HEX = re.compile(r"[0-9a-fA-F]{64}")
_PURPOSE = re.compile(r"[a-z][a-z0-9-]{0,31}")
_EXCLUDES = (b"/.hub/", b"/.aider.tags.cache.v*/")
"""What is never part of the work: hub's own folder, and the index Aider keeps in whatever tree it works in."""
_TREELESS = "Go to one of its working trees, or make one: git worktree add ../work"
_EXCLUDE_LIMIT = 1 << 20
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def state_dir() -> Path:
    """The directory for what belongs to the user, not to a project; `HUB_STATE_DIR` overrides the platform's."""
    return Path(userdirs.state_dir())


@attrs.frozen
class _Path:
    """An attribute of `Places`: a name in a folder that is another attribute."""

    folder: Literal["root", "hub_dir", "home", "state"]
    name: str

    def __get__(self, places: Places, _: type[Places]) -> Path:
        found: Path = getattr(places, self.folder) / self.name
        return found


@attrs.frozen
class Places:
    """Every path of one project, computed from its root."""

    root: Path
    """The project's root, absolute."""
    state: Path = attrs.field(factory=state_dir)
    """The user's state directory."""
    session: str = ""
    """Whose `fsm` and `envelope_*` are meant; "" = whose they are that has the project's own place."""

    hub_dir = _Path("root", ".hub")
    config = _Path("root", "hub.toml")
    sessions = _Path("hub_dir", "sessions")
    """One folder a session that has not the project's own place."""
    fsm = _Path("home", "fsm.json")
    """The handoff state machine's durable state."""
    envelope_md = _Path("home", "envelope.md")
    """The contract for people and models."""
    envelope_json = _Path("home", "envelope.json")
    """The signed contract."""
    claims = _Path("hub_dir", "claims.json")
    """Which session has which account."""
    queue = _Path("hub_dir", "queue.json")
    """The orders that wait for their turn."""
    audit = _Path("hub_dir", "audit.jsonl")
    audit_head = _Path("hub_dir", "audit.head")
    """Its sealed head."""
    events_db = _Path("hub_dir", "events.db")
    graph_db = _Path("hub_dir", "graph.db")
    pipelines = _Path("hub_dir", "pipelines.json")
    approvals = _Path("hub_dir", "approvals.json")
    """The requests that wait for a person's word, and how those of the present run were decided."""
    pipeline_run = _Path("hub_dir", "pipeline-run.json")
    """The record of the pipeline run that goes on, else of the last one."""
    profiles = _Path("hub_dir", "profiles.toml")
    accounts = _Path("hub_dir", "accounts.toml")
    """Accounts that were added over the API, and which is active."""
    dotenv = _Path("hub_dir", ".env")
    """Provider credentials."""
    adopted = _Path("hub_dir", "adopted")
    """Briefs of adopted sessions."""
    worktrees = _Path("hub_dir", "worktrees")
    """One worktree a session."""
    run_dir = _Path("hub_dir", "run")
    """One directory a dispatch."""
    jobs_dir = _Path("hub_dir", "jobs")
    """One directory a command in a terminal."""
    git_dir = _Path("hub_dir", "git")
    """Indexes of hub's own, one a session."""
    lock = _Path("hub_dir", "lock")
    daemon_json = _Path("hub_dir", "daemon.json")
    """Informational: pid, port, start, version."""
    keys = _Path("state", "keys")
    """The keys, outside of every project."""

    def of(self, session_id: str) -> Places:
        """The same places, with the files of a session that has a folder of its own."""
        return attrs.evolve(self, session=session_id)

    @property
    def home(self) -> Path:
        """Where a session's own files are."""
        return self.sessions / self.session if self.session else self.hub_dir

    def below(self, file: Path) -> str:
        """A file of `.hub` as a brief tells where it is."""
        return file.relative_to(self.hub_dir).as_posix()

    def adopted_json(self, name: str) -> Path:
        """The signed contract of one."""
        return self.adopted / f"{name}.json"

    def adopted_md(self, name: str) -> Path:
        """The same as an agent reads it."""
        return self.adopted / f"{name}.md"

    def written(self) -> list[Path]:
        """What is in `.hub` and hub's alone: not the worktrees, nor where a link leads."""
        below = ("adopted", "sessions/*", "run/*", "git", "git/*", "git/*/*")
        top = self.hub_dir.resolve()
        return [top, *(path for pattern in below for path in top.glob(pattern) if path.resolve() == path)]

    def worktree(self, session_id: str) -> Path:
        """A session's worktree."""
        return self.worktrees / session_id

    def kept_index(self, session_id: str) -> Path:
        """The index hub keeps for a session's snapshots."""
        return self.git_dir / session_id / "index"

    def ensure(self) -> None:
        """Makes the directories (0700) and hides `.hub/` from git; a second call changes nothing.

        Raises:
            HubError: NO_PERMISSION when `.hub` is a link, no directory or another user's; NO_SPACE, READ_ONLY.
        """
        for directory in (
            self.hub_dir,
            self.worktrees,
            self.run_dir,
            self.git_dir,
            self.adopted,
            self.sessions,
        ):
            make_private_dir(directory)
        exclude_hub(self.root)


def make_private_dir(path: Path) -> None:
    """Makes one 0700 directory of this user, or takes the one that is there back to 0700.

    Raises:
        HubError: NO_PERMISSION when it is a link, no directory, or another user's.
    """
    with coded_errors(path):
        with contextlib.suppress(FileExistsError):
            path.mkdir(_PRIVATE)
        try:
            fd = os.open(path, _DIRECTORY)
        except NotADirectoryError as error:
            raise HubError(Code.NO_PERMISSION, f"{path} is a link or no directory.") from error
        try:
            found = os.fstat(fd)
            if found.st_uid != os.geteuid():
                raise HubError(Code.NO_PERMISSION, f"{path} belongs to another user.")
            if stat.S_IMODE(found.st_mode) != _PRIVATE:
                os.fchmod(fd, _PRIVATE)
        finally:
            os.close(fd)


def find_project(start: Path) -> Path:
    """The root of the project `start` lies in. From a session's worktree it is the project of that session.

    Such a worktree is known by its place: what its `.git` says may have been written by an agent.

    Raises:
        HubError: NOT_A_REPOSITORY, GIT_MISSING, or NO_PERMISSION when git does not trust the directory's owner.
    """
    where = start if start.is_dir() else start.parent
    answer = _rev_parse(where, "--show-toplevel")
    top = Path(os.path.realpath(where / os.fsdecode(answer)))
    if top.parent.name == "worktrees" and top.parent.parent.name == ".hub":
        return find_project(top.parent.parent.parent)
    if not os.path.lexists(top / ".git"):
        raise HubError(
            Code.NOT_A_REPOSITORY,
            f"The repository of {where} has its working tree in {top} (core.worktree), and there is no .git there.",
            hint="Make a file .git there with one line, gitdir: <the repository>, and start hub there.",
        )
    return top


def exclude_hub(root: Path) -> None:
    """Adds `.hub/` and the agents' litter to the repository's own exclude file, once."""
    common = _rev_parse(root, "--git-common-dir")
    info = Path(os.path.realpath(root / os.fsdecode(common))) / "info"
    path = info / "exclude"
    with coded_errors(path):
        with contextlib.suppress(FileExistsError):
            info.mkdir()
        try:
            text = read_bounded(path, _EXCLUDE_LIMIT)
        except (FileNotFoundError, NotADirectoryError):
            text = b""
        there = {line.strip() for line in text.splitlines()}
        missing = [pattern for pattern in _EXCLUDES if pattern not in there]
        if not missing:
            return
        gap = b"" if not text or text.endswith(b"\n") else b"\n"
        write_atomic(path, text + gap + b"\n".join(missing) + b"\n")


def load_or_create_key(purpose: str, state: Path | None = None) -> bytes:
    """The 32 bytes of the key for one purpose, made on first use.

    `HUB_SIGNING_KEY` (64 hex digits) takes the place of the key `contract`.

    Raises:
        HubError: CONFIG_INVALID for a bad `HUB_SIGNING_KEY`; NO_PERMISSION when others may read the key's file;
            STATE_CORRUPT when it holds no key.
    """
    if (override := _override(purpose)) is not None:
        return override
    keys = (state or state_dir()) / "keys"
    path = keys / f"{purpose}.key"
    with coded_errors(path):
        keys.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        make_private_dir(keys)
        if not path.exists():
            import secrets  # once for ever

            create_atomic(path, secrets.token_hex(KEY_BYTES).encode() + b"\n")
    return _read_key(path)


def load_key(purpose: str) -> bytes | None:
    """The same key; None where none was made yet. Makes nothing: for whoever only reads.

    Raises:
        HubError: As `load_or_create_key`.
    """
    if (override := _override(purpose)) is not None:
        return override
    try:
        return _read_key(state_dir() / "keys" / f"{purpose}.key")
    except FileNotFoundError:
        return None


def _override(purpose: str) -> bytes | None:
    """The key that the environment gives for a purpose."""
    if not _PURPOSE.fullmatch(purpose):
        raise ValueError(f"{purpose!r} does not name a purpose")
    text = os.environ.get("HUB_SIGNING_KEY", "")
    if purpose != "contract" or not text:
        return None
    if not _KEY_HEX.fullmatch(text):
        raise HubError(Code.CONFIG_INVALID, "HUB_SIGNING_KEY is not 64 hex digits.")
    return bytes.fromhex(text)


def _read_key(path: Path) -> bytes:
    text = read_bounded(path, 4096).decode("ascii", "replace").strip()
    if path.stat().st_mode & 0o077:
        raise HubError(
            Code.NO_PERMISSION,
            f"The key {path} may be read by others.",
            hint=f"Run: chmod 600 {quote(str(path))}",
        )
    if not _KEY_HEX.fullmatch(text):
        raise HubError(
            Code.STATE_CORRUPT,
            f"{path} holds no key.",
            hint="Put it back from a backup, or move it away for a new one.",
        )
    return bytes.fromhex(text)


def _rev_parse(where: Path, what: str) -> bytes:
    """One `git rev-parse`: it is asked once, before there is a daemon."""
    from hub.io.git.progress import ran

    code, out, err = ran("rev-parse", what, root=where)
    if code == 0 and out:
        return out.removesuffix(b"\n")
    said = err.decode("utf-8", "replace")
    if "dubious ownership" in said:  # git says itself what helps: it knows the repository's own folder
        helps = next((line.strip() for line in said.splitlines() if "safe.directory" in line), "git status")
        detail = f"{where} belongs to another user, and git does not trust it."
        raise HubError(Code.NO_PERMISSION, detail, hint=f"Run: {helps}")
    detail = f"{where} is not in a git repository with a working tree."
    bare = "must be run in a work tree" in said
    raise HubError(Code.NOT_A_REPOSITORY, detail, hint=_TREELESS if bare else "")
