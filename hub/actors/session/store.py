"""The durable memory of the session: `.hub/fsm.json`, and what is told about each change of it.

Owns: the order "record, then audit, then event, then effect", and the retelling of it after a crash.
Must not: decide what comes next, or touch an agent.

Every write of the record raises its `seq`. What is told of a move carries the key `fsm:<session>:<seq>`, of a wait
`wait:<session>:<seq>`, and both the audit log and the event log skip a key they have: so a restart simply tells the newest
of each again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.outbox import Outbox, known
from hub.actors.common.transient import TRANSIENT, UNAUDITED
from hub.domain.event import Tag
from hub.domain.failure import ErrorNote, FailureClass
from hub.domain.handoff import State, Trigger, advance
from hub.domain.meta import EventMeta
from hub.domain.retry import Wait
from hub.domain.routing import Target
from hub.domain.session import Attempt, Handoff, SessionRecord, SessionState
from hub.domain.text.safe import clip, headline
from hub.domain.usage import SessionUsage
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.events.store import NewEvent
from hub.io.project.places import Places
from hub.io.records.sessions import SessionRecordStore, session_store
from hub.messages.events import EventsOnRecord
from supervisors import Ref

PENDING = "pending"
"""What the audit log says of a handoff's score when the handoff is over; the score has a record of its own."""
_CHOSEN = (State.ENVELOPE_BUILT, State.DISPATCHED)
"""The moves to these come with a choice of the receiver: the first one, or a new one."""
_TASK = 32_000
"""Characters of the task that the event log tells."""
_ENDED = {
    SessionState.COMPLETED: "completed",
    SessionState.STOPPED: "stopped",
    SessionState.FAILED: "failed",
}
_SUFFIX = {True: ", verified", False: ", not verified", None: ""}


