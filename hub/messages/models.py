"""What the models actor is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.domain.jsonvalue import JsonObject
from hub.domain.value import Value
from supervisors import Call


@attrs.frozen(eq=False, repr=False)
class ListModels(Value, Call[JsonObject]):
    """Answers what `GET /api/localmodel/models` serves."""

    base_url: str
    """"" = Ollama's usual one."""


@attrs.frozen(eq=False, repr=False)
class PullModel(Value, Call[JsonObject]):
    """Begin a pull. Answers `{job, tag, baseUrl}` once it has begun."""

    base_url: str
    tag: str


@attrs.frozen(eq=False, repr=False)
class CancelPull(Value, Call[JsonObject]):
    """End a pull. Answers `{tag, baseUrl}` once it has ended."""

    base_url: str
    tag: str


@attrs.frozen(eq=False, repr=False)
class LaunchModel(Value, Call[JsonObject]):
    """Start an agent on a local model in a terminal. Answers the job."""

    provider: str
    model: str


@attrs.frozen(eq=False, repr=False)
class Look(Value, Call[JsonObject]):
    """Let the vision model look. Answers `{text, model, width, height, latencyMs}`."""

    prompt: str
    image: str = attrs.field(default="", repr=False)
    """Base64; "" = take a picture of `url`."""
    url: str = ""
