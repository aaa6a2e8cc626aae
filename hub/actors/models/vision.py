"""The looks of the configured vision model: at an image that is sent, or at a page on this machine.

Owns: the order of a look, its bounds, and which key it may use.
Must not: let a key into an answer or an error.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
import trio

from hub.api.vision import Seen
from hub.domain.config.reader import Config
from hub.domain.missing import invalid_field
from hub.domain.models.image import Image, image_of
from hub.errors import Code, HubError
from hub.io.models.ollama import base_of
from hub.io.models.screenshot import screenshot
from hub.io.models.vision import VisionServer, look
from hub.io.secrets.agent_keys import keys_of
from hub.messages.models import LookAtImage
from hub.providers.provider import Provider

AT_A_TIME = 2
"""A browser and an image each take their memory."""


@attrs.frozen
class VisionCalls:
    """Calls of a vision model for whoever asks, a few at a time."""

    dotenv: Path
    providers: Mapping[str, Provider]
    clock: Callable[[], float]
    _room: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(AT_A_TIME))

    async def look(self, config: Config, order: LookAtImage) -> Seen:
        """What the model says.

        Raises:
            HubError: VISION_OFF, INVALID, PROGRAM_MISSING (no browser), UPSTREAM_FAILED.
        """
        vision = config.vision
        if not vision.enabled or not vision.model:
            raise HubError(Code.VISION_OFF)
        began = self.clock()
        async with self._room:
            if order.url:
                data = await screenshot(order.url, vision.max_pixels)
            else:
                data = _decoded(order.image)
            found = _fitting(data, vision.max_pixels)
            server = VisionServer(base_of(vision.base_url), vision.model, self._key(config))
            text = await look(server, order.prompt, found.media, data)
        took = max(0, round((self.clock() - began) * 1000))
        return Seen(text=text, model=vision.model, width=found.width, height=found.height, latency_ms=took)

    def _key(self, config: Config) -> str:
        """The key of the provider that `[vision]` names; "" where it names none, or that has none."""
        provider = self.providers.get(config.vision.provider)
        if provider is None:
            return ""
        env = {**keys_of(self.dotenv, provider.name, self.providers), **config.provider(provider.name).env}
        return next((env[name] for name in provider.key_names if env.get(name)), "")


def _decoded(text: str) -> bytes:
    """The bytes of base64, or of a data URL with base64."""
    head, comma, rest = text.partition(",")
    try:
        return base64.b64decode(rest if comma and head.startswith("data:") else text, validate=True)
    except (binascii.Error, ValueError):
        raise invalid_field("image", "The image is not base64.") from None


def _fitting(data: bytes, max_pixels: int) -> Image:
    found = image_of(data)
    if found is None:
        raise invalid_field("image", "The image is no PNG, JPEG, GIF or WebP.")
    if found.width * found.height > max_pixels:
        size = f"{found.width} x {found.height} pixels"
        raise invalid_field("image", f"The image has {size}; maxPixels is {max_pixels}.")
    return found
