"""The user's replies to one run, durable from the moment they are accepted until its runner has taken them.

Owns: `replies.json` in the run's directory, and the look at which keys the runner has on record.
Must not: send anything, or change what belongs to the runner.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from hub.io.atomic import read_bounded
from hub.io.runner.files import KEYS
from hub.io.sealed import read_sealed, write_sealed

_NAME = "replies.json"
_LIMIT = 256 * 1024 * 1024


class Reply(msgspec.Struct, frozen=True):
    """The user's words, not redacted, and the key under which the runner takes them once."""

    key: str
    text: str


class _Taken(msgspec.Struct):
    key: str


def keep(run_dir: Path, reply: Reply) -> None:
    """Puts a reply on record; when this returns, a killed daemon does not forget it.

    Raises:
        HubError: NO_SPACE, READ_ONLY, NO_PERMISSION; it was not accepted.
    """
    write_sealed(run_dir / _NAME, msgspec.json.encode([*_kept(run_dir), reply]))


def untaken(run_dir: Path) -> list[Reply]:
    """The replies on record that the runner has not taken yet, oldest first."""
    kept = _kept(run_dir)
    taken = _taken(run_dir) if kept else set()
    return [reply for reply in kept if reply.key not in taken]


def _kept(run_dir: Path) -> list[Reply]:
    try:
        return msgspec.json.decode(read_sealed(run_dir / _NAME, _LIMIT), type=list[Reply])
    except FileNotFoundError:
        return []


def _taken(run_dir: Path) -> set[str]:
    """The keys the runner wrote down before it took what came with them; a torn last line is none yet."""
    try:
        lines = read_bounded(run_dir / KEYS, _LIMIT).split(b"\n")
    except FileNotFoundError:
        return set()
    return {msgspec.json.decode(line, type=_Taken).key for line in lines[:-1]}
