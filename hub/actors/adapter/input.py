"""The way to the agent: what it is to be told, kept through every loss of the connection until it is told.

Owns: the connection of the moment; writes until the runner has taken them, replies until the agent can take them, a
pause and a stop until they are done.
Must not: read what the agent says, or make a write (the fold does).
Tests: tests/hub/actors/adapter/test_actor.py
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence

import trio

from hub.io.runner.client import RunnerClient, RunnerLost
from hub.io.runner.launch import StopGraces
from hub.io.runner.replies import UserReply
from hub.io.runner.view import WriteTaken
from hub.messages.agent import AdapterStop
from hub.providers.base import Stream, Write

_LEAVE = 0.3
"""Seconds an agent gets to leave by itself at the end of its input."""
_SETTLE = 0.2
_GRACES = StopGraces()
_HARD = StopGraces(interrupt=0.5, terminate=0.5, kill=1.0)


class AgentInput:
    """One dispatch's; a lost connection costs nothing that was to be sent, also where a method raises `RunnerLost`.

    Args:
        stream: The fold, which says when a reply can be taken.
        caught_up: Whether the fold has read all that was there before: until then it stands at questions that were
            answered long ago.
        ended: Set when the run is over.
    """

    def __init__(self, stream: Stream, caught_up: Callable[[], bool], ended: trio.Event) -> None:
        self._stream = stream
        self._caught_up = caught_up
        self._ended = ended
        self._client: RunnerClient | None = None
        self._untaken: dict[str, bytes] = {}
        self._replies: dict[str, str] = {}
        """Key and text of what the user said and the runner has not been given."""
        self._held: bool | None = None
        self._stopping: AdapterStop | None = None

    async def connected(self, client: RunnerClient, nursery: trio.Nursery) -> None:
        """Do, on a fresh connection, all that the runner has not confirmed; it takes each write once."""
        self._client = client
        if self._held is not None:
            await self.pause(on=self._held)
        if self._stopping is not None:
            nursery.start_soon(self.stop, self._stopping)
        for key, data in list(self._untaken.items()):
            await client.write(key, data)
        await self.pass_replies()

    def lost(self) -> None:
        """The connection is gone."""
        self._client = None

    async def write(self, writes: Sequence[Write]) -> None:
        """Send, and keep what is not taken yet: a full pipe or disk takes it later."""
        for write in writes:
            self._untaken[write.key] = write.data
            if self._client is not None:
                with contextlib.suppress(RunnerLost):  # whoever reads notices it, and all is sent anew
                    await self._client.write(write.key, write.data)

    async def taken(self, answer: WriteTaken) -> None:
        """The runner's word on one write; what it could not take now is sent again."""
        if answer.taken or answer.result == "closed":
            self._untaken.pop(answer.key, None)
        elif self._client is not None and answer.key in self._untaken:
            await trio.sleep(_SETTLE)
            await self._client.write(answer.key, self._untaken[answer.key])

    def remember(self, replies: Iterable[UserReply]) -> None:
        """What an earlier daemon promised to pass on."""
        self._replies |= {reply.key: reply.text for reply in replies}

    async def reply(self, key: str, text: str) -> None:
        """Pass on what the user says."""
        self._replies[key] = text
        await self.pass_replies()

    async def pass_replies(self) -> None:
        """What the agent cannot take at this moment (it is between two turns) waits."""
        if self._client is None or not self._caught_up():
            return
        for key in list(self._replies):
            # Another task may have passed it on while this one waited.
            if key in self._replies and (writes := self._stream.reply(self._replies[key], key)):
                del self._replies[key]
                await self.write(writes)

    async def close(self) -> None:
        """The agent is done with its input."""
        if self._client is not None:
            with contextlib.suppress(RunnerLost):
                await self._client.close_stdin()

    async def stop(self, order: AdapterStop) -> None:
        """Without a connection, or when it is lost meanwhile, it is done at the next one."""
        self._stopping, client = order, self._client
        if client is None:
            return
        with contextlib.suppress(RunnerLost):
            await client.close_stdin()
            if not order.hard:
                # Most agents leave by themselves at the end of their input; a signal costs them their last words.
                with trio.move_on_after(_LEAVE):
                    await self._ended.wait()
            if not self._ended.is_set():
                await client.stop(_HARD if order.hard else _GRACES, order.reason)

    async def pause(self, *, on: bool) -> None:
        """Hold the agent's processes, or let them go on."""
        self._held = on
        if self._client is not None:
            await (self._client.pause() if on else self._client.resume())
