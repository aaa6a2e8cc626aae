"""What the pipelines are asked and told.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from hub.domain.config.model import Pipeline
from hub.domain.jsonvalue import JsonArray, JsonObject
from supervisors import Call


@attrs.frozen
class GetPipelines(Call[JsonArray]):
    """Answers what `GET /api/pipelines` serves."""


@attrs.frozen
class ReplacePipelines(Call[JsonArray]):
    """Store these in place of all that are stored; those of `hub.toml` stay. Answers the list as it then is."""

    pipelines: Sequence[Pipeline]


@attrs.frozen
class RunPipeline(Call[JsonObject]):
    """Start a run. Answers what `GET /api/pipelines/run` serves, once its first session is accepted."""

    name: str
    resume: bool = False
    """Take over what the last run of this pipeline completed."""


@attrs.frozen
class GetPipelineRun(Call[JsonObject]):
    """Answers the run that goes on, else the last one; {} when there was none."""


@attrs.frozen
class StopPipeline(Call[JsonObject]):
    """End the run in order: no further node starts, the session under way is stopped.

    Answers the run once it has ended; {} at once when none goes on.
    """
