"""The parts that carry a session on, put together.

Owns: which part knows which other.
Must not: be imported before there is a session to carry on; it is half of what hub is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hub.actors.session.allotting import Allotting
from hub.actors.session.amending import Amending
from hub.actors.session.asks import Asks
from hub.actors.session.chronicler import Chronicler
from hub.actors.session.desk import Desk
from hub.actors.session.drafting import Drafting
from hub.actors.session.driver import Driver
from hub.actors.session.ending import Ending
from hub.actors.session.evidence import Evidence
from hub.actors.session.kit import Kit
from hub.actors.session.orders import Orders
from hub.actors.session.passing import Passing
from hub.actors.session.routing import Routing
from hub.actors.session.scores import Scores
from hub.actors.session.signed import Signed
from hub.actors.session.starting import Starting
from hub.actors.session.stillness import Stillness
from hub.actors.session.work import Work
from hub.messages import Dispatch
from supervisors import ChildSpec, DynamicHandle, Ref

AdapterSpec = Callable[[Dispatch], tuple[ChildSpec, Ref[Any]]]


def hire(kit: Kit, adapters: DynamicHandle, adapter_spec: AdapterSpec) -> Driver:
    """A fresh driver and its helpers, for one incarnation of the session.

    Args:
        kit: What they share.
        adapters: Where the agents' adapters run.
        adapter_spec: The child that carries a dispatch, and how it is spoken to.
    """
    desk = Desk(kit, adapters, adapter_spec)
    chronicler = Chronicler(kit)
    routing, orders, asks = Routing(kit), Orders(kit), Asks(kit, desk)
    evidence, scores = Evidence(kit, chronicler), Scores(kit, chronicler)
    stillness, signed = Stillness(kit.places.root), Signed(kit)
    amending = Amending(kit, desk)
    drafting = Drafting(kit, evidence, chronicler)
    passing = Passing(
        kit, desk, routing, orders, evidence, asks, stillness, signed, amending, drafting, scores
    )
    ending = Ending(kit, desk, routing, evidence, passing, scores)
    allotting = Allotting(kit, routing, asks)
    work = Work(kit, desk, routing, orders, ending, allotting, amending)
    return Driver(kit, desk, work, passing, ending, asks, Starting(kit, routing), chronicler, scores)
