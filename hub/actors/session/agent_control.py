"""The session's hand on its agent: start it, find it again, bring it to a safe point, stop it.

Owns: the adapter child of the current dispatch, the assignment it gets, and the files of `.hub/run/<dispatch id>/`.
Must not: choose who is dispatched, or judge how a run ended.
Tests: tests/hub/actors/session/test_agent_control.py, tests/hub/actors/session/test_assignment.py
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import attrs
import msgspec
import trio

from hub.actors.common.launch import agent_env
from hub.actors.common.transient import coded_cause
from hub.actors.session.context import LiveAgent, SessionContext, owner
from hub.domain.accounts.account import Account
from hub.domain.permission.rules import asks
from hub.domain.prompt import Orders, guidance
from hub.domain.session import SessionRecord
from hub.errors import Code, HubError
from hub.io.config.accounts import make_home
from hub.io.files.sealed import NotSealed, read_sealed, write_sealed
from hub.io.processes.control import sweep
from hub.io.project.places import make_private_dir
from hub.io.runner.launcher import drop as drop_ready
from hub.io.runner.launcher import make_ready
from hub.io.runner.replies import UserReply, keep
from hub.io.runner.sweep import ASSIGNMENT, ASSIGNMENT_LIMIT
from hub.io.runner.view import ClaimedNotStarted, Dead, NeverClaimed, inspect
from hub.io.shortage import shortage
from hub.messages.agent import (
    AdapterAnswer,
    AdapterInbox,
    AdapterInterrupt,
    AdapterPause,
    AdapterReply,
    AdapterStop,
    Dispatch,
)
from hub.providers.base import Assignment, Stdin
from supervisors import AdminError, ChildSpec, DynamicHandle, Exit, ExitKind, Ref

_INTERRUPT_GRACE = 5.0
_LEAVE_GRACE = 60.0
_FALLS = 3
"""How often the adapter of one dispatch may end with an error: what it reads is the same every time."""


@attrs.define
class AgentControl:
    """One agent at a time."""

    context: SessionContext
    adapters: DynamicHandle
    adapter_spec: Callable[[Dispatch], tuple[ChildSpec, Ref[AdapterInbox]]]
    _ref: Ref[AdapterInbox] | None = None
    _next: str = ""
    """The id under which a launcher is ready."""
    _fallen: tuple[str, int] = ("", 0)
    """How often the adapter of a dispatch ended with an error."""

    async def make_ready(self) -> None:
        """Begin to start the next dispatch, beside what is still to be done for it; nothing of it is claimed yet."""
        if not self._next:
            self._next = self.context.new_id("d")
            await make_ready(self.context.places.run_dir / self._next, self.context.store.now.session_id)

    async def drop_ready(self) -> None:
        """Nobody is dispatched any more."""
        self._next = ""
        await drop_ready(self.context.store.now.session_id)

    def next_id(self) -> str:
        """An id for a dispatch, each time another one: that of the launcher that is ready, if there is one."""
        made, self._next = self._next, ""
        return made or self.context.new_id("d")

    async def dispatch(self, record: SessionRecord, orders: Orders) -> LiveAgent:
        """Start the record's dispatch, exactly once however often this is called for it.

        Raises:
            HubError: `dispatch_failed` when it certainly did not start, `dispatch_ambiguous` when nobody can know.
        """
        assignment = self.assignment(record, orders)
        if isinstance(inspect(assignment.run_dir), NeverClaimed):
            make_private_dir(assignment.run_dir)
            make_home(assignment.account)
            write_sealed(assignment.run_dir / ASSIGNMENT, _encode(assignment))
            return await self._adopt(record, assignment, attach=False)
        return await self.reattach(record)

    def assignment(self, record: SessionRecord, orders: Orders) -> Assignment:
        """What the record's agent is given; the same record and orders give the same."""
        context, settings = self.context, self.context.config.provider(record.provider)
        run_dir = context.places.run_dir / record.dispatch_id
        # With what the profile tells every agent; nothing that hub keeps secret is for all of them.
        told = context.secrets.text(guidance(record.profile, record.context_hint, record.skills))
        return Assignment(
            dispatch_id=record.dispatch_id,
            session_id=record.session_id,
            prompt=f"{orders.prompt}\n\n{told}" if told else orders.prompt,
            worktree=Path(record.worktree),
            run_dir=run_dir,
            program=settings.program,
            envelope=orders.envelope,
            envelope_path=run_dir / "envelope.md" if orders.envelope else None,
            resume_id=orders.resume_id,
            # Derived, not drawn: a crash between the record and the start must lead to the same id.
            native_id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"hub:{record.dispatch_id}")),
            model=settings.model,
            base_url=settings.base_url,
            account=context.account(record.provider, record.account),
            options=settings.options,
            asks=asks(context.config.approvals, record.provider),
        )

    async def reattach(self, record: SessionRecord) -> LiveAgent:
        """Take hold of the record's dispatch again; its adapter reads the spool from the start.

        Raises:
            HubError: As `dispatch`.
        """
        live = self.context.shared.agent
        if live is not None and live.dispatch_id == record.dispatch_id and live.adapter_up:
            return live
        run_dir = self.context.places.run_dir / record.dispatch_id
        if isinstance(inspect(run_dir), NeverClaimed | ClaimedNotStarted):
            raise HubError(Code.DISPATCH_FAILED, "The agent was never started.")
        self.insist_known(record)
        return await self._adopt(record, self._assignment(record), attach=True)

    def surroundings(self, record: SessionRecord) -> tuple[Mapping[str, str], int]:
        """The environment of the record's agent, and the moment before its start (epoch nanoseconds).

        Raises:
            OSError, HubError, msgspec.DecodeError: Its assignment cannot be read.
        """
        provider, own = self.context.providers[owner(record)[0]], self.context.secrets.env_of(*owner(record))
        since = (self.context.places.run_dir / record.dispatch_id / ASSIGNMENT).stat().st_mtime_ns
        return agent_env(provider, self._assignment(record), own), since

    def _assignment(self, record: SessionRecord) -> Assignment:
        path = self.context.places.run_dir / record.dispatch_id / ASSIGNMENT
        return _decode(read_sealed(path, ASSIGNMENT_LIMIT), self.context.account(*owner(record)))

    def insist_known(self, record: SessionRecord) -> None:
        """Raise `dispatch_ambiguous` when the record's agent was let go and its runner died before a word came."""
        match inspect(self.context.places.run_dir / record.dispatch_id):
            case Dead(spool_bytes=0):
                raise HubError(
                    Code.DISPATCH_AMBIGUOUS,
                    f"{owner(record)[0]} was let go and its runner died before it said anything.",
                )

    async def _adopt(self, record: SessionRecord, assignment: Assignment, *, attach: bool) -> LiveAgent:
        await self.release()
        if self._fallen[0] == record.dispatch_id and self._fallen[1] >= _FALLS:
            raise HubError(Code.INTERNAL, f"hub cannot read what {owner(record)[0]} says.")
        provider = self.context.providers[owner(record)[0]]
        live = LiveAgent(
            record.dispatch_id,
            adapter_up=True,
            heard_at=trio.current_time(),
            takes_replies=provider.launch(assignment).stdin is Stdin.PIPE,
            question=record.needs_input,  # until its first event says something else
        )
        self.context.shared.agent = live
        spec, ref = self.adapter_spec(Dispatch(assignment, owner(record)[0], attach))
        self._ref = ref
        try:
            await self.adapters.start_child(spec)
        except AdminError as error:
            live.adapter_up = False
            raise coded_cause(error) or HubError(Code.DISPATCH_FAILED, str(error)) from error
        ref.monitor(lambda down: self._lost(live, down.exit))
        # Both ways: who resumed while nobody was attached is owed it, and the runner holds still until it is told.
        on = self.context.store.now.paused
        live.paused = self.pause(on=on) and on
        return live

    def _lost(self, live: LiveAgent, end: Exit | None) -> None:
        live.adapter_up = False
        if end is not None and end.kind is ExitKind.ERROR and not (end.error and shortage(end.error)):
            fallen = 1 if self._fallen[0] != live.dispatch_id else self._fallen[1] + 1
            self._fallen = (live.dispatch_id, fallen)
        self.context.shared.notify_all()

    async def kill(self, record: SessionRecord) -> None:
        """End every process of the record's dispatch, without a word to any; for when nothing else works."""
        self.context.shared.agent = None
        await self.sweep_adapters()
        if record.dispatch_id:
            await sweep([record.dispatch_id])

    async def release(self) -> None:
        """Let go of the adapter; the agent stays as it is, under its runner."""
        live = self.context.shared.agent
        if live is not None and live.adapter_up:
            await self.adapters.terminate_child(
                adapter_id(self.context.store.now.session_id, live.dispatch_id)
            )
        self.context.shared.agent = None

    async def sweep_adapters(self) -> None:
        """End adapters that an earlier incarnation of the session left behind."""
        record = self.context.store.record
        own = adapter_id(record.session_id, "") if record is not None else ""
        for child in self.adapters.which_children():
            if own and str(child.id).startswith(own):
                await self.adapters.terminate_child(child.id)

    @property
    def hears(self) -> bool:
        """Whether an adapter is there that passes words on; while one is being started there is none."""
        return self.context.shared.agent is not None and self._ref is not None and self._ref.alive

    def reply(self, text: str, key: str) -> bool:
        """Pass a reply on; False when the adapter is not there.

        True is a promise: it is on record for this dispatch, and an adapter that comes later passes it on.

        Raises:
            HubError: The disk does not take it; it was not passed on.
        """
        live = self.context.shared.agent
        if live is None or not self.hears:
            return False
        keep(self.context.places.run_dir / live.dispatch_id, UserReply(key, text))
        self._send(AdapterReply(text, key))
        return True

    def answer(self, native_id: str, *, approved: bool, note: str) -> bool:
        """Answer a request for permission; False when the adapter has no room, or is not there."""
        return self._send(AdapterAnswer(native_id, approved, note))

    def pause(self, *, on: bool) -> bool:
        """Stop or continue the agent's processes."""
        return self._send(AdapterPause(on))

    def resume(self, live: LiveAgent) -> None:
        """Let a paused agent go on; its silence so far was nobody's fault."""
        self.pause(on=False)
        live.paused = False
        live.heard_at = trio.current_time()

    async def hold(self) -> LiveAgent | None:
        """Whatever runs for the record's dispatch, attached to; None when nothing does.

        An agent that left the configuration while hub was away speaks a protocol nobody knows any more: it is ended.
        """
        record = self.context.store.now
        if owner(record)[0] not in self.context.providers:
            await self.kill(record)
            return None
        live = self.context.shared.agent
        if live is not None and live.dispatch_id == record.dispatch_id:
            return live
        try:
            return await self.reattach(record) if self.has_run(record) else None
        except NotSealed:
            await self.kill(
                record
            )  # nobody knows any more what is in that folder, but its processes bear the run's id
            return None
        except HubError as error:
            if error.code is Code.DISPATCH_AMBIGUOUS:
                return None  # its runner is dead, and took along whatever ran
            raise

    async def safe_point(self, grace: float) -> str:
        """Wait until no tool call is in flight; interrupt the agent when none comes within the grace.

        Returns:
            `turn_over`, `idle`, or `interrupted`: what the contract says of the stop.
        """
        live = await self.hold()
        if live is None or live.exit or live.outcome:
            return "turn_over"
        if live.paused:
            self.pause(on=False)
        settled = await self.context.shared.wait_for(lambda: self._settled(live), grace)
        if live.exit or live.outcome:
            return "turn_over"
        self._send(AdapterInterrupt())
        await self.context.shared.wait_for(
            lambda: live.exit or live.outcome or not live.adapter_up,
            _INTERRUPT_GRACE if self._interrupts(live) else 0,
        )
        return "idle" if settled else "interrupted"

    def _settled(self, live: LiveAgent) -> bool:
        return bool(live.exit or live.outcome or not live.adapter_up or not live.tools_in_flight)

    def _interrupts(self, live: LiveAgent) -> bool:
        provider = self.context.providers.get(owner(self.context.store.now)[0])
        return provider is not None and provider.capabilities.interrupt and live.alive

    async def stop(self, reason: str, *, hard: bool = False) -> None:
        """Bring the agent to its end and wait for it; every byte it wrote has been read when this returns.

        Raises:
            HubError: `no_space`: it was told to end, but its last words wait for space; to be called again.
        """
        live = await self.hold()
        while live is not None and live.exit is None:
            if not live.adapter_up:
                await self.release()
                live = await self.hold()
                continue
            self._send(AdapterStop(reason, hard=hard))
            await self.context.shared.wait_for(partial(_gone_or_full, live), _LEAVE_GRACE)
            if live.no_space and not _gone(live):
                raise HubError(Code.NO_SPACE, "The disk is full: how the agent ended cannot be kept.")

    def _send(self, message: AdapterInbox) -> bool:
        return self._ref is not None and self._ref.try_cast(message)

    def has_run(self, record: SessionRecord) -> bool:
        """Whether the record's dispatch was ever claimed."""
        if not record.dispatch_id:
            return False
        state = inspect(self.context.places.run_dir / record.dispatch_id)
        return not isinstance(state, NeverClaimed | ClaimedNotStarted)


def adapter_id(session_id: str, dispatch_id: str) -> str:
    """What an adapter is called among those of all sessions."""
    return f"{session_id}:{dispatch_id}"


def _gone(live: LiveAgent) -> bool:
    return live.exit is not None or not live.adapter_up


def _gone_or_full(live: LiveAgent) -> bool:
    return live.no_space or _gone(live)


def _encode(assignment: Assignment) -> bytes:
    """The assignment without the account's keys: those live in the configuration only."""
    bare = attrs.evolve(assignment, account=attrs.evolve(assignment.account, env={}))
    return msgspec.json.encode(bare, enc_hook=str)


def _decode(data: bytes, account: Account) -> Assignment:
    assignment: Assignment = msgspec.json.decode(
        data, type=Assignment, dec_hook=lambda kind, value: kind(value)
    )
    return attrs.evolve(assignment, account=account)
