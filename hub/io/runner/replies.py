"""The user's replies to one run, durable from the moment they are accepted until its runner has taken them.

Owns: `replies.json` in the run's directory, and the look at which keys the runner has on record.
Must not: send anything, or change what belongs to the runner.
"""

from __future__ import annotations

from pathlib import Path

import attrs
import msgspec

from hub.io.files.atomic import read_bounded
from hub.io.records.store import RecordForm, RecordStore, as_named
from hub.io.runner.files import KEYS

_LIMIT = 256 * 1024 * 1024


@attrs.frozen
class UserReply:
    """The user's words, not redacted, and the key under which the runner takes them once."""

    key: str
    text: str


@attrs.frozen
class KeptReplies:
    """The record."""

    replies: tuple[UserReply, ...] = ()


FORM = RecordForm(
    KeptReplies,
    "The user's replies",
    older={0: lambda wire: KeptReplies(as_named(wire, tuple[UserReply, ...]))},
)


def keep(run_dir: Path, reply: UserReply) -> None:
    """Puts a reply on record; when this returns, a killed daemon does not forget it.

    Raises:
        HubError: NO_SPACE, READ_ONLY, NO_PERMISSION; it was not accepted.
    """
    store = _store(run_dir)
    store.save(KeptReplies((*(store.look() or KeptReplies()).replies, reply)))


def untaken(run_dir: Path) -> list[UserReply]:
    """The replies on record that the runner has not taken yet, oldest first."""
    kept = _store(run_dir).look() or KeptReplies()
    taken = _taken(run_dir) if kept.replies else set()
    return [reply for reply in kept.replies if reply.key not in taken]


def _store(run_dir: Path) -> RecordStore[KeptReplies]:
    return RecordStore(run_dir / "replies.json", FORM)


def _taken(run_dir: Path) -> set[str]:
    """The keys the runner wrote down before it took what came with them; a torn last line is none yet."""
    try:
        lines = read_bounded(run_dir / KEYS, _LIMIT).split(b"\n")
    except FileNotFoundError:
        return set()
    return {msgspec.json.decode(line)["key"] for line in lines[:-1]}
