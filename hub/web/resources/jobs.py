"""Installs and logins: commands of the agents' makers, run where the user sees them.

Owns: the routes, and what is done besides one call.
Must not: take a command from a request.
"""

from __future__ import annotations

from hub.api.accounts import WhichAccount
from hub.api.jobs import Begun, InstallOrder, Whom
from hub.errors import Code
from hub.messages import InstallAgent, LogIn
from hub.web.context import WRITE, call
from hub.web.route import post

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
        call(lambda body: InstallAgent(body.name, body.background), WRITE),
        given=InstallOrder,
        answer=Begun,
        status=202,
        codes=_CODES,
    ),
    post(
        "/api/providers/oauth",
        "Run the agent's own login for its active account, in a terminal.",
        call(lambda body: LogIn(body.name, ""), WRITE),
        given=Whom,
        answer=Begun,
        status=202,
        codes=_CODES,
    ),
    post(
        "/api/providers/account/login",
        "Run the agent's own login against an account's directory, in a terminal.",
        call(lambda body: LogIn(body.provider, body.label), WRITE),
        given=WhichAccount,
        answer=Begun,
        status=202,
        codes=_CODES,
    ),
)
