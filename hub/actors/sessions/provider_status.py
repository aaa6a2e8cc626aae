"""The runtime status of every provider: `GET /api/providers`.

Owns: the rows, made of the very facts that the choice of who is next is made of.
Must not: find out a fact (`routing` does), or say of one what `hub.domain.routing` does not say.
"""

from __future__ import annotations

from collections.abc import Sequence

from hub.actors.session.routing import Routing
from hub.api.providers import AccountStatus, ProviderStatus
from hub.domain.config.reader import Config
from hub.domain.routing import AccountFacts, Availability, Target, standing
from hub.domain.wallclock import iso

_BEST = (Availability.ACTIVE, Availability.STANDBY)


async def statuses(routing: Routing, working: Sequence[Target]) -> list[ProviderStatus]:
    """Each provider under the account that would be chosen.

    Args:
        routing: Where the facts come from.
        working: Whose agents are up.
    """
    config = await routing.config()
    found = await routing.facts([*routing.context.providers])
    shown = [*config.enabled_providers(routing.context.providers)]
    shown += dict.fromkeys(target.provider for target in working if target.provider not in shown)
    return [
        _row(routing, config, name, [f for f in found if f.provider == name], working)
        for name in shown
        if name in routing.context.providers
    ]


def _row(
    routing: Routing, config: Config, name: str, facts: Sequence[AccountFacts], working: Sequence[Target]
) -> ProviderStatus:
    named = name in config.session.chain
    accounts = [_account(f, working, named=named) for f in facts]
    known = {f.target for f in facts}
    accounts += [
        AccountStatus(label=target.account, status=Availability.ACTIVE, reason="", resets_at=None)
        for target in working
        if target.provider == name and target not in known
    ]
    best = min(accounts, key=lambda row: _BEST.index(row.status) if row.status in _BEST else len(_BEST))
    return ProviderStatus(
        name=name,
        display_name=routing.context.providers[name].display_name,
        status=best.status,
        account=best.label,
        model=config.provider(name).model,
        reason=best.reason,
        resets_at=best.resets_at,
        accounts=accounts,
    )


def _account(facts: AccountFacts, working: Sequence[Target], *, named: bool) -> AccountStatus:
    status, reason = standing(facts, working, named=named)
    until = facts.until if facts.shut is not None else None
    resets_at = iso(until) if until is not None else None
    return AccountStatus(label=facts.account, status=status, reason=reason, resets_at=resets_at)
