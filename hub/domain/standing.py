"""What a session does, in the words that every face of hub has for it.

Owns: the groups of a list of sessions by need, which of them a session is in, and the word or two for its state.
Must not: know a face, or how an instant is said, or import anything: a terminal's first screen has these words.
"""

from __future__ import annotations

GROUPS = ("Needs you", "Working", "Waiting for a reset", "Waiting for its turn", "Done")
"""By need: who wants somebody is first."""
NEEDED, WORKS, WAITS, QUEUED, OVER = range(5)
"""Their places."""
ENDED = frozenset({"completed", "failed", "stopped"})
"""States after which nothing more happens."""
HANDING_OVER = {
    "PAUSING": "waiting for a safe point",
    "SNAPSHOTTED": "the work is saved",
    "ENVELOPE_BUILT": "the contract is written",
    "DISPATCHED": "the next agent is being started",
    "RESUMING": "waiting for the next agent's first word",
}
"""How far a handoff is, by the state of its machine; in RUNNING there is none."""
NEEDS = {"input": "needs a reply", "approval": "needs approval", "decision": "needs a decision"}


def group(*, needs: str, state: str, position: int, wait_until: str | None) -> int:
    """Its place among the groups."""
    if needs != "none":
        return NEEDED
    if state in ENDED:
        return OVER
    if wait_until:
        return WAITS
    return QUEUED if position or state == "waiting" else WORKS


def words(*, state: str, verified: bool | None, needs: str = "none", position: int = 0) -> str:
    """What it does; where it waits for an instant, that says more."""
    if needs != "none":
        return NEEDS[needs]
    if position:
        return f"number {position}"
    if state == "completed":
        return "verified" if verified else "done, not verified"
    return state.replace("_", " ")


def occasion(handoff_id: str) -> str:
    """On which occasion a snapshot was made, by what its commit says it is for."""
    if handoff_id.startswith("end-"):
        return "at the end"
    return "at a handoff" if handoff_id.startswith("h-") else "a snapshot"
