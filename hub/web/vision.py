"""Vision: the model that looks at screenshots.

Owns: the shapes of its configuration and of a look.
Must not: take a screenshot, or call a model.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hub.errors import Code
from hub.web.backend import Backend, JsonObject
from hub.web.providers import BaseUrl, Model
from hub.web.route import NoQuery, get, post
from hub.web.schema import MAX_SAFE_INTEGER, Answer, Body, Name

Pixels = Annotated[int, Meta(ge=1, le=MAX_SAFE_INTEGER, description="Width times height.")]


class VisionConfig(Answer, frozen=True, kw_only=True):
    """`[vision]` of `hub.toml`."""

    enabled: bool
    provider: Annotated[str, Meta(description="Whose key of .hub/.env is sent.")]
    model: str
    base_url: Annotated[str, Meta(description="Of an OpenAI-compatible server.")]
    max_pixels: Annotated[int, Meta(description="An image with more is refused; a screenshot has fewer.")]


class VisionDone(VisionConfig, frozen=True, kw_only=True):
    """What is configured from here on."""

    ok: bool


class VisionPatch(Body, frozen=True, kw_only=True):
    """What to change; what is left out stays, null goes back to what is built in."""

    enabled: bool | UnsetType | None = UNSET
    provider: Name | UnsetType | None = UNSET
    model: Model | UnsetType | None = UNSET
    base_url: BaseUrl | UnsetType | None = UNSET
    max_pixels: Pixels | UnsetType | None = UNSET


async def config(backend: Backend, _: NoQuery) -> JsonObject:
    """The model that looks at screenshots."""
    return await backend.vision_config()


async def patch(backend: Backend, body: VisionPatch) -> JsonObject:
    """Change `[vision]` in `hub.toml`; comments, order and what an editor saves meanwhile stay."""
    changes: dict[str, Any] = msgspec.to_builtins(body)
    return {"ok": True, **await backend.patch_vision(changes)}


_FILES = frozenset({Code.NO_PERMISSION, Code.CONFIG_INVALID})

ROUTES = (
    get("/api/vision/config", config, answer=VisionConfig, codes=_FILES),
    post(
        "/api/vision/config",
        patch,
        body=VisionPatch,
        answer=VisionDone,
        codes=_FILES | {Code.CONFIG_CHANGED},
    ),
)
