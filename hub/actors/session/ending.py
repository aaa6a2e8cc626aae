"""The end of a session: judged by the acceptance commands, stopped by the user, or failed with a coded error.

Owns: the verifier gate after "done" and who gets refused work, the last snapshot, the terminal
states, and the answer to those who wait for them.
Must not: take an agent's word for anything.
"""

from __future__ import annotations

import contextlib

import attrs

from hub.actors.common.calls import call_until_answered
from hub.actors.common.transient import TRANSIENT
from hub.actors.session.agent_control import AgentControl
from hub.actors.session.chronicle import Scores
from hub.actors.session.commands import gate
from hub.actors.session.context import SessionContext
from hub.actors.session.handoff_steps import HandoffSteps
from hub.actors.session.routing import Routing
from hub.api.session import Stopped
from hub.domain.event import Tag
from hub.domain.failure import ErrorNote
from hub.domain.handoff import State, Trigger
from hub.domain.result.gate import GateResult
from hub.domain.session import SessionRecord, SessionState
from hub.domain.turn import NOT_ACCEPTED, not_accepted
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.messages.approvals import WithdrawApprovals


@attrs.frozen
class SessionEnding:
    """Ends a session; each call may be repeated after a crash."""

    context: SessionContext
    control: AgentControl
    routing: Routing
    handoff: HandoffSteps
    scores: Scores

    async def judge(self, record: SessionRecord) -> None:
        """The agent says it is done: let the acceptance commands say whether it is."""
        record = await self.context.store.update(session_state=SessionState.VERIFYING)
        if not record.verify:
            await self.finish(record, SessionState.COMPLETED, verified=False)
            return
        result = await gate(self.context, record, f"final:{record.dispatch_id}")
        if result.passed:
            await self.finish(record, SessionState.COMPLETED, verified=True)
            return
        if (
            record.repairs < self.context.config.session.verify_tries
            and record.provider in self.context.providers
        ):
            await self._give_back(record, result)
            return
        await self._retry_elsewhere(record, result)

    async def _give_back(self, record: SessionRecord, result: GateResult) -> None:
        """The same agent gets its work back, in its own session, with the end of what the commands said.

        That it was given back is told under the dispatch that was refused, and on record before the next one starts.
        """
        tries, most = record.repairs + 1, self.context.config.session.verify_tries
        key = f"repair:{record.dispatch_id}"
        provider, account = record.provider, record.account
        await self.context.store.note(
            "repair", key, provider=provider, account=account, attempt=tries, of=most
        )
        msg = f"the acceptance commands failed; back to {provider} (try {tries} of {most})"
        await self.context.store.say(Tag.SYSTEM, msg, source=key, repair=tries, of=most)
        failpoints.hit("repair.told")
        await self.context.store.update(
            session_state=SessionState.RUNNING,
            dispatch_id="",
            repairs=tries,
            refused=result.text(),
        )
        failpoints.hit("repair.given")

    async def _retry_elsewhere(self, record: SessionRecord, result: GateResult) -> None:
        """Not accepted: another provider gets the work and the failure's output, or the failure is surfaced.

        Where all who could have it work for other sessions, the handoff itself waits for the first that is free; the
        verdict is on record, for the case that none ever is.
        """
        store, choice = self.context.store, await self.routing.choose(record, None)
        if not (choice.ranked or choice.busy) or not record.handoffs_left:
            raise not_accepted(await store.update(refused=result.text(), verified=False))
        why = "the acceptance commands failed"
        await store.hand_over(
            record,
            self.context.new_id("h"),
            Trigger.FAILURE,
            why,
            tried_as=NOT_ACCEPTED,
            refused=result.text(),
            verified=False,
        )

    async def stopped(self, record: SessionRecord, reason: str) -> None:
        """The user, or the end of the daemon, ends the session: agent stopped in order, bytes kept."""
        failpoints.hit("stop.asked")
        await self.routing.ended(record)
        await self.control.safe_point(self.context.config.session.stop_grace)
        failpoints.hit("stop.told")
        await self.control.stop(reason)
        failpoints.hit("stop.gone")
        await self.control.release()
        await self.finish(record, SessionState.STOPPED, verified=record.verified)

    async def failed(self, record: SessionRecord, error: HubError) -> None:
        """Nothing more can be done: say so, with the code and the next step, and keep every byte."""
        await self.context.store.trouble(error)
        note = ErrorNote.of(error, record.session_id)
        try:
            await self.control.stop("failed")
        except HubError:
            await self.control.kill(record)
        await self.control.release()
        await self.finish(record, SessionState.FAILED, verified=record.verified, error=note)

    async def abandoned(self, record: SessionRecord, error: HubError) -> None:
        """Where not even `failed` works: no process is left and the record is closed; the worktree stays as it is."""
        await self.control.kill(record)
        note = ErrorNote.of(error, record.session_id)
        await self._close(record, _ended(SessionState.FAILED, self.context.clock(), note))

    async def finish(
        self,
        record: SessionRecord,
        state: SessionState,
        *,
        verified: bool | None,
        error: ErrorNote | None = None,
    ) -> None:
        """One last snapshot, then the terminal record."""
        sha = record.snapshot_sha
        if record.worktree_ready:
            try:
                sha = (await self.handoff.snapshot(record, f"end-{record.task_id}", error)).sha
            except HubError as problem:
                if problem.code in TRANSIENT:
                    raise
                # The session ends all the same: what failed is said, and the worktree itself is untouched.
                await self.context.store.trouble(problem)
        await self.scores.settle()
        changes = _ended(state, self.context.clock(), error)
        await self._close(record, {**changes, "verified": verified, "snapshot_sha": sha})

    async def _close(self, record: SessionRecord, changes: dict[str, object]) -> None:
        await self.control.drop_ready()
        used = self.context.store.usage.tokens()
        changes["tokens_used"] = used.tokens_in + used.tokens_out
        if record.state is State.RUNNING:
            await self.context.store.update(**changes)
            await self.context.store.publish()
        else:
            await self.context.store.advance(Trigger.ABANDONED, **changes)
        await withdraw_all(self.context, record.session_id)


