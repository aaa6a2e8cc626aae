"""The way of a request for permission: from the agent to whoever decides, and the answer back.

Owns: which requests the live agent waits for, and hub's own requests before it starts an agent.
Must not: decide, or remember an answer (the approvals actor does both).

After any death the agent's stream is read from its start: every request is put again, and gets the answer it had.
The runner takes each answer once.
Tests: tests/hub/actors/session/test_rules_hold.py, tests/faults/test_approvals.py
"""

from __future__ import annotations

import contextlib
import math
from functools import partial

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.session.agent_control import AgentControl
from hub.actors.session.context import LiveAgent, SessionContext, owner
from hub.domain.approval import Action, PermissionRequest, asked, own
from hub.domain.routing import Target
from hub.domain.session import SessionRecord, SessionState
from hub.errors import Code, HubError
from hub.messages.agent import AgentBatch
from hub.messages.approvals import AskApproval, Decision, WithdrawApprovals
from hub.messages.claims import AwaitAccounts

_AGAIN = 0.1
"""Seconds until an adapter whose mailbox is full is given an answer again."""


@attrs.define
class PermissionBroker:
    """The session's requests; each call may be repeated."""

    context: SessionContext
    control: AgentControl

    async def put(self, record: SessionRecord, batch: AgentBatch, live: LiveAgent) -> list[PermissionRequest]:
        """Put on record what the agent asks in this batch, before its events are told; answers those requests.

        Raises:
            HubError: It cannot be kept or told; the batch comes again.
        """
        provider, account = owner(record)
        found = []
        for item in batch.events:
            number = item.event.meta.get("approvalId")
            if item.event.meta.get("withdrawn") and number is not None:
                await self._withdraw(record.session_id, batch.dispatch_id, number)
            request = asked(
                item.event,
                session_id=record.session_id,
                dispatch_id=batch.dispatch_id,
                provider=provider,
                account=account,
                folder=record.worktree,
            )
            if request is None:
                continue
            decision: Decision = await call_until_answered(self.context.approvals, AskApproval(request))
            if decision.pending:
                live.asks.add(request.id)
            found.append(request)
        if batch.outcome is not None or batch.exit is not None:
            live.asks.clear()
            await self._withdraw(record.session_id, batch.dispatch_id)
        return found

    async def see_through(self, live: LiveAgent, request: PermissionRequest) -> None:
        """Wait for the answer and give it to the agent; runs beside the inbox."""
        try:
            decision: Decision = await call_until_answered(
                self.context.approvals, AskApproval(request, patient=True), timeout=math.inf
            )
        except HubError:
            return  # it could not be kept any more: the agent's next life asks again
        while not decision.withdrawn and self._up(live):
            if self.control.answer(request.native_id, approved=decision.approved, note=decision.note):
                break
            await trio.sleep(_AGAIN)
        await self._settle(live, request)

    async def _settle(self, live: LiveAgent, request: PermissionRequest) -> None:
        if request.id not in live.asks:
            return
        live.asks.discard(request.id)
        live.heard_at = trio.current_time()  # its silence so far was ours
        self.context.shared.notify_all()
        if self._up(live) and not live.needs_input:
            with contextlib.suppress(HubError):  # what is told next writes it too
                await self.context.store.update(needs_input=False)

    def _up(self, live: LiveAgent) -> bool:
        return self.context.shared.agent is live and live.adapter_up and live.exit is None

    async def insist_start(self, record: SessionRecord) -> None:
        """The first start of an agent may need somebody's word; another try of the same one does not.

        Raises:
            HubError: `approval_denied`, `interrupted`.
        """
        if record.attempt and record.session_state is not SessionState.STARTING:
            return
        occasion = f"start-{record.attempt}" if record.attempt else "start"
        if not await self.permitted(record, Action.START, occasion, record.holder):
            raise HubError(Code.APPROVAL_DENIED, f"{record.provider} was not allowed to start.")

    async def permitted(
        self, record: SessionRecord, kind: Action, occasion: str, target: Target, said: str = ""
    ) -> bool:
        """Whether an agent may start or go on: at once where no rule is about it, else when somebody has said so.

        Raises:
            HubError: `interrupted`; the session is to stop.
        """
        request = own(
            kind,
            session_id=record.session_id,
            occasion=occasion,
            provider=target.provider,
            account=target.account,
            said=said,
        )
        decision: Decision = await call_until_answered(self.context.approvals, AskApproval(request))
        if not decision.pending:
            return decision.approved
        before = record.session_state
        # Nobody is held up meanwhile who would work with an account that this session waited for.
        await call_until_answered(self.context.claims, AwaitAccounts(record.session_id, ()))
        patient = AskApproval(request, patient=True)
        answer = partial(call_until_answered, self.context.approvals, patient, timeout=math.inf)
        self.context.shared.held = True
        try:
            await self.context.store.update(session_state=SessionState.WAITING, needs_input=True)
            decision = await self.context.shared.unless_stopped(answer)
        finally:
            self.context.shared.held = False
        live = self.context.shared.agent  # one that works may have asked something itself meanwhile
        needs = live is not None and live.needs_input
        await self.context.store.update(session_state=_working(before, kind), needs_input=needs)
        return decision.approved

    async def _withdraw(self, session_id: str, dispatch_id: str = "", native_id: str = "") -> None:
        await call_until_answered(
            self.context.approvals, WithdrawApprovals(session_id, dispatch_id, native_id)
        )


def _working(before: SessionState, kind: Action) -> SessionState:
    """What the session does once it has its answer; after a restart it was found waiting."""
    if before is not SessionState.WAITING:
        return before
    if kind is Action.BUDGET:
        return SessionState.RUNNING
    return SessionState.HANDING_OFF if kind is Action.HANDOFF else SessionState.STARTING
