"""What the pipelines are asked and told.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from hub.api import pipelines as api
from hub.api.pipelines import RunStarted, RunStatus
from hub.domain.config.model import PipelineSettings
from supervisors import Call


@attrs.frozen
class GetPipelines(Call[list[api.Pipeline]]):
    """The pipelines: those of `hub.toml`, then the stored ones."""


@attrs.frozen
class ReplacePipelines(Call[list[api.Pipeline]]):
    """Store these in place of all that are stored; those of `hub.toml` stay. Answers the list as it then is."""

    pipelines: Sequence[PipelineSettings]


@attrs.frozen
class RunPipeline(Call[RunStarted]):
    """Start a run. Answered once its first session is accepted."""

    name: str
    resume: bool = False
    """Take over what the last run of this pipeline completed."""


@attrs.frozen
class GetPipelineRun(Call[RunStatus | None]):
    """Answers the run that goes on, else the last one; None when there was none."""


@attrs.frozen
class StopPipeline(Call[RunStatus | None]):
    """End the run in order: no further node starts, the session under way is stopped.

    Answers the run once it has ended; None at once when none goes on.
    """


PipelinesInbox = GetPipelineRun | GetPipelines | ReplacePipelines | RunPipeline | StopPipeline
