"""The approvals actor: what waits for a person's word, and who waits for it.

Owns: the requests' record, the one answer of each, the order in which it is kept, told and given, and what is said of each
stage: its key is made of the request and the stage, so a restart publishes again whatever it is not sure of.
Must not: hold the rules (`hub.domain.permission.rules` does), or talk to an agent (its session does).

A request is durable before anybody sees it. Its answer is durable, then on the audit log, and only then given to
whoever waits; they ask again after any death of theirs or of this actor, and get the same answer.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import assert_never

import attrs
import trio

from hub.actors.approvals.store import ApprovalStore, shown
from hub.actors.common.calls import call_until_answered
from hub.actors.common.condition import Condition
from hub.actors.common.outbox import Outbox, known
from hub.api.approvals import Resolved
from hub.domain import approval as record
from hub.domain.approval import Action, ApprovalRecord, ApprovalState, By, PermissionRequest, RuleVerdict
from hub.domain.config.model import ApprovalRule
from hub.domain.event import Tag
from hub.domain.meta import EventMeta
from hub.domain.permission.places import Where
from hub.domain.permission.rules import Named, SeenPath, judge, judge_script, named, of_script
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.files.named import look
from hub.io.files.scripts import lines_run
from hub.io.git.showing import files_shown
from hub.messages.approvals import (
    ApprovalsInbox,
    AskApproval,
    Decision,
    GetApprovals,
    ResolveApproval,
    WithdrawApprovals,
)
from hub.messages.settings import GetConfig
from supervisors import Actor, Answer, Ref


async def publish(outbox: Outbox, approval: ApprovalRecord) -> None:
    """Everything about the request up to how it stands; durable when this returns.

    Raises:
        HubError: A log did not take it.
    """
    if approval.by != By.POLICY:
        await _requested(outbox, approval)
    if not approval.pending:
        await _resolved(outbox, approval)
        failpoints.hit("approval.told")


async def _requested(outbox: Outbox, approval: ApprovalRecord) -> None:
    about, key = _about(approval), f"approval:{approval.id}:requested"
    more = known({"severity": approval.severity, "reason": approval.reason})
    await outbox.record("approval_requested", {**about, **more}, key)
    words = f"approval needed: {approval.request.action}"
    await outbox.publish(Tag.WAITING, words, {**about, **more, "needsApproval": True}, key)


async def _resolved(outbox: Outbox, approval: ApprovalRecord) -> None:
    about, key = _about(approval), f"approval:{approval.id}:resolved"
    more = known({"state": str(approval.state), "by": approval.by, "note": approval.note})
    await outbox.record("approval_resolved", {**about, **more}, key)
    failpoints.hit("approval.audited")
    approved = approval.state is ApprovalState.APPROVED
    if approval.by == By.POLICY and approved:
        return  # what the rules allow is on the audit log; the agent's own events tell the rest
    note = f" ({approval.note})" if approval.note else ""
    words = f"{approval.state}: {approval.request.action}{note}"
    await outbox.publish(Tag.WAITING, words, {**about, **more, "approved": approved}, key)


def _about(approval: ApprovalRecord) -> EventMeta:
    request = approval.request
    call = request.context.get("toolId")
    return known(
        {
            "approvalId": approval.id,
            "sessionId": request.session_id,
            "provider": request.provider,
            "action": request.action,
            "callId": f"{request.dispatch_id}:{call}" if call else "",
        }
    )


_PAUSE = 2.0
"""Seconds between two tries to tell what a log did not take."""
_LOOK = 60.0
"""Seconds after which the time is looked at again: a machine may sleep, and its clock may be set."""


@attrs.define
class _Publishing:
    """How a request stands, on its way to both logs: one try."""

    over: trio.Event = attrs.field(factory=trio.Event)
    failed: HubError | None = None


class Approvals(Actor[ApprovalsInbox]):
    """Each request once, each answer once; the record outlives this actor and the daemon."""

    answers = (HubError,)

    def __init__(
        self,
        store: ApprovalStore,
        outbox: Outbox,
        settings: Ref[GetConfig],
        *,
        known: Sequence[ApprovalRule],
        where: Where,
    ) -> None:
        self._store = store
        self._known = known
        """The last rules that could be read."""
        self._outbox = outbox
        self._settings = settings
        self._clock = outbox.clock
        self._where = where
        self._pending: dict[str, _Publishing] = {}
        """By id, in order: what is to be published."""
        self._changed = Condition()

    async def continue_(self) -> None:
        """Read the record back; what it is not sure to have published it publishes again."""
        damage = self._store.load()
        if damage is not None:
            with contextlib.suppress(HubError):
                await self._outbox.trouble(damage)
        self._pending = {one.id: _Publishing() for one in self._store.all() if not one.told}
        self.ctx.nursery.start_soon(self._publish)
        self.ctx.nursery.start_soon(self._expire)

    async def handle(self, message: ApprovalsInbox) -> Answer:
        """Ask, answer, withdraw, list."""
        match message:
            case AskApproval():
                return await self._ask(message)
            case ResolveApproval():
                return self._resolve(message)
            case WithdrawApprovals():
                self._withdraw(message)
                return message.answer(None)
            case GetApprovals():
                return message.answer([shown(one) for one in self._store.all() if one.pending])
            case _:
                assert_never(message)

    async def _ask(self, message: AskApproval) -> Answer:
        number = message.request.id
        if self._store.find(number) is None:
            verdict = await self._verdict(message.request)
            if verdict is None:
                return message.answer(Decision(pending=False, approved=True))
            if verdict.decision == "ask" and record.allowed_before(self._store.all(), message.request):
                verdict = RuleVerdict("allow", reason="the user allowed it for the rest of this session")
            self._keep(record.raised(message.request, verdict, self._clock()))
        return self.answer_later(message, self._decision(number, patient=message.patient))

    async def _verdict(self, request: PermissionRequest) -> RuleVerdict | None:
        """What the rules in force say; while `hub.toml` cannot be read a person decides what an agent may do.

        For hub's own acts the last rules that could be read go on: a mistake in the file holds up no handoff that
        no rule was ever about.
        """
        try:
            self._known = (await call_until_answered(self._settings, GetConfig())).approvals
        except HubError as error:
            if request.kind is Action.TOOL:
                return RuleVerdict("ask", reason=f"the rules cannot be read: {error.detail}")
        known = self._known
        seen = await self._seen(known, request)
        verdict = await trio.to_thread.run_sync(judge, known, request, self._where, seen)
        if verdict is None or verdict.decision != "allow" or not known:
            return verdict
        return await self._of_scripts(known, request) or verdict

    async def _of_scripts(
        self, known: Sequence[ApprovalRule], request: PermissionRequest
    ) -> RuleVerdict | None:
        """What the rules say to the scripts that a command runs by their names; None = nothing."""
        lines = await trio.to_thread.run_sync(lines_run, request, self._where)
        for line in lines:
            seen = await self._seen(known, of_script(request, line))
            found = await trio.to_thread.run_sync(judge_script, known, request, line, self._where, seen)
            if found is not None:
                return found
        return None

    async def _seen(self, known: Sequence[ApprovalRule], request: PermissionRequest) -> SeenPath | None:
        """What is there of what the request and the rules name; None where they name nothing."""
        names = named(known, request, self._where)
        if names == Named():
            return None
        of_git = {one: await files_shown(*one) for one in names.shown}
        return attrs.evolve(await trio.to_thread.run_sync(look, names), shown=of_git)

    def _resolve(self, message: ResolveApproval) -> Answer:
        found = self._store.find(message.id)
        if found is None:
            detail = f"There is no request {message.id}."
            raise HubError(Code.NOT_FOUND, detail, hint="See what waits: hub approvals")
        state = ApprovalState.APPROVED if message.approved else ApprovalState.DENIED
        if message.approved and message.always:
            found = record.lasting(found)
        self._keep(record.decided(found, state, By.USER, message.note))
        return self.answer_later(message, self._resolved(found.id))

    def _withdraw(self, message: WithdrawApprovals) -> None:
        for one in self._store.all():
            request = one.request
            mine = one.pending and request.session_id == message.session_id
            mine = mine and message.dispatch_id in ("", request.dispatch_id)
            if mine and message.native_id in ("", request.native_id):
                self._keep(record.decided(one, ApprovalState.WITHDRAWN, By.HUB, ""))

    def _keep(self, approval: ApprovalRecord) -> None:
        """Durable when this returns; published soon after."""
        self._store.keep(approval)
        self._pending.setdefault(approval.id, _Publishing())
        self._changed.notify_all()

    # --- those who wait -------------------------------------------------------------------------------

    async def _decision(self, number: str, *, patient: bool) -> Decision:
        found = await self._published(number, patient=patient)
        return Decision(
            pending=found.pending,
            approved=found.state is ApprovalState.APPROVED,
            withdrawn=found.state is ApprovalState.WITHDRAWN,
            note=found.note,
        )

    async def _resolved(self, number: str) -> Resolved:
        try:
            found = await self._published(number)
        except HubError as error:
            detail = f"The answer is kept, and given once it can be told: {error.detail}"
            raise HubError(error.code, detail, hint=error.hint) from error
        return Resolved(id=number, approved=found.state is ApprovalState.APPROVED)

    async def _published(self, number: str, *, patient: bool = False) -> ApprovalRecord:
        """The request, once how it stands is on both logs; whoever is patient waits until it is decided, too.

        Raises:
            HubError: A log takes nothing: whoever asked may ask again, and what was decided stays decided. The patient
                never hear of it.
        """
        while True:
            found, publishing = self._store.find(number), self._pending.get(number)
            if publishing is not None:
                await publishing.over.wait()
                if publishing.failed is not None and not patient:
                    raise publishing.failed
            elif found is not None and not (patient and found.pending):
                return found
            else:
                await self._changed.wait()

    async def _publish(self) -> None:
        """Publish what is pending, in order, for ever."""
        while True:
            await self._changed.wait_for(lambda: self._pending)
            number, publishing = next(iter(self._pending.items()))
            found = self._store.find(number)
            try:
                if found is not None:
                    await publish(self._outbox, found)
            except HubError as error:
                publishing.failed = error
                self._pending[number] = _Publishing()
                publishing.over.set()
                with trio.move_on_after(_PAUSE):
                    await self._changed.wait()
                continue
            if self._store.find(number) is not found:
                continue  # it was decided while its raising was published
            del self._pending[number]
            if found is not None and not found.pending:
                self._store.told(found)
            publishing.over.set()

    # --- time -----------------------------------------------------------------------------------------

    async def _expire(self) -> None:
        """Nobody's answer in time is a no. The instant is on record: a restart changes nothing about it."""
        while True:
            now = self._clock()
            try:
                for one in record.overdue(self._store.all(), now):
                    note = f"Nobody answered in {(one.expires_ms - one.created_ms) / 1000:g} s."
                    self._keep(record.decided(one, ApprovalState.DENIED, By.TIMEOUT, note))
                deadline = record.next_deadline(self._store.all())
                pause = math.inf if deadline is None else min(max(0.0, deadline - now), _LOOK)
            except HubError:
                pause = _PAUSE  # the disk is full: it waits a little longer
            with trio.move_on_after(pause):
                await self._changed.wait()
