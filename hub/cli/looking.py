"""Detection where no daemon runs.

Owns: what it takes to look once, and no more: it is most of what the command costs.
Must not: import Trio, an agent's own module, or what the orders without a daemon need (`hub.cli.offline`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from hub.actors.detector.scout import Scout
from hub.client import shortcut
from hub.client.place import root_of
from hub.domain.account import DEFAULT_ACCOUNT, Account
from hub.domain.detection.detected import Detected
from hub.domain.detection.lineup import SLACK
from hub.domain.plain import plain_value
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.errors import Code, HubError
from hub.io import looks, userdirs
from hub.io.notes import NotedFiles, Notes
from hub.io.places import Places, find_project, load_or_create_key
from hub.io.questions import ask, environment, stamp_of
from hub.io.runner import proc
from hub.providers import stores
from hub.providers.registry import load_all

if TYPE_CHECKING:
    from hub.domain.config.reader import Config
    from hub.providers.base import Provider

_MADE_OF = frozenset({"hub", "attr", "attrs", "msgspec", "re2"})
"""Packages whose code a look depends on, besides Python's own."""
_PLACES = frozenset({"HUB_STATE_DIR", "HUB_CONFIG_DIR"})
"""Variables of hub's that are no settings."""


class _NoSettings:
    """What there is where nobody has set anything. To read the settings takes longer than to read a session."""

    def accounts(self, name: str) -> tuple[Account, ...]:  # noqa: ARG002  # as `Config` has it
        """The agent's own."""
        return (Account(DEFAULT_ACCOUNT, active=True),)


_NOTHING_SET = cast("Config", _NoSettings())
"""A look asks of the settings only for accounts."""


def detected(folder: Path, hours: int) -> list[dict[str, Any]]:
    """What `GET /api/detect` would answer in the project of this folder; without one, there are no settings of its own.

    Raises:
        HubError: Its settings cannot be read.
    """
    scout = Scout(*_project(folder))
    found = scout.scan(time.time() - hours * 3600)
    return _shown(scout, found)


def document(hours: int) -> bytes:
    """What `hub detect --json` prints in this folder. The look is kept where it can be: see `hub.io.looks`.

    Raises:
        HubError: As `detected`.
    """
    folder = Path.cwd()
    if not proc.LINUX or shortcut.project_of(".") is None:
        return _encoded(detected(folder, hours))
    since = time.time() - hours * 3600
    notes = Notes(int(since * 1e9))
    scout = Scout(*_project(folder), files=NotedFiles(notes=notes), notes=notes)
    found = scout.scan(since)
    shown = _shown(scout, found)
    if str(scout.root) == shortcut.project_of("."):
        _keep(scout, notes, hours, list(zip(found, map(_encoded_one, shown), strict=True)))
    return _encoded(shown)


def _keep(scout: Scout, notes: Notes, hours: int, shown: list[tuple[Detected, bytes]]) -> None:
    """Keep the look with all that it depends on: what it asked, its settings, its variables, and hub itself."""
    places = Places(scout.root)
    for path in (*map(str, _settings_of(places)), str(places.key_path("redaction"))):
        notes.note(("target", path), stamp_of(path, follow=True))
    for name in (f"{scout.root}{below}" for below in ("", "/.git", "/.git/HEAD")):
        notes.note(("whose", name), ask(("whose", name), 0))
    homes = (signature.home for signature in scout.signatures.values())
    names = tuple(sorted({"HOME", *stores.variables(), *filter(None, homes)}))
    notes.note(("environment", names), environment(names))
    code = tuple(sorted(filter(None, map(_code, list(sys.modules.values())))))
    notes.note(("targets", code), ask(("targets", code), 0))
    asked = notes.all()
    began = [one.agent.head.process.began - SLACK for one, _ in shown if one.agent is not None]
    until_ns = int(min(began, default=0.0) * 1e9)
    if asked is None or any(one.gap for one, _ in shown) or (began and until_ns < notes.since_ns):
        return
    entries = [(one.last_active, bool(one.agent or one.contenders), text) for one, text in shown]
    looks.keep(str(scout.root), hours, begun=notes.since_ns, until_ns=until_ns, asked=asked, entries=entries)


def _code(module: ModuleType) -> str:
    """The file of a module that a look is made of."""
    name = getattr(module, "__name__", "").partition(".")[0]
    return (getattr(module, "__file__", "") or "") if name in _MADE_OF else ""


def _shown(scout: Scout, found: Iterable[Detected]) -> list[dict[str, Any]]:
    redactor = Redactor(KnownSecrets(), load_or_create_key("redaction"))
    shown: list[dict[str, Any]] = redactor.value(plain_value([scout.to_json(one) for one in found]))
    return shown


def _encoded(shown: Any) -> bytes:
    return _encoded_one(shown) + b"\n"


def _encoded_one(shown: Any) -> bytes:
    return json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace")


def _project(folder: Path) -> tuple[Path, Mapping[str, Provider], Config]:
    """The project's root, the agents and the settings; the folder itself where it is in none: agents run elsewhere, too."""
    try:
        places = Places(_root(folder))
    except HubError as error:
        if error.code is not Code.NOT_A_REPOSITORY:
            raise
        return folder, load_all(), _NOTHING_SET
    variables = {name for name in os.environ if name.startswith("HUB_")}
    if variables <= _PLACES and not any(map(os.path.lexists, _settings_of(places))):
        return places.root, load_all(), _NOTHING_SET
    from hub.io.accounts import read_book
    from hub.io.config_file import load

    config = load(places.config, environ=os.environ, book=read_book(places.accounts))
    return places.root, load_all(lambda: config), config


def _settings_of(places: Places) -> tuple[Path, ...]:
    """Every file that settings are read from."""
    return Path(userdirs.config_dir()) / "config.toml", places.config, places.accounts


def _root(folder: Path) -> Path:
    """As git sees it; git itself is asked only where something is not plain."""
    root = root_of(folder)
    if root is None or not (root / ".git" / "HEAD").is_file() or root.stat().st_uid != os.geteuid():
        return find_project(folder)
    return Path(os.path.realpath(root))
