"""The accounts of the providers: added, chosen, forgotten.

Owns: the routes, and what is done besides one call.
Must not: decide what a label or a directory may be.
"""

from __future__ import annotations

from hub.api.accounts import AccountGone, AccountNow, NewAccount, WhichAccount
from hub.domain.routing import Target
from hub.errors import Code, HubError
from hub.messages import AddAccount, GetInUse, RemoveAccount, SwitchAccount
from hub.web.context import WRITE, Context, call
from hub.web.route import post


async def remove(context: Context, body: WhichAccount) -> AccountGone:
    """Unless the session that runs has it."""
    mine = Target(body.provider, body.label)
    if any(mine in facts.accounts for facts in await context.call(GetInUse())):
        raise HubError(
            Code.ACCOUNT_IN_USE, f"The session that runs uses {body.provider}'s account {body.label!r}."
        )
    return await context.call(RemoveAccount(body.provider, body.label), timeout=WRITE)


_CODES = frozenset({Code.NOT_FOUND, Code.CONFIG_INVALID, Code.NO_PERMISSION})
ROUTES = (
    post(
        "/api/providers/account",
        "Make an account the active one; the next session or handoff uses it.",
        call(lambda body: SwitchAccount(body.provider, body.label), WRITE),
        given=WhichAccount,
        answer=AccountNow,
        codes=_CODES,
    ),
    post(
        "/api/providers/account/add",
        "Register a login in a directory of its own.",
        call(lambda body: AddAccount(body.provider, body.label, body.config_dir), WRITE),
        given=NewAccount,
        answer=AccountNow,
        codes=_CODES,
    ),
    post(
        "/api/providers/account/remove",
        "Forget a login; its directory stays.",
        remove,
        given=WhichAccount,
        answer=AccountGone,
        codes=_CODES | {Code.ACCOUNT_IN_USE, Code.CONFIG_CHANGED},
    ),
)
