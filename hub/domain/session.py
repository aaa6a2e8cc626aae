"""The durable record of the session: what `.hub/fsm.json` holds.

Owns: `SessionRecord`, its bytes, and the reasons for which bytes are refused.
Must not: read or write the file, or decide what follows from a record (`hub.domain.handoff` does).

Rules:
 1. The record alone, with the event log, the audit log and the worktree, is enough to go on after a crash.
 2. The bytes are canonical JSON: no floats. Fractions are stored as whole per mille or hundredths.
 3. `crc` is over everything else, so a flipped bit is found before any field is believed.
 4. A field with a default may be added without a new version; an older record then reads with the default.
    Anything else needs a new version, and a record of a newer version is refused, never guessed at.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import attrs
import msgspec

from hub.domain.canonical import NotCanonicalError, StrictJsonError, canonical, parse_strict
from hub.domain.failure import FailureClass
from hub.domain.handoff import State
from hub.errors import Code, HubError

VERSION = 1
ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
"""Of a session, and of whatever else hub gives an id to."""


class SessionState(StrEnum):
    """What a session is doing, for people (`sessionState`)."""

    IDLE = "idle"
    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    HANDING_OFF = "handing_off"
    VERIFYING = "verifying"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen in the session."""
        return self in _ENDED

    @property
    def active(self) -> bool:
        """Whether the session takes the daemon's one place."""
        return self is not SessionState.IDLE and not self.ended


_ENDED = frozenset({SessionState.COMPLETED, SessionState.FAILED, SessionState.STOPPED})


class OnLimit(StrEnum):
    """What follows a usage limit."""

    HANDOFF = "handoff"
    WAIT = "wait"
    STOP = "stop"


@attrs.frozen
class Attempt:
    """One provider and account that was tried for this task and left."""

    provider: str
    account: str
    failure: str
    """A failure class, or `manual`, `breach`, `dispatch_failed`."""
    at: str


@attrs.frozen
class LeftOut:
    """An account that the start passed by, and what brings it in."""

    provider: str
    reason: str
    hint: str
    account: str = ""


@attrs.frozen
class ErrorNote:
    """The coded error a session ended or waits with."""

    code: Code
    detail: str
    hint: str = ""


@attrs.frozen
class Unscored:
    """A handoff that is over and whose score is still to come."""

    handoff: str
    snapshot: str
    tree: str
    sha256: str
    """Of the contract's bytes."""
    still: bool
    """Whether the worktree was the contract's tree when the receiver took over."""


@attrs.frozen(kw_only=True)
class SessionRecord:
    """Everything hub must know of a session after its own death. Each write is a new value, `seq` one up."""

    state: State = State.RUNNING
    session_id: str = ""
    handoff_id: str = ""
    """The handoff under way; "" in RUNNING before the first one, else the last one's."""
    seq: int = 0
    at: str = ""
    """When this record was made, ISO 8601 UTC."""

    previous: State | None = None
    """The state before the newest move; None before the first one."""
    moved_seq: int = 0
    """`seq` of the newest move: what is told about a move is told under this number, however often."""
    moved_by: str = ""
    """The trigger of the newest move."""

    session_state: SessionState = SessionState.IDLE
    role: str = "idle"
    task_id: str = ""
    task: str = ""
    branch: str = ""
    worktree: str = ""
    worktree_ready: bool = False
    base: str = ""
    """The commit the branch started from."""
    main_branch: str = ""
    run_id: str = ""
    """The pipeline run this session is a node of; while that goes on no other session may start."""
    carries: bool = True
    """Whether the branch begins with the user's uncommitted work."""
    first: str = ""
    """A commit on top of `base` that the branch begins at: the work of an agent that was adopted."""
    adopted: bool = False
    """Whether the session goes on with the work of an agent that hub had not started; `.hub/adopted/` has its brief."""
    profile: str = ""
    context_hint: str = ""
    """The profile's words for every agent, as they were at the start."""
    skills: tuple[str, ...] = ()
    """The skills it wants used, the same."""
    chain: tuple[str, ...] = ()
    """Provider names in order of priority, as resolved at the start."""
    named: tuple[str, ...] = ()
    """Those of the chain whom the user named: they are asked, last of all, also where hub sees no login of them."""
    left_out: tuple[LeftOut, ...] = ()
    """Who was passed by at the start, and why."""
    threshold: float = 0.9
    max_handoffs: int = 5
    on_limit: OnLimit = OnLimit.HANDOFF
    verify: tuple[str, ...] = ()
    verify_sha: str = ""
    """SHA-256 of the acceptance commands as they were at the start."""

    provider: str = ""
    account: str = ""
    model: str = ""
    dispatch_id: str = ""
    attempt: int = 0
    """How many dispatches this session has made."""
    failing: int = 0
    """Failed runs in a row on this provider and account; a limit after work was done begins a new row."""
    native_id: str = ""
    """The agent's own session id, as soon as it is known."""
    paused: bool = False
    needs_input: bool = False
    stopping: str = ""
    """Who asked for the end of the session: `user`, `daemon` or `pipeline`; "" = nobody has."""

    trigger: str = ""
    """What began the handoff under way."""
    failure: FailureClass | None = None
    """Why the outgoing agent stopped; None when it was asked to."""
    reason: str = ""
    """The same for people, redacted."""
    safe_point: str = ""
    """How the outgoing agent was stopped: `turn_over`, `idle` or `interrupted`."""
    snapshot_sha: str = ""
    snapshot_tree: str = ""
    withheld: tuple[str, ...] = ()
    """Folders of hub's own that the agent has put into its work: they are in no snapshot, and stay in the worktree."""
    tree_matches: bool = False
    """Whether the worktree was the contract's tree when the receiver took over."""
    contract_id: str = ""
    contract_sha256: str = ""
    to_provider: str = ""
    to_account: str = ""
    tried: tuple[Attempt, ...] = ()
    refused_by: tuple[str, ...] = ()
    """Providers whose model refused the task: never chosen again for it."""
    wait_until: int = 0
    """Epoch seconds; 0 = not waiting for an instant."""
    wait_reason: str = ""
    wait_then: str = ""
    """What follows the wait: `retry` or `handoff`."""
    insisted: bool = False
    """Whether the user has ended a wait while nobody was free: one is tried all the same. Gone once it has started."""

    handoffs_done: int = 0
    hfs_history: tuple[float, ...] = ()
    unscored: Unscored | None = None
    """The handoff whose score is not in the history yet."""
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost_usd_micros: int = 0
    verified: bool | None = None
    """None until the verifier has spoken."""
    error: ErrorNote | None = None
    started_at: str = ""
    ended_at: str = ""

    @property
    def tokens_used(self) -> int:
        """Tokens in and out, over all agents of the session."""
        return self.tokens_in + self.tokens_out

    @property
    def hfs(self) -> float:
        """The last handoff's score; 0 before the first one."""
        return self.hfs_history[-1] if self.hfs_history else 0

    def after(self, at: str, **changes: Any) -> SessionRecord:
        """The record that follows this one: `changes` made, `seq` risen by one."""
        return attrs.evolve(self, **changes, at=at, seq=self.seq + 1)


