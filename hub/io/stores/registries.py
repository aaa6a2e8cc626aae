"""What the agents' makers write down about the processes that run: one small file for each.

Owns: which of those folders are read, and reading them again only when they have changed.
Must not: believe a file about a process before its start time was compared (`hub.domain.detection.processes` does that).
Tests: tests/hub/io/processes/test_table.py
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hub.domain.detection.processes import RegistryEntry, Signature
from hub.errors import HubError
from hub.io.files.atomic import read_bounded
from hub.io.files.walk import changed_at

_FILE = 64 * 1024
_FILES = 1024


class Registries:
    """The registries of every agent that has one.

    Args:
        signatures: By the provider's name.
        env: The environment that says where the first of them are.
    """

    def __init__(self, signatures: Mapping[str, Signature], env: Mapping[str, str] = os.environ) -> None:
        self._signatures = signatures
        self._folders: dict[tuple[str, str], tuple[int, tuple[RegistryEntry, ...]]] = {}
        """Provider and folder -> its stamp, and what was read."""
        for provider, signature in signatures.items():
            self.add(provider, signature.home_of(env))

    def add(self, provider: str, home: str) -> bool:
        """Look into this folder of the agent too, from here on; whether that is new."""
        registry = self._signatures[provider].registry
        name = (provider, os.path.join(home, registry))
        if not home or not registry or name in self._folders:
            return False
        self._folders[name] = (-1, ())
        return True

    def entries(self, *, deep: bool = False) -> dict[int, dict[str, RegistryEntry]]:
        """What is on record: pid -> provider -> entry.

        Args:
            deep: Whether a folder is read although nothing came or went in it: a file may have been written anew.
        """
        found: dict[int, dict[str, RegistryEntry]] = {}
        for (provider, folder), (known, read) in self._folders.items():
            stamp = changed_at(folder)
            entries = read
            if deep or stamp != known:
                entries = tuple(_read(folder))
                self._folders[provider, folder] = (stamp, entries)
            for entry in entries:
                found.setdefault(entry.pid, {})[provider] = entry
        return found


def _read(folder: str) -> Iterator[RegistryEntry]:
    try:
        names = sorted(os.listdir(folder))[:_FILES]
    except OSError:
        return
    for name in names:
        if name.endswith(".json") and name[:-5].isdigit():
            try:
                yield _entry(int(name[:-5]), json.loads(read_bounded(Path(folder, name), _FILE)))
            except (
                OSError,
                HubError,
                ValueError,
                LookupError,
                TypeError,
                AttributeError,
                RecursionError,
            ):
                continue  # half written, or not what it was


def _entry(pid: int, told: Mapping[str, Any]) -> RegistryEntry:
    return RegistryEntry(
        pid=pid,
        starttime=int(told["procStart"]),
        session_id=str(told.get("sessionId", "")),
        surface=str(told.get("entrypoint", "")),
    )
