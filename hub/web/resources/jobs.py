"""Installs and logins: commands of the agents' makers, run where the user sees them.

Owns: the bodies these take and the shape of a job.
Must not: take a command from a request.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from hub.errors import Code
from hub.messages import Install, LogIn
from hub.web.context import WRITE, call
from hub.web.resources.accounts import Which
from hub.web.resources.providers import ProviderName
from hub.web.route import post
from hub.web.schema import Body, Done


class Whom(Body, frozen=True, kw_only=True):
    """One provider."""

    name: ProviderName


class InstallOrder(Whom, frozen=True, kw_only=True):
    """What to install."""

    background: Annotated[
        bool, Meta(description="Without a terminal; what it prints is in the event log alone.")
    ] = False


class Begun(Done, frozen=True, kw_only=True):
    """A job that was begun; its progress and its end are in the event log, under `meta.jobId`."""

    job: str
    provider: str
    account: str
    command: Annotated[str, Meta(description="What runs, as a person would type it.")]
    terminal: Annotated[str, Meta(description="The program of the terminal; empty = none.")]


_CODES = frozenset(
    {
        Code.NOT_FOUND,
        Code.CONFIG_INVALID,
        Code.NO_PERMISSION,
        Code.NO_TERMINAL,
        Code.AGENT_MISSING,
        Code.JOB_RUNNING,
        Code.INTERRUPTED,
    }
)

ROUTES = (
    post(
        "/api/providers/install",
        "Run the agent's documented install, in a terminal or in the background.",
        call(lambda body: Install(body.name, body.background), WRITE),
        body=InstallOrder,
        answer=Begun,
        status=202,
        codes=_CODES,
    ),
    post(
        "/api/providers/oauth",
        "Run the agent's own login for its active account, in a terminal.",
        call(lambda body: LogIn(body.name, ""), WRITE),
        body=Whom,
        answer=Begun,
        status=202,
        codes=_CODES,
    ),
    post(
        "/api/providers/account/login",
        "Run the agent's own login against an account's directory, in a terminal.",
        call(lambda body: LogIn(body.provider, body.label), WRITE),
        body=Which,
        answer=Begun,
        status=202,
        codes=_CODES,
    ),
)
