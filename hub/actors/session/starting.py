"""What the user has to know of a session that begins.

Owns: those events, each logged once.
Must not: begin it.
"""

from __future__ import annotations

from typing import TypeVar

import attrs

from hub.actors.common.clock import iso
from hub.actors.session import views
from hub.actors.session.context import SessionContext
from hub.domain.event import Tag
from hub.domain.session import SessionRecord

T = TypeVar("T")


@attrs.frozen
class Starting:
    """Said when the first record is told."""

    context: SessionContext

    async def tell(self, record: SessionRecord) -> None:
        """What the user has to know of a session that begins; each is said once, however often this is called."""
        await self._tell_detection()
        await self._tell_left_out(record)
        if record.wait and not record.attempt:
            key, until = f"waits:{record.session_id}", iso(record.wait.until)
            await self.context.store.say(Tag.WAITING, record.wait.reason, source=key, until=until)

    async def _tell_detection(self) -> None:
        """Rules go on alone where there is no detection engine; never without a word."""
        trouble = self.context.detection.trouble
        if trouble:
            key = f"detection:{self.context.store.now.session_id}"
            msg = f"no detection engine: only hub's own rules look for secrets nobody told hub ({trouble})"
            await self.context.store.say(Tag.SYSTEM, msg, source=key, hint=views.NO_ENGINE)

    async def _tell_left_out(self, record: SessionRecord) -> None:
        """An agent that is there and does not take part is told of, once a session."""
        for out in record.left_out:
            several = len(self.context.config.accounts(out.provider)) > 1
            who = f"{out.provider}/{out.account}" if several else out.provider
            key = f"left-out:{record.session_id}:{out.provider}/{out.account}"
            msg = f"{who} is left out of the chain: {out.reason}. {out.hint}".rstrip()
            more = {"leftOut": who, "named": out.provider in _before(record) or None}
            await self.context.store.say(Tag.SYSTEM, msg, source=key, hint=out.hint, **more)


def _before(record: SessionRecord) -> tuple[str, ...]:
    """Those whom the user wants before the one that begins: that they are left out changes what happens."""
    named = record.named
    return named[: named.index(record.provider)] if record.provider in named else ()
