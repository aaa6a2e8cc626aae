"""The runtime status of every provider: `GET /api/providers`.

Owns: the rows, made of the very facts that the choice of who is next is made of.
Must not: find out a fact (`routing` does), or say of one what `hub.domain.routing` does not say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hub.actors.clock import iso
from hub.actors.session.routing import Routing
from hub.domain.config.reader import Config
from hub.domain.routing import Facts, Status, Target, standing

_BEST = (Status.ACTIVE, Status.STANDBY)


async def statuses(routing: Routing) -> list[dict[str, Any]]:
    """What `GET /api/providers` serves: each provider under the account that would be chosen."""
    config, working = await routing.config(), routing.working()
    found = await routing.facts([*routing.kit.providers])
    shown = [*config.enabled_providers(routing.kit.providers)]
    if working is not None and working.provider not in shown:
        shown.append(working.provider)
    return [
        _row(routing, config, name, [f for f in found if f.provider == name], working)
        for name in shown
        if name in routing.kit.providers
    ]


def _row(
    routing: Routing, config: Config, name: str, facts: Sequence[Facts], working: Target | None
) -> dict[str, Any]:
    named = name in config.session.chain
    accounts = [_account(f, working, named=named) for f in facts]
    if working is not None and working.provider == name and working not in {f.target for f in facts}:
        accounts.append(
            {"label": working.account, "status": str(Status.ACTIVE), "reason": "", "resetsAt": None}
        )
    best = min(accounts, key=lambda row: _BEST.index(row["status"]) if row["status"] in _BEST else len(_BEST))
    return {
        "name": name,
        "displayName": routing.kit.providers[name].display_name,
        "status": best["status"],
        "account": best["label"],
        "model": config.provider(name).model,
        "reason": best["reason"],
        "resetsAt": best["resetsAt"],
        "accounts": accounts,
    }


def _account(facts: Facts, working: Target | None, *, named: bool) -> dict[str, Any]:
    status, reason = standing(facts, working, named=named)
    until = facts.until if facts.shut is not None else None
    return {
        "label": facts.account,
        "status": str(status),
        "reason": reason,
        "resetsAt": iso(until) if until is not None else None,
    }
