"""The handoff: what is done in each state of the table but RUNNING.

Owns: the effects PAUSING, SNAPSHOTTED, ENVELOPE_BUILT, DISPATCHED and RESUMING, each of which may be run again
after a crash and then ends in the same place.
Must not: start a handoff, or decide what a failure means.
"""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.transient import UNAUDITED, passes
from hub.actors.session.agent_control import AgentControl
from hub.actors.session.chronicle import Chronicler, Scores, amend
from hub.actors.session.commands import gate, publish_left
from hub.actors.session.context import LiveAgent, SessionContext, owner, unknown_agent
from hub.actors.session.contract import (
    contract_id,
    draft_contract,
    refuse_known_secrets,
    signed_contract,
    warn_of_secrets,
)
from hub.actors.session.permission_broker import PermissionBroker
from hub.actors.session.routing import Routing
from hub.actors.session.store import effect
from hub.domain.approval import Action
from hub.domain.brief import render_envelope
from hub.domain.contract import Contract, encode, sign
from hub.domain.event import Tag
from hub.domain.failure import ErrorNote, Failure, FailureClass
from hub.domain.handoff import State, Trigger
from hub.domain.prompt import Orders, receiver_prompt
from hub.domain.result.gate import GateResult
from hub.domain.routing import Target
from hub.domain.session import Attempt, LeftOut, SessionRecord, SessionState, Unscored
from hub.domain.turn import left_out, may_return, turn_after
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.io.files.atomic import write_atomic
from hub.io.git.aside import LEFT
from hub.io.git.check import WorktreeCheck
from hub.io.git.env import together
from hub.io.git.own_folder import NEVER
from hub.io.git.refs import ANCHOR
from hub.io.git.snapshot import Snapshot, snapshot
from hub.messages.audit import GetAuditHead
from hub.messages.breakers import BreakerFailure


