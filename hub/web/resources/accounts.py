"""The accounts of the providers: added, chosen, forgotten.

Owns: the bodies these take and the shapes they answer.
Must not: decide what a label or a directory may be.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from hub.domain.jsonvalue import JsonObject
from hub.errors import Code
from hub.web.backend import Backend
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


async def switch(backend: Backend, body: Which) -> JsonObject:
    """Make an account the active one; the next session or handoff uses it."""
    return {"ok": True, **await backend.switch_account(body.provider, body.label)}


async def add(backend: Backend, body: NewAccount) -> JsonObject:
    """Register a login in a directory of its own."""
    return {"ok": True, **await backend.add_account(body.provider, body.label, body.config_dir)}


async def remove(backend: Backend, body: Which) -> JsonObject:
    """Forget a login; its directory stays."""
    return {"ok": True, **await backend.remove_account(body.provider, body.label)}


_CODES = frozenset({Code.NOT_FOUND, Code.CONFIG_INVALID, Code.NO_PERMISSION})

ROUTES = (
    post("/api/providers/account", switch, body=Which, answer=AccountNow, codes=_CODES),
    post("/api/providers/account/add", add, body=NewAccount, answer=AccountNow, codes=_CODES),
    post(
        "/api/providers/account/remove",
        remove,
        body=Which,
        answer=AccountGone,
        codes=_CODES | {Code.ACCOUNT_IN_USE, Code.CONFIG_CHANGED},
    ),
)
