"""The session's question who is next: the facts as they are at this moment, put to the one pure function.

Owns: where each fact of the choice comes from.
Must not: choose (`hub.domain.routing` does), keep a fact, or remember anything a restart needs.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import attrs

from hub.actors.common.calls import call_or_none, call_until_answered
from hub.actors.session.context import SessionContext, owner
from hub.domain.accounts.account import Account
from hub.domain.config.reader import Config
from hub.domain.failure import FailureClass
from hub.domain.handoff import State
from hub.domain.permission.rules import asks, unenforceable
from hub.domain.quota.wallet import Prospect, wall
from hub.domain.quota.window import FULL, QuotaReading
from hub.domain.retry import backoff
from hub.domain.routing import (
    AccountFacts,
    Choice,
    Exclusion,
    Question,
    Target,
    choose,
)
from hub.domain.session import Attempt, SessionRecord
from hub.errors import HubError
from hub.io.processes.commands import base_env
from hub.messages import (
    BreakerAttempt,
    BreakerClosed,
    BreakersInbox,
    BreakerSuccess,
    BreakerWithdrawn,
    ClaimAccount,
    GetClaims,
    GetConfig,
    GetLogins,
    GetProspects,
    GetStandings,
    ReleaseAccount,
    Shut,
)
from hub.providers.provider import install_hint, login_hint
from supervisors import Sent

_PATIENCE = 5.0
"""Seconds to wait for a forecast, or for a look at the logins: without them the other facts decide."""
_BUSY = 600.0
"""Seconds after which an account that others use is looked at again; that it is free is heard at once."""
_NARROW = "Take another agent, or give the rule the `provider` or the `tool` it is meant for"
_NEVER_AGAIN = {
    "auth": "its login was not accepted",
    "dispatch_failed": "it could not be started",
    "verify_failed": "its work was not accepted",
    "denied": "it was not allowed to start",
}
"""Ways to leave a task after which the same provider and account is not asked again within it."""
_PASSES = frozenset({FailureClass.USAGE_LIMIT, FailureClass.OVERLOAD})
"""Ways to leave a task which time mends."""
Key = tuple[str, str]


@attrs.define
class Routing:
    """The session's view of the providers."""

    context: SessionContext

    async def refresh_config(self) -> None:
        """Take the configuration in force.

        Raises:
            HubError: `config_invalid`, with line and column; the last valid one stays in use.
        """
        self.context.config = await call_until_answered(self.context.settings, GetConfig())

    async def config(self) -> Config:
        """What the user wants at this moment. Of it the session takes over accounts and rules, and nothing else."""
        with contextlib.suppress(HubError):
            fresh: Config = await call_until_answered(self.context.settings, GetConfig())
            self.context.config = self.context.config.amended_by(fresh)
            return fresh
        return self.context.config

    # --- the facts ------------------------------------------------------------------------------------

    async def facts(self, names: Collection[str], threshold: float = 1.0) -> list[AccountFacts]:
        """Of every account of these providers, in the order of the providers known; the active account first."""
        config = await self.config()
        known = [name for name in self.context.providers if name in names]
        logins = await call_or_none(self.context.settings, GetLogins(known), _PATIENCE) or {}
        shut: Mapping[Key, Shut] = await call_until_answered(self.context.breakers, BreakerClosed())
        worn = await self._worn(threshold) if threshold < 1 else frozenset()
        record = self.context.store.record
        claimed = await call_until_answered(
            self.context.claims, GetClaims(record.session_id if record is not None else "")
        )

        def of(name: str, account: Account) -> AccountFacts:
            provider, key = self.context.providers[name], (name, account.label)
            bar, login = shut.get(key), logins.get(key)
            installed = shutil.which(config.provider(name).program or provider.program) is not None
            unfit, hint = self._unfit(config, *key) if installed else ("", install_hint(provider))
            taken = claimed.get(Target(*key), 0) >= account.concurrency
            return AccountFacts(
                provider=name,
                account=account.label,
                enabled=bool(config.enabled_providers([name])),
                installed=installed,
                unfit=unfit,
                logged_in=login,
                shut=None if bar is None else _bar(bar),
                until=None if bar is None else bar.until,
                worn=key in worn,
                busy=self.context.clock() + _BUSY if taken else None,
                hint=hint or (login_hint(provider) if login is False else ""),
            )

        return [of(name, account) for name in known for account in config.accounts(name)]

    def _unfit(self, config: Config, name: str, label: str) -> tuple[str, str]:
        """Why it cannot work here although it is installed, and what helps."""
        provider, options = self.context.providers[name], config.provider(name).options
        if why := unenforceable(config.approvals, name, provider.unasked(options)):
            return f"it {why}".rstrip("."), _NARROW
        if os.geteuid():
            return "", ""
        must_ask = asks(config.approvals, name)
        env = {**base_env(), **self.context.secrets.env_of(name, label)}
        return provider.refuses_root(options, env, asks=must_ask)

    async def _prospects(self, readings: Sequence[QuotaReading]) -> Mapping[Key, list[Prospect]]:
        """What is known of every account's windows; nothing, while the quota actor is not there to tell."""
        return await call_or_none(self.context.quota, GetProspects(readings), _PATIENCE) or {}

    async def _worn(self, threshold: float) -> frozenset[Key]:
        limit, known = round(threshold * FULL), await self._prospects(())
        return frozenset(
            key for key, found in known.items() if any(p.reading.used_permille >= limit for p in found)
        )

    # --- the question ---------------------------------------------------------------------------------

    async def choose(
        self,
        record: SessionRecord,
        failure: FailureClass | None,
        *,
        stay: bool = False,
        fresh: bool = False,
        only: Target | None = None,
    ) -> Choice:
        """Who goes on after the record's provider; see `Question`. `only` narrows it to one account.

        The user's word for a try before its time counts where nobody is free.
        """
        order = (only.provider,) if only is not None else record.chain
        names = {*order, record.provider}
        found = await self.facts(names, threshold=record.threshold)
        if only is not None:
            found = [f for f in found if f.target == only]
        question = Question(
            order=order,
            current=Target(record.provider, record.account),
            stay=stay,
            failure=failure,
            refused_by=record.refused_by,
            left=_left(record),
            resting=_resting(record, self.context.clock()),
            named=record.named,
            fresh=fresh,
        )
        choice = choose(question, found)
        if choice.first is None and record.insisted:
            choice = choose(attrs.evolve(question, insisted=True), found)
        return choice

    async def next(
        self, record: SessionRecord, failure: FailureClass | None, *, fresh: bool = False
    ) -> Target | None:
        """Who goes on after the record's provider; None when nobody can now."""
        return (await self.choose(record, failure, fresh=fresh)).first

    async def claim(self, record: SessionRecord) -> bool:
        """Whether the record's dispatch may be started.

        No account is used by more sessions than it may be, and of all that a half-open breaker could let through, one is.
        """
        if not await self.hold(record):
            return False
        attempt = BreakerAttempt(*owner(record), record.dispatch_id, record.insisted)
        answer = await call_until_answered(self.context.breakers, attempt)
        if not answer:
            await self.give_back(record)
        return answer

    async def hold(self, record: SessionRecord) -> bool:
        """Whether the record's account is this session's, now that it asked for it."""
        most = self.context.config.account(*owner(record)).concurrency
        mine = ClaimAccount(record.session_id, record.dispatch_id, Target(*owner(record)), most)
        return await call_until_answered(self.context.claims, mine)

    async def ended(self, record: SessionRecord) -> None:
        """The record's dispatch is ended by hub and not by a failure: whether it worked, its breaker has to know."""
        if not record.dispatch_id:
            return
        live = self.context.shared.agent
        place = (*owner(record), record.dispatch_id)
        worked = live is not None and live.answered
        news: Sent[BreakersInbox, None] = BreakerSuccess(*place) if worked else BreakerWithdrawn(*place)
        await call_until_answered(self.context.breakers, news)

    async def give_back(self, record: SessionRecord) -> None:
        """The session waits and works with no account: others may have it."""
        await call_until_answered(self.context.claims, ReleaseAccount(record.session_id))

    async def reset_of(self, target: Target) -> float | None:
        """When its quota comes back, where it is used up and anybody told."""
        known = await call_or_none(self.context.quota, GetStandings(), _PATIENCE) or {}
        found = known.get((target.provider, target.account))
        return found.until if found is not None and found.full else None

    async def is_shut(self, target: Target) -> bool:
        """Whether its breaker lets nothing through now."""
        shut: Mapping[Key, Shut] = await call_until_answered(self.context.breakers, BreakerClosed())
        return (target.provider, target.account) in shut

    async def wall(self, record: SessionRecord, reading: QuotaReading) -> QuotaReading | None:
        """The window because of which the work must be handed over, now that `reading` is at the threshold.

        The forecast may say that it lasts until it begins anew; where there is none, the threshold alone decides.
        """
        prospects = (await self._prospects((reading,))).get(owner(record))
        if not prospects:
            return reading
        return wall(prospects, record.threshold, self.context.clock())


