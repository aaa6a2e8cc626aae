"""Whose a key in `.hub/.env` is: each is given to the one agent it was set for; and what an agent's own login file tells.

Owns: the names that keys are kept under, which of them an agent is given, and the bounded look into a login file.
Must not: hold a key longer than a call, hand one to an agent for which the user did not set it, change or copy a login, or
let a token of one out of this module.

Several agents take the same variable (`ANTHROPIC_API_KEY`: Claude Code, OpenCode, Aider). Kept under its bare name it
is the first one's that takes it, in the order of `hub providers`; for any other agent it is kept under that agent's
name as well, as in `OPENCODE__ANTHROPIC_API_KEY`.

Tests: tests/hub/io/secrets/test_logins.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from hub.domain.accounts.login import FoundLogin, LoginStore, login
from hub.errors import HubError
from hub.io.files.atomic import read_bounded
from hub.io.secrets.dotenv import read_env


class Taker(Protocol):
    """An agent, as far as its keys go."""

    @property
    def key_names(self) -> Sequence[str]:
        """The variables it takes a key from."""


def kept_as(provider: str, variable: str, providers: Mapping[str, Taker]) -> str:
    """The name in `.hub/.env` of this agent's variable."""
    if _first_taker(variable, providers) == provider:
        return variable
    return f"{re.sub('[^A-Z0-9]', '_', provider.upper())}__{variable}"


def keys_of(path: Path, provider: str, providers: Mapping[str, Taker]) -> dict[str, str]:
    """The keys that this agent is given, by the variables it takes them from.

    Raises:
        HubError: As `read_env`.
    """
    if not path.exists():
        return {}
    names = {kept_as(provider, variable, providers): variable for variable in providers[provider].key_names}
    return {names[name]: value for name, value in read_env(path, names).items()}


def _first_taker(variable: str, providers: Mapping[str, Taker]) -> str:
    return next((name for name in providers if variable in providers[name].key_names), "")


_MAX_BYTES = 1 << 20


def find_login(store: LoginStore, home: Path) -> FoundLogin | None:
    """The login in the store's file below `home`; None when there is none, or it cannot be read."""
    try:
        return login(store, json.loads(read_bounded(home / store.path, _MAX_BYTES)))
    except (OSError, HubError, ValueError, RecursionError):
        return None
