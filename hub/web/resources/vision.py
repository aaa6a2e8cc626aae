"""Vision: the model that looks at screenshots.

Owns: the shapes of its configuration and of a look.
Must not: take a screenshot, or call a model.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hub.errors import Code
from hub.messages import GetVision, Look, PatchVision
from hub.web.context import WRITE, call
from hub.web.guard import MAX_BODY
from hub.web.resources.providers import BaseUrl, Model
from hub.web.route import get, post
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


Prompt = Annotated[str, Meta(min_length=1, max_length=10_000)]
Encoded = Annotated[
    str, Meta(max_length=MAX_BODY, description="PNG, JPEG, GIF or WebP as base64 or as a data URL.")
]
Page = Annotated[
    str,
    Meta(
        max_length=2000,
        pattern=r"^(https?://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?([/?#][!-~]*)?)?$(?!\n)",
        description="A page on this machine; an installed Chromium takes a picture of it.",
    ),
]


class LookOrder(Body, frozen=True, kw_only=True):
    """What to look at: `image` or `url`, one of them; and what to ask."""

    prompt: Prompt
    image: Encoded = ""
    url: Page = ""

    def __post_init__(self) -> None:
        if bool(self.image) == bool(self.url):
            raise ValueError("needs either `image` or `url`")


class Seen(Answer, frozen=True, kw_only=True):
    """What the model says."""

    text: str
    model: str
    width: int
    height: int
    latency_ms: int


class VisionPatch(Body, frozen=True, kw_only=True):
    """What to change; what is left out stays, null goes back to what is built in."""

    enabled: bool | UnsetType | None = UNSET
    provider: Name | UnsetType | None = UNSET
    model: Model | UnsetType | None = UNSET
    base_url: BaseUrl | UnsetType | None = UNSET
    max_pixels: Pixels | UnsetType | None = UNSET


_LOOK_TIMEOUT = 240.0
"""Longer than a picture and a model may take together, so that it is them who say what went wrong."""
_LOOK = frozenset({Code.VISION_OFF, Code.PROGRAM_MISSING, Code.UPSTREAM_FAILED})
_FILES = frozenset({Code.NO_PERMISSION, Code.CONFIG_INVALID})

ROUTES = (
    get(
        "/api/vision/config",
        "The model that looks at screenshots.",
        call(GetVision),
        answer=VisionConfig,
        codes=_FILES,
    ),
    post(
        "/api/vision/config",
        "Change `[vision]` in `hub.toml`; comments, order and what an editor saves meanwhile stay.",
        call(lambda body: PatchVision(msgspec.to_builtins(body)), WRITE),
        body=VisionPatch,
        answer=VisionDone,
        codes=_FILES | {Code.CONFIG_CHANGED},
    ),
    post(
        "/api/vision/probe",
        "Let the vision model look at an image, or at a page on this machine.",
        call(lambda body: Look(body.prompt, body.image, body.url), _LOOK_TIMEOUT),
        body=LookOrder,
        answer=Seen,
        codes=_FILES | _LOOK,
        foreign=True,
    ),
)
