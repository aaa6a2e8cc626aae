"""What has changed in a project's code, read and taken into the database a batch at a time.

Owns: how much goes into one transaction, that imports are followed when all
files are in, and that nothing new is taken once the database is full.
Must not: know when it is done, or how fast.

Blocking; for a worker thread. Imported when code is read for the first time: with it come seven languages' patterns.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from hub.io.code_scan import Gone, Scanned, go_modules, scan
from hub.io.graph.files import is_full, known, take
from hub.io.graph.links import is_linked, link
from hub.io.graph.store import GraphStore

BATCH = 2 << 20
"""Bytes of code that go into one transaction: about a tenth of a second."""
_UNSTORABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and bytes that are no UTF-8."""
_GONE = 2000
"""Files that are taken out in one transaction, at most."""


class Intake:
    """One reading of the project. What was taken is in, whatever becomes of the rest.

    Args:
        store: The database.
        root: The project's folder.
        paths: Its files, relative.
        scrub: Hides what is secret in a file's text and leaves lines where they are.
        at: The time the nodes get.

    Attributes:
        files: New or changed files that were taken in.
        bytes: Of those files.
        full: No file is taken any more that is not in already.
    """

    def __init__(
        self, store: GraphStore, root: Path, paths: Sequence[bytes], scrub: Callable[[str], str], at: str
    ) -> None:
        self.files = self.bytes = 0
        self.full = store.read(is_full)
        self._store = store
        self._at = at
        before = store.read(known)
        wanted = (path for path in paths if not self.full or os.fsdecode(path) in before)
        self._go_modules = go_modules(root, paths)
        self._found = scan(root, before, wanted, scrub)

    def batch(self) -> bool:
        """Take in the next few files; whether there may be more.

        Raises:
            HubError: As `GraphStore.write`; this reading is over then.
            OSError: The project's folder is gone.
        """
        changed: list[Scanned] = []
        gone: list[str] = []
        size, more = 0, False
        for entry in self._found:
            if isinstance(entry, Gone):
                gone.append(entry.path)
            elif _storable(entry.path):
                changed.append(entry)
                size += entry.size
            if size >= BATCH or len(gone) >= _GONE:
                more = True
                break
        if changed or gone:
            self._store.write(take, changed, gone, self._at)
            self.full = self._store.read(is_full)
        if not more and not self._store.read(is_linked, self._go_modules):
            self._store.write(link, self._go_modules, self._at)
        self.files += len(changed)
        self.bytes += size
        return more


def _storable(path: str) -> bool:
    """A database's text is UTF-8; a file whose name is not, or is no line of text, can be neither named nor asked for."""
    return _UNSTORABLE.search(path) is None
