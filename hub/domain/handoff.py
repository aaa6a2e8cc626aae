"""The handoff state machine, as one literal table.

Owns: the states, the triggers, the table of legal moves. `design/handoff.md` is drawn from it.
Must not: do any of it. The session actor acts; this module only says what is legal.

Rules:
 1. A state's record is durable before the state's work begins.
 2. A state's work is idempotent: a restart reads the record and runs the work of that state again.
 3. The evidence of a state's work (a commit, a contract, a dispatch id, a native session) is carried by the
    record of the *next* state; until that record is durable the work counts as not done.
 4. A move that is not in the table raises. There is no "any state" row.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from hub.errors import Code, HubError


class State(StrEnum):
    """The states of `fsmState`."""

    RUNNING = "RUNNING"
    PAUSING = "PAUSING"
    SNAPSHOTTED = "SNAPSHOTTED"
    ENVELOPE_BUILT = "ENVELOPE_BUILT"
    DISPATCHED = "DISPATCHED"
    RESUMING = "RESUMING"


class Trigger(StrEnum):
    """What may move the machine."""

    QUOTA_BREACH = "quota_breach"
    MANUAL_HANDOFF = "manual_handoff"
    FAILURE = "failure"
    SAFE_POINT = "safe_point"
    SNAPSHOT_DONE = "snapshot_done"
    CONTRACT_WRITTEN = "contract_written"
    ADAPTER_STARTED = "adapter_started"
    RECEIVER_HEARTBEAT = "receiver_heartbeat"
    DISPATCH_FAILED = "dispatch_failed"
    ABANDONED = "abandoned"


STARTS: frozenset[Trigger] = frozenset({Trigger.QUOTA_BREACH, Trigger.MANUAL_HANDOFF, Trigger.FAILURE})
"""The triggers that begin a handoff."""


MOVES: Mapping[tuple[State, Trigger], State] = {
    (State.RUNNING, Trigger.QUOTA_BREACH): State.PAUSING,
    (State.RUNNING, Trigger.MANUAL_HANDOFF): State.PAUSING,
    # An agent that crashed, was refused, stayed overloaded or did not pass its verification cannot go on. Its
    # work still has to be snapshotted and passed on like any other, so it takes the same road.
    (State.RUNNING, Trigger.FAILURE): State.PAUSING,
    (State.PAUSING, Trigger.SAFE_POINT): State.SNAPSHOTTED,
    (State.SNAPSHOTTED, Trigger.SNAPSHOT_DONE): State.ENVELOPE_BUILT,
    (State.ENVELOPE_BUILT, Trigger.CONTRACT_WRITTEN): State.DISPATCHED,
    (State.DISPATCHED, Trigger.ADAPTER_STARTED): State.RESUMING,
    (State.RESUMING, Trigger.RECEIVER_HEARTBEAT): State.RUNNING,
    # A receiver that cannot be started (missing program, bad login, full process table) or that is proved
    # dead before its first heartbeat did no work: the contract is still true and the next target gets it.
    (State.DISPATCHED, Trigger.DISPATCH_FAILED): State.ENVELOPE_BUILT,
    (State.RESUMING, Trigger.DISPATCH_FAILED): State.ENVELOPE_BUILT,
    # A handoff that cannot or may not be finished (stopped by the user, nobody left, a contract that does not
    # verify, a dispatch nobody can be sure about) ends the session with a coded error, or, where a reset will
    # help, lets it wait. Without these rows it would stay in a transitional state, and every later start would
    # take the handoff up again.
    **{(state, Trigger.ABANDONED): State.RUNNING for state in State if state is not State.RUNNING},
}
"""Where each move leads. When a trigger may be given, and what comes with the move, `design/handoff.md` tells."""

ABANDONED = "not handed over"
"""How the history says that a handoff ended with its session, and nobody took over."""


class IllegalTransition(HubError):
    """A move the table does not have.

    A second start of a handoff is the caller's mistake and says so; any other illegal move is hub's.
    """

    def __init__(self, state: State, trigger: Trigger) -> None:
        code = Code.HANDOFF_IN_PROGRESS if trigger in STARTS else Code.INTERNAL
        super().__init__(code, f"{trigger} is not possible in {state}.")


def advance(state: State, trigger: Trigger) -> State:
    """The state after `trigger`.

    Raises:
        IllegalTransition: The table has no such row.
    """
    following = MOVES.get((state, trigger))
    if following is None:
        raise IllegalTransition(state, trigger)
    return following
