"""What the settings are asked and told.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs


@attrs.frozen
class GetConfig:
    """Answers the `Config` in force."""


@attrs.frozen
class ProvidersConfigured:
    """Answers what `GET /api/config/providers` serves."""


@attrs.frozen
class GetLoggedOut:
    """Answers the set of the providers whose active account is sure to have no login."""


@attrs.frozen
class GetProfiles:
    """Answers what `GET /api/profiles` serves."""


@attrs.frozen
class PutProfile:
    """Store a profile under its name. Answers it."""

    profile: Mapping[str, Any]
    """Its plain values, under the keys of `hub.toml`."""


@attrs.frozen
class RemoveProfile:
    """Forget a stored profile. Answers `{name}`."""

    name: str


@attrs.frozen
class GetVision:
    """Answers what `GET /api/vision/config` serves."""


@attrs.frozen
class PatchVision:
    """Change `[vision]` in `hub.toml`. Answers all of it as it then is."""

    changes: Mapping[str, Any]
    """Key of the table -> value; None removes it. What is not here stays."""


@attrs.frozen
class PatchProvider:
    """Change a provider's table in `hub.toml`. Answers `{name, enabled, declaredCap, model, baseUrl}` as they then are."""

    name: str
    changes: Mapping[str, Any]
    """Key of the table -> value; None removes it. What is not here stays."""


@attrs.frozen
class SetKey:
    """Put a key into `.hub/.env`, or take it out. Answers `{provider, name, set}`."""

    name: str
    """A provider, which means the first of its names; or one of the names themselves."""
    value: str = attrs.field(repr=False)
    """"" takes it out."""


@attrs.frozen
class SwitchAccount:
    """The next session or handoff of this provider uses this account. Answers it; see `AddAccount`."""

    provider: str
    label: str


@attrs.frozen
class AddAccount:
    """Register a login. Answers `{provider, label, active, configDir, loggedIn, activeAccount}`."""

    provider: str
    label: str
    config_dir: str = ""
    """"" = a directory of hub's making."""


@attrs.frozen
class RemoveAccount:
    """Forget a login; its directory stays. Answers `{provider, label, configDir, activeAccount}`."""

    provider: str
    label: str


@attrs.frozen
class Install:
    """Run the agent's documented install. Answers `{job, provider, command, terminal}` once it has begun."""

    name: str
    background: bool = False
    """Without a terminal: what it prints goes to the event log alone."""


@attrs.frozen
class LogIn:
    """Run the agent's own login in a terminal. Answers as `Install`, with the `account`."""

    provider: str
    label: str = ""
    """"" = the active account."""


@attrs.frozen
class ProviderChanged:
    """It was installed or logged in: what is known of its program is known no longer. Lost, it is known in a minute."""

    name: str
