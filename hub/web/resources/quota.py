"""`GET /api/quota/wallet`.

Owns: the routes, and what is done besides one call.
Must not: compute any of it.
"""

from hub.api.quota import Entry
from hub.messages.quota import GetWallet
from hub.web.context import call
from hub.web.route import get

ROUTES = (
    get(
        "/api/quota/wallet",
        "What every account has left, and when its wall is expected.",
        call(GetWallet),
        answer=list[Entry],
    ),
)
