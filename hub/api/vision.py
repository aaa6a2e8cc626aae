"""Vision: the model that looks at screenshots.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from hub.api.base import Done
from hub.api.meta import MAX_BODY, MAX_SAFE_INTEGER, UNSET, Meta, Name, Unset
from hub.api.providers import BaseUrl, Model

Pixels = Annotated[int, Meta(ge=1, le=MAX_SAFE_INTEGER, description="Width times height.")]


@attrs.frozen(kw_only=True)
class VisionConfig:
    """`[vision]` of `hub.toml`."""

    enabled: bool
    provider: Annotated[str, "Whose key of .hub/.env is sent."]
    model: str
    base_url: Annotated[str, "Of an OpenAI-compatible server."]
    max_pixels: Annotated[int, "An image with more is refused; a screenshot has fewer."]


@attrs.frozen(kw_only=True)
class VisionDone(VisionConfig):
    """What is configured from here on."""

    ok: Literal[True] = True


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


@attrs.frozen(kw_only=True)
class LookOrder:
    """What to look at: `image` or `url`, one of them; and what to ask."""

    prompt: Prompt
    image: Encoded = ""
    url: Page = ""

    def __attrs_post_init__(self) -> None:
        if bool(self.image) == bool(self.url):
            raise ValueError("needs either `image` or `url`")


@attrs.frozen(kw_only=True)
class Seen(Done):
    """What the model says."""

    text: str
    model: str
    width: int
    height: int
    latency_ms: int


@attrs.frozen(kw_only=True)
class VisionPatch:
    """What to change; what is left out stays, null goes back to what is built in."""

    enabled: bool | Unset | None = UNSET
    provider: Name | Unset | None = UNSET
    model: Model | Unset | None = UNSET
    base_url: BaseUrl | Unset | None = UNSET
    max_pixels: Pixels | Unset | None = UNSET
