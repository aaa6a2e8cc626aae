"""The stored pipelines, `.hub/pipelines.json`, and the record of the newest run, `.hub/pipeline-run.json`.

Owns: reading the list and replacing it whole; the form of the run's record.
Must not: judge the graphs (`hub.domain.pipeline.graph` does).
Tests: tests/hub/actors/pipelines/test_pipelines.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from hub.api.convert import unstructure
from hub.api.tables import read_pipelines
from hub.domain.canonical import StrictJsonError, parse_strict
from hub.domain.config.model import PipelineSettings
from hub.domain.pipeline.run import PipelineRun
from hub.errors import Code, HubError
from hub.io.files.sealed import NotSealed, put_aside, read_sealed, write_sealed
from hub.io.project.places import Places
from hub.io.records.store import RecordForm, RecordStore, as_named

_LIMIT = 16 * 1024 * 1024
_ANEW = "Store a new list: POST /api/pipelines. The file is kept beside it."

_RUN = RecordForm(
    PipelineRun,
    "The pipeline run",
    version=2,
    older={1: lambda wire: as_named(wire["run"], PipelineRun)},
)


def run_store(places: Places) -> RecordStore[PipelineRun]:
    """The record of the run that goes on, else of the last one."""
    return RecordStore(places.pipeline_run, _RUN)


def read_stored(places: Places) -> tuple[PipelineSettings, ...]:
    """The stored pipelines; () when none were stored.

    Raises:
        HubError: STATE_CORRUPT when the file is no list of pipelines, NOT_SEALED when hub did not write it; it is
            left as it is.
    """
    try:
        return read_pipelines(parse_strict(read_sealed(places.pipelines, _LIMIT)))
    except FileNotFoundError:
        return ()
    except NotSealed as error:
        raise HubError(error.code, error.detail, hint=_ANEW) from error
    except (StrictJsonError, HubError) as error:
        raise HubError(
            Code.STATE_CORRUPT, f"{places.pipelines} is no list of pipelines: {error}.", hint=_ANEW
        ) from error


def replace_stored(places: Places, pipelines: Sequence[PipelineSettings]) -> None:
    """Replace the list, whole and durably. A file that could not be read is kept aside first.

    Raises:
        HubError: NO_SPACE, READ_ONLY or NO_PERMISSION; the old list is as it was.
    """
    try:
        read_stored(places)
    except HubError as error:
        put_aside(places.pipelines, "corrupt" if error.code is Code.STATE_CORRUPT else "unsealed")
    text = json.dumps(unstructure(pipelines), ensure_ascii=False, indent=2)
    write_sealed(places.pipelines, text.encode(), failpoint="pipelines")
