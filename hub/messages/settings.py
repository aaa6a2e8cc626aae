"""What the settings are asked and told.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from hub.api.accounts import AccountGone, AccountNow
from hub.api.jobs import Begun
from hub.api.profiles import Profile, ProfileDone
from hub.api.providers import Chosen, KeySet, ProviderConfig
from hub.api.vision import VisionConfig, VisionDone
from hub.domain.config.reader import Config
from supervisors import Call, Cast


@attrs.frozen
class GetConfig(Call[Config]):
    """Answers the `Config` in force."""


@attrs.frozen
class ProvidersConfigured(Call[list[ProviderConfig]]):
    """How every provider is configured."""


@attrs.frozen
class GetLogins(Call[Mapping[tuple[str, str], bool | None]]):
    """Answers `{(provider, account): login}` of these providers, () = of all; True, False, or None: nobody can know."""

    providers: Sequence[str] = ()


@attrs.frozen
class GetProfiles(Call[list[Profile]]):
    """The profiles: those of `hub.toml`, then the stored ones."""


@attrs.frozen
class PutProfile(Call[ProfileDone]):
    """Store a profile under its name."""

    profile: Mapping[str, object]
    """Its plain values, under the keys of `hub.toml`."""


@attrs.frozen
class RemoveProfile(Call[ProfileDone]):
    """Forget a stored profile."""

    name: str


@attrs.frozen
class GetVision(Call[VisionConfig]):
    """`[vision]` as it is in force."""


@attrs.frozen
class PatchVision(Call[VisionDone]):
    """Change `[vision]` in `hub.toml`. Answers all of it as it then is."""

    changes: Mapping[str, object]
    """Key of the table -> value; None removes it. What is not here stays."""


@attrs.frozen
class PatchProvider(Call[Chosen]):
    """Change a provider's table in `hub.toml`. Answers what is then configured."""

    name: str
    changes: Mapping[str, object]
    """Key of the table -> value; None removes it. What is not here stays."""


@attrs.frozen
class SetKey(Call[KeySet]):
    """Put a key into `.hub/.env`, or take it out."""

    name: str
    """A provider, which means the first of its names; one of the names themselves, which means the first agent that takes
    it; or both, as in `opencode.ANTHROPIC_API_KEY`."""
    value: str = attrs.field(repr=False)
    """"" takes it out."""


@attrs.frozen
class SwitchAccount(Call[AccountNow]):
    """The next session or handoff of this provider uses this account."""

    provider: str
    label: str


@attrs.frozen
class AddAccount(Call[AccountNow]):
    """Register a login."""

    provider: str
    label: str
    config_dir: str = ""
    """"" = a directory of hub's making."""


@attrs.frozen
class RemoveAccount(Call[AccountGone]):
    """Forget a login; its directory stays."""

    provider: str
    label: str


@attrs.frozen
class InstallAgent(Call[Begun]):
    """Run the agent's documented install. Answered once it has begun."""

    name: str
    background: bool = False
    """Without a terminal: what it prints goes to the event log alone."""


@attrs.frozen
class LogIn(Call[Begun]):
    """Run the agent's own login in a terminal. Answered once it has begun."""

    provider: str
    label: str = ""
    """"" = the active account."""


@attrs.frozen
class ProviderChanged(Cast):
    """It was installed or logged in: what is known of its program is known no longer. Lost, it is known in a minute."""

    name: str


SettingsInbox = (
    AddAccount
    | GetConfig
    | GetLogins
    | GetProfiles
    | GetVision
    | InstallAgent
    | LogIn
    | PatchProvider
    | PatchVision
    | ProviderChanged
    | ProvidersConfigured
    | PutProfile
    | RemoveAccount
    | RemoveProfile
    | SetKey
    | SwitchAccount
)
