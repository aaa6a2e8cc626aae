"""The approvals actor: what waits for a person's word, and who waits for it.

Owns: the requests' record, the one answer of each, and the order in which it is kept, told and given.
Must not: hold the rules (`hub.domain.rules` does), or talk to an agent (its session does).

A request is durable before anybody sees it. Its answer is durable, then on the audit log, and only then given to
whoever waits; they ask again after any death of theirs or of this actor, and get the same answer.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import trio

from hub.actors.approvals.shelf import Shelf
from hub.actors.approvals.teller import Teller
from hub.actors.insist import insist
from hub.domain import approval as record
from hub.domain.approval import Action, Approval, By, Request, State, Verdict
from hub.domain.config.model import ApprovalRule
from hub.domain.rules import Where, judge, named
from hub.errors import Code, HubError
from hub.io.looking import look
from hub.messages import (
    AskApproval,
    Decision,
    GetApprovals,
    GetConfig,
    ResolveApproval,
    WithdrawApprovals,
)
from supervisors import DEFER, Actor, Ref, Reply

_PAUSE = 2.0
"""Seconds between two tries to tell what a log did not take."""
_LOOK = 60.0
"""Seconds after which the time is looked at again: a machine may sleep, and its clock may be set."""


@attrs.define
class _Waiting:
    """Those who wait for one request."""

    asked: list[Reply] = attrs.field(factory=list)
    """For its being told, however it stands."""
    patient: list[Reply] = attrs.field(factory=list)
    """For its decision."""
    resolved: list[Reply] = attrs.field(factory=list)
    """Who decided it: for the decision's being told."""


