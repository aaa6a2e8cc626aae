"""Installs and logins: commands of the agents' makers, run where the user sees them.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.api.base import Done
from hub.api.meta import ProviderName


@attrs.frozen(kw_only=True)
class Whom:
    """One provider."""

    name: ProviderName


@attrs.frozen(kw_only=True)
class InstallOrder(Whom):
    """What to install."""

    background: Annotated[bool, "Without a terminal; what it prints is in the event log alone."] = False


@attrs.frozen(kw_only=True)
class Begun(Done):
    """A job that was begun; its progress and its end are in the event log, under `meta.jobId`."""

    job: str
    provider: str
    account: str
    command: Annotated[str, "What runs, as a person would type it."]
    terminal: Annotated[str, "The program of the terminal; empty = none."]
