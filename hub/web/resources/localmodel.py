"""Local models: what an Ollama has, the pull of more, and the start of an agent on one.

Owns: the routes, and what is done besides one call.
Must not: take a command from a request.
"""

from __future__ import annotations

from hub.api.jobs import Begun
from hub.api.localmodel import LaunchOrder, LocalModels, ModelsQuery, PullEnded, Pulling, PullOrder
from hub.errors import Code
from hub.messages.models import CancelPull, LaunchModel, ListModels, PullModel
from hub.web.context import WRITE, Context, call
from hub.web.route import get, post


async def launch(context: Context, body: LaunchOrder) -> Begun:
    """Only where the user agreed to what the project does."""
    await context.insist()
    return await context.call(LaunchModel(body.provider, body.model), timeout=WRITE)


_LAUNCH = frozenset(
    {
        Code.TRUST_NEEDED,
        Code.CONFIG_INVALID,
        Code.NO_PERMISSION,
        Code.NO_TERMINAL,
        Code.PROGRAM_MISSING,
        Code.JOB_RUNNING,
        Code.INTERRUPTED,
    }
)
ROUTES = (
    get(
        "/api/localmodel/models",
        "The models an Ollama has, and vision models worth pulling.",
        call(lambda query: ListModels(query.base_url), WRITE),
        given=ModelsQuery,
        answer=LocalModels,
    ),
    post(
        "/api/localmodel/pull",
        "Let an Ollama pull a model; progress is in the event log.",
        call(lambda body: PullModel(body.base_url, body.tag), WRITE),
        given=PullOrder,
        answer=Pulling,
        status=202,
        codes=frozenset({Code.JOB_RUNNING, Code.INTERRUPTED, Code.UPSTREAM_FAILED}),
    ),
    post(
        "/api/localmodel/pull/cancel",
        "End a pull.",
        call(lambda body: CancelPull(body.base_url, body.tag), WRITE),
        given=PullOrder,
        answer=PullEnded,
        codes=frozenset({Code.NOT_FOUND}),
    ),
    post(
        "/api/localmodel/launch",
        "Start an agent on a local model, in a terminal: `ollama launch`.",
        launch,
        status=202,
        codes=_LAUNCH,
    ),
)
