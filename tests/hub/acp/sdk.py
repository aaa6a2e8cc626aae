"""An editor made of the protocol's own Python SDK.

The SDK takes most of a second to import: who needs it imports it when it runs.
"""

import asyncio
from typing import Any

import acp
from acp.schema import AllowedOutcome


class SdkClient(acp.Client):
    """Keeps what it is told, and allows everything."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.began = asyncio.Event()
        """Set when a tool is at work."""

    async def session_update(self, session_id, update, **kwargs):
        self.updates.append(update)
        if getattr(update, "status", "") == "in_progress":
            self.began.set()

    async def request_permission(self, options, session_id, tool_call, **kwargs):
        self.asked.append(tool_call)
        chosen = AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return acp.RequestPermissionResponse(outcome=chosen)

    def kinds(self):
        return [update.session_update for update in self.updates]

    def calls(self):
        """How the tool calls stand; what has changed is told anew each time."""
        calls = {
            update.tool_call_id: update.status for update in self.updates if "call" in update.session_update
        }
        return {number: status for number, status in calls.items() if not number.startswith("changes ")}

    def words(self):
        """What was said, notes of hub's among it."""
        return "".join(
            update.content.text for update in self.updates if update.session_update == "agent_message_chunk"
        )
