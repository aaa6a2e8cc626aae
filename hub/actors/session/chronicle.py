"""What the session's log proves: its chronicle, what a stopped agent's own store adds to it, and the score of each handoff.

Owns: how far the log was read, and when; the amendments' way into the log; what a score is computed from, and telling it.
Must not: hold up an event's way into the log, a handoff or its end; remember anything that the log and the record do not
tell; know any one agent, take its word, or weigh the parts of a score (`hub.domain.fidelity.score` does).

An amendment enters the log under the event that it amends, once: what is done again after a crash adds nothing. That a score
is owed is on record from the moment the receiver works; so is all it is made of but the contract, which lies in its file
until the next one is written: a score that is still owed then is computed first.

Tests: tests/hub/actors/session/test_amending.py, tests/hub/actors/session/test_scores.py
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Mapping, Sequence
from functools import partial

import attrs
import msgspec
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.transient import passes
from hub.actors.session.agent_control import AgentControl
from hub.actors.session.context import SessionContext, agent_meta, owner
from hub.domain.contract import MAX_BYTES, Contract, ContractInvalid, verify
from hub.domain.detection.intel import CallEnd, Limits, Unreadable
from hub.domain.event import Event, Record, Tag
from hub.domain.fidelity.chronicle import Chronicle, Subject
from hub.domain.fidelity.fact import Facts
from hub.domain.fidelity.score import Fidelity, done_claims, verified, weigh
from hub.domain.intent.amendment import amendments, summed
from hub.domain.meta import EventMeta
from hub.domain.session import SessionRecord, Unscored
from hub.errors import Code, HubError
from hub.io.events.store import NewEvent
from hub.io.files.atomic import read_bounded
from hub.io.git.manifest import manifest
from hub.io.git.proving import proofs
from hub.io.shortage import shortage
from hub.messages.audit import AuditIntact
from hub.messages.events import EventsHead, EventsOfDispatch, EventsSince

_PAGE = 200
"""Records that are read at once: a millisecond's work of the event loop's, and some of a thread's."""
_LINGER = 0.05
"""Seconds from one look to the next: what comes meanwhile is what a handoff still has to read. The thread that reads half a
second of three fast agents at once takes the interpreter from the event loop for as long as fifty events take."""
_AGAIN = 2.0
_LOG = logging.getLogger(__name__)


@attrs.define
class Chronicler:
    """Reads on, one page at a time."""

    context: SessionContext
    _chronicle: Chronicle | None = None
    _reading: trio.Lock = attrs.field(factory=trio.Lock)

    async def run(self) -> None:
        """Keep up with the session's log, for ever; between sessions nothing is kept."""
        shared, store = self.context.shared, self.context.store
        while True:
            await shared.wait_for(lambda: self._is_behind() or (self._chronicle and not store.active))
            if not store.active:
                self._chronicle = None
                continue
            try:
                await self.whole(store.now)
            except HubError:
                await trio.sleep(_AGAIN)  # whoever needs it meets the same, and says so
            except Exception as error:  # noqa: BLE001 - a handoff meets it too, and ends the session, not the daemon
                if shortage(error) is not None:
                    await trio.sleep(_AGAIN)
                    continue
                _LOG.exception("the session's log cannot be read into its chronicle")
                return
            await trio.sleep(_LINGER)

    async def whole(self, record: SessionRecord) -> Chronicle:
        """The chronicle with every event that is in the log by now.

        Raises:
            HubError: The log cannot be read.
        """
        async with self._reading:
            chronicle = self._of(record)
            upto = await call_until_answered(self.context.events, EventsHead())
            while chronicle.last_id < upto:
                page = await call_until_answered(
                    self.context.events, EventsSince(chronicle.last_id, _PAGE, record.session_id)
                )
                if not page:
                    break
                await trio.to_thread.run_sync(chronicle.feed_all, page)
            return chronicle

    def _of(self, record: SessionRecord) -> Chronicle:
        subject = Subject(
            session_id=record.session_id,
            goal=self.context.task(record),
            acceptance=self.context.assertions(record),
            skills=tuple(map(self.context.secrets.text, record.skills)),
            root=record.worktree,
        )
        if self._chronicle is None or self._chronicle.subject != subject:
            self._chronicle = Chronicle(subject)
        return self._chronicle

    def _is_behind(self) -> bool:
        if not self.context.store.active:
            return False
        chronicle = self._chronicle
        return chronicle is None or chronicle.last_id < self.context.store.newest


