"""Providers: how they are, how they are configured; their keys, accounts, installs and logins.

Owns: the routes, and what is done besides one call.
Must not: know any one provider, answer with the value of a key, take a command from a request, or decide what a label or
a directory may be.
"""

from __future__ import annotations

from hub.api.accounts import AccountGone, AccountNow, NewAccount, WhichAccount
from hub.api.convert import unstructure
from hub.api.jobs import Begun, InstallOrder, Whom
from hub.api.providers import Chosen, KeyOrder, KeySet, Patch, ProviderConfig, ProviderStatus
from hub.domain.routing import Target
from hub.errors import Code, HubError
from hub.messages.session import GetInUse, GetProviders
from hub.messages.settings import (
    AddAccount,
    InstallAgent,
    LogIn,
    PatchProvider,
    ProvidersConfigured,
    RemoveAccount,
    SetKey,
    SwitchAccount,
)
from hub.web.context import WRITE, Context, call
from hub.web.route import get, post


def changes_of(body: Patch) -> dict[str, object]:
    """The keys that were given; a value that means "none" removes its key, so that a GET's answer can be sent back."""
    given = unstructure(body)
    none = {"declaredCap": 0, "model": "", "baseUrl": ""}
    return {key: None if value == none.get(key) else value for key, value in given.items() if key != "name"}


async def remove(context: Context, body: WhichAccount) -> AccountGone:
    """Unless the session that runs has it."""
    mine = Target(body.provider, body.label)
    records = [facts.record for facts in await context.call(GetInUse())]
    if any(mine in (one.holder, one.handoff.receiver) for one in records):
        raise HubError(
            Code.ACCOUNT_IN_USE, f"The session that runs uses {body.provider}'s account {body.label!r}."
        )
    return await context.call(RemoveAccount(body.provider, body.label), timeout=WRITE)


_FILES = frozenset({Code.NO_PERMISSION, Code.CONFIG_INVALID})
_ACCOUNT = _FILES | {Code.NOT_FOUND}
_JOB = _ACCOUNT | {Code.NO_TERMINAL, Code.AGENT_MISSING, Code.JOB_RUNNING, Code.INTERRUPTED}
ROUTES = (
    get("/api/providers", "Every provider's live status.", call(GetProviders), answer=list[ProviderStatus]),
    get(
        "/api/config/providers",
        "Every provider's configuration, accounts and probe.",
        call(ProvidersConfigured),
        answer=list[ProviderConfig],
        codes=_FILES,
    ),
    post(
        "/api/config/providers",
        "Change a provider's table in `hub.toml`; comments, order and what an editor saves meanwhile stay.",
        call(lambda body: PatchProvider(body.name, changes_of(body)), WRITE),
        given=Patch,
        answer=Chosen,
        codes=_FILES | {Code.NOT_FOUND, Code.CONFIG_CHANGED},
    ),
    post(
        "/api/providers/api-key",
        "Keep a key for an agent in `.hub/.env`; its next run has it.",
        call(lambda body: SetKey(body.name, body.value), WRITE),
        given=KeyOrder,
        answer=KeySet,
        codes=_FILES,
    ),
    post(
        "/api/providers/account",
        "Make an account the active one; the next session or handoff uses it.",
        call(lambda body: SwitchAccount(body.provider, body.label), WRITE),
        given=WhichAccount,
        answer=AccountNow,
        codes=_ACCOUNT,
    ),
    post(
        "/api/providers/account/add",
        "Register a login in a directory of its own.",
        call(lambda body: AddAccount(body.provider, body.label, body.config_dir), WRITE),
        given=NewAccount,
        answer=AccountNow,
        codes=_ACCOUNT,
    ),
    post(
        "/api/providers/account/remove",
        "Forget a login; its directory stays.",
        remove,
        codes=_ACCOUNT | {Code.ACCOUNT_IN_USE, Code.CONFIG_CHANGED},
    ),
    post(
        "/api/providers/install",
        "Run the agent's documented install, in a terminal or in the background.",
        call(lambda body: InstallAgent(body.name, body.background), WRITE),
        given=InstallOrder,
        answer=Begun,
        status=202,
        codes=_JOB,
    ),
    post(
        "/api/providers/oauth",
        "Run the agent's own login for its active account, in a terminal.",
        call(lambda body: LogIn(body.name, ""), WRITE),
        given=Whom,
        answer=Begun,
        status=202,
        codes=_JOB,
    ),
    post(
        "/api/providers/account/login",
        "Run the agent's own login against an account's directory, in a terminal.",
        call(lambda body: LogIn(body.provider, body.label), WRITE),
        given=WhichAccount,
        answer=Begun,
        status=202,
        codes=_JOB,
    ),
)
