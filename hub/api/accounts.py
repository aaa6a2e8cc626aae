"""The accounts of the providers: added, chosen, forgotten.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from hub.api.base import Done
from hub.api.meta import Label, Meta, ProviderName
from hub.api.providers import ProviderAccount

Folder = Annotated[
    str,
    Meta(
        max_length=4096,
        description='Absolute, or below ~/, outside the project, yours alone; "" = one of hub\'s making.',
    ),
]


@attrs.frozen(kw_only=True)
class WhichAccount:
    """One account."""

    provider: ProviderName
    label: Label


@attrs.frozen(kw_only=True)
class NewAccount(WhichAccount):
    """A login to register."""

    config_dir: Folder = ""


@attrs.frozen(kw_only=True)
class AccountNow(ProviderAccount):
    """The account as it is from here on."""

    ok: Literal[True] = True
    provider: str
    active_account: str


@attrs.frozen(kw_only=True)
class AccountGone(Done):
    """The account that was forgotten, and where its directory stays."""

    provider: str
    label: str
    config_dir: str
    active_account: str
