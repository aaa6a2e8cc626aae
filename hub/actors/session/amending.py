"""What a stopped agent's own store tells, put into the log where its stream was silent.

Owns: the look at the store, its time, and the amendments' way into the log.
Must not: fail or hold up what it is done for, know any one agent, or write anywhere but to the log.

An amendment enters the log under the event that it amends, once: what is done again after a crash adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import attrs
import msgspec
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.session.agent_control import AgentControl, Surroundings
from hub.actors.session.context import SessionContext
from hub.actors.session.owner import owner
from hub.domain.detection.intel import CallEnd, Limits, Unreadable
from hub.domain.event import Event, Record, Tag
from hub.domain.intent.amendment import amendments
from hub.domain.session import SessionRecord
from hub.errors import HubError
from hub.io.events.store import NewEvent
from hub.messages import EventsOfDispatch

if TYPE_CHECKING:
    from hub.providers.base import Provider

_PATIENCE = 0.5
"""Seconds that a handoff waits for a store, at most."""
_LIMITS = Limits(tail=8 * 1024 * 1024, seconds=_PATIENCE)
"""The newest calls stand at a session's end. Some agents write all calls of a turn again with each: the last record may be
as long as any that is read."""


@attrs.frozen
class Amending:
    """Called whenever the agent of a dispatch was stopped and the work may go on without it."""

    context: SessionContext
    control: AgentControl

    async def amend(self, record: SessionRecord) -> None:
        """Tell what the stream of the record's dispatch left out; of a store that cannot be read, why."""
        provider = self.context.providers.get(owner(record)[0])
        if provider is None or not provider.untold or not (record.native_id and self.control.has_run(record)):
            return
        log: list[Record] = await call_until_answered(
            self.context.events, EventsOfDispatch(record.dispatch_id, Tag.TOOL_RESULT)
        )
        if not log:
            return  # it has called no tool: there is nothing to tell
        try:
            ends = await self._look(provider.name, record)
        except (Unreadable, OSError, HubError, msgspec.DecodeError) as error:
            await self._say(record, "unread", f"{_blind(provider)}: {error}")
            return
        found = amendments(log, ends, provider.untold)
        if found:
            await self._tell(record, found)
            await self._say(record, "read", f"{provider.display_name}'s own session told {_sum(found)}")

    async def _look(self, name: str, record: SessionRecord) -> Sequence[CallEnd]:
        """How calls ended by the agent's own session.

        Raises:
            Unreadable: It is not there, is damaged, or takes too long.
            OSError, HubError, msgspec.DecodeError: Nobody can know any more where it lies.
        """
        look = partial(_ends, name, record.native_id, self.control.surroundings(record))
        with trio.move_on_after(_PATIENCE):
            return await trio.to_thread.run_sync(look, abandon_on_cancel=True)
        raise Unreadable(f"it took more than {_PATIENCE:g} s to read.")

    async def _tell(self, record: SessionRecord, found: Sequence[Event]) -> None:
        new = [self._logged(record, event) for event in found]
        for number, event in zip(await self.context.store.log(new), new, strict=True):
            self.context.usage.count(number, event.msg, event.meta)

    def _logged(self, record: SessionRecord, event: Event) -> NewEvent:
        """Redacted as all that an agent tells, and among the events of its dispatch."""
        meta: Mapping[str, object] = self.context.secrets.value({
            **event.meta,
            "type": str(event.type),
            "sessionId": record.session_id,
            "provider": owner(record)[0],
            "account": owner(record)[1],
            "dispatchId": record.dispatch_id,
        })  # fmt: skip
        at_ms, key = int(self.context.clock() * 1000), f"amends:{event.meta['amends']}"
        return NewEvent(str(event.tag), self.context.secrets.text(event.content), meta, at_ms, key, 0)

    async def _say(self, record: SessionRecord, what: str, text: str) -> None:
        await self.context.store.say(Tag.SYSTEM, text, source=f"amending:{what}:{record.dispatch_id}")


def _ends(name: str, native_id: str, agent: Surroundings) -> Sequence[CallEnd]:
    """The same, in a thread."""
    from hub.io.stores import StoreFiles  # noqa: PLC0415  # most agents tell all in their stream
    from hub.providers import stores  # noqa: PLC0415  # as above

    files = StoreFiles(walk_seconds=_PATIENCE)
    found = stores.search(files, agent.env.get("HOME", "/"), agent.env, agent.since_ns, only=[name])
    for hit in found.hits:
        if hit.session_id not in ("", native_id):
            continue
        intel = stores.read(hit, files, _LIMITS)
        if intel.session_id == native_id:
            if intel.alarm:
                raise Unreadable(intel.alarm)
            return intel.ends
    raise Unreadable(next((one.why for one in found.skipped), "it was not found."))


def _blind(provider: Provider) -> str:
    return f"{provider.display_name}'s own session, which tells more than its stream, was not read"


def _sum(found: Sequence[Event]) -> str:
    ended = sum(event.tag == Tag.TOOL_RESULT for event in found)
    told = [f"how {ended} commands ended" if ended > 1 else "how a command ended"] if ended else []
    return " and ".join([*told, *(["its list of tasks"] if ended < len(found) else [])])
