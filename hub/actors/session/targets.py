"""Whom the work may go to: what is installed, allowed and not used up.

Owns: the runtime status of every provider, and the question to the pure chain rule.
Must not: order the chain itself (`hub.domain.profile` does), or remember anything a restart needs.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import trio

from hub.actors.clock import iso
from hub.actors.insist import insist
from hub.actors.session.kit import Kit
from hub.actors.session.owner import owner
from hub.domain.config.reader import Config
from hub.domain.failure import FailureClass
from hub.domain.handoff import State
from hub.domain.profile import ProviderStatus, Status, Target, chain, next_target
from hub.domain.quota.wallet import Prospect, wall
from hub.domain.quota.window import FULL, QuotaReading
from hub.domain.rules import unenforceable
from hub.domain.session import LeftOut, SessionRecord
from hub.errors import Code, HubError
from hub.messages import BreakerClosed, GetConfig, GetLoggedOut, GetProspects, Shut
from hub.providers.base import INSTALL_ANY, install_hint, login_hint
from supervisors import ActorDied

_PATIENCE = 5.0
"""Seconds to wait for a forecast: without one the threshold alone decides."""
_NARROW = "Take another agent, or give the rule the `provider` or the `tool` it is meant for."
_NEVER_AGAIN = frozenset({"auth", "dispatch_failed", "verify_failed"})
"""Ways to leave a task after which the same provider and account is not asked again within it."""


@attrs.define
class Targets:
    """The session's view of the providers."""

    kit: Kit

    async def refresh_config(self) -> None:
        """Take the configuration in force.

        Raises:
            HubError: `config_invalid`, with line and column; the last valid one stays in use.
        """
        self.kit.config = await insist(self.kit.settings, GetConfig())

    async def refresh_accounts(self) -> None:
        """Take the accounts as they are: the user may have switched since the session began. Nothing else changes."""
        with contextlib.suppress(HubError):
            fresh: Config = await insist(self.kit.settings, GetConfig())
            self.kit.config = self.kit.config.with_accounts_of(fresh)

    def installed(self, name: str) -> bool:
        """Whether the provider's program can be started."""
        provider = self.kit.providers.get(name)
        if provider is None:
            return False
        program = self.kit.config.provider(name).program or provider.program
        return shutil.which(program) is not None

    def unheld(self, name: str) -> str:
        """Why its agent cannot be held to the rules of `[[approvals]]`; "" = it can, or no rule is about its tools."""
        options = self.kit.config.provider(name).options
        unasked = self.kit.providers[name].unasked(options)
        return unenforceable(self.kit.config.approvals, name, unasked)

    def _fit(self, name: str) -> bool:
        return self.installed(name) and not self.unheld(name)

    def known(self, logged_out: Collection[str] = ()) -> list[ProviderStatus]:
        """Every enabled provider; one that is not installed, logged out, or must ask and cannot, is in error."""
        config = self.kit.config
        return [
            ProviderStatus(
                name,
                Status.STANDBY if self._fit(name) and name not in logged_out else Status.ERROR,
                tuple(account.label for account in config.accounts(name)),
            )
            for name in config.enabled_providers(self.kit.providers)
        ]

    async def logged_out(self) -> frozenset[str]:
        """Who is sure to have no login; nobody, while the settings are not there to tell."""
        try:
            answer: frozenset[str] = await self.kit.settings.call(GetLoggedOut(), timeout=_PATIENCE)
        except (ActorDied, trio.TooSlowError, HubError):
            return frozenset()
        return answer

    def left_out(
        self, logged_out: Collection[str], *, provider: str, profile: str, fallback: Sequence[str] = ()
    ) -> tuple[LeftOut, ...]:
        """Who could be in the chain of `chain_for` had they a login; nobody, where the order was named."""
        if fallback or self.kit.config.profile_chain(profile) or self.kit.config.session.chain:
            return ()
        names = self.kit.config.enabled_providers(self.kit.providers)
        out = [name for name in names if name in logged_out and name != provider and self._fit(name)]
        return tuple(LeftOut(name, "not logged in", login_hint(self.kit.providers[name])) for name in out)

    def chain_for(
        self,
        *,
        provider: str,
        profile: str,
        fallback: Sequence[str] = (),
        logged_out: Collection[str] = (),
    ) -> tuple[str, ...]:
        """Provider names in order of priority for a new session, the wanted one first.

        With a `fallback` the order is the wanted one and these, and nobody else. Whoever is named anywhere is in it,
        login or not: the user may know of one that hub cannot see.

        Raises:
            HubError: Nobody is there to work, or a named one is unknown or not installed.
        """
        config = self.kit.config
        named = (provider, *fallback) if fallback else config.profile_chain(profile)
        order = chain(named, config.session.chain, self.known(logged_out))
        names = [target.provider for target in order if self._fit(target.provider)]
        if provider:
            if provider not in self.kit.providers:
                known = f"Known: {', '.join(self.kit.providers)}."
                raise HubError(Code.INVALID, f"There is no provider {provider!r}.", hint=known)
            if not self.installed(provider):
                raise HubError(
                    Code.AGENT_MISSING, f"{provider} is not installed.", hint=self._install_hint(provider)
                )
            if why := self.unheld(provider):
                raise HubError(Code.INVALID, f"{provider} {why}", hint=_NARROW)
            names = [provider, *(n for n in names if n != provider)]
        if not names:
            raise self._nobody(self.left_out(logged_out, provider=provider, profile=profile))
        return tuple(names)

    def _nobody(self, left_out: Sequence[LeftOut]) -> HubError:
        if not left_out:
            return HubError(Code.AGENT_MISSING, "No agent is enabled and installed.", hint=INSTALL_ANY)
        names = ", ".join(out.provider for out in left_out)
        detail = f"No agent that is enabled and installed is logged in: {names}."
        return HubError(Code.AUTH_NEEDED, detail, hint=left_out[0].hint)

    def _install_hint(self, name: str) -> str:
        return install_hint(self.kit.providers[name])

    async def blocked(self) -> Mapping[tuple[str, str], float]:
        """Provider and account pairs whose breaker is open, with the instant each may be tried again."""
        return {key: shut.until for key, shut in (await self._shut()).items()}

    async def _shut(self) -> Mapping[tuple[str, str], Shut]:
        answer: Mapping[tuple[str, str], Shut] = await insist(self.kit.breakers, BreakerClosed())
        return answer

    async def prospects(
        self, reading: QuotaReading | None = None
    ) -> Mapping[tuple[str, str], list[Prospect]]:
        """What is known of every account's windows; nothing, while the quota actor is not there to tell."""
        readings = () if reading is None else (reading,)
        try:
            answer: Mapping[tuple[str, str], list[Prospect]] = await self.kit.quota.call(
                GetProspects(readings), timeout=_PATIENCE
            )
        except (ActorDied, trio.TooSlowError, HubError):
            return {}
        return answer

    async def wall(self, record: SessionRecord, reading: QuotaReading) -> QuotaReading | None:
        """The window because of which the work must be handed over, now that `reading` is at the threshold.

        The forecast may say that it lasts until it begins anew; where there is none, the threshold alone decides.
        """
        prospects = (await self.prospects(reading)).get(owner(record))
        if not prospects:
            return reading
        return wall(prospects, record.threshold, self.kit.clock())

    async def _worn(self, record: SessionRecord) -> set[Target]:
        """Whose quota is at the threshold too: they would hand the work on at once."""
        limit = round(record.threshold * FULL)
        return {
            Target(*key)
            for key, prospects in (await self.prospects()).items()
            if any(p.reading.used_permille >= limit for p in prospects)
        }

    async def next(
        self, record: SessionRecord, failure: FailureClass | None, *, fresh: bool = False
    ) -> Target | None:
        """Who goes on after the record's provider; None when nobody can now.

        Accounts whose own quota is below the threshold come first; with `fresh` there are no others.
        """
        await self.refresh_accounts()
        barred = {Target(*key) for key in await self.blocked()}
        barred |= {Target(a.provider, a.account) for a in record.tried if a.failure in _NEVER_AGAIN}
        barred |= _gave_up(record)
        accounts = {p.name: p.accounts for p in self.known() if p.status is not Status.ERROR}
        order = [Target(name, accounts[name][0]) for name in record.chain if name in accounts]
        choose = partial(
            next_target,
            Target(record.provider, record.account),
            order,
            accounts,
            failure=failure,
            refused_by=record.refused_by,
        )
        found = choose(barred | await self._worn(record))
        return found if found is not None or fresh else choose(barred)

    async def earliest_reset(self, record: SessionRecord) -> float | None:
        """When the first of the chain may be tried again; None when waiting helps nobody."""
        blocked = await self.blocked()
        times = [
            at for (name, _), at in blocked.items() if name in record.chain and name not in record.refused_by
        ]
        return min(times, default=None)

    async def statuses(self) -> list[dict[str, Any]]:
        """What `GET /api/providers` serves."""
        shut = await self._shut()
        logged_out = await self.logged_out()
        working = self._working()
        rows = []
        for name in self.kit.config.enabled_providers(self.kit.providers):
            account = self.kit.config.accounts(name)[0].label
            if working is not None and working.provider == name:
                account = working.account
            breaker = shut.get((name, account))
            if not self.installed(name):
                status, reason = Status.ERROR, "not installed"
            elif why := self.unheld(name):
                status, reason = Status.ERROR, f"it {why}"
            elif working == Target(name, account):
                status, reason = Status.ACTIVE, ""
            elif name in logged_out and name not in self.kit.config.session.chain:
                status, reason = Status.ERROR, "not logged in"
            elif breaker is not None and breaker.limited:
                status, reason = Status.EXHAUSTED, "its usage limit is reached"
            elif breaker is not None:
                status, reason = Status.ERROR, "it failed too often; its circuit breaker is open"
            else:
                status, reason = Status.STANDBY, ""
            rows.append(
                {
                    "name": name,
                    "displayName": self.kit.providers[name].display_name,
                    "status": str(status),
                    "account": account,
                    "model": self.kit.config.provider(name).model,
                    "reason": reason,
                    "resetsAt": iso(breaker.until) if breaker is not None else None,
                }
            )
        return rows

    def _working(self) -> Target | None:
        """Whose agent is up at this moment."""
        record, live = self.kit.ledger.record, self.kit.board.agent
        if record is None or live is None or live.exit is not None:
            return None
        return Target(*owner(record))


def _gave_up(record: SessionRecord) -> set[Target]:
    """Receivers that did not take over in the handoff under way: those tried since the outgoing agent was left."""
    found: set[Target] = set()
    if record.state is State.RUNNING:
        return found
    for attempt in reversed(record.tried):
        if (attempt.provider, attempt.account) == (record.provider, record.account):
            break
        found.add(Target(attempt.provider, attempt.account))
    return found