@attrs.define
class SessionStore:
    """The session's durable memory. One owner: the session actor."""

    places: Places
    outbox: Outbox
    """Hides secrets: the record may hold one of the user's task, what is told may not."""
    events: Ref[EventsOnRecord]
    record: SessionRecord | None = None
    usage: SessionUsage = attrs.field(factory=SessionUsage)
    """Counts what is logged."""
    newest: int = 0
    """The id of the last event that was logged here; 0 before the first one."""
    file: SessionRecordStore = attrs.field(
        default=attrs.Factory(lambda self: session_store(self.places), takes_self=True)
    )
    _told: tuple[object, ...] = ()
    _writing: trio.Lock = attrs.field(factory=trio.Lock)

    @property
    def now(self) -> SessionRecord:
        """The record; only asked for while there is one."""
        if self.record is None:
            raise HubError(Code.NO_ACTIVE_SESSION)
        return self.record

    @property
    def active(self) -> bool:
        """Whether there is a session to carry on."""
        return self.record is not None and self.record.session_state.active

    @property
    def pending(self) -> bool:
        """Whether the newest move, a wait or the end is not told yet: after a start, or when a disk was full."""
        return self.record is not None and _news(self.record) != self._told

    @property
    def over(self) -> bool:
        """Whether nothing is left to do or to tell."""
        return not (self.active or self.pending)

    def load(self) -> HubError | None:
        """Read the record back; why there is none although there is a file, as `RecordStore.load` has it."""
        self.record, damage = self.file.load()
        return damage

    async def begin(self, record: SessionRecord) -> None:
        """The first record of a session; durable when this returns. `publish` has to follow before anything is done."""
        async with self._writing:
            self._store(record, f"fsm.{record.state}")

    async def update(self, **changes: Any) -> SessionRecord:
        """Change the record within its state; durable when this returns."""
        async with self._writing:
            self._store(attrs.evolve(self.now, **self._stamp(), **changes), "")
        return self.now

    async def advance(self, trigger: Trigger, **changes: Any) -> SessionRecord:
        """Move along the table; the new state is durable before this returns.

        It is told too, unless a disk is full: then `pending` is true, and its effect has to wait for `publish`.
        """
        async with self._writing:
            before = self.now
            state = advance(before.state, trigger)
            changes["moved_by"] = trigger.value
            record = attrs.evolve(before, state=state, previous=before.state, **self._stamp(), **changes)
            self._store(record, f"fsm.{state}")
        await self._try_to_publish()
        return self.now

    async def hand_over(
        self,
        record: SessionRecord,
        handoff_id: str,
        trigger: Trigger,
        reason: str,
        failure: FailureClass | None = None,
        *,
        tried_as: str = "",
        **also: object,
    ) -> None:
        """RUNNING -> PAUSING, with other changes of the record in the same write; durable when this returns."""
        left = Attempt(record.provider, record.account, tried_as or str(failure or trigger), record.at)
        await self.advance(
            trigger,
            handoff_id=handoff_id,
            handoff=Handoff(trigger=trigger.value, reason=reason),
            failure=failure,
            tried=(*record.tried, left),
            session_state=SessionState.HANDING_OFF,
            needs_input=False,
            paused=record.paused and trigger is not Trigger.MANUAL_HANDOFF,  # who asks for it wants it now
            snapshot_sha="",
            **also,
        )

    async def begin_with(self, record: SessionRecord, target: Target, why: str) -> None:
        """Somebody else begins, and that is said: no handoff, for nothing was done."""
        await self.update(
            provider=target.provider,
            account=target.account,
            dispatch_id="",
            native_id="",
            failing=0,
            failure=None,
            repairs=0,
            refused="",
            verified=None,
            session_state=SessionState.STARTING,
        )
        await self.say(Tag.SYSTEM, f"{target} begins in place of {record.holder}: {why}")

    async def wait(self, wait: Wait, **also: object) -> None:
        """Put a wait on record, with other changes in the same write; durable when this returns. Told as a move is."""
        await self.update(wait=wait, session_state=SessionState.WAITING, **also)
        failpoints.hit("wait.recorded")
        await self._try_to_publish()

    async def _try_to_publish(self) -> None:
        try:
            await self.publish()
        except HubError as error:
            if error.code not in TRANSIENT:
                raise

    async def publish(self) -> None:
        """Tell both logs of the newest move, of a wait, and of the end if that has come. Idempotent."""
        record = self.now
        await self._publish_move(record)
        if record.wait:
            await self._publish_wait(record, record.wait)
        if record.session_state.ended:
            await self._publish_end(record)
        self._told = _news(record)
        failpoints.hit("recover.told")

    async def _publish_move(self, record: SessionRecord) -> None:
        key = f"fsm:{record.session_id}:{record.moved_seq}"
        data: EventMeta = {
            "sessionId": record.session_id,
            "handoffId": record.handoff_id,
            "from": str(record.previous or ""),
            "to": str(record.state),
            "trigger": record.handoff.trigger,
            "provider": record.provider,
            "account": record.account,
            "reason": record.handoff.reason,
            "snapshot": record.snapshot_sha,
            "contract": record.handoff.contract_id,
            "dispatch": record.dispatch_id,
            "by": record.moved_by,
        }
        if record.previous is State.RESUMING and record.state is State.RUNNING:
            data["fidelity"] = PENDING
        if record.state in _CHOSEN and record.handoff.passed:
            data["passedBy"] = [
                {"provider": one.provider, "reason": one.reason, "hint": one.hint, "account": one.account}
                for one in record.handoff.passed
            ]
        first = not record.previous
        await self._record("session_started" if first else "handoff", key, data)
        if first:
            told: EventMeta = {
                "role": record.role,
                "taskId": record.task_id,
                "task": clip(record.task, _TASK),
            }
            if record.run_id:
                told["runId"] = record.run_id
            await self.say(Tag.SYSTEM, f"session started: {headline(record.task)}", source=key, **told)
        else:
            msg = f"{record.previous} -> {record.state}" + (
                f" ({reason})" if (reason := record.handoff.reason) else ""
            )
            told = {**data, "receiver": str(record.handoff.receiver or "")}
            await self.say(Tag.HANDOFF, msg, source=key, **told)

    async def _publish_wait(self, record: SessionRecord, wait: Wait) -> None:
        """Why, how long, and until when, where that is known."""
        key = f"wait:{record.session_id}:{record.waited_seq}"
        if wait.unsure:
            await self.say(Tag.WAITING, wait.reason, source=key)
            return
        seconds = max(0, wait.until - self.outbox.clock())
        msg = f"{wait.reason.rstrip('.')}; waiting {seconds:.0f} s"
        await self.say(Tag.WAITING, msg, source=key, until=iso(wait.until))

    async def _publish_end(self, record: SessionRecord) -> None:
        key = f"ended:{record.session_id}"
        state, verified = str(record.session_state), record.verified
        await call_until_answered(
            self.events, EventsOnRecord()
        )  # the end of a session comes after all that was done in it
        await self.note("session_ended", key, state=state, verified=verified, snapshot=record.snapshot_sha)
        suffix = _SUFFIX[verified] if record.session_state is SessionState.COMPLETED else ""
        msg = f"session {_ENDED[record.session_state]}{suffix}"
        told: EventMeta = {"task": headline(record.task)}
        if verified is not None:
            told["verified"] = verified
        told |= {"ended": state, "profile": record.profile}
        if record.error:
            told["why"] = record.error.detail.partition("\n")[0]
        await self.say(Tag.SYSTEM, msg, source=key, **told)

    async def note(self, event: str, key: str, **data: object) -> None:
        """Append one record to the audit log; durable when this returns."""
        await self._record(event, key, {"sessionId": self.now.session_id, **data})

    async def _record(self, event: str, key: str, data: Mapping[str, object]) -> None:
        """A log that takes nothing more keeps no session from ending; what it lacks, it says itself."""
        try:
            await self.outbox.record(event, data, key)
        except HubError as error:
            if error.code not in UNAUDITED or not self.now.session_state.ended:
                raise

    async def say(self, tag: Tag, msg: str, *, source: str = "", **meta: Unpack[EventMeta]) -> int:
        """Log one event of hub's own; answers its id. With a `source` it may be repeated and is logged once."""
        record = self.record
        base: EventMeta = {}
        if record is not None:
            base = {"sessionId": record.session_id, "provider": record.provider}
        [number] = await self.log([self.outbox.event(tag, msg, known({**base, **meta}), source)])
        return number

    async def trouble(self, error: HubError) -> None:
        """Log an error, with a next step that names the session."""
        note = ErrorNote.of(error, self.record.session_id if self.record is not None else "SESSION")
        await self.say(Tag.ERROR, note.detail, code=str(note.code), hint=note.hint)

    async def log(self, events: Sequence[NewEvent], *, spooled: bool = False) -> list[int]:
        """Log events; published, and unless a spool has them too durable, when this returns. Answers their ids."""
        ids = await self.outbox.log(events, spooled=spooled)
        self.newest = max(self.newest, *ids, 0)
        for number, event in zip(ids, events, strict=True):
            self.usage.count(number, event.msg, event.meta)
        return ids

    def _stamp(self) -> dict[str, Any]:
        return {"seq": self.now.seq + 1, "at": iso(self.outbox.clock())}

    def _store(self, record: SessionRecord, failpoint: str) -> None:
        before = self.record
        if before is None or (before.session_id, before.state) != (record.session_id, record.state):
            record = attrs.evolve(record, moved_seq=record.seq)
        if before is not None and before.dispatch_id != record.dispatch_id:
            record = attrs.evolve(record, needs_input=False)  # a question goes with the agent that asked it
        if record.wait and (before is None or before.wait != record.wait):
            record = attrs.evolve(record, waited_seq=record.seq)
        self.file.save(record, failpoint)
        self.record = record


def _news(record: SessionRecord) -> tuple[object, ...]:
    """What there is to tell of a record: equal for two writes with no move, no new wait and no end between them."""
    return record.session_id, record.moved_seq, record.waited_seq, record.session_state.ended


def effect(state: State, point: str) -> None:
    """Mark a point within a state's effect, for fault tests (`mid`, `done`)."""
    failpoints.hit(f"act.{state}.{point}")
