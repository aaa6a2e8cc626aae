"""Local models: what an Ollama has, the pull of more, and the start of an agent on one.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.api.base import Done
from hub.api.meta import Meta, ProviderName
from hub.api.providers import BaseUrl

Tag = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:-]*$(?!\n)",
        description="As in Ollama's library: `qwen3-vl:8b`.",
    ),
]
Server = Annotated[BaseUrl, 'Of an Ollama; "" = `OLLAMA_HOST`, else its usual place.']


@attrs.frozen(kw_only=True)
class ModelsQuery:
    """Which Ollama."""

    base_url: Server = ""


@attrs.frozen(kw_only=True)
class LocalModel:
    """A model that is installed."""

    name: str
    bytes: int
    modified_at: str
    family: str
    parameters: str
    quantization: str
    vision: Annotated[bool, "Whether it takes images."]


@attrs.frozen(kw_only=True)
class CuratedModel:
    """A vision model worth pulling."""

    tag: str
    title: str
    gigabytes: float


@attrs.frozen(kw_only=True)
class LocalModels:
    """What is installed, and what may be pulled."""

    base_url: str
    reachable: bool
    detail: Annotated[str, "Why the server was not reached."]
    models: list[LocalModel]
    curated: list[CuratedModel]


@attrs.frozen(kw_only=True)
class PullOrder:
    """What to pull, and where to."""

    tag: Tag
    base_url: Server = ""


@attrs.frozen(kw_only=True)
class Pulling(Done):
    """A pull that was begun; its progress and its end are in the event log, under `meta.jobId`."""

    job: str
    tag: str
    base_url: str


@attrs.frozen(kw_only=True)
class PullEnded(Done):
    """A pull that was ended; what it got stays, and another one goes on from there."""

    tag: str
    base_url: str


@attrs.frozen(kw_only=True)
class LaunchOrder:
    """Which agent, on which model."""

    provider: ProviderName
    model: Tag
