"""`GET /api/providers` and `GET /api/config/providers`.

Owns: the shapes of a provider's runtime status and of its configuration.
Must not: know any one provider.
"""

from __future__ import annotations

from typing import Literal

from hub.web.backend import Backend, JsonArray
from hub.web.route import NoQuery, get
from hub.web.schema import Answer, Timestamp


class ProviderStatus(Answer, frozen=True, kw_only=True):
    """A provider as it is at this moment."""

    name: str
    display_name: str
    status: Literal["active", "standby", "exhausted", "error"]
    account: str
    model: str
    reason: str
    resets_at: Timestamp | None


class Install(Answer, frozen=True, kw_only=True):
    """Whether the agent's program is there, and how to get it."""

    installed: bool
    version: str
    path: str
    command: str


class Login(Answer, frozen=True, kw_only=True):
    """Whether the agent is logged in, and how to do it."""

    logged_in: bool
    method: str
    login_command: str


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


async def providers(backend: Backend, _: NoQuery) -> JsonArray:
    """Every provider's live status."""
    return await backend.providers()


async def configuration(backend: Backend, _: NoQuery) -> JsonArray:
    """Every provider's configuration, accounts and probe."""
    return await backend.config_providers()


ROUTES = (
    get("/api/providers", providers, answer=list[ProviderStatus]),
    get("/api/config/providers", configuration, answer=list[ProviderConfig]),
)
