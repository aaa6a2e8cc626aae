"""A session at its budget: the agent stands still until its user has said whether it goes on.

Owns: when it is looked, and what follows a yes and a no.
Must not: decide, or count what was used (`tally` does).
Tests: tests/hub/actors/session/test_spending.py
"""

from __future__ import annotations

import attrs
import trio

from hub.actors.session.agent_control import Desk
from hub.actors.session.context import Kit
from hub.actors.session.permission_broker import Asks
from hub.actors.session.shared_state import LiveAgent, Wish
from hub.domain.approval import Action
from hub.domain.budget import Budget
from hub.domain.event import Tag
from hub.domain.routing import Target
from hub.domain.session import SessionRecord


@attrs.define
class Spending:
    """Looks whenever something was used."""

    kit: Kit
    desk: Desk
    asks: Asks
    _looked: int = -1
    """Up to which event."""

    def due(self) -> bool:
        """Whether something was used since it was looked last."""
        return self._budget.capped and self.kit.tallies.upto != self._looked

    @property
    def _budget(self) -> Budget:
        session = self.kit.config.session
        return Budget(session.max_cost, session.max_tokens)

    async def look(self, record: SessionRecord, live: LiveAgent) -> None:
        """Where the budget is used up: hold the agent, ask, and go on or ask for the session's end.

        Each yes is on record before the agent goes on, so that it holds over a restart.

        Raises:
            HubError: `interrupted`; the session is to stop.
        """
        self._looked = self.kit.tallies.upto
        tokens = self.kit.tallies.tokens()
        usd = (await self.kit.tallies.bill()).usd if self._budget.max_cost is not None else None
        said = self._budget.used_up(usd, tokens.tokens_in + tokens.tokens_out, record.extended)
        if not said:
            return
        live.paused = self.desk.pause(on=True)
        occasion, target = f"budget-{record.extended + 1}", Target(record.provider, record.account)
        if not await self.asks.permitted(record, Action.BUDGET, occasion, target, said):
            await self.kit.ledger.say(Tag.SYSTEM, f"{said}, and you did not let it go on")
            await self.kit.ledger.update(stopping="user")
            self.kit.board.ask(Wish.STOP)
            return
        await self.kit.ledger.update(extended=record.extended + 1)
        self._looked = -1
        if not self.kit.ledger.now.paused:
            self.desk.pause(on=False)
            live.paused = False
            live.heard_at = trio.current_time()
