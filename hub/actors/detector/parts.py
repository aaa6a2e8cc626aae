"""The detector, put together.

Owns: which part of it gets which reference.
Must not: hold behaviour.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from hub.actors.common.job import Jobs
from hub.actors.detector.actor import Detector
from hub.actors.detector.adopting import Adopting
from hub.actors.detector.carrying import Carrying
from hub.actors.detector.meter import SessionMeter
from hub.actors.detector.scanner import Scanner
from hub.io.project.places import Places, load_or_create_key
from hub.messages import (
    AuditAppend,
    EventAppend,
    EventsSince,
    GetConfig,
    GetInUse,
    SpentElsewhere,
    StartRun,
    WhoBegins,
)
from hub.providers.registry import spent
from supervisors import Ref


def assembled(
    scanner: Scanner,
    places: Places,
    jobs: Jobs,
    *,
    audit: Ref[AuditAppend],
    events: Ref[EventAppend | EventsSince],
    sessions: Ref[GetInUse | StartRun | WhoBegins],
    quota: Ref[SpentElsewhere],
    settings: Ref[GetConfig],
    arm: Callable[[], Awaitable[None]],
    scrub: Callable[[object], object],
    new_id: Callable[[str], str],
    insist_orders: Callable[[Path], None],
) -> Detector:
    """A detector of this scanner's, over the other actors; what the rest is for stands with `Adopting` and `Detector`.

    `new_id("s")` gives an id that is never given twice; `arm` makes the engine of `scrub` ready.
    """
    adopting = Adopting(
        scanner=scanner,
        places=places,
        audit=audit,
        events=events,
        session=sessions,
        carrying=Carrying(scanner, places, sessions, jobs),
        key=load_or_create_key("contract"),
        arm=arm,
        scrub=scrub,
        new_id=new_id,
        clock=time.time,
        insist_orders=insist_orders,
    )
    return Detector(
        scanner,
        adopting,
        meter=SessionMeter(spent, scanner.files),
        events=events,
        quota=quota,
        settings=settings,
        scrub=scrub,
        clock=time.time,
    )
