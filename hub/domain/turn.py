"""Whose turn it is in a session: the question who is next, as its record puts it, and what follows from the answer.

Owns: whom the record says not to ask, whether who has the work may do it now, and the wait and the refusal where nobody may.
Must not: find out a fact, choose (`hub.domain.routing` does), or decide what a failure leads to (`hub.domain.retry` does).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import attrs

from hub.domain.failure import TIME_MENDS, FailureClass
from hub.domain.handoff import State
from hub.domain.retry import Ender, Situation, Then, Wait, backoff
from hub.domain.routing import Choice, Question, Target
from hub.domain.session import Attempt, LeftOut, OnLimit, SessionRecord
from hub.errors import Code, HubError

NOT_ACCEPTED = "verify_failed"
"""What a record says of who was left since the acceptance commands refused its work."""
_NEVER_AGAIN: Mapping[str, str] = {
    "auth": "its login was not accepted",
    "dispatch_failed": "it could not be started",
    NOT_ACCEPTED: "its work was not accepted",
    "denied": "it was not allowed to start",
}
"""Ways to leave a task after which the same provider and account is not asked again within it."""


@attrs.frozen
class Go:
    """Who has the work does it."""


@attrs.frozen
class Begin:
    """Somebody else begins, as if it had been chosen at once: nothing was done, so there is nothing to hand over."""

    target: Target
    why: str


@attrs.frozen
class HandOver:
    """What was done is handed over."""

    why: str


def turn(record: SessionRecord, choice: Choice, *, begun: bool) -> Go | Begin | HandOver | Wait:
    """What comes before a start or a further try, by the choice of who may have it.

    Raises:
        HubError: `no_fallback`, `quota_exhausted`, `verify_failed`; nobody may, and waiting helps nobody or is not wanted.
    """
    if record.holder in choice.ranked:
        return Go()
    if choice.first is not None:
        why = choice.why(record.holder)
        return HandOver(why) if begun else Begin(choice.first, why)
    wait = wait_for(choice, "nobody can take the work now: ")
    if wait is None or _stops(record, choice):
        error = nobody(choice)
        raise _over(record, error if wait is None else HubError(Code.QUOTA_EXHAUSTED, error.detail))
    return wait


def turn_after(record: SessionRecord, choice: Choice) -> Wait | None:
    """What becomes of a handoff that found no receiver, by the choice that whoever was left may be in again.

    Returns:
        The wait for somebody; None where who was left goes on.

    Raises:
        HubError: `no_fallback`, `verify_failed`; waiting helps nobody, or is not wanted.
    """
    if choice.first is not None:
        return None
    ender: Ender = "anybody" if may_return(record) else "others"
    wait = wait_for(choice, "Nobody else may go on with the task. ", "handoff", ender)
    if wait is None or _stops(record, choice):
        detail = f"Nobody else may go on with the task. {choice.reasons()}"
        raise _over(record, HubError(Code.NO_FALLBACK, detail, hint=choice.next_step()))
    return wait


def not_accepted(record: SessionRecord, besides: str = "") -> HubError:
    """That the work was refused, and by what."""
    return HubError(Code.VERIFY_FAILED, f"The acceptance commands failed.\n{record.refused}{besides}")


def _over(record: SessionRecord, error: HubError) -> HubError:
    """The end of a session with which nobody may go on: that its work was refused, where it was, is the first cause."""
    return not_accepted(record, f"\n\n{error.detail}") if _left_refused(record) else error


def _left_refused(record: SessionRecord) -> bool:
    return any((one.target, one.failure) == (record.holder, NOT_ACCEPTED) for one in record.tried)


def may_return(record: SessionRecord) -> bool:
    """Whether the agent that was left may have the work again later."""
    return record.failure is None or record.failure in TIME_MENDS


def bound(record: SessionRecord, *, begun: bool) -> bool:
    """Whether the work stays with who has begun it or met its limit: no other is wanted, and no handoff was asked for."""
    met = begun or (record.failure is not None and not record.insisted)
    return (
        met
        and not _left_refused(record)
        and not (record.on_limit is OnLimit.HANDOFF and record.handoffs_left)
    )


def _stops(record: SessionRecord, choice: Choice) -> bool:
    """Whether the user wants no wait: who works for another session is not at a limit."""
    return record.on_limit is OnLimit.STOP and not choice.busy


def free(record: SessionRecord, wait: Wait, choice: Choice) -> Target | None:
    """Who ends a wait before its time; None where nobody does."""
    enders = (one for one in choice.ranked if wait.ender == "anybody" or one != record.holder)
    return next(enders, None)


def nobody(choice: Choice) -> HubError:
    """That and why nobody else may have the work, and what helps."""
    detail = f"No other account or provider may take the work now. {choice.reasons()}"
    return HubError(Code.NO_FALLBACK, detail, hint=choice.next_step())


def wait_for(choice: Choice, why: str, then: Then = "retry", ender: Ender = "anybody") -> Wait | None:
    """The wait for the first of those passed by, its reason beginning with `why`; None where waiting helps nobody."""
    until = choice.until()
    if until is None:
        return None
    return Wait(until, f"{why}{choice.said()}", then, ender, until != choice.reset(), why)


def told_anew(wait: Wait, choice: Choice) -> Wait:
    """The wait by what is known now: who was passed by, why, and, where anybody ends it, the first reset known."""
    if not wait.why:
        return wait
    fresh = wait_for(choice, wait.why, wait.then, wait.ender)
    if fresh is not None and not fresh.unsure and wait.ender == "anybody":
        return fresh
    return attrs.evolve(wait, reason=f"{wait.why}{choice.said()}")


def left_out(choice: Choice, but: Target | None = None) -> tuple[LeftOut, ...]:
    """Who was passed by, `but` apart."""
    return tuple(
        LeftOut(p.target.provider, choice.why(p.target), p.hint, p.target.account)
        for p in choice.passed
        if p.target != but
    )


def question(
    record: SessionRecord,
    now: float,
    failure: FailureClass | None = None,
    *,
    order: Sequence[str],
    stay: bool = False,
    fresh: bool = False,
) -> Question:
    """Who goes on after the record's provider; see `Question`."""
    return Question(
        order=order,
        current=record.holder,
        stay=stay,
        failure=failure,
        refused_by=record.refused_by,
        left=_left(record),
        resting=_resting(record, now),
        named=record.named,
        fresh=fresh,
    )


