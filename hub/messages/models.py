"""What the models actor is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.api.jobs import Begun
from hub.api.localmodel import LocalModels, PullEnded, Pulling
from hub.api.vision import Seen
from supervisors import Call


@attrs.frozen
class ListModels(Call[LocalModels]):
    """What an Ollama has, and what may be pulled."""

    base_url: str
    """"" = Ollama's usual one."""


@attrs.frozen
class PullModel(Call[Pulling]):
    """Begin a pull. Answered once it has begun."""

    base_url: str
    tag: str


@attrs.frozen
class CancelPull(Call[PullEnded]):
    """End a pull. Answered once it has ended."""

    base_url: str
    tag: str


@attrs.frozen
class LaunchModel(Call[Begun]):
    """Start an agent on a local model in a terminal. Answers the job."""

    provider: str
    model: str


@attrs.frozen
class LookAtImage(Call[Seen]):
    """Let the vision model look."""

    prompt: str
    image: str = attrs.field(default="", repr=False)
    """Base64; "" = take a picture of `url`."""
    url: str = ""


ModelsInbox = CancelPull | LaunchModel | ListModels | LookAtImage | PullModel
