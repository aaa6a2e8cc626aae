"""The outcomes actor: how each profile has done, and what sessions have cost.

Owns: `.hub/outcomes.json`.
Must not: judge a session (the verifier does), or ask the session anything.

What it knows is a fold over the event log. It is written down, with the place in the log, when a session has ended; so
an actor that is killed reads the session under way again from its first event, and counts nothing twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import assert_never

import attrs
import trio

from hub.actors.common.follower import LogFollower
from hub.api.costs import Costs, Spent
from hub.api.profiles import ProfileOutcome
from hub.domain.cost import Meter
from hub.domain.event import EventType, Record
from hub.domain.result.outcome import ProfileOutcomes, counted
from hub.errors import HubError
from hub.io.models.prices import billed
from hub.io.project.places import Places
from hub.io.records.store import RecordForm, RecordStore, as_named
from hub.messages.events import EventsInbox
from hub.messages.outcomes import GetCosts, GetOutcomes, OutcomesInbox
from supervisors import Actor, ActorDied, Answer, Exit, ExitKind, Ref

_ROWS = 5000
"""Rows of costs that are kept."""
_LAST = 1.0
"""Seconds for what is left to read when hub stops; the next start counts the rest."""


@attrs.frozen
class OutcomesRecord:
    """The record."""

    cursor: int = 0
    """The id of the last event that is counted in."""
    outcomes: tuple[ProfileOutcomes, ...] = ()
    spent: tuple[Spent, ...] = ()
    """Of sessions that have ended; the newest last."""


FORM = RecordForm(OutcomesRecord, "The outcomes", older={0: lambda wire: as_named(wire, OutcomesRecord)})


class Outcomes(Actor[OutcomesInbox]):
    """The tally of every profile."""

    answers = (HubError,)

    def __init__(self, places: Places, events: Ref[EventsInbox]) -> None:
        self._store = RecordStore(places.hub_dir / "outcomes.json", FORM)
        self._follower = LogFollower(events, self._place)
        self._kept = OutcomesRecord()
        self._meters: dict[str, dict[str, Meter]] = {}
        """By session and dispatch, for sessions that have not ended."""
        self._whose: dict[str, tuple[str, str]] = {}
        """By dispatch: whose it is, and on which day it was first heard of."""

    async def continue_(self) -> None:
        """Read back what is counted, and follow the log from there."""
        # A file that cannot be read is no loss: the log tells it all again.
        with contextlib.suppress(HubError):
            kept, _ = self._store.load()
            self._kept = kept or self._kept
        self.ctx.nursery.start_soon(self._follower.follow, self._take)

    async def stopped(self, exit: Exit) -> None:
        """Leave the log, in an orderly stop with all counted that is in it: `hub cost` reads the record afterwards."""
        if exit.kind is ExitKind.SHUTDOWN:
            with trio.move_on_after(_LAST), contextlib.suppress(ActorDied, trio.TooSlowError):
                await self._follower.catch_up()
        self._follower.leave()

    async def handle(self, message: OutcomesInbox) -> Answer:
        """Answer with the tally."""
        match message:
            case GetOutcomes():
                return message.answer([_shown(outcome) for outcome in self._kept.outcomes])
            case GetCosts():
                return self.answer_later(message, self._costs())
            case _:
                assert_never(message)

    async def _costs(self) -> Costs:
        open_ = [
            row for one, meters in self._meters.items() for row in await self._rows(one, meters, ended=False)
        ]
        return Costs(spent=[*self._kept.spent, *open_])

    async def _rows(self, session: str, meters: Mapping[str, Meter], *, ended: bool) -> list[Spent]:
        """One row for each agent and day."""
        groups: dict[tuple[str, str], list[Meter]] = {}
        for dispatch, meter in meters.items():
            groups.setdefault(self._whose.get(dispatch, ("", "")), []).append(meter)
        rows = []
        for (provider, day), some in groups.items():
            found = await billed(some)
            row = Spent(
                day=day,
                session_id=session,
                provider=provider,
                usd=found.usd,
                priced=not found.unpriced,
                tokens_in=found.tokens.tokens_in,
                tokens_out=found.tokens.tokens_out,
                ended=ended,
            )
            rows.append(row)
        return rows

    async def _place(self, head: int) -> int:
        """The last session's end, with nothing counted of the one under way; a log that was put aside begins anew."""
        if self._kept.cursor > head:
            self._kept = attrs.evolve(self._kept, cursor=0)
        self._meters.clear()
        self._whose.clear()
        return self._kept.cursor

    async def _take(self, records: Sequence[Record]) -> None:
        for record in records:
            session = record.meta.get("sessionId", "")
            if record.meta.get("type") == EventType.USAGE:
                meters = self._meters.setdefault(session, {})
                dispatch = record.meta.get("dispatchId", "")
                meters.setdefault(dispatch, Meter()).feed(record.meta)
                day = record.meta.get("at", "")[:10]
                self._whose.setdefault(dispatch, (record.meta.get("provider", ""), day))
            elif "ended" in record.meta and "type" not in record.meta:  # hub's own word, no agent's
                await self._ended(record, self._meters.pop(session, {}))

    async def _ended(self, record: Record, meters: dict[str, Meter]) -> None:
        name = record.meta.get("profile", "")
        outcomes = self._kept.outcomes
        session = record.meta.get("sessionId", "")
        rows = await self._rows(session, meters, ended=True)
        for dispatch in meters:
            self._whose.pop(dispatch, None)
        spent = (*(row for row in self._kept.spent if row.session_id != session), *rows)[-_ROWS:]
        if name:
            outcomes = await _with(outcomes, name, record, meters)
        self._kept = OutcomesRecord(record.id, outcomes, spent)
        # A disk that is full costs the note of it, not the count: the next one writes both.
        with contextlib.suppress(HubError):
            await trio.to_thread.run_sync(self._store.save, self._kept)


async def _with(
    outcomes: Sequence[ProfileOutcomes], name: str, record: Record, meters: Mapping[str, Meter]
) -> tuple[ProfileOutcomes, ...]:
    """The outcomes with the session that has ended with this record."""
    cost = await billed(meters.values())
    found = {outcome.profile: outcome for outcome in outcomes}
    found[name] = counted(
        found.get(name, ProfileOutcomes(name)),
        state=record.meta["ended"],
        verified=record.meta.get("verified"),
        tokens=cost.tokens.tokens_in + cost.tokens.tokens_out,
        micros=None if cost.usd is None else cost.micros,
        at=record.meta.get("at", ""),
    )
    return tuple(found.values())


def _shown(outcome: ProfileOutcomes) -> ProfileOutcome:
    return ProfileOutcome(
        profile=outcome.profile,
        runs=outcome.runs,
        judged=outcome.judged,
        successes=outcome.successes,
        success_rate=outcome.success_rate,
        avg_tokens=outcome.avg_tokens,
        avg_cost_usd=outcome.avg_cost_usd,
        last_run=outcome.last_run or None,
    )
