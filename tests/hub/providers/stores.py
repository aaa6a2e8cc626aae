"""What the tests of the stores share.

Owns: the captured stores as home directories, and reading a session of one.
Must not: import a provider's folder.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from hub.domain.detection.intel import WHOLE, Limits, SessionIntel, StoreHit
from hub.io.stores import StoreFiles
from hub.providers import stores
from tests.drive import Run

CAPTURES = Path(__file__).parents[2] / "captures" / "stores"
"""`<provider>/<run>/` is the home directory after that run: sessions of the real program, long strings cut, paths made
alike; those of agents that are only detected are written by their documented format. A database is a dump, `<path>.sql`."""
FILES = StoreFiles()
REPO = "repo"
"""The folder in a home directory that agents work in who keep their sessions there."""


def home_of(provider: str, run: str, to: Path) -> Path:
    """A home directory of the test's own, with that run's session."""
    home = Path(shutil.copytree(CAPTURES / provider / run, to / "home"))
    for dump in home.rglob("*.sql"):
        with closing(sqlite3.connect(dump.with_suffix(""))) as database, database:
            database.executescript(f"PRAGMA synchronous=OFF; {dump.read_text()}")
        dump.unlink()
    return home


def hits_of(home: Path, provider: str, env: dict[str, str] | None = None) -> list[StoreHit]:
    """The sessions in this home directory; fails where a place could not be searched."""
    found = stores.search(FILES, str(home), env or {}, 0, folders=[str(home / REPO)], only=[provider])
    assert found.skipped == ()
    return list(found.hits)


def only(home: Path, provider: str, limits: Limits = WHOLE) -> SessionIntel:
    """The one session in this home directory."""
    (hit,) = hits_of(home, provider)
    return stores.read(hit, FILES, limits)


def kept(run: Run, provider: str, **env: str) -> SessionIntel:
    """The session that a real program kept of this run, where its environment says; nothing in it was unknown."""
    found = hits_of(Path("/nowhere"), provider, {**run.launch.env, **env})
    (intel,) = (one for hit in found if (one := stores.read(hit, FILES, WHOLE)).message_count)
    assert intel.alarm == ""
    assert (intel.accounting.unknown, intel.accounting.damaged) == (0, 0)
    return intel
