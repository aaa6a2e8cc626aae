"""What is known of a session that another program keeps on this machine.

Owns: the values that a store's reader gives (`StoreHit`, `SessionIntel`), the account of what was read, and the rule
by which a format counts as drifted.
Must not: open a file, know any one agent, or redact (who shows these values does).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from hub.domain.intent.fold import (
        Intent,  # a third of what a list of sessions imports, and not for a list
    )

MAX_TURNS = 16
"""How many turns `recent_turns` has at most."""
MAX_UNKNOWN_SHARE = 0.2
"""The share of records nobody here knows above which the format counts as drifted."""
_ENOUGH = 3
"""Fewer unreadable records than this are an accident (a torn line, one new type) and not another format."""


class Unreadable(Exception):
    """A store, or a part of it, cannot be read. Its text is the reason, fit to be shown."""


@attrs.frozen
class Place:
    """Where an agent keeps sessions, as a pattern below one folder.

    Attributes:
        root: The folder, absolute. No file outside of it is opened through this place, whatever the links say.
        pattern: One shell pattern for each step below `root`; the last is the file's.
        kind: Which of a provider's formats lies there; the provider's own word.
    """

    root: str
    pattern: tuple[str, ...]
    kind: str = ""


@attrs.frozen
class FoundFile:
    """A file that a place's pattern fits, as it was."""

    path: str
    mtime_ns: int


@attrs.frozen
class Gap:
    """A store that was not searched to its end: some of its sessions may be missing."""

    provider: str
    root: str
    why: str


@attrs.frozen(kw_only=True)
class StoreHit:
    """One session that a store has.

    Attributes:
        provider: The agent's name.
        path: The file it was found in, absolute.
        session_id: The agent's own id of the session; "" where only its records tell.
        cwd: The folder the agent works in; "" where only its records tell.
        mtime_ns: When the session was last written.
        root: The folder of the place it was found in: which configuration, and so which account, it belongs to.
        kind: Which of the provider's formats it is in.
    """

    provider: str
    path: str
    session_id: str = ""
    cwd: str = ""
    mtime_ns: int = 0
    root: str = ""
    kind: str = ""


@attrs.frozen
class Limits:
    """How much of a session is read.

    Attributes:
        head: Bytes of the beginning of a file of lines that are read, more where its first prompt is not in them.
        tail: Bytes of its end, more where they hold no whole record.
        whole: Whether every byte is read: every field is then exact. Otherwise those of a long session lack what its
            middle tells, and `Accounting.skipped_bytes` says so.
        most: Bytes that are read of one session at most; what is over it counts as skipped.
        seconds: Time for one session.
        record: Bytes of the longest record that is read; a longer one counts as unreadable.
    """

    head: int = 16 * 1024
    tail: int = 256 * 1024
    whole: bool = False
    most: int = 256 * 1024 * 1024
    seconds: float = 2.0
    record: int = 8 * 1024 * 1024


GLANCE = Limits()
"""Enough for a list of sessions."""
WHOLE = Limits(whole=True, seconds=10.0)
"""All of it, as an adoption wants."""


@attrs.frozen
class StoredTurn:
    """What was said, word for word."""

    role: str
    """`user` or `assistant`."""
    text: str


@attrs.frozen
class CallEnd:
    """How one call of a tool ended; a session has thousands, and most are never asked for.

    Attributes:
        key: The agent's own id of the call, as its stream has it too.
        text: The beginning of what the tool told.
        exit_code: A command's; None = not told, or no command.
        plan: Of a call that has set the plan: each step, and whether it is done. None = it was no such call.
    """

    key: str
    text: str = ""
    exit_code: int | None = None
    plan: tuple[tuple[str, bool], ...] | None = None


@attrs.frozen(kw_only=True)
class Accounting:
    """What became of each record of a session. Nothing is left out of it: the numbers add up to all that was read.

    Attributes:
        parsed: Records that told something.
        ignored: Records of a known kind that tell nothing hub needs.
        unknown: Records of a kind nobody here knows.
        damaged: Records that cannot be read: torn, glued, too long, no JSON.
        repeated: Records that say once more what another said.
        skipped_bytes: Bytes that were not read at all, between head and tail or above the limit.
        unknown_kinds: Names of the kinds nobody knows, a few of them.
    """

    parsed: int = 0
    ignored: int = 0
    unknown: int = 0
    damaged: int = 0
    repeated: int = 0
    skipped_bytes: int = 0
    unknown_kinds: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        """How many records were read."""
        return self.parsed + self.ignored + self.unknown + self.damaged + self.repeated


@attrs.frozen(kw_only=True)
class SessionIntel:
    """What a store tells of one session.

    The fields of the specification, and eight of hub's own: `cwd`, `part_of`, `at_work`, `ends`, `intent`, `accounting`,
    `alarm`, `tokens_exact`.
    Strings are as the agent wrote them: not redacted, not clipped, and possibly with what a terminal acts on.

    Attributes:
        plan: Every step of the plan in force, in its order.
        tasks_remaining: Those of them that are not done.
        files_touched: Files that the agent changed, in the order of their first change.
        skills: Skills that were offered to it or used by it.
        mcps: Names of the tool servers it has or used.
        recent_turns: The last 16 turns, oldest first.
        tokens_in: All input tokens, those read from and written to a cache included.
        tokens_exact: Whether the token figures cover the whole session.
        message_count: Messages of user and assistant; a lower bound where bytes were skipped.
        part_of: The session that this one works for, where it is a subagent's; "" where it is a person's.
        at_work: Whether a turn has begun that has not ended; False where the store does not tell.
        ends: How its newest calls of tools ended, in their order.
        intent: What was decided, forbidden, done, run and planned, as of a session that hub itself runs; its sources
            are places in the store, not events of hub's. None where not all of the session was read: a list of
            sessions shows nothing of it, and it takes twice the time of all the rest.
        alarm: Why this is not to be trusted; "" when nothing is wrong.
    """

    session_id: str = ""
    model: str = ""
    initial_prompt: str = ""
    plan: tuple[str, ...] = ()
    tasks_remaining: tuple[str, ...] = ()
    files_touched: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    mcps: tuple[str, ...] = ()
    recent_turns: tuple[StoredTurn, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    message_count: int = 0
    cwd: str = ""
    part_of: str = ""
    at_work: bool = False
    ends: tuple[CallEnd, ...] = ()
    intent: Intent | None = None
    tokens_exact: bool = True
    accounting: Accounting = Accounting()
    alarm: str = ""


def drift(account: Accounting, *, said: bool) -> str:
    """Why the format seems to be another than the one that is known; "" when it does not.

    Args:
        account: What became of the records.
        said: Whether any message, of user or assistant, came out.
    """
    strange = account.unknown + account.damaged
    kinds = f" ({', '.join(account.unknown_kinds)})" if account.unknown_kinds else ""
    if strange >= _ENOUGH and strange > MAX_UNKNOWN_SHARE * account.records:
        return f"{strange} of {account.records} records could not be understood{kinds}: the format may have changed."
    if strange and not said:
        return (
            f"No message could be read; {strange} of {account.records} records are unknown or damaged{kinds}."
        )
    if account.records and not account.parsed:
        return f"None of {account.records} records told anything: the format may have changed."
    return ""
