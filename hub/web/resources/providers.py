"""Providers: how they are, how they are configured, and their keys.

Owns: the shapes of a provider's runtime status and of its configuration, and what changes it.
Must not: know any one provider, or answer with the value of a key.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hub.errors import Code
from hub.messages import GetProviders, PatchProvider, ProvidersConfigured, SetKey
from hub.web.context import WRITE, call
from hub.web.route import get, post
from hub.web.schema import MAX_SAFE_INTEGER, Answer, Body, Done, Timestamp

ProviderName = Annotated[
    str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9._-]+$(?!\n)", description="As in hub.toml.")
]
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
Key = Annotated[
    str,
    Meta(
        max_length=16_384,
        pattern=r"^[^\u0000\r\n]*$(?!\n)",
        description='One line; "" takes the key out. Never shown again.',
    ),
]


class AccountStatus(Answer, frozen=True, kw_only=True):
    """One of its accounts as it is at this moment."""

    label: str
    status: Literal["active", "standby", "exhausted", "error"]
    reason: str
    resets_at: Timestamp | None


class ProviderStatus(Answer, frozen=True, kw_only=True):
    """A provider as it is at this moment: by the account that works, or that would be chosen."""

    name: str
    display_name: str
    status: Literal["active", "standby", "exhausted", "error"]
    account: str
    model: str
    reason: str
    resets_at: Annotated[Timestamp | None, Meta(description="When it may be chosen again.")]
    accounts: Annotated[list[AccountStatus], Meta(description="Each of its accounts, the active one first.")]


class Install(Answer, frozen=True, kw_only=True):
    """Whether the agent's program is there, and how to get it."""

    installed: bool
    version: str
    path: str
    command: str


class Login(Answer, frozen=True, kw_only=True):
    """Whether the agent is logged in, and how to do it."""

    logged_in: bool
    method: Annotated[
        str,
        Meta(
            description="`key` (in .hub/.env or hub.toml), `oauth`, `stored_key` (the agent keeps it), or empty."
        ),
    ]
    login_command: str
    expires_at: Annotated[
        Timestamp | None, Meta(description="Of a login that the agent does not renew by itself.")
    ]
    key_names: Annotated[list[str], Meta(description="The variables that it takes a key from.")]
    keys: Annotated[
        list[str],
        Meta(
            description="Those for which .hub/.env holds a key that is given to this agent, and to no other."
        ),
    ]


class Probe(Answer, frozen=True, kw_only=True):
    """The last check of the provider."""

    ok: bool
    detail: str
    latency_ms: int
    checked_at: Timestamp


class ProviderAccount(Answer, frozen=True, kw_only=True):
    """One login."""

    label: str
    active: bool
    config_dir: str
    logged_in: bool


class ProviderConfig(Answer, frozen=True, kw_only=True):
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


class Chosen(Done, frozen=True, kw_only=True):
    """What is configured for a provider from here on."""

    name: str
    enabled: bool
    declared_cap: int
    model: str
    base_url: str


class Patch(Body, frozen=True, kw_only=True):
    """What to change in a provider's table of `hub.toml`; what is left out stays, null removes the key."""

    name: ProviderName
    enabled: bool | UnsetType | None = UNSET
    declared_cap: Cap | UnsetType | None = UNSET
    model: Model | UnsetType | None = UNSET
    base_url: BaseUrl | UnsetType | None = UNSET


class KeyOrder(Body, frozen=True, kw_only=True):
    """A key for an agent."""

    name: Annotated[
        ProviderName,
        Meta(
            description="A provider; one of the variables it takes its key from, for the first agent that takes it; "
            "or both, as in opencode.ANTHROPIC_API_KEY."
        ),
    ]
    value: Key


class KeySet(Done, frozen=True, kw_only=True):
    """Where the key is kept."""

    provider: str
    name: str
    set: bool


def changes_of(body: Patch) -> dict[str, Any]:
    """The keys that were given; a value that means "none" removes its key, so that a GET's answer can be sent back."""
    given = msgspec.to_builtins(body)
    none = {"declaredCap": 0, "model": "", "baseUrl": ""}
    return {key: None if value == none.get(key) else value for key, value in given.items() if key != "name"}


_FILES = frozenset({Code.NO_PERMISSION, Code.CONFIG_INVALID})

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
        body=Patch,
        answer=Chosen,
        codes=_FILES | {Code.NOT_FOUND, Code.CONFIG_CHANGED},
    ),
    post(
        "/api/providers/api-key",
        "Keep a key for an agent in `.hub/.env`; its next run has it.",
        call(lambda body: SetKey(body.name, body.value), WRITE),
        body=KeyOrder,
        answer=KeySet,
        codes=_FILES,
    ),
)
