"""Providers: how they are, how they are configured, and their keys.

Owns: the routes, and what is done besides one call.
Must not: know any one provider, or answer with the value of a key.
"""

from __future__ import annotations

from hub.api.convert import unstructure
from hub.api.providers import Chosen, KeyOrder, KeySet, Patch, ProviderConfig, ProviderStatus
from hub.errors import Code
from hub.messages import GetProviders, PatchProvider, ProvidersConfigured, SetKey
from hub.web.context import WRITE, call
from hub.web.route import get, post


def changes_of(body: Patch) -> dict[str, object]:
    """The keys that were given; a value that means "none" removes its key, so that a GET's answer can be sent back."""
    given = unstructure(body)
    none = {"declaredCap": 0, "model": "", "baseUrl": ""}
    return {key: None if value == none.get(key) else value for key, value in given.items() if key != "name"}


_FILES = frozenset({Code.NO_PERMISSION, Code.CONFIG_INVALID})
ROUTES = (
    get("/api/providers", "Every provider's live status.", call(GetProviders), answer=list[ProviderStatus]),
    get(
        "/api/config/providers",
        "Every provider's configuration, accounts and probe.",
        call(ProvidersConfigured),
        answer=list[ProviderConfig],
        codes=_FILES,
    ),
    post(
        "/api/config/providers",
        "Change a provider's table in `hub.toml`; comments, order and what an editor saves meanwhile stay.",
        call(lambda body: PatchProvider(body.name, changes_of(body)), WRITE),
        given=Patch,
        answer=Chosen,
        codes=_FILES | {Code.NOT_FOUND, Code.CONFIG_CHANGED},
    ),
    post(
        "/api/providers/api-key",
        "Keep a key for an agent in `.hub/.env`; its next run has it.",
        call(lambda body: SetKey(body.name, body.value), WRITE),
        given=KeyOrder,
        answer=KeySet,
        codes=_FILES,
    ),
)
