"""The agents' keys in `.hub/.env`.

Owns: whose key is meant by a name.
Must not: read a key, or let its value into an answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from hub.api.providers import KEY_PATTERN, KeySet
from hub.domain.missing import invalid_field
from hub.errors import HubError
from hub.io.config.patch import Watch, unwatched
from hub.io.project.places import Places
from hub.io.secrets.agent_keys import kept_as
from hub.io.secrets.dotenv import every_value, write_env
from hub.messages.settings import SetKey
from hub.providers.provider import Provider


@attrs.frozen
class KeyFile:
    """Reads and writes a file: to be called in a thread."""

    places: Places
    providers: Mapping[str, Provider]
    follow: Watch = unwatched

    def put(self, order: SetKey) -> KeySet:
        """Keep a key for one agent, or take it out.

        Raises:
            HubError: `invalid`; no agent takes a key by that name, or the value is none that the API takes.
        """
        if not re.search(KEY_PATTERN, order.value):  # it comes from the command line too
            raise invalid_field("value", "A key is one line of ASCII, with no blank at its ends.")
        provider, variable = self._owner(order.name)
        place = kept_as(provider.name, variable, self.providers)
        before = every_value(self.places.dotenv)
        write_env(self.places.dotenv, place, order.value or None, [*self._names(), place])
        after = {name: value for name, value in before.items() if name != place}
        self.follow(before, {**after, **({place: order.value} if order.value else {})})
        return KeySet(provider=provider.name, name=variable, set=bool(order.value))

    def _owner(self, name: str) -> tuple[Provider, str]:
        """Whose key is meant, and the variable it stands in; for a provider it is the first of its names."""
        agent, _, variable = name.rpartition(".")
        if name in self.providers:
            provider = self.providers[name]
            if not provider.key_names:
                raise self._refused(f"{name} takes no key.")
            return provider, provider.key_names[0]
        if agent in self.providers and variable in self.providers[agent].key_names:
            return self.providers[agent], variable
        for provider in self.providers.values():
            if name in provider.key_names:
                return provider, name
        raise self._refused(f"{name[:64]!r} is no provider, and no name that a provider takes its key from.")

    def _refused(self, why: str) -> HubError:
        allowed = f"Allowed: {', '.join(self._names())}."
        return invalid_field("name", why, allowed)

    def _names(self) -> list[str]:
        return sorted({name for provider in self.providers.values() for name in provider.key_names})
