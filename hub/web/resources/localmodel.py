"""Local models: what an Ollama has, the pull of more, and the start of an agent on one.

Owns: the bodies these take and the shapes they answer.
Must not: take a command from a request.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from hub.domain.jsonvalue import JsonObject
from hub.errors import Code
from hub.messages import CancelPull, LaunchModel, ListModels, PullModel
from hub.web.context import WRITE, Context, call
from hub.web.resources.jobs import Begun
from hub.web.resources.providers import BaseUrl, ProviderName
from hub.web.route import get, post
from hub.web.schema import Answer, Body, Done, Query

Tag = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:-]*$(?!\n)",
        description="As in Ollama's library: `qwen3-vl:8b`.",
    ),
]
Server = Annotated[BaseUrl, Meta(description='Of an Ollama; "" = `OLLAMA_HOST`, else its usual place.')]


class ModelsQuery(Query, frozen=True, kw_only=True):
    """Which Ollama."""

    base_url: Server = ""


class LocalModel(Answer, frozen=True, kw_only=True):
    """A model that is installed."""

    name: str
    bytes: int
    modified_at: str
    family: str
    parameters: str
    quantization: str
    vision: Annotated[bool, Meta(description="Whether it takes images.")]


class CuratedModel(Answer, frozen=True, kw_only=True):
    """A vision model worth pulling."""

    tag: str
    title: str
    gigabytes: float


class LocalModels(Answer, frozen=True, kw_only=True):
    """What is installed, and what may be pulled."""

    base_url: str
    reachable: bool
    detail: Annotated[str, Meta(description="Why the server was not reached.")]
    models: list[LocalModel]
    curated: list[CuratedModel]


class PullOrder(Body, frozen=True, kw_only=True):
    """What to pull, and where to."""

    tag: Tag
    base_url: Server = ""


class Pulling(Done, frozen=True, kw_only=True):
    """A pull that was begun; its progress and its end are in the event log, under `meta.jobId`."""

    job: str
    tag: str
    base_url: str


class PullEnded(Done, frozen=True, kw_only=True):
    """A pull that was ended; what it got stays, and another one goes on from there."""

    tag: str
    base_url: str


class LaunchOrder(Body, frozen=True, kw_only=True):
    """Which agent, on which model."""

    provider: ProviderName
    model: Tag


async def launch(context: Context, body: LaunchOrder) -> JsonObject:
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
        query=ModelsQuery,
        answer=LocalModels,
    ),
    post(
        "/api/localmodel/pull",
        "Let an Ollama pull a model; progress is in the event log.",
        call(lambda body: PullModel(body.base_url, body.tag), WRITE),
        body=PullOrder,
        answer=Pulling,
        status=202,
        codes=frozenset({Code.JOB_RUNNING, Code.INTERRUPTED, Code.UPSTREAM_FAILED}),
    ),
    post(
        "/api/localmodel/pull/cancel",
        "End a pull.",
        call(lambda body: CancelPull(body.base_url, body.tag), WRITE),
        body=PullOrder,
        answer=PullEnded,
        codes=frozenset({Code.NOT_FOUND}),
    ),
    post(
        "/api/localmodel/launch",
        "Start an agent on a local model, in a terminal: `ollama launch`.",
        launch,
        body=LaunchOrder,
        answer=Begun,
        status=202,
        codes=_LAUNCH,
    ),
)
