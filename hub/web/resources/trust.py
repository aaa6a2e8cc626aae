"""`GET /api/trust`.

Owns: the route, and what is done besides one call.
Must not: take the user's word; that is said on a terminal (`hub trust`), where no page and no agent can say it.
"""

from __future__ import annotations

import os
from typing import cast

import trio

from hub.api.base import Nothing
from hub.api.trust import Change, State, Trusted, TrustItem
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
    # Both are words of a closed list, which the types of `hub.io.project.trust` do not say.
    items = [
        TrustItem(does=item.does, key=item.key, text=item.text, change=cast("Change", standing.mark(item)))
        for item in standing.items
    ]
    state = "trusted" if agreed and standing.items else standing.state
    return Trusted(
        project=str(standing.root),
        state=cast("State", state),
        trusted=agreed,
        digest=standing.digest,
        items=items,
        gone=list(standing.gone),
    )


def _standing(context: Context) -> TrustStanding:
    places = context.places
    return Gate.of(places.root, os.environ).standing(project_tables(places.config, environ=os.environ))


ROUTES = (
    get(
        "/api/trust",
        "What the project would run, send or open, and whether its user has agreed.",
        trusted,
        answer=Trusted,
        codes=frozenset({Code.CONFIG_INVALID, Code.NO_PERMISSION, Code.NOT_SEALED, Code.STATE_CORRUPT}),
        foreign=True,
    ),
)
