"""`hub doctor`: look for what keeps hub from working, and name the next step for each finding.

Owns: the list of checks.
Must not: change anything.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import click

from hub.actors.settings.entries import Entries
from hub.cli.context import json_option, project_dir
from hub.cli.ending import several
from hub.domain.config.reader import Config
from hub.domain.rules import asks
from hub.domain.text import clean
from hub.errors import HubError
from hub.io.agent_keys import keys_of
from hub.io.commands import base_env
from hub.io.config_file import load, project_tables
from hub.io.git.env import guarded
from hub.io.places import Places, find_project, state_dir
from hub.io.trust import Gate
from hub.providers.base import Provider, install_hint, login_hint
from hub.providers.registry import load_all

_GIT = (2, 31)
_FREE = 200 * 1024 * 1024
_VERSION_TIMEOUT = 20.0
_NAMED = 6


@attrs.frozen
class Finding:
    """The result of one check."""

    check: str
    ok: bool
    detail: str
    hint: str = ""
    warning: bool = False
    """Something to know that keeps nothing from working."""


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, *, as_json: bool) -> int:
    """Look for what keeps hub from working. Exit status 1 when something does.

    Example: hub doctor --json
    """
    findings = list(_all(project_dir(ctx)))
    if as_json:
        click.echo(json.dumps([attrs.asdict(f) for f in findings]))
    else:
        for found in findings:
            mark = click.style("ok  ", fg="green") if found.ok else click.style("no  ", fg="red")
            if found.warning and not found.ok:
                mark = click.style("note", fg="yellow")
            click.echo(f"{mark} {found.check:<16} {found.detail}")
            for line in found.hint.splitlines() if not found.ok else ():
                click.echo(f"     {'':<16} {line}")
    return 0 if all(f.ok or f.warning for f in findings) else 1


def _all(folder: Path) -> Iterator[Finding]:
    yield Finding(
        "python", sys.version_info >= (3, 11), sys.version.split()[0], "Install Python 3.11 or newer."
    )
    yield _git()
    yield _detection()
    yield _state()
    try:
        places = Places(find_project(folder))
    except HubError as error:
        yield Finding("project", ok=False, detail=error.detail, hint=error.hint)
        return
    yield Finding("project", ok=True, detail=str(places.root))
    yield from (check(places) for check in _PROJECT_CHECKS)
    yield from _agents(places, _read_config(places))


def _git() -> Finding:
    path = shutil.which("git")
    if path is None:
        return Finding("git", ok=False, detail="not installed", hint="Install git 2.31 or newer.")
    text = _output([path, "--version"]).removeprefix("git version ")
    numbers = tuple(int(n) for n in text.split()[0].split(".")[:2]) if text else (0, 0)
    return Finding("git", numbers >= _GIT, text, "Install git 2.31 or newer.")


def _state() -> Finding:
    folder = state_dir()
    there = next(place for place in (folder, *folder.parents) if place.exists())
    hint = "Correct the owner or mode, or name another folder in HUB_STATE_DIR."
    ok = os.access(there, os.W_OK)
    return Finding("state", ok, str(folder) if ok else f"{there} is not writable", hint)


def _commit(places: Places) -> Finding:
    words = ["log", "-1", "--format=%h %s", "--no-show-signature"]
    found = _output(["git", "-C", str(places.root), *words], guarded())
    hint = "Run: git commit --allow-empty -m start"
    return Finding("commit", bool(found), found or "the repository has no commit yet", hint)


def _config(places: Places) -> Finding:
    if not places.config.exists():
        return Finding("hub.toml", ok=True, detail="none; the defaults hold (write one: hub init)")
    try:
        load(places.config, environ=os.environ, flags={})
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
    detail = f"not trusted, so this is left out: {', '.join(keys[:_NAMED])}" + (
        f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    )
    return Finding("trust", ok=False, detail=detail, hint="See it, and say yes: hub trust", warning=True)


def _writable(places: Places) -> Finding:
    if os.statvfs(places.root).f_flag & os.ST_RDONLY:
        return Finding(
            "permissions", ok=False, detail="the file system is read-only", hint="Remount it writable."
        )
    ok = os.access(places.root, os.W_OK) and os.access(places.root / ".git", os.W_OK)
    return Finding("permissions", ok, "writable" if ok else "not writable", "Correct the owner or mode.")


def _space(places: Places) -> Finding:
    free = shutil.disk_usage(places.root).free
    return Finding("disk", free > _FREE, f"{free // (1024 * 1024):,} MiB free", "Free some space.")


def _secrets(places: Places) -> Finding:
    if not places.dotenv.exists():
        return Finding("keys", ok=True, detail="no .hub/.env")
    if _agrees(places, "ls-files", "--error-unmatch"):
        again = "git rm --cached .hub/.env; and replace every key in it: they are in the history."
        return _keys("is tracked by git", again)
    mode = places.dotenv.stat().st_mode & 0o777
    if mode != 0o600:  # noqa: PLR2004
        return _keys(f"has mode {mode:o}", f"chmod 600 {places.dotenv}")
    if not _agrees(places, "check-ignore", "-q"):
        return _keys("is not ignored by git", "echo /.hub/ >> .git/info/exclude")
    return _keys("is yours alone and ignored by git")


def _keys(found: str, command: str = "") -> Finding:
    return Finding("keys", not command, f".hub/.env {found}", f"Run: {command}" if command else "")


def _agrees(places: Places, *question: str) -> bool:
    """Whether git says yes about the file of the keys."""
    argv = ["git", "-C", str(places.root), *question, "--", str(places.dotenv)]
    try:
        done = subprocess.run(  # noqa: S603 - constant
            argv,
            capture_output=True,
            timeout=_VERSION_TIMEOUT,
            check=False,
            stdin=subprocess.DEVNULL,
            env=guarded(),
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _hub_dir(places: Places) -> Finding:
    """Whether hub can believe what it kept here; and that nobody else has put it there."""
    from hub.io.hub_dir import insist_stamped, insist_usable

    try:
        insist_usable(places.root)
        if any(places.hub_dir.glob("*.db")) or places.fsm.exists():
            insist_stamped(places)
    except HubError as error:
        return Finding(".hub", ok=False, detail=error.detail, hint=error.hint)
    return Finding(".hub", ok=True, detail="yours alone")


def _audit(places: Places) -> Finding:
    from hub.io.journal import verify_file
    from hub.io.places import load_key

    if not (places.audit.exists() or places.audit_head.exists()):
        return Finding("audit log", ok=True, detail="none yet")
    try:
        verdict = verify_file(places, load_key("audit") or os.urandom(32))
    except HubError as error:
        return Finding("audit log", ok=False, detail=error.detail, hint=error.hint)
    where = f"record {verdict.seq} is bad: " if verdict.seq is not None else ""
    said = f"{where}{verdict.reason}" if not verdict.ok else f"{verdict.records:,} records, intact"
    return Finding("audit log", ok=verdict.ok, detail=said, hint="See: hub audit verify")


def _detection() -> Finding:
    from hub.io.kingfisher import PACKAGE, installed

    if installed():
        return Finding("detection", ok=True, detail=PACKAGE)
    detail = "no detection engine: only hub's own rules look for secrets nobody told hub"
    return Finding(
        "detection", ok=False, detail=detail, hint=f"Install it: pip install {PACKAGE}", warning=True
    )


def _daemon(places: Places) -> Finding:
    from hub.client.quick import find

    if not places.daemon_json.exists():
        return Finding("daemon", ok=False, detail="not running", hint="Start it: hub daemon", warning=True)
    api = find(None, places.root)
    try:
        api.get("/api/health")
    except HubError as error:
        return Finding("daemon", ok=False, detail=error.detail, hint=error.hint, warning=True)
    return Finding("daemon", ok=True, detail=api.url)


def _callers(_: Places) -> Finding:
    """Whether the daemon can tell its user's connections from others'."""
    from hub.owners import Owners

    with Owners() as owners:
        if owners.known:
            return Finding("callers", ok=True, detail="only your own user's connections are served")
    detail = "the system does not tell whose a connection is: every request needs a token, and hub brings it"
    hint = "Other programs find it in .hub/daemon.json, which you alone can read. See SECURITY.md."
    return Finding("callers", ok=False, detail=detail, hint=hint, warning=True)


_PROJECT_CHECKS: tuple[Callable[[Places], Finding], ...] = (
    _commit,
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


def _read_config(places: Places) -> Config:
    """The configuration, or the built-in one where it does not validate (which is a finding of its own)."""
    try:
        return load(places.config, environ=os.environ, flags={})
    except HubError:
        return Config()


def _agents(places: Places, config: Config) -> Iterator[Finding]:
    """Each agent: one that is not installed or not logged in is a note, none that can work a fault."""
    providers = [p for p in load_all(lambda: config).values() if not p.name.startswith("demo")]
    found = {p.name: shutil.which(config.provider(p.name).program or p.program) for p in providers}
    programs = {name: path for name, path in found.items() if path is not None}
    installed = [p for p in providers if p.name in programs]
    known = load_all(lambda: config)
    logins = Entries(places.dotenv, Path.home(), known).logins(config, installed, time.time())
    logged_out = {key for key, login in logins.items() if login is False}
    with ThreadPoolExecutor() as pool:  # some take seconds to tell it
        asked = [[programs[p.name], *p.version_args] for p in installed]
        versions = dict(zip(programs, pool.map(_output, asked), strict=True))
    for provider in providers:
        if provider.name not in programs:
            detail, hint = "not installed", install_hint(provider)
            yield Finding(provider.name, ok=False, detail=detail, hint=hint, warning=True)
        else:
            version = versions[provider.name] or "installed, version unknown"
            yield _agent(provider, version, config, logged_out)
            yield from _refusal(places, provider, config)
    if not installed:
        yield Finding("agents", ok=False, detail="none is installed", hint="Install one of the agents above.")
    elif not config.session.chain and all(_is_out(p, config, logged_out) for p in installed):
        yield Finding("agents", ok=False, detail="none is logged in", hint=login_hint(installed[0]))


def _is_out(provider: Provider, config: Config, logged_out: Collection[tuple[str, str]]) -> bool:
    """Whether no account of it has a login."""
    return all((provider.name, account.label) in logged_out for account in config.accounts(provider.name))


def _refusal(places: Places, provider: Provider, config: Config) -> Iterator[Finding]:
    """Whether its agent would refuse this user: it is passed by when hub chooses who works."""
    if os.geteuid():
        return
    name = provider.name
    keys = keys_of(places.dotenv, name, load_all(lambda: config))
    env = {**base_env(), **keys, **config.provider(name).env, **config.accounts(name)[0].env}
    why, hint = provider.refuses_root(config.provider(name).options, env, asks=asks(config.approvals, name))
    if why:
        yield Finding(f"{name} as root", ok=False, detail=why, hint=hint, warning=True)


def _agent(
    provider: Provider, version: str, config: Config, logged_out: Collection[tuple[str, str]]
) -> Finding:
    """An agent that is installed."""
    if not _is_out(provider, config, logged_out):
        return Finding(provider.name, ok=True, detail=version)
    said = "not logged in" if config.session.chain else "not logged in: left out of the default chain"
    detail = f"{version}, {said}"
    return Finding(provider.name, ok=False, detail=detail, hint=login_hint(provider), warning=True)


def _output(argv: list[str], env: Mapping[str, str] | None = None) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments from the code
            argv,
            capture_output=True,
            text=True,
            timeout=_VERSION_TIMEOUT,
            check=False,
            stdin=subprocess.DEVNULL,
            env=env,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = clean(done.stdout).strip().splitlines()
    return lines[0] if lines else ""
