"""One look of a vision model at an image, over the OpenAI-compatible API.

Owns: the request and the reading of its answer.
Must not: choose the model, or send a key anywhere but to the server it is for.
Tests: tests/hub/actors/models/test_models.py
"""

from __future__ import annotations

import base64
from typing import Any

import attrs

from hub.domain.text.safe import clean
from hub.errors import HubError
from hub.io.http.stream import failed, fetch, place_of

_TIMEOUT = 120.0
_MAX_TOKENS = 2000


@attrs.frozen
class Eye:
    """A vision model: its server, its name, and the key for that server ("" = none)."""

    base: str
    model: str
    key: str = attrs.field(default="", repr=False)


async def look(eye: Eye, prompt: str, media: str, image: bytes) -> str:
    """What the model says.

    Raises:
        HubError: UPSTREAM_FAILED, with the server's own words.
    """
    url = f"{eye.base}/chat/completions" if eye.base.endswith("/v1") else f"{eye.base}/v1/chat/completions"
    picture = f"data:{media};base64,{base64.b64encode(image).decode()}"
    content = [{"type": "text", "text": prompt}, {"type": "image_url", "image_url": {"url": picture}}]
    body = {
        "model": eye.model,
        "stream": False,
        "max_tokens": _MAX_TOKENS,
        "messages": [{"role": "user", "content": content}],
    }
    headers = {"Authorization": f"Bearer {eye.key}"} if eye.key else {}
    answer = await fetch("POST", url, body=body, headers=headers, timeout=_TIMEOUT)
    try:
        text = _text(answer["choices"][0]["message"]["content"])
    except (KeyError, IndexError, TypeError):
        raise _no_answer(url) from None
    if not text:
        raise _no_answer(url)
    return clean(text)


def _text(content: Any) -> str:
    """The text of a message: a string, or the parts that are text."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _no_answer(url: str) -> HubError:
    return failed(place_of(url).origin, "answered without a text")
