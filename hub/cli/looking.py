"""Detection where no daemon runs.

Owns: what it takes to look once, and no more: it is most of what the command costs.
Must not: import Trio, an agent's own module, or what the orders without a daemon need (`hub.cli.offline`).
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from hub.actors.detector.scout import Scout
from hub.client.place import root_of
from hub.domain.config.reader import Config
from hub.domain.plain import plain_value
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.errors import Code, HubError
from hub.io.accounts import read_book
from hub.io.config_file import load
from hub.io.places import Places, find_project, load_or_create_key
from hub.providers.registry import load_all


def detected(folder: Path, hours: int) -> list[dict[str, Any]]:
    """What `GET /api/detect` would answer in the project of this folder; without one, there are no settings of its own.

    Raises:
        HubError: Its settings cannot be read.
    """
    root, config = _project(folder)
    scout = Scout(root, load_all(lambda: config), config)
    found = [scout.to_json(one) for one in scout.scan(time.time() - hours * 3600)]
    redactor = Redactor(KnownSecrets(), load_or_create_key("redaction"))
    shown: list[dict[str, Any]] = redactor.value(plain_value(found))
    return shown


def document(hours: int) -> bytes:
    """What `hub detect --json` prints in this folder.

    Raises:
        HubError: As `detected`.
    """
    return (json.dumps(detected(Path.cwd(), hours), ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _project(folder: Path) -> tuple[Path, Config]:
    """The project's root and settings; the folder itself where it is in none: agents run elsewhere, too."""
    try:
        places = Places(_root(folder))
    except HubError as error:
        if error.code is not Code.NOT_A_REPOSITORY:
            raise
        return folder, Config()
    return places.root, load(places.config, environ=os.environ, book=read_book(places.accounts))


def _root(folder: Path) -> Path:
    """As git sees it; git itself is asked only where something is not plain."""
    root = root_of(folder)
    if root is None or not (root / ".git" / "HEAD").is_file() or root.stat().st_uid != os.geteuid():
        return find_project(folder)
    return Path(os.path.realpath(root))
