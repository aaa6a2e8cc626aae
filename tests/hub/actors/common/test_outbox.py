"""What is told: to both logs, with a key once, and lost only where its teller said that it may be."""

from __future__ import annotations

import math

import attrs
import pytest
import trio

from hub.actors.common.outbox import Outbox, known
from hub.domain.event import Tag
from hub.errors import Code, HubError
from supervisors import ActorDied


@attrs.define
class Log:
    """An actor that fails as it is told to, and then takes what it is given."""

    failures: list[Exception] = attrs.field(factory=list)
    taken: list = attrs.field(factory=list)

    async def call(self, message, *, timeout):
        if self.failures:
            raise self.failures.pop(0)
        self.taken.append(message)

    async def wait_alive(self, timeout):
        assert timeout == math.inf


def died():
    return ActorDied("log")


def outbox(**more):
    return Outbox(Log(**more), lambda: 1.5, Log(), lambda value: str(value).replace("s3cret", "***") if isinstance(value, str) else {k: "***" if v == "s3cret" else v for k, v in value.items()})  # fmt: skip


async def test_what_is_told_is_scrubbed_and_has_its_key():
    box = outbox()
    await box.publish(Tag.SYSTEM, "it is s3cret", {"a": "s3cret"}, "key", 2)
    await box.record("done", {"b": "s3cret"}, "key")
    (event,), (entry,) = box.events.taken[0].events, box.audit.taken[0].entries
    assert (event.tag, event.msg, event.meta, event.at_ms) == ("system", "it is ***", {"a": "***"}, 1500)
    assert (event.dispatch_id, event.offset) == ("key", 2)
    assert (entry.event, entry.data, entry.key) == ("done", {"b": "***"}, "key")


async def test_without_a_key_each_is_logged():
    box = outbox()
    await box.trouble(HubError(Code.NO_SPACE, "full", hint="make room"))
    (event,) = box.events.taken[0].events
    assert (event.tag, event.msg, event.meta) == ("error", "full", {"code": "no_space", "hint": "make room"})
    assert (event.dispatch_id, event.offset) == ("", -1)


async def test_a_log_that_restarts_is_waited_for():
    box = outbox(failures=[died(), died()])
    await box.publish(Tag.SYSTEM, "told", {})
    assert [message.events[0].msg for message in box.events.taken] == ["told"]


async def test_a_log_that_refuses_says_so():
    with pytest.raises(HubError):
        await outbox(failures=[HubError(Code.NO_SPACE)]).publish(Tag.SYSTEM, "lost", {})


@pytest.mark.parametrize("failure", [died(), trio.TooSlowError(), HubError(Code.NO_SPACE)])
async def test_with_an_end_to_its_patience_a_line_may_be_lost(failure):
    box = attrs.evolve(outbox(failures=[failure]), patience=1.0)
    await box.publish(Tag.SYSTEM, "lost", {})
    await box.publish(Tag.SYSTEM, "told", {})
    assert [message.events[0].msg for message in box.events.taken] == ["told"]


async def test_who_has_nothing_to_say_on_the_audit_log_says_nothing_there():
    await Outbox(Log(), lambda: 1.0).record("done", {})


def test_what_is_not_known_is_left_out():
    assert known({"why": "", "exitCode": 0, "isError": False, "etaMinutes": None, "hint": "x"}) == {
        "exitCode": 0,
        "isError": False,
        "etaMinutes": None,
        "hint": "x",
    }
