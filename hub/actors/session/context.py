"""What the parts of the session share.

Owns: nothing; it is the one bundle of references the session's parts are made with.
Must not: hold state of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.crash_loop import CrashLoopGuard
from hub.actors.common.secrets import Keys, Secrets
from hub.actors.session.shared_state import SharedState
from hub.actors.session.store import SessionStore
from hub.actors.session.usage import SessionUsage
from hub.domain.accounts.account import Account
from hub.domain.config.reader import Config
from hub.domain.event import Record
from hub.domain.session import SessionRecord
from hub.io.project.places import Places
from hub.io.secrets.kingfisher import Detection
from hub.messages import (
    ApprovalsInbox,
    AuditInbox,
    BreakersInbox,
    ClaimsInbox,
    EventsInbox,
    EventsOfSession,
    KnowledgeInbox,
    QuotaInbox,
    SettingsInbox,
)
from supervisors import Ref

if TYPE_CHECKING:
    from hub.domain.redaction.redactor import KnownSecrets
    from hub.providers.base import Provider


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
    usage: SessionUsage
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

    def __attrs_post_init__(self) -> None:
        self.secrets = Secrets(
            self.keys, self.providers, self.places.dotenv, self.detection, lambda: self.config
        )
        self.store.scrub = self.secrets.value
        self.store.heard = self.usage.mark

    async def each(self, session_id: str, take: Callable[[list[Record]], object]) -> None:
        """Give every event of a session, oldest first, in pages: a long session's log does not fit in memory."""
        after = 0
        while page := await call_until_answered(self.events, EventsOfSession(session_id, after)):
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
