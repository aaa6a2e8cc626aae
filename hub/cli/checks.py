"""What `hub doctor` looks at on this machine and in this project.

Owns: one function a check, each with the next step.
Must not: change anything; what a finding could mend is done by who shows it.
Tests: tests/hub/cli/commands/test_setup.py
"""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import attrs

from hub import __version__
from hub.api.health import Health
from hub.cli.ending import several
from hub.client.place import how_to_end, told_by
from hub.client.quick import find
from hub.domain.text.figures import counted, first_of
from hub.domain.text.safe import clean
from hub.errors import HubError
from hub.io.config.file import project_tables, settings
from hub.io.git.guard import guarded
from hub.io.git.layout import barred
from hub.io.project.places import Places, exclude_hub, load_key, state_dir
from hub.io.project.trust import Gate
from hub.owners import Owners

_GIT = (2, 31)
_FREE = 200 * 1024 * 1024
_LOW = 2 * 1024 * 1024 * 1024
"""Bytes below which an agent's build may fill the disk."""
_FILES = 1024
"""Open files that a daemon with a few sessions and clients needs."""
_VERSION_TIMEOUT = 20.0
_NAMED = 6
_CONTAINER = ("/.dockerenv", "/run/.containerenv")


@attrs.frozen
class Finding:
    """The result of one check."""

    check: str
    ok: bool
    detail: str
    hint: str = ""
    warning: bool = False
    """Something to know that keeps nothing from working."""
    mend: Callable[[], object] | None = None
    """What sets it right without taking anything away, as the hint says; None = that is the user's to do."""
    absent: bool = False
    """An agent whose program is not here: one of several, which a person is told in one line."""


def machine() -> Iterator[Finding]:
    """What holds for every project."""
    yield Finding(
        "python", sys.version_info >= (3, 11), sys.version.split()[0], "Install Python 3.11 or newer."
    )
    for check in _MACHINE_CHECKS:
        yield check()


def project(places: Places) -> Iterator[Finding]:
    """What holds for this one."""
    for check in _PROJECT_CHECKS:
        yield check(places)


def _git() -> Finding:
    path = shutil.which("git")
    if path is None:
        return Finding("git", ok=False, detail="not installed", hint="Install git 2.31 or newer.")
    text = output([path, "--version"]).removeprefix("git version ")
    numbers = tuple(int(n) for n in text.split()[0].split(".")[:2]) if text else (0, 0)
    return Finding("git", numbers >= _GIT, text, "Install git 2.31 or newer.")


def _state() -> Finding:
    folder = state_dir()
    there = next(place for place in (folder, *folder.parents) if place.exists())
    hint = "Correct the owner or mode, or name another folder in HUB_STATE_DIR."
    ok = os.access(there, os.W_OK)
    return Finding("state", ok, str(folder) if ok else f"{there} is not writable", hint)


def _user() -> Finding:
    """Root is a note: some agents refuse it, and none is kept from anything."""
    if os.geteuid():
        return Finding("user", ok=True, detail="not root")
    if any(Path(place).exists() for place in _CONTAINER):
        told = bool(os.environ.get("IS_SANDBOX"))
        hint = (
            "Some agents refuse root; where this container is all they can harm, say so: export IS_SANDBOX=1"
        )
        return Finding("user", told, "root in a container", hint, warning=True)
    hint = "Work as a user of your own, or in a container: an agent may do whatever you may."
    return Finding("user", ok=False, detail="root", hint=hint, warning=True)


def _open_files() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    ok = soft == resource.RLIM_INFINITY or soft >= _FILES
    hint = (
        f"ulimit -n {_FILES}"
        if hard == resource.RLIM_INFINITY or hard >= _FILES
        else "The system's limit is low."
    )
    return Finding("open files", ok, f"at most {soft:,}", hint, warning=True)


