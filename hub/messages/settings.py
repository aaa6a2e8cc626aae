"""What the settings are asked and told.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from hub.domain.config.reader import Config
from hub.domain.jsonvalue import JsonArray, JsonObject
from supervisors import Call


@attrs.frozen
class GetConfig(Call[Config]):
    """Answers the `Config` in force."""


@attrs.frozen
class ProvidersConfigured(Call[JsonArray]):
    """Answers what `GET /api/config/providers` serves."""


@attrs.frozen
class GetLogins(Call[Mapping[tuple[str, str], bool | None]]):
    """Answers `{(provider, account): login}` of these providers, () = of all; True, False, or None: nobody can know."""

    providers: Sequence[str] = ()


@attrs.frozen
class GetProfiles(Call[JsonArray]):
    """Answers what `GET /api/profiles` serves."""


@attrs.frozen
class PutProfile(Call[JsonObject]):
    """Store a profile under its name. Answers it."""

    profile: Mapping[str, Any]
    """Its plain values, under the keys of `hub.toml`."""


@attrs.frozen
class RemoveProfile(Call[JsonObject]):
    """Forget a stored profile. Answers `{name}`."""

    name: str


@attrs.frozen
class GetVision(Call[JsonObject]):
    """Answers what `GET /api/vision/config` serves."""


@attrs.frozen
class PatchVision(Call[JsonObject]):
    """Change `[vision]` in `hub.toml`. Answers all of it as it then is."""

    changes: Mapping[str, Any]
    """Key of the table -> value; None removes it. What is not here stays."""


@attrs.frozen
class PatchProvider(Call[JsonObject]):
    """Change a provider's table in `hub.toml`. Answers `{name, enabled, declaredCap, model, baseUrl}` as they then are."""

    name: str
    changes: Mapping[str, Any]
    """Key of the table -> value; None removes it. What is not here stays."""


@attrs.frozen
class SetKey(Call[JsonObject]):
    """Put a key into `.hub/.env`, or take it out. Answers `{provider, name, set}`."""

    name: str
    """A provider, which means the first of its names; one of the names themselves, which means the first agent that takes
    it; or both, as in `opencode.ANTHROPIC_API_KEY`."""
    value: str = attrs.field(repr=False)
    """"" takes it out."""


@attrs.frozen
class SwitchAccount(Call[JsonObject]):
    """The next session or handoff of this provider uses this account. Answers it; see `AddAccount`."""

    provider: str
    label: str


@attrs.frozen
class AddAccount(Call[JsonObject]):
    """Register a login. Answers `{provider, label, active, configDir, loggedIn, activeAccount}`."""

    provider: str
    label: str
    config_dir: str = ""
    """"" = a directory of hub's making."""


@attrs.frozen
class RemoveAccount(Call[JsonObject]):
    """Forget a login; its directory stays. Answers `{provider, label, configDir, activeAccount}`."""

    provider: str
    label: str


@attrs.frozen
class Install(Call[JsonObject]):
    """Run the agent's documented install. Answers `{job, provider, command, terminal}` once it has begun."""

    name: str
    background: bool = False
    """Without a terminal: what it prints goes to the event log alone."""


@attrs.frozen
class LogIn(Call[JsonObject]):
    """Run the agent's own login in a terminal. Answers as `Install`, with the `account`."""

    provider: str
    label: str = ""
    """"" = the active account."""


@attrs.frozen
class ProviderChanged:
    """It was installed or logged in: what is known of its program is known no longer. Lost, it is known in a minute."""

    name: str
