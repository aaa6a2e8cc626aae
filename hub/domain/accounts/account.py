"""One login of a provider.

Owns: `Account`.
Must not: check that its directory exists or is safe (`hub.io` does).
Tests: tests/hub/domain/accounts/test_added.py
"""

from __future__ import annotations

import attrs

from hub.domain.config.values import Env, Folder, Name, Places, Switch

DEFAULT_ACCOUNT = "default"
"""The label of the account a provider has where no settings tell of one."""


@attrs.frozen
class Account:
    """One login: a label and the configuration directory it lives in ("" = the agent's own default)."""

    label: Name
    config_dir: Folder = ""
    env: Env = attrs.field(factory=dict, repr=False)
    """Keys that belong to this account only."""
    active: Switch = False
    """Whether the user chose it; see `hub.domain.config.reader.Config.accounts`."""
    concurrency: Places = 1
    """How many sessions may use it at once."""