def _identity(places: Places) -> Finding:
    asked = ["git", "-C", str(places.root), "-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"]
    who = output(asked).rpartition(">")[0]  # without the time
    hint = 'git config --global user.name "Your Name"; git config --global user.email you@example.org'
    said = f"{who}>" if who else "git does not know who you are: no result can be taken as your commit"
    return Finding("identity", bool(who), said, hint, warning=True)


def _commit(places: Places) -> Finding:
    found = output(
        ["git", "-C", str(places.root), "rev-parse", "--verify", "--short", "HEAD^{commit}"], guarded()
    )
    hint = "Run: git commit --allow-empty -m start"
    return Finding("commit", bool(found), found or "the repository has no commit yet", hint)


def _config(places: Places) -> Finding:
    if not places.config.exists():
        return Finding("hub.toml", ok=True, detail="none; the defaults hold (write one: hub init)")
    try:
        settings(places.config, environ=os.environ, flags={})
    except HubError as error:
        return Finding(
            "hub.toml", ok=False, detail=error.detail, hint="\n".join([*several(error), error.hint])
        )
    return Finding("hub.toml", ok=True, detail=str(places.config))


def _trust(places: Places) -> Finding:
    """What is left out is said: until then every other finding is without it."""
    gate = Gate.of(places.root, os.environ)
    try:
        standing = gate.standing(project_tables(places.config, environ=os.environ))
    except HubError as error:
        return Finding("trust", ok=False, detail=error.detail, hint=error.hint, warning=True)
    if standing.trusted:
        detail = "needs none" if standing.state == "not_needed" else "you trust this project"
        return Finding("trust", ok=True, detail=detail)
    keys = [clean(item.key).removeprefix("file:") for item in standing.items]
    detail = f"not trusted, so this is left out: {first_of(keys, _NAMED)}"
    return Finding("trust", ok=False, detail=detail, hint="See it, and say yes: hub trust", warning=True)


def _writable(places: Places) -> Finding:
    if os.statvfs(places.root).f_flag & os.ST_RDONLY:
        return Finding(
            "permissions", ok=False, detail="the file system is read-only", hint="Remount it writable."
        )
    own = (places.root, places.hub_dir)
    closed = [place for place in own if place.exists() and not os.access(place, os.W_OK)] + barred(
        places.root
    )
    detail = f"{closed[0]} is not writable" if closed else "writable"
    return Finding("permissions", not closed, detail, "Correct its owner or mode.")


def _space(places: Places) -> Finding:
    free = shutil.disk_usage(places.root).free
    said = f"{free // (1024 * 1024):,} MiB free"
    return Finding("disk", free > _LOW, said, "Free some space.", warning=free > _FREE)


def _secrets(places: Places) -> Finding:
    if not places.dotenv.exists():
        return Finding("keys", ok=True, detail="no .hub/.env")
    if _agrees(places, "ls-files", "--error-unmatch"):
        again = "git rm --cached .hub/.env; and replace every key in it: they are in the history."
        return _keys("is tracked by git", again)
    wrong: list[tuple[str, str, Callable[[], object]]] = []
    mode = places.dotenv.stat().st_mode & 0o777
    if mode != 0o600:  # noqa: PLR2004
        command = f"chmod 600 {shlex.quote(str(places.dotenv))}"
        wrong.append((f"has mode {mode:o}", command, partial(places.dotenv.chmod, 0o600)))
    if not _agrees(places, "check-ignore", "-q"):
        command = "echo /.hub/ >> .git/info/exclude"
        wrong.append(("is not ignored by git", command, partial(exclude_hub, places.root)))
    if not wrong:
        return _keys("is yours alone and ignored by git")
    said, commands, mends = zip(*wrong, strict=True)
    return _keys(" and ".join(said), *commands, mend=lambda: [mend() for mend in mends])


def _keys(found: str, *commands: str, mend: Callable[[], object] | None = None) -> Finding:
    hint = "\n".join(f"Run: {command}" for command in commands)
    return Finding("keys", not commands, f".hub/.env {found}", hint, mend=mend)


