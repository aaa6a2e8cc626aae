"""Where accounts keep their agents' sessions.

Owns: which environment each account with a folder of its own gives its agent.
Must not: look into a folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import attrs

from hub.domain.accounts.account import Account
from hub.domain.config.reader import Config
from hub.providers import stores
from hub.providers.provider import Provider


@attrs.frozen
class Moved:
    """An agent, and an environment in which it keeps its sessions elsewhere."""

    provider: str
    env: Mapping[str, str]


def moved(
    config: Config,
    providers: Mapping[str, Provider],
    env: Mapping[str, str],
    made: Mapping[str, Iterable[Path]],
) -> Iterator[Moved]:
    """Each account's environment. Imports the agents that have such an account, and no other.

    Args:
        config: Names accounts.
        providers: The agents, by name.
        env: The user's own environment.
        made: Folders that hub made for accounts, by the agent's name; their accounts may stand in another project.
    """
    for name in stores.names():
        if name not in providers:
            continue
        named = (
            Path(account.config_dir).expanduser() for account in config.accounts(name) if account.config_dir
        )
        for folder in dict.fromkeys((*named, *made.get(name, ()))):
            account = Account(folder.name, str(folder))
            yield Moved(name, {**env, **providers[name].account_env(account)})
