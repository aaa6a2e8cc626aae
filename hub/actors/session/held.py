"""The secrets that hub itself holds, which nobody may see wherever they turn up.

Owns: which values these are: hub's own keys, the token, what the user gave the agents.
Must not: hide anything (`hub.domain.redaction` does), or keep a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from hub.domain.config.reader import Config
from hub.io.agent_keys import keys_of
from hub.io.places import load_or_create_key

if TYPE_CHECKING:
    from hub.domain.redaction.redactor import Redactor
    from hub.providers.base import Provider

_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
"""Names in a user's own `env` tables whose values nobody may see."""


@attrs.frozen
class Keys:
    """The secrets of this installation; never given to a child or put in a message."""

    contract: bytes = attrs.field(repr=False)
    redaction: bytes = attrs.field(repr=False)
    audit: bytes = attrs.field(repr=False)
    """Not the session's to use: here so that it is hidden wherever it turns up."""


@attrs.frozen
class Held:
    """The places where the values are, as they are at this moment."""

    keys: Keys
    config: Config
    providers: Mapping[str, Provider]
    dotenv: Path

    def env_of(self, name: str, label: str) -> dict[str, str]:
        """What the user set for a provider and account: its keys of `.hub/.env`, the provider's table, the account's."""
        keys = keys_of(self.dotenv, name, self.providers)
        return {**keys, **self.config.provider(name).env, **self.config.account(name, label).env}

    def named_values(self) -> tuple[list[str | bytes], list[str]]:
        """Each value with the name its marker tells: hub's own keys as bytes and as the hex they are stored in."""
        values: list[str | bytes] = []
        names: list[str] = []
        for title, key in attrs.asdict(self.keys).items():
            values += [key, key.hex()]
            names += [f"{title}-key"] * 2
        if self.config.server.token:
            values.append(self.config.server.token)
            names.append("server-token")
        stored = self.dotenv.exists()
        for name in self.providers:
            for account in self.config.accounts(name):
                if not (stored or self.config.provider(name).env or account.env):
                    continue  # the user gave it nothing: it need not be imported to be asked for its names
                keys = self.providers[name].key_names
                for variable, value in self.env_of(name, account.label).items():
                    if variable in keys or _SECRET_NAME.search(variable):
                        values.append(value)
                        names.append(variable)
        return values, names


def own_keys() -> Keys:
    """The keys of this installation, from its files."""
    return Keys(*map(load_or_create_key, ("contract", "redaction", "audit")))


def redactor_of(config: Config, providers: Mapping[str, Provider], dotenv: Path) -> Redactor:
    """A redactor that knows all these, for whoever reads a project's files without a daemon."""
    from hub.domain.redaction.redactor import KnownSecrets, Redactor  # noqa: PLC0415  # where nothing is hidden, nothing is imported

    keys = own_keys()
    return Redactor(KnownSecrets(*Held(keys, config, providers, dotenv).named_values()), keys.redaction)
