"""Providers: how they are, how they are configured, and their keys.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.api.base import Done
from hub.api.meta import MAX_SAFE_INTEGER, UNSET, Meta, ProviderName, Timestamp, Unset
from hub.domain.routing import Availability

Cap = Annotated[
    int,
    Meta(ge=0, le=MAX_SAFE_INTEGER, description="Tokens of a quota the provider does not tell; 0 = none."),
]
Model = Annotated[
    str,
    Meta(
        max_length=200,
        pattern=r"^(?!-)[^\u0000-\u001f\u007f]*$(?!\n)",
        description='One line that does not begin with -: an agent would take it for an option; "" = its own.',
    ),
]
BaseUrl = Annotated[
    str,
    Meta(
        max_length=2000,
        pattern=r"^(https?://[^\s/?#@]+([/?#]\S*)?)?$(?!\n)",
        description='An http or https URL without a login in it; "" = the agent\'s own.',
    ),
]
KEY_PATTERN = r"^([!-~]([ -~]*[!-~])?)?$(?!\n)"
Key = Annotated[
    str,
    Meta(
        max_length=16_384,
        pattern=KEY_PATTERN,
        description='One line of ASCII, no blank at its ends; "" takes the key out. Never shown again.',
    ),
]


@attrs.frozen(kw_only=True)
class AccountStatus:
    """One of its accounts as it is at this moment."""

    label: str
    status: Availability
    reason: str
    resets_at: Timestamp | None


@attrs.frozen(kw_only=True)
class ProviderStatus:
    """A provider as it is at this moment: by the account that works, or that would be chosen."""

    name: str
    display_name: str
    status: Availability
    account: str
    model: str
    reason: str
    resets_at: Annotated[Timestamp | None, "When it may be chosen again."]
    accounts: Annotated[list[AccountStatus], "Each of its accounts, the active one first."]


@attrs.frozen(kw_only=True)
class Install:
    """Whether the agent's program is there, and how to get it."""

    installed: bool
    version: str
    path: str
    command: str


@attrs.frozen(kw_only=True)
class Login:
    """Whether the agent is logged in, and how to do it."""

    logged_in: bool
    method: Annotated[
        str, "`key` (in .hub/.env or hub.toml), `oauth`, `stored_key` (the agent keeps it), or empty."
    ]
    login_command: str
    expires_at: Annotated[Timestamp | None, "Of a login that the agent does not renew by itself."]
    key_names: Annotated[list[str], "The variables that it takes a key from."]
    keys: Annotated[
        list[str], "Those for which .hub/.env holds a key that is given to this agent, and to no other."
    ]


@attrs.frozen(kw_only=True)
class Probe:
    """The last check of the provider."""

    ok: bool
    detail: str
    latency_ms: int
    checked_at: Timestamp


@attrs.frozen(kw_only=True)
class ProviderAccount:
    """One login."""

    label: str
    active: bool
    config_dir: str
    logged_in: bool


@attrs.frozen(kw_only=True)
class ProviderConfig:
    """A provider as it is configured."""

    name: str
    display_name: str
    enabled: bool
    declared_cap: int
    model: str
    base_url: str
    install: Install
    auth: Login
    capabilities: dict[str, bool]
    probe: Probe | None
    accounts: list[ProviderAccount]
    active_account: str


@attrs.frozen(kw_only=True)
class Chosen(Done):
    """What is configured for a provider from here on."""

    name: str
    enabled: bool
    declared_cap: int
    model: str
    base_url: str


@attrs.frozen(kw_only=True)
class Patch:
    """What to change in a provider's table of `hub.toml`; what is left out stays, null removes the key."""

    name: ProviderName
    enabled: bool | Unset | None = UNSET
    declared_cap: Cap | Unset | None = UNSET
    model: Model | Unset | None = UNSET
    base_url: BaseUrl | Unset | None = UNSET


@attrs.frozen(kw_only=True)
class KeyOrder:
    """A key for an agent."""

    name: Annotated[
        ProviderName,
        "A provider; one of the variables it takes its key from, for the first agent that takes it; "
        "or both, as in opencode.ANTHROPIC_API_KEY.",
    ]
    value: Key


@attrs.frozen(kw_only=True)
class KeySet(Done):
    """Where the key is kept."""

    provider: str
    name: str
    set: bool
