"""Detection where no daemon runs.

Owns: what it takes to look once, and no more: it is most of what the command costs.
Must not: import Trio, an agent's own module, or what the orders without a daemon need (`hub.cli.offline`).
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from typing import TYPE_CHECKING, Any, cast

from hub.actors.detector.scout import Scout
from hub.client import shortcut
from hub.domain.account import DEFAULT_ACCOUNT, Account
from hub.domain.detection.lineup import SLACK
from hub.domain.plain import plain_value
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.domain.text import clean
from hub.io import looks, userdirs
from hub.io.below import RefusedError, open_below
from hub.io.kept_sessions import Sessions
from hub.io.notes import NotedFiles, Notes
from hub.io.questions import ask, environment, stamp_of
from hub.io.runner import proc
from hub.providers import stores
from hub.providers.registry import load_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from types import ModuleType

    from hub.domain.config.reader import Config
    from hub.domain.detection.detected import Detected
    from hub.io.kept_sessions import Memory
    from hub.providers.base import Provider

_MADE_OF = frozenset({"hub", "attr", "attrs", "msgspec", "re2"})
"""Packages whose code a look depends on, besides Python's own."""
_PLACES = frozenset({"HUB_STATE_DIR", "HUB_CONFIG_DIR", "HUB_TRUST"})
"""Variables of hub's that are no settings."""


class _NoSettings:
    """What there is where nobody has set anything. To read the settings takes longer than to read a session."""

    def accounts(self, name: str) -> tuple[Account, ...]:  # noqa: ARG002  # as `Config` has it
        """The agent's own."""
        return (Account(DEFAULT_ACCOUNT, active=True),)


_NOTHING_SET = cast("Config", _NoSettings())
"""A look asks of the settings only for accounts."""
_KEY_TEXT = 65
"""64 hexadecimal digits and the end of the line."""


def detected(folder: Path, hours: int) -> list[dict[str, Any]]:
    """What `GET /api/detect` would answer in the project of this folder; without one, there are no settings of its own.

    Raises:
        HubError: Its settings cannot be read.
    """
    scout = Scout(*_project(folder))
    found = scout.scan(time.time() - hours * 3600)
    redactor = Redactor(KnownSecrets(), _key())
    return [_shown_one(scout, one, redactor) for one in found]


def document(hours: int) -> bytes:
    """What `hub detect --json` prints in this folder. The look is kept where it can be: see `hub.io.looks`.

    Raises:
        HubError: As `detected`.
    """
    root = shortcut.project_of(".")
    if not proc.LINUX or root is None:
        from pathlib import Path  # as long in coming as a session is read

        return _encoded(detected(Path.cwd(), hours))
    since = time.time() - hours * 3600
    notes = Notes(int(since * 1e9))
    code, kept = looks.remembered(root, hours)
    sessions = Sessions(notes, kept)
    scout = Scout(*_project(root), files=NotedFiles(notes=notes), notes=notes, sessions=sessions)
    found = scout.scan(since)
    redactor = Redactor(KnownSecrets(), _key())
    shown = [_shown_one(scout, one, redactor) for one in found]
    if scout.root == root:
        told = {
            (one.provider, one.kept.hit.path, one.kept.hit.session_id): as_shown["session"]
            for one, as_shown in zip(found, shown, strict=True)
            if one.kept is not None
        }
        memory = sessions.kept(told, lambda text: redactor.text(clean(text)))
        _keep(scout, hours, list(zip(found, map(_encoded_one, shown), strict=True)), code, memory)
    return _encoded(shown)


def _keep(
    scout: Scout,
    hours: int,
    shown: list[tuple[Detected, bytes]],
    code: Iterable[str],
    sessions: list[Memory],
) -> None:
    """Keep the look with all that it depends on: what it asked, its settings, its variables, and hub itself.

    Of hub itself also what the look before was made of, where that has read some of the sessions.
    """
    assert scout.notes is not None  # noqa: S101  # it was made with them
    notes = scout.notes
    for path in (*_settings_of(scout.root), _key_path()):
        notes.note(("target", path), stamp_of(path, follow=True))
    for name in (f"{scout.root}{below}" for below in ("", "/.git", "/.git/HEAD")):
        notes.note(("whose", name), ask(("whose", name), 0))
    homes = (signature.home for signature in scout.signatures.values())
    names = tuple(sorted({"HOME", *stores.variables(), *filter(None, homes)}))
    notes.note(("environment", names), environment(names))
    made_of = tuple(sorted({*code, *filter(None, map(_code, list(sys.modules.values())))}))
    notes.note(("targets", made_of), ask(("targets", made_of), 0))
    asked = notes.all()
    began = [one.agent.head.process.began - SLACK for one, _ in shown if one.agent is not None]
    until_ns = int(min(began, default=0.0) * 1e9)
    if asked is None or any(one.gap for one, _ in shown) or (began and until_ns < notes.since_ns):
        return
    entries = [(one.last_active, bool(one.agent or one.contenders), text) for one, text in shown]
    looks.keep(
        scout.root,
        hours,
        begun=notes.since_ns,
        until_ns=until_ns,
        asked=asked,
        entries=entries,
        sessions=sessions,
    )