@attrs.define
class Scores:
    """Computes what is owed, one at a time; each call may be repeated after a crash."""

    context: SessionContext
    chronicler: Chronicler
    _computing: trio.Lock = attrs.field(factory=trio.Lock)

    async def run(self) -> None:
        """Whenever a score is owed, for ever."""
        store = self.context.store
        while True:
            await self.context.shared.wait_for(lambda: store.active and store.now.unscored)
            try:
                await self.settle()
            except HubError:
                await trio.sleep(_AGAIN)  # a full disk: it is owed until it can be told
            self.context.shared.notify_all()

    async def settle(self) -> None:
        """Compute and tell what is owed; nothing is, when this returns.

        Raises:
            HubError: It cannot be told; it is still owed.
        """
        async with self._computing:
            record = self.context.store.now
            owed = record.unscored
            if owed is None:
                return
            history = record.hfs_history
            try:
                found = await self._judged(record, owed)
                await self._tell(owed, found)
                history = (*history, found.hfs if found else 0)
            except HubError as error:
                if passes(error):
                    raise
                await self._unknown(owed, error)
            except Exception as error:
                if (short := shortage(error)) is not None:
                    raise short from error
                _LOG.exception("a handoff cannot be scored")  # no session ends for the want of a number
                await self._unknown(owed, HubError(Code.INTERNAL))
            await self.context.store.update(unscored=None, hfs_history=history)

    async def _judged(self, record: SessionRecord, owed: Unscored) -> Fidelity | None:
        """The contract as it was given, held against the log; None of one that is not what was signed."""
        try:
            data = read_bounded(self.context.places.envelope_json, MAX_BYTES)
            contract = verify(
                data,
                self.context.keys.contract,
                session_id=record.session_id,
                handoff_id=owed.handoff,
                snapshot=owed.snapshot,
            )
        except (ContractInvalid, OSError):
            return None
        facts = (await self.chronicler.whole(record)).facts(owed.handoff)
        return await self._weighed(record, owed, contract, data, facts)

    async def _weighed(
        self, record: SessionRecord, owed: Unscored, contract: Contract, data: bytes, facts: Facts
    ) -> Fidelity:
        root, text = self.context.places.root, data.decode()
        files, _ = await manifest(root, record.base, owed.snapshot)
        audited = hashlib.sha256(data).hexdigest() == owed.sha256
        judge = partial(
            weigh,
            facts,
            contract,
            audited=audited and await call_until_answered(self.context.audit, AuditIntact()),
            secret_free=self.context.secrets.events().text(text) == text,
            tree_matches=owed.still,
            root=record.worktree,
            snapshot_paths={entry.path for entry in files},
            proofs=await proofs(
                root,
                owed.snapshot,
                owed.tree,
                done_claims(facts),
                files,
                verified=verified(facts, self.context.assertions(record)),
            ),
        )
        return await trio.to_thread.run_sync(judge)

    async def _tell(self, owed: Unscored, found: Fidelity | None) -> None:
        key = f"hfs:{owed.handoff}"
        told: EventMeta = {"handoffId": owed.handoff, "hfs": found.hfs if found else 0}
        if found is not None:
            told |= {"missing": list(found.missing[:20]), "unsupported": list(found.unsupported[:20])}
        await self.context.store.note("fidelity", key, **told)
        if found is None:
            return
        told["recallPermille"] = {str(facet): round(share * 1000) for facet, share in found.per_class.items()}
        await self.context.store.say(Tag.HANDOFF, f"fidelity {found.hfs} of 100", source=key, **told)

    async def _unknown(self, owed: Unscored, error: HubError) -> None:
        """Said where it can be: the audit log itself may be what is broken."""
        with contextlib.suppress(HubError):
            await self.context.store.note("fidelity", f"hfs:{owed.handoff}", handoffId=owed.handoff)
        with contextlib.suppress(HubError):
            await self.context.store.say(
                Tag.ERROR,
                f"the fidelity of the last handoff is not known: {error.detail}",
                source=f"hfs:{owed.handoff}",
                code=str(error.code),
                hint=error.hint,
            )


_PATIENCE = 0.5
"""Seconds that a handoff waits for a store, at most."""
_LIMITS = Limits(tail=8 * 1024 * 1024, seconds=_PATIENCE)
"""The newest calls stand at a session's end. Some agents write all calls of a turn again with each: the last record may be
as long as any that is read."""


async def amend(context: SessionContext, control: AgentControl, record: SessionRecord) -> None:
    """Tell what the stream of the record's dispatch left out; of a store that cannot be read, why.

    Called whenever the agent of a dispatch was stopped and the work may go on without it.
    """
    provider = context.providers.get(owner(record)[0])
    if provider is None or not provider.untold or not (record.native_id and control.has_run(record)):
        return
    log: list[Record] = await call_until_answered(
        context.events, EventsOfDispatch(record.dispatch_id, Tag.TOOL_RESULT)
    )
    if not log:
        return  # it has called no tool: there is nothing to tell
    try:
        ends = await _ends(provider.name, record.native_id, *control.surroundings(record))
    except (Unreadable, OSError, HubError, msgspec.DecodeError) as error:
        blind = f"{provider.display_name}'s own session, which tells more than its stream, was not read"
        await _say_amended(context, record, "unread", f"{blind}: {error}")
        return
    found = amendments(log, ends, provider.untold)
    if found:
        await context.store.log([_amendment(context, record, event) for event in found])
        told = f"{provider.display_name}'s own session told {summed(found)}"
        await _say_amended(context, record, "read", told)


async def _ends(name: str, native_id: str, env: Mapping[str, str], since_ns: int) -> Sequence[CallEnd]:
    """How calls ended by the agent's own session.

    Raises:
        Unreadable: It is not there, is damaged, or takes too long.
    """
    from hub.io.stores import StoreFiles  # noqa: PLC0415  # most agents tell all in their stream
    from hub.providers import stores  # noqa: PLC0415  # as above

    files = StoreFiles(walk_seconds=_PATIENCE)
    look = partial(stores.calls_ended, files, name, native_id, env, since_ns=since_ns, limits=_LIMITS)
    with trio.move_on_after(_PATIENCE):
        return await trio.to_thread.run_sync(look, abandon_on_cancel=True)
    raise Unreadable(f"it took more than {_PATIENCE:g} s to read.")


def _amendment(context: SessionContext, record: SessionRecord, event: Event) -> NewEvent:
    """Redacted as all that an agent tells, and among the events of its dispatch."""
    meta = context.secrets.value(agent_meta(record, event, record.dispatch_id))
    at_ms, key = int(context.clock() * 1000), f"amends:{event.meta['amends']}"
    return NewEvent(str(event.tag), context.secrets.text(event.content), meta, at_ms, key, 0)


async def _say_amended(context: SessionContext, record: SessionRecord, what: str, text: str) -> None:
    await context.store.say(Tag.SYSTEM, text, source=f"amending:{what}:{record.dispatch_id}")
