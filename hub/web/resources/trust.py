"""`GET /api/trust`.

Owns: the route, and what is done besides one call.
Must not: take the user's word; that is said on a terminal (`hub trust`), where no page and no agent can say it.
"""

from __future__ import annotations

import os

import attrs
import trio

from hub.api.base import Nothing
from hub.api.trust import Trusted
from hub.errors import Code, HubError
from hub.io.config.file import project_tables
from hub.io.project.trust import Gate, TrustStanding
from hub.web.context import Context
from hub.web.route import get


async def trusted(context: Context, _: Nothing) -> Trusted:
    """A daemon may have been told yes for as long as it lives, which no record says."""
    standing = await trio.to_thread.run_sync(_standing, context)
    agreed = True
    try:
        await context.insist()
    except HubError as error:
        if error.code is not Code.TRUST_NEEDED:
            raise
        agreed = False
    state = "trusted" if agreed and standing.items else standing.state
    return attrs.evolve(standing.told(), state=state, trusted=agreed)


def _standing(context: Context) -> TrustStanding:
    places = context.places
    return Gate.of(places.root, os.environ).standing(project_tables(places.config, environ=os.environ))


ROUTES = (
    get(
        "/api/trust",
        "What the project would run, send or open, and whether its user has agreed.",
        trusted,
        codes=frozenset({Code.CONFIG_INVALID, Code.NO_PERMISSION, Code.NOT_SEALED, Code.STATE_CORRUPT}),
        foreign=True,
    ),
)