@attrs.frozen
class HandoffSteps:
    """The way of one handoff."""

    context: SessionContext
    control: AgentControl
    routing: Routing
    broker: PermissionBroker
    check: WorktreeCheck
    chronicler: Chronicler
    scores: Scores

    async def step(self, record: SessionRecord) -> None:
        """Do what the record's state asks and move to the next one."""
        match record.state:
            case State.PAUSING:
                await self._pausing(record)
            case State.SNAPSHOTTED:
                await self._snapshotted(record)
            case State.ENVELOPE_BUILT:
                await self._envelope_built(record)
            case State.DISPATCHED | State.RESUMING if owner(record)[0] not in self.context.providers:
                await self._receiver_gone(record)
            case State.DISPATCHED:
                await self._dispatched(record)
            case State.RESUMING:
                await self._resuming(record)
            case State.RUNNING:
                raise HubError(Code.INTERNAL, "RUNNING is not a step of a handoff.")

    async def _pausing(self, record: SessionRecord) -> None:
        point = await self.control.safe_point(self.context.config.session.pause_grace)
        effect(State.PAUSING, "mid")
        await self.control.stop("handoff")
        await self.control.release()
        await amend(self.context, self.control, record)
        snapshot = await self.snapshot(record, record.handoff_id, give_way=True)
        handoff = attrs.evolve(record.handoff, snapshot_tree=snapshot.tree, safe_point=point)
        if not record.verify:  # no agent runs: nothing moves in the worktree until the dispatch
            self.check.look_early(attrs.evolve(record, handoff=handoff))
        effect(State.PAUSING, "done")
        await self.context.store.advance(Trigger.SAFE_POINT, snapshot_sha=snapshot.sha, handoff=handoff)

    async def snapshot(
        self,
        record: SessionRecord,
        name: str,
        ending_with: ErrorNote | None = None,
        *,
        give_way: bool = False,
    ) -> Snapshot:
        """One commit on the session's branch with every byte the agent wrote.

        A session that ends because its audit log is broken gets its last snapshot without it. The last one is waited for;
        one that is to `give_way` to a stop is cut off, wherever it is: the next begins with what it finds.
        """
        audited = ending_with is None or ending_with.code not in UNAUDITED
        trailers = {}
        if audited:
            head = await call_until_answered(self.context.audit, GetAuditHead())
            trailers[ANCHOR] = f"{head.seq}:{head.hash}"
        worktree = Path(record.worktree)
        root = self.context.places.root
        take = partial(snapshot, worktree, record.session_id, name, trailers, root=root)
        taken = await (self.context.shared.unless_stopped(take) if give_way else take())
        for note in (
            *taken.notes,
            *(f"not in the snapshot: {s.path} ({s.reason})" for s in taken.skipped if s.reason != LEFT),
        ):
            await self.context.store.say(Tag.SYSTEM, note)
        await publish_left(self.context, [s.path for s in taken.skipped if s.reason == LEFT])
        # One that was staged is untracked, and mostly ignored, from this snapshot on: it is not found a second time.
        known = self.context.store.now.withheld
        withheld = dict.fromkeys((*known, *(s.path for s in taken.skipped if s.reason == NEVER)))
        if len(withheld) > len(known):
            await self.context.store.update(withheld=tuple(withheld))
        if audited:
            await self.context.store.note(
                "snapshot",
                f"snapshot:{record.session_id}:{name}:{taken.sha}",
                sha=taken.sha,
                tree=taken.tree,
            )
        return taken

    async def _snapshotted(self, record: SessionRecord) -> None:
        result = None
        if record.verify:
            result = await gate(self.context, record, f"gate:{record.handoff_id}")
            self.check.look_early(record)
        found = await self._somebody(record)
        if found is None:
            return
        target, passed = found
        handoff = attrs.evolve(record.handoff, receiver=target, passed=passed)
        digest, *_ = await together(
            partial(self._write_contract, record, target, result),
            partial(warn_of_secrets, self.context, record, target),
            self.control.make_ready,
        )
        effect(State.SNAPSHOTTED, "done")
        await self.context.store.advance(
            Trigger.SNAPSHOT_DONE,
            handoff=attrs.evolve(handoff, contract_id=contract_id(record), contract_sha256=digest),
        )

    async def _write_contract(self, record: SessionRecord, target: Target, result: GateResult | None) -> str:
        """Build, sign and write the contract; it is on the audit log when its SHA-256 is returned."""
        await self.scores.settle()  # the contract that is there is what the last handoff's score is made of
        made, source = await draft_contract(self.context, self.chronicler, record, target, result)
        contract = sign(made, self.context.keys.contract)
        effect(State.SNAPSHOTTED, "mid")
        data, text = encode(contract), self._brief(contract)
        refuse_known_secrets(self.context, data.decode(), text)
        write_atomic(self.context.places.envelope_md, text.encode())
        write_atomic(self.context.places.envelope_json, data)
        digest = hashlib.sha256(data).hexdigest()
        await self.context.store.note(
            "contract",
            f"contract:{contract.contract_id}",
            contractId=contract.contract_id,
            sha256=digest,
            intent=str(source),
        )
        return digest

    async def _envelope_built(self, record: SessionRecord) -> None:
        signed_contract(self.context, record)
        effect(State.ENVELOPE_BUILT, "mid")
        target, passed = record.handoff.receiver, record.handoff.passed
        if target is None or await self.routing.is_shut(target):
            found = await self._somebody(record)
            if found is None:
                return
            target, passed = found
        if not await self.broker.permitted(record, Action.HANDOFF, record.handoff_id, target):
            await self._not_permitted(record, target)
            return
        effect(State.ENVELOPE_BUILT, "done")
        await self.context.store.advance(
            Trigger.CONTRACT_WRITTEN,
            handoff=attrs.evolve(record.handoff, receiver=target, passed=passed),
            dispatch_id=self.control.next_id(),
            attempt=record.attempt + 1,
        )

    async def _somebody(self, record: SessionRecord) -> tuple[Target, tuple[LeftOut, ...]] | None:
        """Who gets the work, and who was passed by; None where nobody can now: the handoff is over, the work stays.

        Raises:
            HubError: `no_fallback`; waiting helps nobody.
        """
        choice = await self.routing.choose(record, record.failure)
        if choice.first is not None:
            return choice.first, left_out(choice, but=record.holder)
        if may_return(record):
            choice = await self.routing.choose(record, record.failure, stay=True)
        wait = turn_after(record, choice)
        await self.routing.give_back(record)
        await self.context.store.advance(
            Trigger.ABANDONED,
            dispatch_id="",
            handoff=attrs.evolve(record.handoff, receiver=None, passed=()),
            wait=wait,
            session_state=SessionState.WAITING if wait else SessionState.RUNNING,
        )
        if wait is None:
            await self.context.store.say(Tag.SYSTEM, f"Nobody else can take over; {record.provider} goes on.")
        return None

    def _brief(self, contract: Contract) -> str:
        places = self.context.places
        return render_envelope(contract, file=places.below(places.envelope_json))

    async def _not_permitted(self, record: SessionRecord, target: Target) -> None:
        """Somebody said no to this receiver: the next one is asked about."""
        left = Attempt(target.provider, target.account, "denied", record.at)
        await self.context.store.update(
            tried=(*record.tried, left), handoff=attrs.evolve(record.handoff, receiver=None, passed=())
        )

    async def _dispatched(self, record: SessionRecord) -> None:
        contract = signed_contract(self.context, record)
        provider, account = owner(record)
        receiver = attrs.evolve(record, provider=provider, account=account, native_id="")
        # Rendered again from what was verified: the Markdown file on disk is for people and could have been changed.
        orders = Orders(receiver_prompt(contract), self._brief(contract))

        async def claim() -> bool:
            await self.context.store.note(
                "dispatch",
                f"dispatch:{record.dispatch_id}",
                dispatchId=record.dispatch_id,
                provider=receiver.provider,
                account=receiver.account,
                contractId=contract.contract_id,
            )
            return await self.routing.claim(record, runs=self.control.has_run(record))

        same_tree, claimed = await together(partial(self._same_tree, record), claim)
        effect(State.DISPATCHED, "mid")
        if not claimed:
            await self._next_receiver(record)  # somebody else has the one attempt
            return
        try:
            await self.control.dispatch(receiver, orders)
        except HubError as error:
            if error.code is not Code.DISPATCH_FAILED or passes(error):
                raise
            await self._dispatch_failed(record, error)
            return
        effect(State.DISPATCHED, "done")
        await self.context.store.advance(
            Trigger.ADAPTER_STARTED,
            handoff=attrs.evolve(record.handoff, tree_matches=same_tree),
            insisted=False,
        )

    async def _same_tree(self, record: SessionRecord) -> bool:
        return await self.context.shared.unless_stopped(partial(self.check.same_tree, record))

    async def _dispatch_failed(self, record: SessionRecord, error: HubError) -> None:
        left = Attempt(*owner(record), "dispatch_failed", record.at)
        await self.context.store.say(Tag.ERROR, f"{left.provider} could not be started: {error.detail}")
        failure = Failure(FailureClass.CRASH, error.detail)
        await call_until_answered(
            self.context.breakers, BreakerFailure(*owner(record), failure, record.dispatch_id)
        )
        await self._next_receiver(record, left)

    async def _receiver_gone(self, record: SessionRecord) -> None:
        """The receiver left the configuration while hub was away: whatever runs of it is ended."""
        error = unknown_agent(owner(record)[0])
        await self.control.kill(record)
        await self.context.store.trouble(error)
        await self.abandon_dispatch(record)

    async def _resuming(self, record: SessionRecord) -> None:
        live = await self.control.reattach(record)
        effect(State.RESUMING, "mid")
        await self._first_sign(live)
        if not live.answered:
            if not live.adapter_up or self.context.shared.stopping:
                return
            self.control.insist_known(record)
            await self._no_heartbeat(record, live)
            return
        effect(State.RESUMING, "done")
        provider, account = owner(record)
        await self.context.store.advance(
            Trigger.RECEIVER_HEARTBEAT,
            provider=provider,
            account=account,
            native_id=live.native_session,
            role=record.role if record.run_id else "receiver",
            failing=0,
            failure=None,
            repairs=0,
            refused="",
            verified=None,
            handoffs_done=record.handoffs_done + 1,
            unscored=Unscored(
                record.handoff_id,
                record.snapshot_sha,
                record.handoff.snapshot_tree,
                record.handoff.contract_sha256,
                record.handoff.tree_matches,
            ),
            session_state=SessionState.RUNNING,
        )

    async def _first_sign(self, live: LiveAgent) -> None:
        """Wait for the receiver's heartbeat: its model has answered.

        What its program says of itself gives it time, and so does a pause by the user.
        """
        patience = self.context.config.session.resume_timeout
        while (left := patience if live.paused else live.heard_at + patience - trio.current_time()) > 0:
            if await self.context.shared.wait_for(
                lambda: (
                    live.answered
                    or live.outcome
                    or live.exit
                    or not live.adapter_up
                    or self.context.shared.stopping
                ),
                left,
            ):
                return

    async def _no_heartbeat(self, record: SessionRecord, live: LiveAgent) -> None:
        """The receiver ended, or said nothing, before its first sign of life: it is stopped and the next one tried."""
        await self.control.stop("no heartbeat", hard=True)
        outcome = live.outcome
        failure = outcome.failure if outcome is not None else None
        if failure is None:
            failure = Failure(FailureClass.SILENT, "The next agent gave no sign of life.")
        await self.control.release()
        told = BreakerFailure(*owner(record), failure, record.dispatch_id)
        await call_until_answered(self.context.breakers, told)
        left = Attempt(*owner(record), failure.kind, iso(self.context.clock()))
        await self.context.store.say(
            Tag.ERROR, f"{left.provider} did not take over: {failure.text}", failure=str(failure.kind)
        )
        await self._next_receiver(record, left)

    async def _next_receiver(self, record: SessionRecord, *left: Attempt) -> None:
        """Back to where a receiver is chosen; the contract stays, whoever gets it."""
        await self.context.store.advance(
            Trigger.DISPATCH_FAILED,
            tried=(*record.tried, *left),
            insisted=False,
            dispatch_id="",
            handoff=attrs.evolve(record.handoff, receiver=None, passed=()),
            error=None,
        )

    async def abandon_dispatch(self, record: SessionRecord) -> None:
        """A dispatch that is not to be counted on: the user has decided so, or nobody can deal with its agent."""
        left = Attempt(*owner(record), "dispatch_failed", record.at)
        await self.routing.ended(record)
        await self._next_receiver(record, left)