def situation(
    record: SessionRecord,
    failure: FailureClass,
    choice: Choice,
    now: float,
    *,
    breaker_open: bool,
    jitter: float,
    max_attempts: int,
) -> Situation:
    """Where a failure has left the session, by the choice of who may go on; see `Situation`."""
    return Situation(
        attempt=len(record.refused_by) if failure is FailureClass.REFUSAL else record.failing + 1,
        now=now,
        on_limit=record.on_limit.value,
        targets_left=len(choice.ranked),
        targets_busy=len(choice.busy),
        breaker_open=breaker_open,
        jitter=jitter,
        handoffs_left=record.handoffs_left,
        max_attempts=max_attempts,
        earliest_reset=choice.reset(but=record.holder),
    )


def _left(record: SessionRecord) -> dict[Target, str]:
    """Who is not asked again for this task; and of the handoff under way, the receivers that did not take over."""
    found = {one.target: _NEVER_AGAIN[one.failure] for one in record.tried if one.failure in _NEVER_AGAIN}
    # Who met its limit is kept away by its breaker, until its reset; who was overloaded is left alone for a moment.
    if record.state is State.RUNNING and record.wait is None:
        return found  # who did not take over is asked again once the wait for somebody else is over
    for one in reversed(record.tried):
        if one.target == record.holder:
            break
        if one.failure not in TIME_MENDS:
            found.setdefault(one.target, f"it did not take over ({one.failure})")
    return found


def _resting(record: SessionRecord, now: float) -> dict[Target, float]:
    """Who was overloaded when the work was offered to it, and until when it is left alone: longer each time."""
    rows: dict[Target, list[Attempt]] = {}
    for one in record.tried:
        row = rows.setdefault(one.target, [])
        if one.failure != FailureClass.OVERLOAD:
            row.clear()
        else:
            row.append(one)
    until = {
        target: datetime.fromisoformat(row[-1].at).timestamp() + backoff(len(row))
        for target, row in rows.items()
        if row
    }
    return {target: at for target, at in until.items() if at > now}
