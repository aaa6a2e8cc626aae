"""The agents' own login files.

Owns: the bounded look into one of them.
Must not: change one, copy one, or let a token out of this module.
"""

from __future__ import annotations

import json
from pathlib import Path

from hub.domain.accounts.login import FoundLogin, LoginStore, login
from hub.errors import HubError
from hub.io.files.atomic import read_bounded

_MAX_BYTES = 1 << 20


def find_login(store: LoginStore, home: Path) -> FoundLogin | None:
    """The login in the store's file below `home`; None when there is none, or it cannot be read."""
    try:
        return login(store, json.loads(read_bounded(home / store.path, _MAX_BYTES)))
    except (OSError, HubError, ValueError, RecursionError):
        return None
