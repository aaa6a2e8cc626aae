"""Lines of an agent that speaks ACP, as it would write them; which session they name is all the same to the fold."""

from __future__ import annotations

from typing import Any

from tests.hub.providers.captured import rpc

SESSION = "s-1-native"


def update(kind: str, /, **fields: Any) -> bytes:
    """Something happened in the session."""
    body = {"sessionUpdate": kind, **fields}
    return rpc(method="session/update", params={"sessionId": SESSION, "update": body})


def words(text: str) -> bytes:
    """A piece of what the model says."""
    return update("agent_message_chunk", content={"type": "text", "text": text})


def ended(stop: str = "end_turn", turn: int = 1, **more: Any) -> bytes:
    """The end of a turn."""
    return rpc(id=f"turn-{turn}", result={"stopReason": stop, **more})


def texts_of(prompt: dict[str, Any]) -> list[str]:
    """What hub has written in a prompt."""
    return [block["text"] for block in prompt["params"]["prompt"]]
