"""One login of a provider.

Owns: `Account`.
Must not: check that its directory exists or is safe (`hub.io` does).
Tests: tests/hub/domain/test_accounts.py
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.struct import NOTHING, Struct

DEFAULT_ACCOUNT = "default"
"""The label of the account a provider has where no settings tell of one."""


class Account(Struct, hidden=("env",)):
    """One login: a label and the configuration directory it lives in ("" = the agent's own default)."""

    label: str
    config_dir: str = ""
    env: Mapping[str, str] = NOTHING
    """Keys that belong to this account only."""
    active: bool = False
    """Whether the user chose it; see `hub.domain.config.reader.Config.accounts`."""
