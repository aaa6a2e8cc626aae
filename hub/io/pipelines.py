"""The stored pipelines: `.hub/pipelines.json`.

Owns: reading that file and replacing it whole.
Must not: judge the graphs (`hub.domain.pipeline.graph` does).
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from hub.domain.canonical import StrictJsonError, parse_strict
from hub.domain.config.model import Pipeline
from hub.domain.pipeline.graph import read, write
from hub.errors import Code, HubError
from hub.io.atomic import coded_errors, read_bounded, write_atomic
from hub.io.places import Places

_LIMIT = 16 * 1024 * 1024


def read_stored(places: Places) -> tuple[Pipeline, ...]:
    """The stored pipelines; () when none were stored.

    Raises:
        HubError: STATE_CORRUPT when the file is no list of pipelines; it is left as it is.
    """
    try:
        data = read_bounded(places.pipelines, _LIMIT)
    except FileNotFoundError:
        return ()
    try:
        return read(parse_strict(data))
    except (StrictJsonError, HubError) as error:
        raise HubError(
            Code.STATE_CORRUPT,
            f"{places.pipelines} is no list of pipelines: {error}.",
            hint="Correct it, or store a new list: POST /api/pipelines",
        ) from error


def replace_stored(places: Places, pipelines: Sequence[Pipeline]) -> None:
    """Replace the list, whole and durably. A file that could not be read is kept aside first.

    Raises:
        HubError: NO_SPACE, READ_ONLY or NO_PERMISSION; the old list is as it was.
    """
    try:
        read_stored(places)
    except HubError as error:
        if error.code is not Code.STATE_CORRUPT:
            raise
        with coded_errors(places.pipelines):
            aside = places.pipelines.with_name(f"pipelines.json.corrupt-{time.time_ns() // 1_000_000}")
            places.pipelines.rename(aside)
    text = json.dumps(write(pipelines), ensure_ascii=False, indent=2)
    write_atomic(places.pipelines, text.encode() + b"\n", failpoint="pipelines")
