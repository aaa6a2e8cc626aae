"""Detection where no daemon runs.

Owns: one scan of the machine.
Must not: be imported where a daemon answers: the agents' stores and the rules of redaction take longer than that.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from hub.actors.detector.scanner import Scanner
from hub.api.convert import structure, unstructure
from hub.api.detect import Detected
from hub.client.place import root_of
from hub.domain.config.reader import Config
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.domain.text.plain import plain_value
from hub.io.config.accounts import read_added
from hub.io.config.file import settings
from hub.io.project.places import Places, load_or_create_key
from hub.io.project.trust import Gate
from hub.providers.registry import load_all


def detected_here(folder: Path, hours: int) -> list[Detected]:
    """What `GET /api/detect` would answer in the project of this folder; without one, the user's own settings hold.

    Raises:
        HubError: Its settings cannot be read.
    """
    root, config = _project(folder)
    scanner = Scanner(root, load_all(lambda: config), config)
    found = [unstructure(scanner.shown(one)) for one in scanner.scan(time.time() - hours * 3600)]
    hidden = Redactor(KnownSecrets(), load_or_create_key("redaction")).value(plain_value(found))
    return structure(hidden, list[Detected])


def _project(folder: Path) -> tuple[Path, Config]:
    """The project's root and settings; the folder itself where it is in none: agents run elsewhere, too."""
    places = Places(root_of(folder) or folder)
    gate = Gate.of(places.root, os.environ)
    added = read_added(places.accounts)
    config = settings(places.config, environ=os.environ, added_accounts=added, gate=gate).config
    return places.root, config
