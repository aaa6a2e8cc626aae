"""Settings as a test writes them: each in the file from which hub takes it.

Owns: which of them go into the project's `hub.toml`, and which into the user's own `config.toml`.
Must not: change what they say.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from hub.domain.trust.settings import misplaced


def lay_out(text: str, project: Path, user: Path) -> None:
    """Write settings.

    Args:
        text: TOML, as one file.
        project: The folder of `hub.toml`.
        user: The folder of the user's `config.toml`, which is written only where something belongs there.
    """
    tables: dict[str, Any] = tomllib.loads(text)
    own: dict[str, Any] = {}
    for problem in list(misplaced(tables, "/", "/none")):
        path = problem.path[:3] if "accounts" in problem.path else problem.path
        _move(tables, own, tuple(map(str, path)))
    (project / "hub.toml").write_text(tomli_w.dumps(tables) if own else text)
    if own:
        user.mkdir(exist_ok=True)
        (user / "config.toml").write_text(tomli_w.dumps(own))


def _move(tables: dict[str, Any], own: dict[str, Any], path: tuple[str, ...]) -> None:
    for key in path[:-1]:
        tables, own = tables[key], own.setdefault(key, {})
    if path[-1] in tables:
        own[path[-1]] = tables.pop(path[-1])
