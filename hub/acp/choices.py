"""What the user may choose for a conversation: the agent, and the profile.

Owns: how both are offered (as options, and as modes for editors that know no options), and what was chosen.
Must not: say who begins where nobody was chosen (the daemon does), or offer who cannot work.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import attrs

from hub.api.profiles import Profile
from hub.api.providers import ProviderStatus
from hub.domain.jsonvalue import JsonObject
from hub.domain.quota.spoken import told
from hub.domain.routing import Availability
from hub.wire.frames import INVALID_PARAMS, RefusedError

AGENT, PROFILE = "agent", "profile"
_ANY = "auto"
"""Nobody is named: the configured order decides."""


@attrs.define
class SessionChoices:
    """What is offered and chosen. It holds for what begins next: an agent at work is not changed."""

    agents: dict[str, tuple[str, str]] = attrs.field(factory=dict)
    """By name: what people call it, and how it is."""
    profiles: dict[str, str] = attrs.field(factory=dict)
    """By name: the agents of its chain."""
    agent: str = ""
    profile: str = ""

    def learn(self, providers: Sequence[ProviderStatus], profiles: Sequence[Profile]) -> None:
        """Take what `GET /api/providers` and `GET /api/profiles` answer."""
        self.agents = {
            row.name: (row.display_name, _standing(row))
            for row in providers
            if row.status is not Availability.ERROR
        }
        self.profiles = {row.name: " → ".join(row.chain) for row in profiles}

    def choose(self, option: str, value: str) -> None:
        """Choose.

        Raises:
            RefusedError: There is no such option, or no such value of it.
        """
        names: dict[str, tuple[str, ...]] = {AGENT: (*self.agents,), PROFILE: (*self.profiles,)}
        offered = names.get(option)
        if offered is None:
            raise RefusedError(INVALID_PARAMS, f"There is no option {option[:40]!r}: {AGENT}, {PROFILE}.")
        if value != _ANY and value not in offered:
            known = ", ".join((_ANY, *offered))
            raise RefusedError(INVALID_PARAMS, f"There is no {option} {value[:64]!r}: {known}.")
        setattr(self, option, "" if value == _ANY else value)

    def options(self) -> list[JsonObject]:
        """As `configOptions`."""
        profiles = {name: (name, chain) for name, chain in self.profiles.items()}
        return [
            _select(
                {"id": AGENT, "name": "Agent", "category": "model"},
                self.agent,
                {_ANY: ("Automatic", "By the configured order."), **self.agents},
            ),
            _select(
                {"id": PROFILE, "name": "Profile", "category": "mode"},
                self.profile,
                {_ANY: ("Default", "No profile."), **profiles},
            ),
        ]

    def modes(self) -> JsonObject:
        """As `modes`: the profiles."""
        offered = {_ANY: "No profile.", **self.profiles}
        return {
            "currentModeId": self.profile or _ANY,
            "availableModes": [
                {"id": name, "name": "Default" if name == _ANY else name, "description": words}
                for name, words in offered.items()
            ],
        }


def _select(about: dict[str, str], chosen: str, rows: dict[str, tuple[str, str]]) -> JsonObject:
    options = [
        {"value": value, "name": title, "description": words} for value, (title, words) in rows.items()
    ]
    return {**about, "type": "select", "currentValue": chosen or _ANY, "options": options}


def _standing(row: ProviderStatus) -> str:
    """How an agent is at this moment, in one line."""
    said = f"{row.account}: {row.reason or row.status}" + (
        f", until {row.resets_at}" if row.resets_at else ""
    )
    return told(said, time.time())
