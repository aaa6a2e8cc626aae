"""What the processes that count for `hub usage` have found, as it is shown.

Owns: where accounts keep their sessions, and the redaction of what is told.
Must not: count, or be imported before somebody does: what it needs is imported while processes count.
"""

from __future__ import annotations

import os
from pathlib import Path

from hub.api.convert import unstructure
from hub.cli.context import hiding
from hub.client.place import root_of
from hub.domain.text.plain import plain_value
from hub.errors import HubError
from hub.io.config.accounts import read_added
from hub.io.config.file import settings
from hub.io.project.places import Places, state_dir
from hub.providers.registry import load_all
from hub.usage.counting import Count
from hub.usage.machine import Moved, moved, used


def told(count: Count, home: str, since: int, folder: Path) -> dict[str, object]:
    """Everything that is told. Waits until all is counted.

    Args:
        count: It has begun.
        home: The user's home directory.
        since: Epoch nanoseconds; only sessions written since then.
        folder: It may be in a project, whose accounts are looked for, too.
    """
    elsewhere, unknown = _moved(folder)
    rows, gaps = used(count, home, os.environ, since, elsewhere)
    value: dict[str, object] = {"usage": unstructure(rows), "gaps": [*unknown, *gaps]}
    return hiding().value(plain_value(value))


def _moved(folder: Path) -> tuple[list[Moved], list[str]]:
    """Where accounts keep their sessions, and why some of them are not known."""
    places = Places(root_of(folder) or folder)
    try:
        config = settings(
            places.config, environ=os.environ, added_accounts=read_added(places.accounts)
        ).config
        made = _made(state_dir() / "accounts")
    except (HubError, OSError) as error:
        why = error.detail if isinstance(error, HubError) else error
        return [], [f"Accounts are not known, and where they keep their sessions: {why}"]
    return list(moved(config, load_all(lambda: config), os.environ, made)), []


def _made(folder: Path) -> dict[str, list[Path]]:
    """The folders that hub made for accounts, by the agent's name: their accounts may stand in any project."""
    if not folder.is_dir():
        return {}
    return {each.name: sorted(each.iterdir()) for each in folder.iterdir() if each.is_dir()}
