"""What the parts of the session share: references, whose a dispatch is, and what is known right now.

Owns: the meeting point of the inbox (which writes to `SharedState`) and the driver (which waits there): wishes, and the live
agent's condition.
Must not: hold anything a restart would need; that is the store's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.condition import Condition, beside
from hub.actors.common.crash_loop import CrashLoopGuard
from hub.actors.common.secrets import Keys, Secrets
from hub.actors.session.store import SessionStore
from hub.domain.accounts.account import Account
from hub.domain.config.reader import Config
from hub.domain.event import Event, Record
from hub.domain.failure import ErrorNote
from hub.domain.handoff import State
from hub.domain.meta import EventMeta
from hub.domain.quota.window import QuotaReading
from hub.domain.retry import Wait
from hub.domain.session import SessionRecord
from hub.errors import Code, HubError
from hub.io.project.places import Places
from hub.io.secrets.kingfisher import Detection
from hub.messages.approvals import ApprovalsInbox
from hub.messages.audit import AuditInbox
from hub.messages.breakers import BreakersInbox
from hub.messages.claims import ClaimsInbox
from hub.messages.events import EventsInbox, EventsSince
from hub.messages.knowledge import KnowledgeInbox
from hub.messages.quota import QuotaInbox
from hub.messages.settings import SettingsInbox
from supervisors import Ref

if TYPE_CHECKING:
    from hub.domain.redaction.redactor import KnownSecrets
    from hub.providers.base import Outcome, ProcessExit
    from hub.providers.provider import Provider

T = TypeVar("T")
_PAGE = 5000
"""Records that are read at once."""


class PendingCommand(StrEnum):
    """What a user may ask of a running session."""

    HANDOFF = "handoff"
    STOP = "stop"


@attrs.define
class LiveAgent:
    """The condition of the agent of one dispatch, as its last batch told it."""

    dispatch_id: str
    tools_in_flight: int = 0
    native_session: str = ""
    alive: bool = False
    """Whether its program runs."""
    answered: bool = False
    """Whether its model has answered: the heartbeat. A program that says "Not logged in" runs, and works not at all."""
    worked: bool = False
    """Whether a tool call of this run has come to a good end: what fails now does not fail again, but anew."""
    outcome: Outcome | None = None
    exit: ProcessExit | None = None
    heard_at: float = 0.0
    """`trio.current_time()` of the last batch."""
    batches: int = 0
    paused: bool = False
    adapter_up: bool = False
    breach: QuotaReading | None = None
    breaches: dict[str, int] = attrs.field(factory=dict)
    """How much of each window was used when it called for a handoff, per mille: it does so again once more is."""
    question: bool = False
    """Whether the last thing it said was a question."""
    asks: set[str] = attrs.field(factory=set)
    """Ids of the approvals that it waits for."""
    no_space: bool = False
    """Whether its last words, and its end, wait for space on the disk."""
    takes_replies: bool = True
    """Whether words can reach it while it runs; an agent that got its prompt as a file has no way in."""

    @property
    def needs_input(self) -> bool:
        """Whether it waits for a person: its silence has a reason."""
        return self.question or bool(self.asks)


@attrs.define
class SharedState(Condition):
    """Shared by the session's inbox and its driver; both run in one thread, so a change is never half seen."""

    agent: LiveAgent | None = None
    pending: PendingCommand | None = None
    denied: HubError | None = None
    """Why the last wish for a handoff came to nothing."""
    held: bool = False
    """Whether hub itself waits for somebody's word before it starts an agent."""
    detached: bool = False
    freed: bool = False
    """Whether an account that was in use has come free since this was last looked at."""
    stands: Wait | None = None
    """The wait on record as it stood at the last look; None before it."""
    last_action: str = ""
    """What the agent said, did or asked last, in one line."""
    trouble: ErrorNote | None = None
    """What keeps the session from going on at this moment; it may be a disk too full to write that down."""

    @property
    def stopping(self) -> bool:
        """Whether the user wants the session to end."""
        return self.pending is PendingCommand.STOP

    def ask(self, pending: PendingCommand) -> None:
        """Record a wish. Stop wins over handoff."""
        if not self.stopping:
            self.pending, self.denied = pending, None
        self.notify_all()

    def settle(self, denied: HubError | None = None) -> None:
        """The wish for a handoff is taken up, or refused; one for a stop stays until the session has ended."""
        if self.pending is PendingCommand.HANDOFF:
            self.pending, self.denied = None, denied
        self.notify_all()

    async def unless_stopped(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something long; when the user asks for a stop it is cancelled.

        Raises:
            HubError: `interrupted`; the stop is still to be done. Or what the work raises.
        """

        async def watch() -> None:
            await self.wait_for(lambda: self.stopping)
            scope.cancel(reason="the session is to stop")

        with trio.CancelScope() as scope:
            return await beside(work, watch)
        raise HubError(Code.INTERRUPTED, "The session is being stopped.")


@attrs.define
class SessionContext:
    """Store, shared state, places, configuration and the way to the other actors."""

    places: Places
    store: SessionStore
    shared: SharedState
    audit: Ref[AuditInbox]
    events: Ref[EventsInbox]
    breakers: Ref[BreakersInbox]
    quota: Ref[QuotaInbox]
    settings: Ref[SettingsInbox]
    approvals: Ref[ApprovalsInbox]
    knowledge: Ref[KnowledgeInbox]
    claims: Ref[ClaimsInbox]
    providers: Mapping[str, Provider]
    keys: Keys
    config: Config
    """The last valid configuration; refreshed when a session starts."""
    new_id: Callable[[str], str]
    """`new_id("s")` -> `s-<time>-<random>`, matching `^[a-z0-9][a-z0-9-]{0,63}$`."""
    clock: Callable[[], float]
    """Epoch seconds."""
    chance: Callable[[], float]
    """A number in [0, 1), for jitter."""
    crash_loop: CrashLoopGuard
    detection: Detection
    secrets: Secrets = attrs.field(init=False)

    _task: tuple[KnownSecrets, object, str] | None = None
    """By what, of what, and what the hiding made of it."""

    def __attrs_post_init__(self) -> None:
        self.secrets = Secrets(
            self.keys, self.providers, self.places.dotenv, self.detection, lambda: self.config
        )
        self.store.outbox = attrs.evolve(self.store.outbox, scrub=self.secrets.value)

    @property
    def seen(self) -> SessionRecord:
        """The record, or an empty one, as its user sees it: what is said of its wait is what is known now."""
        record, stands = self.store.record or SessionRecord(), self.shared.stands
        return attrs.evolve(record, wait=stands) if record.wait and stands else record

    async def each(self, session_id: str, take: Callable[[list[Record]], object]) -> None:
        """Give every event of a session, oldest first, in pages: a long session's log does not fit in memory."""
        after = 0
        while page := await call_until_answered(self.events, EventsSince(after, _PAGE, session_id)):
            await trio.to_thread.run_sync(take, page)
            after = page[-1].id

    def task(self, record: SessionRecord) -> str:
        """The user's task as everyone but the first agent may see it: a secret in it was for that agent."""
        if not record.task:
            return ""  # nothing to hide; and to know every secret, each provider has to be asked
        known = self.secrets.known()
        stamp = (record.task, self.secrets.detection.engine is None)
        if self._task is None or self._task[0] is not known or self._task[1] != stamp:
            self._task = (known, stamp, self.secrets.text(record.task))
        return self._task[2]

    def assertions(self, record: SessionRecord) -> tuple[str, ...]:
        """The acceptance commands as everyone may see them; they run as they are."""
        return tuple(map(self.secrets.text, record.verify))

    def account(self, name: str, label: str) -> Account:
        """The account as an adapter gets it: its place spelt out, and every key that is its own or its provider's."""
        found = self.config.account(name, label)
        keys = self.providers[name].key_names
        env = {key: value for key, value in self.secrets.env_of(name, label).items() if key in keys}
        place = str(Path(found.config_dir).expanduser()) if found.config_dir else ""
        return attrs.evolve(found, config_dir=place, env={**env, **found.env})


def owner(record: SessionRecord) -> tuple[str, str]:
    """Provider and account of the record's dispatch: the receiver's between DISPATCHED and its heartbeat."""
    receiver = record.handoff.receiver
    if receiver is not None and record.state in (State.DISPATCHED, State.RESUMING):
        return receiver.provider, receiver.account
    return record.provider, record.account


def agent_meta(record: SessionRecord, event: Event, dispatch_id: str) -> EventMeta:
    """What the log has of an agent's event beside its words."""
    provider, account = owner(record)
    return {
        **event.meta,
        "type": str(event.type),
        "sessionId": record.session_id,
        "provider": provider,
        "account": account,
        "dispatchId": dispatch_id,
    }


def unknown_agent(name: str) -> HubError:
    """Why a record's agent cannot be dealt with."""
    hint = f"Describe it again in [providers.{name}] of hub.toml, or start the task anew: its work is on the branch."
    return HubError(Code.AGENT_MISSING, f"{name} is no longer in hub.toml.", hint=hint)
