"""The accounts of the providers: added, chosen, forgotten.

Owns: the bodies these take and the shapes they answer.
Must not: decide what a label or a directory may be.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from hub.domain.jsonvalue import JsonObject
from hub.errors import Code, HubError
from hub.messages import AddAccount, GetSessionFacts, RemoveAccount, SwitchAccount
from hub.web.context import WRITE, Context, call
from hub.web.resources.providers import ProviderAccount, ProviderName
from hub.web.route import post
from hub.web.schema import Body, Done

Label = Annotated[str, Meta(min_length=1, max_length=64, description="Printable, no space at an end.")]
Folder = Annotated[
    str,
    Meta(
        max_length=4096,
        description='Absolute, or below ~/, outside the project, yours alone; "" = one of hub\'s making.',
    ),
]


class Which(Body, frozen=True, kw_only=True):
    """One account."""

    provider: ProviderName
    label: Label


class NewAccount(Which, frozen=True, kw_only=True):
    """A login to register."""

    config_dir: Folder = ""


class AccountNow(ProviderAccount, frozen=True, kw_only=True):
    """The account as it is from here on."""

    ok: bool
    provider: str
    active_account: str


class AccountGone(Done, frozen=True, kw_only=True):
    """The account that was forgotten, and where its directory stays."""

    provider: str
    label: str
    config_dir: str
    active_account: str


async def remove(context: Context, body: Which) -> JsonObject:
    """Unless the session that runs has it."""
    facts = await context.call(GetSessionFacts())
    if facts["active"] and [body.provider, body.label] in facts["accounts"]:
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
        body=Which,
        answer=AccountNow,
        codes=_CODES,
    ),
    post(
        "/api/providers/account/add",
        "Register a login in a directory of its own.",
        call(lambda body: AddAccount(body.provider, body.label, body.config_dir), WRITE),
        body=NewAccount,
        answer=AccountNow,
        codes=_CODES,
    ),
    post(
        "/api/providers/account/remove",
        "Forget a login; its directory stays.",
        remove,
        body=Which,
        answer=AccountGone,
        codes=_CODES | {Code.ACCOUNT_IN_USE, Code.CONFIG_CHANGED},
    ),
)