def _ended(state: SessionState, now: float, error: ErrorNote | None) -> dict[str, object]:
    return {
        "session_state": state,
        "error": error,
        "ended_at": iso(now),
        "needs_input": False,
        "paused": False,
        "wait": None,
    }


_STOP_PATIENCE = 5.0
"""Seconds after which whoever asked for a stop is told what keeps the session from ending; the wish stays."""


async def withdraw_all(context: SessionContext, session_id: str) -> None:
    """The session has ended: nobody waits for somebody's word any more."""
    with contextlib.suppress(HubError):  # a full disk: they are withdrawn at the next start
        await call_until_answered(context.approvals, WithdrawApprovals(session_id))


async def ended(context: SessionContext, session_id: str) -> SessionRecord:
    """How the session ended, as soon as it has and its end is told.

    Raises:
        HubError: `not_found`; another session, or none, is on record.
    """
    record = context.store.record
    if record is None or record.session_id != session_id:
        raise HubError(Code.NOT_FOUND, f"Session {session_id} is not known here.")
    await context.shared.wait_for(lambda: context.store.over)
    return context.store.now


async def stopped(context: SessionContext) -> Stopped:
    """What whoever asked for a stop is answered, once the session has ended.

    Raises:
        HubError: What keeps it from ending, while a disk does; the wish stays.
    """
    shared = context.shared
    while not await shared.wait_for(lambda: context.store.over, _STOP_PATIENCE):
        if shared.trouble is not None and shared.trouble.code in TRANSIENT:
            detail = f"The session cannot be ended in order: {shared.trouble.detail}"
            kept = "What the agent wrote is in its worktree."
            raise HubError(shared.trouble.code, f"{detail} {kept}", hint=shared.trouble.hint)
    now = context.store.now
    return Stopped(session_id=now.session_id, state=now.session_state)
