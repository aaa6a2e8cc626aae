"""What the models actor is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.domain.jsonvalue import JsonObject
from supervisors import Call


@attrs.frozen
class ListModels(Call[JsonObject]):
    """Answers what `GET /api/localmodel/models` serves."""

    base_url: str
    """"" = Ollama's usual one."""


@attrs.frozen
class PullModel(Call[JsonObject]):
    """Begin a pull. Answers `{job, tag, baseUrl}` once it has begun."""

    base_url: str
    tag: str


@attrs.frozen
class CancelPull(Call[JsonObject]):
    """End a pull. Answers `{tag, baseUrl}` once it has ended."""

    base_url: str
    tag: str


@attrs.frozen
class LaunchModel(Call[JsonObject]):
    """Start an agent on a local model in a terminal. Answers the job."""

    provider: str
    model: str


@attrs.frozen
class Look(Call[JsonObject]):
    """Let the vision model look. Answers `{text, model, width, height, latencyMs}`."""

    prompt: str
    image: str = attrs.field(default="", repr=False)
    """Base64; "" = take a picture of `url`."""
    url: str = ""
