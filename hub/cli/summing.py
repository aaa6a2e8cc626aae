"""What `hub usage` tells, for little more than the counting takes.

Owns: what is done while processes count, and where accounts keep their sessions.
Must not: import anything before the first of them counts that they do not need.
"""

from __future__ import annotations

import gc
import os
import time
from typing import TYPE_CHECKING, Any

from hub.actors.detector.counting import Count, counting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hub.actors.detector.homes import Moved
    from hub.domain.config.reader import Config
    from hub.io.places import Places

_HOUR = 3600


def document(since_hours: int | None = None, folder: str = "") -> dict[str, Any]:
    """Everything that is told, fit to be shown.

    Args:
        since_hours: Only sessions written since then; None = all there are.
        folder: It may be in a project, whose accounts are looked for, too; "" = the working directory.
    """
    gc.disable()  # what is counted stays to the end: looking for garbage among it is a twentieth of the time
    since = 0 if since_hours is None else int((time.time() - since_hours * _HOUR) * 1e9)
    home = os.path.expanduser("~")  # noqa: PTH111  # pathlib can wait
    with counting(home, os.environ, since) as counts:
        found = _told(counts, home, since, folder)
    gc.freeze()  # nor is anything looked through at the end
    return found


def json_document() -> bytes:
    """What `hub usage --json` prints."""
    found = document()
    import json  # processes were counting meanwhile

    return (json.dumps(found, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _told(counts: Sequence[Count], home: str, since: int, folder: str) -> dict[str, Any]:
    from hub.actors.detector.usage import used  # processes count meanwhile
    from hub.domain.plain import plain_value  # as above
    from hub.domain.redaction.redactor import KnownSecrets, Redactor  # as above
    from hub.io.places import load_or_create_key  # as above

    redactor = Redactor(KnownSecrets(), load_or_create_key("redaction"))
    moved, gaps = _moved(folder)
    found = used(counts, home, os.environ, since, moved)
    told = {"usage": [row.to_json() for row in found.rows], "gaps": [*gaps, *found.gaps]}
    shown: dict[str, Any] = redactor.value(plain_value(told))
    return shown


def _moved(folder: str) -> tuple[list[Moved], list[str]]:
    """Where accounts keep their sessions, and why some of them are not known."""
    from pathlib import Path  # as in `_told`

    from hub.actors.detector.homes import moved  # as in `_told`
    from hub.client.place import root_of  # as in `_told`
    from hub.errors import HubError  # as in `_told`
    from hub.io.places import Places, state_dir  # as in `_told`

    try:
        here = Path(folder).absolute()
        config, made = _config(Places(root_of(here) or here)), _made(state_dir() / "accounts")
    except (HubError, OSError) as error:
        why = error.detail if isinstance(error, HubError) else error
        return [], [f"Accounts are not known, and where they keep their sessions: {why}"]
    if config is None and not made:
        return [], []
    from hub.domain.config.reader import Config  # only who has accounts needs it
    from hub.providers.registry import load_all  # as above

    settings = config or Config()
    return list(moved(settings, load_all(lambda: settings), os.environ, made)), []


def _config(places: Places) -> Config | None:
    """The settings in force; None where there are none.

    Raises:
        HubError: They cannot be read.
    """
    from hub.io.userdirs import config_dir  # as in `_told`

    files = (places.config, places.accounts, f"{config_dir()}/config.toml")
    if not any(os.path.exists(file) for file in files):  # noqa: PTH110  # as above: no Path of each
        return None
    from hub.io.accounts import read_book  # only who has settings needs it
    from hub.io.config_file import load  # as above

    return load(places.config, environ=os.environ, book=read_book(places.accounts))


def _made(folder: Path) -> dict[str, list[Path]]:
    """The folders that hub made for accounts, by the agent's name: their accounts may stand in any project."""
    if not folder.is_dir():
        return {}
    return {each.name: sorted(each.iterdir()) for each in folder.iterdir() if each.is_dir()}
