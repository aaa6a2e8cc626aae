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
from hub.cli.local.offline import OfflineProject
from hub.client.place import root_of
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.domain.text.plain import plain_value
from hub.io.project.places import KEY_BYTES, Places, load_key
from hub.providers.registry import load_all


def detected_here(folder: Path, hours: int) -> list[Detected]:
    """What `GET /api/detect` would answer in the project of this folder; without one, the user's own settings hold.

    Raises:
        HubError: Its settings cannot be read.
    """
    # The folder itself where it is in no project: agents run elsewhere, too.
    mine = OfflineProject(Places(root_of(folder) or folder))
    config = mine.config()
    scanner = Scanner(mine.places.root, load_all(lambda: config), config)
    found = [unstructure(scanner.shown(one)) for one in scanner.scan(time.time() - hours * 3600)]
    hidden = Redactor(KnownSecrets(), load_key("redaction") or os.urandom(KEY_BYTES)).value(
        plain_value(found)
    )
    return structure(hidden, list[Detected])
