"""What a job does.

Owns: the shape of an errand.
Must not: know any one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

Say = Callable[[str], Awaitable[None]]
"""Puts a line about the job into the event log."""


class Errand(Protocol):
    """Something that takes its time and that somebody may ask for again."""

    @property
    def title(self) -> str:
        """What is being done, for people: `installing claude`."""

    @property
    def provider(self) -> str:
        """Whom it is done for; "" = nobody in particular."""

    async def begin(self) -> str:
        """Make sure that it can be done, and begin; answers what to say of that.

        Raises:
            HubError: It cannot; nothing was begun.
        """

    async def carry(self, say: Say) -> str:
        """See it through; answers what to say of its end.

        Raises:
            HubError: It failed.
        """
