"""The session's question who is next: the facts as they are at this moment, put to the one pure function.

Owns: where each fact of the choice comes from, and the claim on who was chosen.
Must not: choose (`hub.domain.routing` does), say what an answer leads to (`hub.domain.turn` does), keep a fact, or remember
anything a restart needs.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Mapping, Sequence

import attrs

from hub.actors.common.calls import call_or_none, call_until_answered
from hub.actors.session.context import SessionContext, owner
from hub.domain.accounts.account import Account
from hub.domain.config.reader import Config
from hub.domain.event import DOING
from hub.domain.failure import FailureClass
from hub.domain.permission.rules import asks, unenforceable
from hub.domain.quota.wallet import Prospect, wall
from hub.domain.quota.window import FULL, QuotaReading
from hub.domain.retry import Wait
from hub.domain.routing import AccountFacts, Choice, Exclusion, Target, choose
from hub.domain.session import SessionRecord
from hub.domain.turn import bound, free, question, told_anew
from hub.errors import HubError
from hub.io.processes.commands import base_env
from hub.messages.breakers import (
    BreakerAttempt,
    BreakerClosed,
    BreakersInbox,
    BreakerSuccess,
    BreakerWithdrawn,
    Shut,
)
from hub.messages.claims import AwaitAccounts, ClaimAccount, GetClaims, ReleaseAccount
from hub.messages.quota import GetProspects, GetStandings
from hub.messages.settings import GetConfig, GetLogins
from hub.providers.provider import install_hint, login_hint
from supervisors import Sent

_PATIENCE = 5.0
"""Seconds to wait for a forecast, or for a look at the logins: without them the other facts decide."""
_BUSY = 600.0
"""Seconds after which an account that others use is looked at again; that it is free is heard at once."""
_NARROW = "Take another agent, or give the rule the `provider` or the `tool` it is meant for"
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
        found = await self.facts({*order, record.provider}, threshold=record.threshold)
        if only is not None:
            found = [f for f in found if f.target == only]
        asked = question(record, self.context.clock(), failure, order=order, stay=stay, fresh=fresh)
        choice = choose(asked, found)
        if choice.first is None and record.insisted:
            choice = choose(attrs.evolve(asked, insisted=True), found)
        return attrs.evolve(choice, alone=only is not None)

    async def next(
        self, record: SessionRecord, failure: FailureClass | None, *, fresh: bool = False
    ) -> Target | None:
        """Who goes on after the record's provider; None when nobody can now."""
        return (await self.choose(record, failure, fresh=fresh)).first

    async def turn(self, record: SessionRecord) -> tuple[bool, Choice]:
        """Whether any agent has done anything, and who may have the next dispatch: who has the work comes first."""
        begun = await self.begun(record)
        return begun, await self._turn(record, begun=begun)

    async def _turn(self, record: SessionRecord, *, begun: bool) -> Choice:
        only = record.holder if bound(record, begun=begun) else None
        return await self.choose(record, None, stay=True, only=only)

    async def begun(self, record: SessionRecord) -> bool:
        """Whether any agent of the session has done anything: before that there is nothing to hand over."""
        if record.handoffs_done or not record.attempt:
            return bool(record.handoffs_done)
        found: list[bool] = []
        await self.context.each(
            record.session_id, lambda page: found.append(any(r.meta.get("type") in DOING for r in page))
        )
        return any(found)

    async def look(self, record: SessionRecord, wait: Wait) -> Wait | None:
        """The wait as it stands now; None where the work can go on before its time. Who only backs off waits on.

        Where it cannot, the session is in line for each account with which others work and that it may take, unless its user
        has paused it. Where it can, it stays in line for the one that it takes: minutes may go by until it is claimed (a
        worktree's setup, a handoff's acceptance commands), and others wait for the rest of them.
        """
        if not wait.ender:
            return wait
        if wait.then == "handoff":  # it leaves who has the work, whose it would stay otherwise
            choice = await self.choose(record, None, stay=True)
        else:  # all that the agent did is read only where it makes a difference
            differs = bound(record, begun=True) and not bound(record, begun=False)
            choice = await self._turn(record, begun=differs and await self.begun(record))
        if (target := free(record, wait, choice)) is not None:
            await self.line_up([target])
            return None
        await self.line_up(() if self.context.store.now.paused else choice.busy)
        return told_anew(wait, choice)

    async def claim(self, record: SessionRecord, *, runs: bool = False) -> bool:
        """Whether the record's dispatch may be started; one that `runs` has been let through.

        No account is used by more sessions than it may be, and of all that a half-open breaker could let through, one is.
        """
        held = await self._hold(record)  # also where the claims were lost, or an older hub made none
        if runs or not held:
            return runs
        attempt = BreakerAttempt(*owner(record), record.dispatch_id, record.insisted)
        answer = await call_until_answered(self.context.breakers, attempt)
        if not answer:
            await self.give_back(record)
        return answer

    async def _hold(self, record: SessionRecord) -> bool:
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

    async def line_up(self, targets: Sequence[Target] = ()) -> None:
        """Wait for these; for none: whoever waits for a person's word holds up nobody."""
        session_id = self.context.store.now.session_id
        await call_until_answered(self.context.claims, AwaitAccounts(session_id, targets))

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
