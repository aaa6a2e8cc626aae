"""The session's chronicle, kept up with the log.

Owns: how far the log was read into it, and when: behind everybody's back while the session works, and to its end where
somebody needs it.
Must not: hold up an event's way into the log, or remember anything the log does not tell: after a restart it is read anew.
"""

from __future__ import annotations

import logging

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.transient import shortage
from hub.actors.session.context import SessionContext
from hub.domain.fidelity.chronicle import Chronicle, Subject
from hub.domain.session import SessionRecord
from hub.errors import HubError
from hub.messages import EventsHead, EventsOfSession

_PAGE = 200
"""Records that are read at once: a millisecond's work of the event loop's, and some of a thread's."""
_LINGER = 0.5
"""Seconds from one look to the next: what comes meanwhile is what a handoff still has to read."""
_AGAIN = 2.0
_LOG = logging.getLogger(__name__)


@attrs.define
class Chronicler:
    """Reads on, one page at a time."""

    context: SessionContext
    _chronicle: Chronicle | None = None
    _reading: trio.Lock = attrs.field(factory=trio.Lock)

    async def run(self) -> None:
        """Keep up with the session's log, for ever; between sessions nothing is kept."""
        shared, store = self.context.shared, self.context.store
        while True:
            await shared.until(lambda: self._is_behind() or (self._chronicle and not store.active))
            if not store.active:
                self._chronicle = None
                continue
            try:
                await self.whole(store.now)
            except HubError:
                await trio.sleep(_AGAIN)  # whoever needs it meets the same, and says so
            except Exception as error:  # noqa: BLE001 - a handoff meets it too, and ends the session, not the daemon
                if shortage(error) is not None:
                    await trio.sleep(_AGAIN)
                    continue
                _LOG.exception("the session's log cannot be read into its chronicle")
                return
            await trio.sleep(_LINGER)

    async def whole(self, record: SessionRecord) -> Chronicle:
        """The chronicle with every event that is in the log by now.

        Raises:
            HubError: The log cannot be read.
        """
        async with self._reading:
            chronicle = self._of(record)
            upto = await call_until_answered(self.context.events, EventsHead())
            while chronicle.last_id < upto:
                page = await call_until_answered(
                    self.context.events, EventsOfSession(record.session_id, chronicle.last_id, _PAGE)
                )
                if not page:
                    break
                await trio.to_thread.run_sync(chronicle.feed_all, page)
            return chronicle

    def _of(self, record: SessionRecord) -> Chronicle:
        subject = Subject(
            session_id=record.session_id,
            goal=self.context.task(record),
            acceptance=self.context.assertions(record),
            skills=tuple(map(self.context.secrets.text, record.skills)),
            root=record.worktree,
        )
        if self._chronicle is None or self._chronicle.subject != subject:
            self._chronicle = Chronicle(subject)
        return self._chronicle

    def _is_behind(self) -> bool:
        if not self.context.store.active:
            return False
        chronicle = self._chronicle
        return chronicle is None or chronicle.last_id < self.context.store.newest
