"""A session at its budget: the agent stands still until its user has said whether it goes on.

Owns: when it is looked, and what follows a yes and a no.
Must not: decide, or count what was used (`tally` does).
Tests: tests/hub/actors/session/test_spending.py
"""

from __future__ import annotations

import attrs
import trio

from hub.actors.session.agent_control import AgentControl
from hub.actors.session.context import SessionContext
from hub.actors.session.permission_broker import PermissionBroker
from hub.actors.session.shared_state import LiveAgent, PendingCommand
from hub.domain.approval import Action
from hub.domain.budget import Budget
from hub.domain.event import Tag
from hub.domain.routing import Target
from hub.domain.session import SessionRecord


@attrs.define
class BudgetWatch:
    """Looks whenever something was used."""

    context: SessionContext
    control: AgentControl
    broker: PermissionBroker
    _looked: int = -1
    """Up to which event."""

    def due(self) -> bool:
        """Whether something was used since it was looked last."""
        return self._budget.capped and self.context.usage.upto != self._looked

    @property
    def _budget(self) -> Budget:
        session = self.context.config.session
        return Budget(session.max_cost, session.max_tokens)

    async def look(self, record: SessionRecord, live: LiveAgent) -> None:
        """Where the budget is used up: hold the agent, ask, and go on or ask for the session's end.

        Each yes is on record before the agent goes on, so that it holds over a restart.

        Raises:
            HubError: `interrupted`; the session is to stop.
        """
        self._looked = self.context.usage.upto
        tokens = self.context.usage.tokens()
        usd = (await self.context.usage.bill()).usd if self._budget.max_cost is not None else None
        said = self._budget.used_up(usd, tokens.tokens_in + tokens.tokens_out, record.extended)
        if not said:
            return
        live.paused = self.control.pause(on=True)
        occasion, target = f"budget-{record.extended + 1}", Target(record.provider, record.account)
        if not await self.broker.permitted(record, Action.BUDGET, occasion, target, said):
            await self.context.store.say(Tag.SYSTEM, f"{said}, and you did not let it go on")
            await self.context.store.update(stopping="user")
            self.context.shared.ask(PendingCommand.STOP)
            return
        await self.context.store.update(extended=record.extended + 1)
        self._looked = -1
        if not self.context.store.now.paused:
            self.control.pause(on=False)
            live.paused = False
            live.heard_at = trio.current_time()