def _agrees(places: Places, *question: str) -> bool:
    """Whether git says yes about the file of the keys."""
    done = _run(["git", "-C", str(places.root), *question, "--", str(places.dotenv)], guarded())
    return done is not None and done.returncode == 0


def _hub_dir(places: Places) -> Finding:
    """Whether hub can believe what it kept here; and that nobody else has put it there."""
    from hub.io.project.hub_dir import insist_stamped, insist_usable

    try:
        insist_usable(places.root)
        if any(places.hub_dir.glob("*.db")) or places.fsm.exists():
            insist_stamped(places)
    except HubError as error:
        return Finding(".hub", ok=False, detail=error.detail, hint=error.hint)
    return Finding(".hub", ok=True, detail="yours alone")


def _audit(places: Places) -> Finding:
    from hub.io.audit.journal import verify_file

    try:
        verdict = verify_file(places, load_key("audit") or os.urandom(32))
    except HubError as error:
        return Finding("audit log", ok=False, detail=error.detail, hint=error.hint)
    where = f"record {verdict.seq} is bad: " if verdict.seq is not None else ""
    good = f"{counted(verdict.records, 'record')}, intact" if places.audit.exists() else "none yet"
    said = good if verdict.ok else f"{where}{verdict.reason}"
    return Finding("audit log", ok=verdict.ok, detail=said, hint="See: hub audit verify")


def _detection() -> Finding:
    from hub.io.secrets.kingfisher import PACKAGE, installed

    if installed():
        return Finding("detection", ok=True, detail=PACKAGE)
    detail = "no detection engine: only hub's own rules look for secrets nobody told hub"
    return Finding(
        "detection", ok=False, detail=detail, hint=f"Install it: pip install {PACKAGE}", warning=True
    )


def _daemon(places: Places) -> Finding:
    if not places.daemon_json.exists():
        return Finding("daemon", ok=False, detail="not running", hint="Start it: hub daemon", warning=True)
    api = find(None, places.root)
    try:
        health = api.read(Health, "/api/health")
    except HubError as error:
        return Finding("daemon", ok=False, detail=error.detail, hint=error.hint, warning=True)
    if health.version != __version__ or health.outdated:
        hint = f"{how_to_end(places.root)}   Then start this one: hub daemon"
        same = f"an earlier installation of hub {__version__}"
        other = f"hub {health.version}, not {__version__}" if health.version != __version__ else same
        return Finding("daemon", False, f"{api.url} is of {other}", hint, warning=True)
    return Finding("daemon", ok=True, detail=f"{api.url}, process {told_by(places.root).pid}")


def _callers(_: Places) -> Finding:
    """Whether the daemon can tell its user's connections from others'."""
    with Owners() as owners:
        if owners.known:
            return Finding("callers", ok=True, detail="only your own user's connections are served")
    detail = "the system does not tell whose a connection is: every request needs a token, and hub brings it"
    hint = "Other programs find it in .hub/daemon.json, which you alone can read. See SECURITY.md."
    return Finding("callers", ok=False, detail=detail, hint=hint, warning=True)


_MACHINE_CHECKS: tuple[Callable[[], Finding], ...] = (_git, _user, _open_files, _detection, _state)
_PROJECT_CHECKS: tuple[Callable[[Places], Finding], ...] = (
    _commit,
    _identity,
    _config,
    _trust,
    _writable,
    _space,
    _hub_dir,
    _audit,
    _secrets,
    _daemon,
    _callers,
)


def output(argv: list[str], env: Mapping[str, str] | None = None) -> str:
    """The first line that a program prints; "" where it fails or takes too long."""
    done = _run(argv, env)
    lines = clean(done.stdout).strip().splitlines() if done is not None else []
    return lines[0] if lines else ""


def _run(argv: list[str], env: Mapping[str, str] | None) -> subprocess.CompletedProcess[str] | None:
    """None where it cannot be started, or takes too long."""
    try:
        return subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_TIMEOUT,
            check=False,
            stdin=subprocess.DEVNULL,
            env=env,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
