"""The durable record of the session: what `.hub/fsm.json` holds.

Owns: `SessionRecord`.
Must not: know its bytes (`hub.io.records.sessions` does), or decide what follows from a record (`hub.domain.handoff` does).

The record alone, with the event log, the audit log and the worktree, is enough to go on after a crash.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from enum import StrEnum

import attrs

from hub.domain.failure import ErrorNote, FailureClass
from hub.domain.handoff import State
from hub.domain.retry import Wait
from hub.domain.routing import Target
from hub.domain.wallclock import iso
from hub.errors import Code, HubError

ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
"""Of a session, and of whatever else hub gives an id to."""
WHOLE_ID = re.compile(r"s-[0-9a-f]{8}-[0-9a-f]{8}")
"""Of a session, as hub makes them: no beginning of another one."""
_ALIKE = 0.7
"""How like an id must be to what was given."""


def not_on_record(given: str, known: Sequence[str]) -> HubError:
    """There is no session whose id begins so; the one that was probably meant is in the hint."""
    import difflib  # only for a mistake

    close = difflib.get_close_matches(given, known, 1, _ALIKE)
    hint = f"Did you mean {close[0]}? See all: hub ls" if close else "See which there are: hub ls"
    return HubError(Code.NOT_FOUND, f"Session {given} is not known here.", hint=hint)


def several_meant(found: Sequence[str]) -> HubError:
    """More than one session is meant."""
    return HubError(
        Code.WHICH_SESSION, f"Several sessions are meant: {', '.join(found)}.", sessions=list(found)
    )


def meant_by(given: str, known: Collection[str]) -> str:
    """The id that is meant by an id or by the beginning of one.

    Raises:
        HubError: `not_found`, `which_session`.
    """
    if given in known:
        return given
    found = [session_id for session_id in known if session_id.startswith(given)]
    if not found:
        raise not_on_record(given, list(known))
    if len(found) > 1:
        raise several_meant(found)
    return found[0]


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

    @property
    def target(self) -> Target:
        """Who it was."""
        return Target(self.provider, self.account)


@attrs.frozen
class LeftOut:
    """An account that a choice passed by, why, and what brings it in."""

    provider: str
    reason: str
    hint: str
    account: str = ""


@attrs.frozen(kw_only=True)
class Handoff:
    """The handoff under way, else the last one. Each step adds what it has made; the next handoff begins a new one."""

    trigger: str = ""
    """What began it."""
    reason: str = ""
    """Why the outgoing agent stopped, for people, redacted."""
    safe_point: str = ""
    """How it was stopped: `turn_over`, `idle` or `interrupted`."""
    snapshot_tree: str = ""
    contract_id: str = ""
    contract_sha256: str = ""
    receiver: Target | None = None
    """Who gets the work; None while nobody is chosen."""
    passed: tuple[LeftOut, ...] = ()
    """Who else was asked for when the receiver was chosen, and why it was none of them."""
    tree_matches: bool = False
    """Whether the worktree was the contract's tree when the receiver took over."""


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
    """Whether the session goes on with work that it did not begin; `.hub/adopted/` has its brief."""
    adopts: str = ""
    """Whose work that is, where hub had not started it: the detected agent's id."""
    continues: str = ""
    """Whose work that is: the session's that ended; "" = an agent's that hub had not started."""
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

    provider: str = ""
    account: str = ""
    dispatch_id: str = ""
    attempt: int = 0
    """How many dispatches this session has made."""
    failing: int = 0
    """Failed runs in a row on this provider and account; a limit after work was done begins a new row."""
    native_id: str = ""
    """The agent's own session id, as soon as it is known."""
    extended: int = 0
    """How many times over the user has let it use up its budget."""
    repairs: int = 0
    """How often this agent has got its work back because the acceptance commands refused it."""
    refused: str = ""
    """What the acceptance commands said that refused its work, redacted; "" = none did."""
    paused: bool = False
    needs_input: bool = False
    stopping: str = ""
    """Who asked for the end of the session: `user`, `daemon` or `pipeline`; "" = nobody has."""

    handoff: Handoff = Handoff()
    failure: FailureClass | None = None
    """Why the outgoing agent stopped; None when it was asked to."""
    snapshot_sha: str = ""
    """The newest snapshot; "" while a handoff makes its own."""
    withheld: tuple[str, ...] = ()
    """Folders of hub's own that the agent has put into its work: they are in no snapshot, and stay in the worktree."""
    tried: tuple[Attempt, ...] = ()
    refused_by: tuple[str, ...] = ()
    """Providers whose model refused the task: never chosen again for it."""
    wait: Wait | None = None
    waited_seq: int = 0
    """`seq` at the beginning of the newest wait: it is told under this number, however often."""
    insisted: bool = False
    """Whether the user has ended a wait while nobody was free: one is tried all the same. Gone once it has started."""

    handoffs_done: int = 0
    hfs_history: tuple[float, ...] = ()
    unscored: Unscored | None = None
    """The handoff whose score is not in the history yet."""
    verified: bool | None = None
    """None until the verifier has spoken."""
    error: ErrorNote | None = None
    started_at: str = ""
    ended_at: str = ""
    tokens_used: int | None = None
    """In and out, counted when the session ended; None before, and of those that older versions ended."""

    @property
    def holder(self) -> Target:
        """Who has the work: in a handoff the outgoing agent, until the receiver has answered."""
        return Target(self.provider, self.account)

    @property
    def handoffs_left(self) -> int:
        """How many handoffs it may still make."""
        return max(0, self.max_handoffs - self.handoffs_done)

    @property
    def wait_until(self) -> str | None:
        """When somebody is free whom it waits for, ISO 8601 UTC; None where it waits for nobody, or nobody knows."""
        return iso(self.wait.until) if self.wait and not self.wait.unsure else None

    @property
    def hfs(self) -> float:
        """The last handoff's score; 0 before the first one."""
        return self.hfs_history[-1] if self.hfs_history else 0
