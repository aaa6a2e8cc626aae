"""What the tests of the stores share.

Owns: the captured stores, and reading one session of a home directory.
Must not: import a provider's folder.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from hub.domain.intel import WHOLE, Limits, SessionIntel, StoreHit
from hub.io.stores import StoreFiles
from hub.providers import stores

CAPTURES = Path(__file__).parents[2] / "captures" / "stores"
"""`<provider>/<run>/` is the home directory after that run: real sessions, long strings cut, paths made alike."""
FILES = StoreFiles()


def hits_of(
    home: Path, provider: str, env: dict[str, str] | None = None, folders: tuple[str, ...] = ()
) -> list[StoreHit]:
    """The sessions in this home directory; fails where a place could not be searched."""
    found = stores.search(FILES, str(home), env or {}, 0, folders=folders, only=[provider])
    assert found.skipped == ()
    return list(found.hits)


def only(home: Path, provider: str, limits: Limits = WHOLE, folders: tuple[str, ...] = ()) -> SessionIntel:
    """The one session in this home directory."""
    (hit,) = hits_of(home, provider, folders=folders)
    return stores.read(hit, FILES, limits)


def captured(provider: str, run: str, limits: Limits = WHOLE) -> SessionIntel:
    """The session of a captured run."""
    return only(CAPTURES / provider / run, provider, limits)


def copied(provider: str, run: str, to: Path) -> Path:
    """A home directory of the test's own, with that run's session."""
    return Path(shutil.copytree(CAPTURES / provider / run, to / "home"))
