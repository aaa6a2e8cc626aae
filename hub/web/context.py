"""What serves a route: the actors, each message by its row of the message map, and the little that is no actor's.

Owns: whose inbox a message of the front end goes to, and how long an answer may take where a route does not say.
Must not: hold state, or change an answer.

A call raises `HubError` (its problem document is served), `supervisors.ActorDied` (503 with Retry-After) or
`trio.TooSlowError` (504). Anything else is a bug and is served as a 500 that tells nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

import attrs
import trio

from hub.domain.session import WHOLE_ID
from hub.errors import Code, HubError
from hub.io.project.places import Places
from hub.messages.events import Subscribe, Subscription, Unsubscribe
from hub.messages.session import GetSessionFacts
from supervisors import Call, NodeInfo, Ref

A = TypeVar("A")
M = TypeVar("M")

READ = 10.0
WRITE = 30.0
"""Seconds: a file may be on a slow disk."""
BEGIN = 120.0
"""A session begins with a commit of the user's uncommitted work, which may take its time."""


class Inbox(Protocol):
    """`hub.message_map.Slots.of_front`."""

    def __call__(self, message: type[M]) -> Ref[M]:
        """Raises KeyError where the front end may not send it."""


@attrs.frozen
class Context:
    """What a handler may reach."""

    places: Places
    ref: Inbox
    """Whose inbox a message goes to, by its row of the message map."""
    snapshot: Callable[[], NodeInfo]
    """Takes the supervision tree's picture."""
    hide: Callable[[str], str]
    """Hides what is secret in a text, every line on its line."""
    insist_on_trust: Callable[[str], None] = lambda _: None
    """Refuses what the user has not agreed to, but for the set of the digest that it is given."""
    checkout: trio.Lock = attrs.field(factory=trio.Lock)
    """Held by whoever changes the user's checkout, or takes a session's worktree away."""

    async def call(self, message: Call[A], *, timeout: float = READ) -> A:
        """What the actor answers that the message is for."""
        return await self.ref(type(message)).call(message, timeout=timeout)

    async def session_meant(self, beginning: str) -> str:
        """The id of the session that is meant by the beginning of it; as it is where no session's begins so.

        The logs know sessions that are on record no more.

        Raises:
            HubError: `which_session`.
        """
        if not beginning or WHOLE_ID.fullmatch(beginning):
            return beginning
        try:
            return (await self.call(GetSessionFacts(beginning))).session_id or beginning
        except HubError as error:
            if error.code is not Code.NOT_FOUND:
                raise
            return beginning

    async def insist(self, said: str = "") -> None:
        """Refuse to start anything that the user has not agreed to.

        Raises:
            HubError: `trust_needed`.
        """
        await trio.to_thread.run_sync(self.insist_on_trust, said)

    @asynccontextmanager
    async def subscribe(self, since: int | None) -> AsyncIterator[Subscription]:
        """A live view of the event log that starts after `since`, or with what comes next where it is None."""
        found = await self.call(Subscribe(since))
        try:
            with found.channel:
                yield found
        finally:
            self.ref(Unsubscribe).try_cast(Unsubscribe(found.token))


Handler = Callable[[Context, Any], Awaitable[Any]]


def call(make: type[Call[Any]] | Callable[[Any], Call[Any]], timeout: float = READ) -> Handler:
    """A handler that is one call.

    Args:
        make: The message of a request: its class where nothing is given, else what makes it of what is.
        timeout: Seconds for the answer.
    """

    async def handle(context: Context, given: object) -> object:
        message = make() if isinstance(make, type) else make(given)
        return await context.call(message, timeout=timeout)

    return handle