class Approvals(Actor[Any]):
    """Each request once, each answer once; the record outlives this actor and the daemon."""

    answers = (HubError,)

    def __init__(
        self,
        shelf: Shelf,
        teller: Teller,
        settings: Ref[Any],
        clock: Callable[[], float],
        *,
        known: Sequence[ApprovalRule],
        where: Where,
    ) -> None:
        self._shelf = shelf
        self._known = known
        """The last rules that could be read."""
        self._teller = teller
        self._settings = settings
        self._clock = clock
        self._where = where
        self._waiting: dict[str, _Waiting] = {}
        self._owed: dict[str, None] = {}
        """Ids of what is to be told, in order."""
        self._news = trio.Event()

    async def continue_(self) -> None:
        """Read the record back; what it is not sure to have told it tells again."""
        damage = self._shelf.load()
        if damage is not None:
            with contextlib.suppress(HubError):
                await self._teller.trouble(damage)
        self._owed = {one.id: None for one in self._shelf.all() if not one.told}
        self.ctx.nursery.start_soon(self._tell_owed)
        self.ctx.nursery.start_soon(self._expire)

    async def handle(self, message: Any) -> Any:
        """Ask, answer, withdraw, list."""
        match message:
            case AskApproval():
                return await self._ask(message)
            case ResolveApproval():
                return self._resolve(message)
            case WithdrawApprovals():
                return self._withdraw(message)
            case GetApprovals():
                return [record.view(one) for one in self._shelf.all() if one.pending]
            case _:
                raise TypeError(f"{type(message).__name__} is not for the approvals")

    async def _ask(self, message: AskApproval) -> Any:
        number = message.request.id
        if self._shelf.find(number) is None:
            verdict = await self._verdict(message.request)
            if verdict is None:
                return Decision(pending=False, approved=True)
            self._keep(record.raised(message.request, verdict, self._clock()), new=True)
        if self.ctx.current_reply is not None:
            waiting = self._waiting.setdefault(number, _Waiting())
            (waiting.patient if message.patient else waiting.asked).append(self.ctx.current_reply)
            self._answer(number)
        return DEFER

    async def _verdict(self, request: Request) -> Verdict | None:
        """What the rules in force say; while `hub.toml` cannot be read a person decides what an agent may do.

        For hub's own acts the last rules that could be read go on: a mistake in the file holds up no handoff that
        no rule was ever about.
        """
        try:
            self._known = (await insist(self._settings, GetConfig())).approvals
        except HubError as error:
            if request.kind is Action.TOOL:
                return Verdict("ask", reason=f"the rules cannot be read: {error.detail}")
        known = self._known
        names = named(known, request, self._where)
        if not names.paths and not names.searched:
            return judge(known, request, self._where)
        return await trio.to_thread.run_sync(lambda: judge(known, request, self._where, look(names)))

    def _resolve(self, message: ResolveApproval) -> Any:
        found = self._shelf.find(message.id)
        if found is None:
            detail = f"There is no request {message.id}."
            raise HubError(Code.NOT_FOUND, detail, hint="See what waits: hub approvals")
        state = State.APPROVED if message.approved else State.DENIED
        self._keep(record.decided(found, state, By.USER, message.note, self._clock()))
        if self.ctx.current_reply is not None:
            self._waiting.setdefault(message.id, _Waiting()).resolved.append(self.ctx.current_reply)
        return DEFER

    def _withdraw(self, message: WithdrawApprovals) -> None:
        now = self._clock()
        for one in self._shelf.all():
            request = one.request
            mine = one.pending and request.session_id == message.session_id
            mine = mine and message.dispatch_id in ("", request.dispatch_id)
            if mine and message.native_id in ("", request.native_id):
                self._keep(record.decided(one, State.WITHDRAWN, By.HUB, "", now))

    def _keep(self, approval: Approval, *, new: bool = False) -> None:
        """Durable when this returns; told soon after."""
        if new:
            self._shelf.add(approval)
        else:
            self._shelf.change(approval)
        self._owed[approval.id] = None
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = trio.Event()

    # --- those who wait -------------------------------------------------------------------------------

    def _answer(self, number: str) -> None:
        """Answer whoever waits for what has been told by now."""
        found, waiting = self._shelf.find(number), self._waiting.get(number)
        if found is None or waiting is None or number in self._owed:
            return
        decision = _decision(found)
        done, waiting.asked = waiting.asked, []
        if not found.pending:
            done += waiting.patient
            for reply in waiting.resolved:
                reply.answer({"id": number, "approved": found.state is State.APPROVED})
            del self._waiting[number]
        for reply in done:
            reply.answer(decision)

    def _fail(self, number: str, error: HubError) -> None:
        """A log takes nothing: whoever asked may ask again, and what was decided stays decided."""
        waiting = self._waiting.get(number)
        if waiting is None:
            return
        detail = f"The answer is kept, and given once it can be told: {error.detail}"
        kept = HubError(error.code, detail, hint=error.hint)
        for reply in waiting.asked:
            reply.fail(error)
        for reply in waiting.resolved:
            reply.fail(kept)
        waiting.asked, waiting.resolved = [], []

    async def _tell_owed(self) -> None:
        """Tell, in order, for ever; then answer those who wait."""
        while True:
            news = self._news
            if not self._owed:
                await news.wait()
                continue
            number = next(iter(self._owed))
            found = self._shelf.find(number)
            try:
                if found is not None:
                    await self._teller.tell(found)
            except HubError as error:
                self._fail(number, error)
                with trio.move_on_after(_PAUSE):
                    await news.wait()
                continue
            if self._shelf.find(number) is not found:
                continue  # it was decided while its raising was told
            del self._owed[number]
            if found is not None and not found.pending:
                self._shelf.told(found)
            self._answer(number)

    # --- time -----------------------------------------------------------------------------------------

    async def _expire(self) -> None:
        """Nobody's answer in time is a no. The instant is on record: a restart changes nothing about it."""
        while True:
            news, now = self._news, self._clock()
            try:
                for one in record.overdue(self._shelf.all(), now):
                    note = f"Nobody answered in {(one.expires_ms - one.created_ms) / 1000:g} s."
                    self._keep(record.decided(one, State.DENIED, By.TIMEOUT, note, now))
                deadline = record.next_deadline(self._shelf.all())
                pause = math.inf if deadline is None else min(max(0.0, deadline - now), _LOOK)
            except HubError:
                pause = _PAUSE  # the disk is full: it waits a little longer
            with trio.move_on_after(pause):
                await news.wait()


def _decision(approval: Approval) -> Decision:
    return Decision(
        pending=approval.pending,
        approved=approval.state is State.APPROVED,
        withdrawn=approval.state is State.WITHDRAWN,
        note=approval.note,
    )