class Corruption(StrEnum):
    """Why bytes are no record."""

    EMPTY = "empty"
    TRUNCATED = "truncated"
    DAMAGED = "damaged"
    UNKNOWN_STATE = "unknown_state"
    NEWER_VERSION = "newer_version"
    INVALID = "invalid"


class StateCorrupt(HubError):  # noqa: N818 - the name the API's code `state_corrupt` has
    """The state file cannot be used. The caller keeps the file aside and says so."""

    def __init__(self, reason: Corruption, detail: str) -> None:
        super().__init__(
            Code.STATE_CORRUPT, f"The session's state file is unusable: {detail}.", reason=reason.value
        )
        self.reason = reason


def encode(record: SessionRecord) -> bytes:
    """The record as canonical JSON with its checksum. Equal records have equal bytes."""
    wire = {_camel(key): value for key, value in msgspec.to_builtins(record).items()}
    wire["v"] = VERSION
    wire["threshold"] = _scaled(record.threshold, 1000)
    wire["hfsHistory"] = [_scaled(score, 100) for score in record.hfs_history]
    wire["crc"] = _crc(wire)
    return canonical(wire)


def decode(data: bytes) -> SessionRecord:
    """The record in `data`.

    Raises:
        StateCorrupt: With the reason; no field of such bytes was believed.
    """
    wire = _parse(data)
    version = wire.get("v")
    # The version comes before the checksum: how to check is itself part of a version.
    if isinstance(version, int) and version > VERSION:
        raise StateCorrupt(
            Corruption.NEWER_VERSION, f"it has version {version}, this hub reads up to {VERSION}"
        )
    if not _fits(wire.pop("crc", None), wire):
        raise StateCorrupt(Corruption.DAMAGED, "its checksum does not fit")
    if wire.get("state") not in set(State):
        raise StateCorrupt(Corruption.UNKNOWN_STATE, f"it names the unknown state {wire.get('state')!r}")
    try:
        return _structure(wire)
    except (msgspec.ValidationError, KeyError, TypeError) as error:
        raise StateCorrupt(Corruption.INVALID, f"a field does not validate ({error})") from error


def _structure(wire: Mapping[str, Any]) -> SessionRecord:
    fields = {_snake(key): value for key, value in wire.items()}
    fields["threshold"] = wire["threshold"] / 1000
    fields["hfs_history"] = [_unscaled(score) for score in wire["hfsHistory"]]
    return msgspec.convert(fields, SessionRecord, strict=True)


def _parse(data: bytes) -> dict[str, Any]:
    if not data.strip():
        raise StateCorrupt(Corruption.EMPTY, "it is empty")
    try:
        wire = parse_strict(data)
    except StrictJsonError as error:
        if _breaks_off(data):
            raise StateCorrupt(Corruption.TRUNCATED, f"it breaks off after {len(data)} bytes") from error
        raise StateCorrupt(Corruption.DAMAGED, "it is not JSON") from error
    if not isinstance(wire, dict):
        raise StateCorrupt(Corruption.DAMAGED, "it is not an object")
    return wire


_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"')


def _breaks_off(data: bytes) -> bool:
    """Whether `data` looks like the head of an object: more is opened than closed."""
    rest = _STRINGS.sub(b"", data)
    return data.lstrip().startswith(b"{") and (b'"' in rest or rest.count(b"{") > rest.count(b"}"))


def _fits(crc: object, wire: Mapping[str, Any]) -> bool:
    try:
        return crc == _crc(wire)
    except NotCanonicalError:  # hub never wrote such a value
        return False


def _crc(wire: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(dict(wire))).hexdigest()[:16]


def _scaled(value: float, scale: int) -> int:
    return round(value * scale)


def _unscaled(hundredths: int) -> float:
    """Back to a number: a whole one stays whole, as the score is."""
    return hundredths // 100 if hundredths % 100 == 0 else hundredths / 100


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter.group().lower(), name)