def _code(module: ModuleType) -> str:
    """The file of a module that a look is made of."""
    name = getattr(module, "__name__", "").partition(".")[0]
    return (getattr(module, "__file__", "") or "") if name in _MADE_OF else ""


def _shown_one(scout: Scout, one: Detected, redactor: Redactor) -> dict[str, Any]:
    """As it is shown; a session that is as it was at the last look has been redacted then."""
    same = scout.sessions.shown(one.kept.hit) if scout.sessions is not None and one.kept is not None else None
    told = scout.to_json(one)
    if same is not None:
        told["session"] = None
    shown: dict[str, Any] = redactor.value(plain_value(told))
    if same is not None:
        shown["session"] = same
    return shown


def _encoded(shown: Any) -> bytes:
    return _encoded_one(shown) + b"\n"


def _encoded_one(shown: Any) -> bytes:
    return json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace")


def _project(folder: str | Path) -> tuple[str, Mapping[str, Provider], Config]:
    """The project's root, the agents and the settings; the folder itself where it is in none: agents run elsewhere, too."""
    root = _root(folder)
    if root is None:
        return str(folder), load_all(), _NOTHING_SET
    variables = {name for name in os.environ if name.startswith("HUB_")}
    if variables <= _PLACES and not any(map(os.path.lexists, _settings_of(root))):
        return root, load_all(), _NOTHING_SET
    from pathlib import Path  # as above

    from hub.io.accounts import read_book  # as above
    from hub.io.config_file import load  # as above

    _, own, accounts = _settings_of(root)
    config = load(Path(own), environ=os.environ, book=read_book(Path(accounts)))
    return root, load_all(lambda: config), config


def _settings_of(root: str) -> tuple[str, str, str]:
    """Every file that settings are read from: the user's, the project's, and its accounts'."""
    return f"{userdirs.config_dir()}/config.toml", f"{root}/hub.toml", f"{root}/.hub/accounts.toml"


def _root(folder: str | Path) -> str | None:
    """As git sees it; git itself is asked only where something is not plain. None where there is no project."""
    root = shortcut.project_of(str(folder))
    if root is not None and os.path.isfile(f"{root}/.git/HEAD") and os.stat(root).st_uid == os.geteuid():  # noqa: PTH113, PTH116  # as above
        return root
    from pathlib import Path  # as above

    from hub.client.place import root_of  # as above
    from hub.errors import Code, HubError  # as above
    from hub.io.places import find_project  # as above

    try:
        found = root_of(Path(folder))
        if found is None or not (found / ".git" / "HEAD").is_file() or found.stat().st_uid != os.geteuid():
            found = find_project(Path(folder))
        return os.path.realpath(found)
    except HubError as error:
        if error.code is not Code.NOT_A_REPOSITORY:
            raise
        return None


def _key_path() -> str:
    return f"{userdirs.state_dir()}/keys/redaction.key"


def _key() -> bytes:
    """The key of the markers, read where it lies as hub has put it; all else is `hub.io.places`' to mend or to refuse."""
    path = _key_path()
    folder = os.path.dirname(path)  # noqa: PTH120  # as above
    try:
        kept = os.lstat(folder)
        fd = open_below(folder, path)
        try:
            held = os.fstat(fd)
            text = os.read(fd, _KEY_TEXT + 1)
        finally:
            os.close(fd)
        private = kept.st_mode == stat.S_IFDIR | 0o700 and kept.st_uid == os.geteuid()
        if private and not held.st_mode & 0o077 and len(text) == _KEY_TEXT and text.endswith(b"\n"):
            return bytes.fromhex(text.decode())
    except (OSError, ValueError, RefusedError):
        pass
    from hub.io.places import load_or_create_key  # once for ever

    return load_or_create_key("redaction")
