"""The quota actor: it follows the event log, keeps the ledger, and answers with wallet and forecast.

Owns: `.hub/quota.json`, and the warnings about a wall in the event log.
Must not: hand anything over (the session does), wait for the session, or hold the rules (`hub.domain` does).

What hub's agents say of their quota reaches this actor through the event log alone, by rising id. The ledger is a
fold over it that remembers its last id, so it may be killed at any point: the next incarnation reads on from there,
and what it sees a second time changes nothing. What other agents of the same accounts spend, the detector tells; how
far it was counted is kept in the same file, to the same end.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, assert_never

import attrs
import trio

from hub.actors.common.calls import call_or_none
from hub.actors.common.follower import LogFollower
from hub.actors.common.outbox import Outbox
from hub.actors.quota.poller import LOOK, Poller
from hub.actors.quota.store import FORM, KeptQuota, Key, QuotaStore
from hub.actors.quota.wallet import Figures
from hub.domain.config.reader import Config
from hub.domain.event import EventType, Record, Tag
from hub.domain.meta import EventMeta
from hub.domain.quota.elsewhere import Growth
from hub.domain.quota.wallet import Prospect, alarm, prospect, said
from hub.domain.quota.window import DECLARED, QuotaReading, newest
from hub.errors import HubError
from hub.io.project.places import Places
from hub.io.records.store import RecordStore
from hub.messages.events import EventsInbox
from hub.messages.quota import GetProspects, GetStandings, GetWallet, QuotaInbox, QuotaSeen, SpentElsewhere
from hub.messages.settings import GetConfig
from hub.providers.quota import QuotaClient
from supervisors import Actor, ActorDied, Answer, Exit, Ref

T = TypeVar("T")
_TIMEOUT = 30.0
_BEHIND = 5.0
"""Seconds that an answer waits for this actor to have read what the log holds."""
_FIRST_LOOK = 2.0
"""Seconds after a start: nobody waits for a daemon because of a poll."""
_SAVE_AFTER = 2.0
"""Seconds in which changes are gathered before they are written: what the log holds can be read again."""
_FAR = 5000
"""Events after which the place in the log is written down although none of them told of a quota."""


class Quota(Actor[QuotaInbox]):
    """The wallet of every account."""

    answers = (HubError,)

    def __init__(
        self,
        places: Places,
        *,
        events: Ref[EventsInbox],
        settings: Ref[GetConfig],
        session: Ref[QuotaSeen],
        providers: Iterable[str],
        clients: Callable[[str], QuotaClient | None],
        clock: Callable[[], float],
    ) -> None:
        self._records = RecordStore(places.hub_dir / "quota.json", FORM)
        self._settings = settings
        self._session = session
        self._providers = tuple(providers)
        self._poller = Poller(clients, clock)
        self._clock = clock
        self._store = QuotaStore()
        self._config = Config()
        self._saved = -1
        self._dirty = trio.Event()
        self._saving = trio.Lock()
        self._outbox = Outbox(events, clock, patience=_TIMEOUT)
        self._follower = LogFollower(events, self._place)

    async def continue_(self) -> None:
        """Read the ledger back and follow the log from where it stood."""
        with contextlib.suppress(HubError):  # what it told comes again
            kept, damage = self._records.load()
            self._store = (kept or KeptQuota()).store()
            if damage is not None:
                self.ctx.nursery.start_soon(self._outbox.trouble, damage)
        self._saved = self._store.cursor
        self.ctx.nursery.start_soon(self._follower.follow, self._take)
        self.ctx.nursery.start_soon(self._keep)
        self.ctx.nursery.start_soon(self._poll)

    async def stopped(self, exit: Exit) -> None:
        """Leave the log, and write down what is not written yet."""
        self._follower.leave()
        if self._dirty.is_set():
            await self._save()

    async def handle(self, message: QuotaInbox) -> Answer:
        """Answer with the wallet, or with the prospects of every window."""
        match message:
            case GetWallet():
                return self.answer_later(message, self._answer(Figures.wallet))
            case GetStandings():
                return self.answer_later(message, self._answer(Figures.standings))
            case GetProspects(readings=readings):
                self._note(readings)
                return message.answer(self._figures.prospects())
            case SpentElsewhere(growths=growths):
                await self._refresh_config()
                return message.answer(self._spent_elsewhere(growths))
            case _:
                assert_never(message)

    async def _answer(self, figure: Callable[[Figures], T]) -> T:
        """What all that is in the log now comes to: whoever asks after an event was told finds it counted."""
        await self._refresh_config()
        with trio.move_on_after(_BEHIND), contextlib.suppress(ActorDied, trio.TooSlowError, HubError):
            await self._follower.catch_up()
        self._store.set_back(self._clock())
        return figure(self._figures)

    async def _poll(self) -> None:
        """Look at files and servers, beside the inbox. The session hears of what is new, and judges for itself."""
        await trio.sleep(_FIRST_LOOK)
        while True:
            await self._refresh_config()
            fresh = self._note(await self._poller.look(self._config, self._providers))
            if fresh:
                self._session.try_cast(QuotaSeen(fresh))
            await trio.sleep(LOOK)

    # --- the log --------------------------------------------------------------------------------------

    async def _place(self, head: int) -> int:
        """At the first start of all, what the log held before is past; a log that was put aside begins anew."""
        if not 0 <= self._store.cursor <= head:
            self._store.cursor = head
            await self._save()
        await self._refresh_config()
        return self._store.cursor

    async def _take(self, records: Sequence[Record]) -> None:
        self._store.set_back(self._clock())
        fresh = []
        for record in records:
            # Most of a log is text; only what can tell of a quota is looked at.
            if record.tag in (Tag.QUOTA, Tag.ERROR) or record.meta.get("type") == EventType.RESULT:
                reading = self._store.take(record, self._cap)
                self._dirty.set()
                if reading is not None:
                    fresh.append(reading)
        if declared := [reading for reading in fresh if reading.source == DECLARED]:
            self._session.try_cast(QuotaSeen(declared))  # what the agent said itself, the session has heard
        self._store.cursor = max(self._store.cursor, records[-1].id)
        if self._store.cursor - self._saved > _FAR:
            self._dirty.set()
        if fresh:
            self.ctx.nursery.start_soon(self._warn, fresh)

    # --- the ledger -----------------------------------------------------------------------------------

    def _spent_elsewhere(self, growths: Iterable[Growth]) -> dict[str, int]:
        """Count what is new. What it makes of a window the session and the log hear as of any other agent."""
        now, fresh = self._clock(), []
        self._store.set_back(now)
        for growth in growths:
            accounts = {account.label for account in self._config.accounts(growth.provider)}
            ours = growth if growth.account in accounts else attrs.evolve(growth, used=())
            reading = self._store.take_elsewhere(ours, self._cap(growth.provider), now)
            self._dirty.set()
            if reading is not None:
                fresh.append(reading)
        if fresh:
            self._session.try_cast(QuotaSeen(fresh))
            self.ctx.nursery.start_soon(self._warn, fresh)
        return dict(self._store.elsewhere.places)

    def _note(self, readings: Iterable[QuotaReading]) -> list[QuotaReading]:
        self._store.set_back(self._clock())
        fresh = [reading for reading in readings if self._store.note(reading)]
        if fresh:  # who asks may know it before the log has told of it here
            self._dirty.set()
            self.ctx.nursery.start_soon(self._warn, fresh)
        return fresh

    async def _keep(self) -> None:
        while True:
            await self._dirty.wait()
            await trio.sleep(_SAVE_AFTER)
            self._dirty = trio.Event()
            await self._save()

    async def _save(self) -> None:
        async with self._saving:
            kept = self._store.kept()
            try:
                await trio.to_thread.run_sync(self._records.save, kept)
                self._saved = kept.cursor
            except HubError:
                self._dirty.set()  # a full disk: the ledger in memory is whole; it is written when there is room

    # --- answers --------------------------------------------------------------------------------------

    async def _refresh_config(self) -> None:
        """The last valid one stays in use."""
        self._config = await call_or_none(self._settings, GetConfig(), _TIMEOUT) or self._config

    @property
    def _figures(self) -> Figures:
        return Figures(self._store, self._config, self._providers, self._clock())

    def _cap(self, provider: str) -> int:
        return self._figures.cap(provider)

    # --- warnings -------------------------------------------------------------------------------------

    async def _warn(self, readings: Iterable[QuotaReading]) -> None:
        """Say it once for each stretch of a window when the wall comes into sight, and when it comes nearer."""
        now = self._clock()
        for key in newest(readings, now):
            burn = self._store.burns.get(key)
            if burn is None:
                continue
            found = prospect(burn, now)
            grave = alarm(found, self._config.session.threshold, now)
            since, before = self._store.warned.get(key, (burn.since, 0))
            if grave > (before if since == burn.since else 0):
                self._store.warned[key] = (burn.since, grave)
                await self._say(key, found, now, f"quota:{'/'.join(key)}:{burn.since:.3f}", grave)

    async def _say(self, key: Key, found: Prospect, now: float, source: str, grave: int) -> None:
        """One line; with its source it is logged once, however often this actor died."""
        meta: EventMeta = {
            "provider": key[0],
            "account": key[1],
            "window": key[2],
            "forecast": str(found.forecast.outlook),
            "etaMinutes": None if found.forecast.eta is None else round(found.forecast.eta),
        }
        await self._outbox.publish(Tag.QUOTA, f"{key[0]}/{key[1]} {said(found, now)}", meta, source, grave)