def _bar(shut: Shut) -> Exclusion:
    if shut.trial:
        return Exclusion.TRIAL
    if not shut.limited:
        return Exclusion.BREAKER
    return Exclusion.CAP if shut.cap else Exclusion.LIMIT


def _left(record: SessionRecord) -> dict[Target, str]:
    """Who is not asked again for this task; and of the handoff under way, the receivers that did not take over."""
    found = {
        Target(a.provider, a.account): _NEVER_AGAIN[a.failure]
        for a in record.tried
        if a.failure in _NEVER_AGAIN
    }
    # Who met its limit is kept away by its breaker, until its reset; who was overloaded is left alone for a moment.
    if record.state is State.RUNNING and record.wait is None:
        return found  # who did not take over is asked again once the wait for somebody else is over
    for attempt in reversed(record.tried):
        if (attempt.provider, attempt.account) == (record.provider, record.account):
            break
        if attempt.failure in _PASSES:
            continue
        found.setdefault(
            Target(attempt.provider, attempt.account), f"it did not take over ({attempt.failure})"
        )
    return found


def _resting(record: SessionRecord, now: float) -> dict[Target, float]:
    """Who was overloaded when the work was offered to it, and until when it is left alone: longer each time."""
    rows: dict[Target, list[Attempt]] = {}
    for attempt in record.tried:
        row = rows.setdefault(Target(attempt.provider, attempt.account), [])
        if attempt.failure != FailureClass.OVERLOAD:
            row.clear()
        else:
            row.append(attempt)
    until = {
        target: datetime.fromisoformat(row[-1].at).timestamp() + backoff(len(row))
        for target, row in rows.items()
        if row
    }
    return {target: at for target, at in until.items() if at > now}
