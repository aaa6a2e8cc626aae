"""The detector, put together.

Owns: which part of it gets which reference.
Must not: hold behaviour.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from hub.actors.detector.actor import Detector
from hub.actors.detector.adopting import Adopting
from hub.actors.detector.carrying import Carrying
from hub.actors.detector.meter import Meter
from hub.actors.detector.scout import Scout
from hub.actors.errand import Jobs
from hub.io.places import Places, load_or_create_key
from hub.providers.registry import spent
from supervisors import Ref


def assembled(
    scout: Scout,
    places: Places,
    ref: Callable[[str], Ref[Any]],
    jobs: Jobs,
    *,
    arm: Callable[[], Awaitable[None]],
    scrub: Callable[[Any], Any],
    new_id: Callable[[str], str],
) -> Detector:
    """A detector of this scout's, over the other actors.

    Args:
        scout: Looks at the machine.
        places: The project's.
        ref: An actor by its name.
        jobs: What runs in terminals.
        arm: Makes the detection engine of `scrub` ready.
        scrub: Hides secrets in a text or a JSON value.
        new_id: `new_id("s")` -> an id that is never given twice.
    """
    adopting = Adopting(
        scout=scout,
        places=places,
        audit=ref("audit"),
        events=ref("events"),
        session=ref("session"),
        carrying=Carrying(scout, places, ref("session"), jobs),
        key=load_or_create_key("contract"),
        arm=arm,
        scrub=scrub,
        new_id=new_id,
        clock=time.time,
    )
    return Detector(
        scout,
        adopting,
        meter=Meter(spent, scout.files),
        events=ref("events"),
        quota=ref("quota"),
        settings=ref("settings"),
        scrub=scrub,
        clock=time.time,
    )
