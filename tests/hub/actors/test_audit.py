"""The audit writer as an actor: keys once over a restart, the shape of the history, a broken log that says so."""

import re
from contextlib import asynccontextmanager

import trio
import trio.testing

from hub.actors import audit as audit_module
from hub.actors.audit import AuditWriter
from hub.domain.audit import ChainState
from hub.errors import Code
from hub.io.audit.journal import MAX_GROUP, verify_file
from hub.message_map import slot_of
from hub.messages.audit import AuditAppend, AuditEntry, AuditHistory, AuditLastEvent, GetAuditHead
from supervisors import SupervisorSpec, actor_spec
from tests.refusals import refuses
from tests.trees import running

KEY = b"k" * 32
CALL = 20.0


@asynccontextmanager
async def writer(places):
    """The running actor's way to be asked."""
    slot = slot_of("audit")
    async with running(
        SupervisorSpec(children=[actor_spec("audit", lambda: AuditWriter(places, KEY), slot)])
    ):

        async def ask(message):
            return await slot.ref.call(message, timeout=CALL)

        yield ask


def entry(key="", event="note", **data):
    return AuditEntry(event, data, key=key)


async def test_a_key_enters_once_also_over_a_restart(places):
    """A sender repeats itself after a crash; the chain does not."""
    async with writer(places) as ask:
        first = await ask(AuditAppend([entry("a"), entry("b"), entry()]))
        assert await ask(AuditAppend([entry("b"), entry("a")])) == first
    async with writer(places) as ask:
        again = await ask(AuditAppend([entry("a"), entry("c")]))
        assert again.seq == first.seq + 1
        assert (await ask(AuditAppend([entry()]))).seq == again.seq + 1
    assert verify_file(places, KEY).state is ChainState.INTACT


async def test_the_newest_keys_are_known_and_memory_is_bounded(places, monkeypatch):
    monkeypatch.setattr(audit_module, "_REMEMBERED", 3)
    async with writer(places) as ask:
        await ask(AuditAppend([entry(str(n)) for n in range(5)]))
        assert (await ask(AuditAppend([entry("3")]))).seq == 4
        assert (await ask(AuditAppend([entry("0")]))).seq == 5


async def test_a_group_takes_its_time_only_while_nobody_waits_behind_it(places, mock_clock):
    """Hashed in one go, an agent's events of a tenth of a second made each of its lines two milliseconds late."""
    many = [entry(str(number)) for number in range(100)]
    async with writer(places) as ask:
        before = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, AuditAppend(many))
            await trio.testing.wait_all_tasks_blocked(0.001)
            assert (places.audit.stat().st_size, trio.current_time()) == (0, before)
            nursery.start_soon(ask, AuditAppend([entry("mine")]))
            await trio.testing.wait_all_tasks_blocked(0.001)
            mock_clock.jump(audit_module._BREATH)
        assert trio.current_time() == before + audit_module._BREATH
        assert (await ask(GetAuditHead())).seq == 100


async def test_the_head_is_the_newest_record(places):
    async with writer(places) as ask:
        assert (await ask(GetAuditHead())).seq == -1
        head = await ask(AuditAppend([entry()]))
        assert head == await ask(GetAuditHead())
        assert re.fullmatch("[0-9a-f]{64}", head.hash)
        assert head.bytes == places.audit.stat().st_size


async def test_the_history_has_the_specifications_shape(places):
    """`{seq, ts, event, provider, summary}`, oldest first, the newest `limit` of them."""
    move = {"from": "RUNNING", "to": "PAUSING", "reason": "quota", "provider": "demo", "sessionId": "s-1"}
    async with writer(places) as ask:
        await ask(
            AuditAppend(
                [entry(event="verify", command="make test", state="ok"), entry("k", "handoff", **move)]
            )
        )
        both = await ask(AuditHistory())
        assert await ask(AuditHistory(1)) == both[1:]
    assert [(e.seq, e.event, e.provider, e.summary) for e in both] == [
        (0, "verify", "", "make test, ok"),
        (1, "handoff", "demo", "RUNNING -> PAUSING, quota"),
    ]
    assert both[1].session_id == "s-1"
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", e.ts) for e in both)


async def test_the_history_tells_how_an_acceptance_command_ended(places):
    """That it ran was there, and not whether it passed."""
    ends = [{"exitCode": 0}, {"exitCode": 2, "timedOut": False}, {"exitCode": None, "timedOut": True}]
    async with writer(places) as ask:
        await ask(AuditAppend([entry(str(n), "verify", command="make", **end) for n, end in enumerate(ends)]))
        found = await ask(AuditHistory())
    assert [(e.summary, e.exit_code) for e in found] == [
        ("make, exit 0", 0),
        ("make, exit 2", 2),
        ("make, timed out", None),
    ]


async def test_a_long_list_goes_in_in_order_and_in_groups(places):
    """Hashed a few at a time, written a group at a time: more than one group is still one chain."""
    count = MAX_GROUP + 3
    async with writer(places) as ask:
        head = await ask(AuditAppend([entry(f"k{n}", command=str(n)) for n in range(count)]))
        assert head.seq == count - 1
        assert [e.summary for e in await ask(AuditHistory(count))] == [str(n) for n in range(count)]
    assert verify_file(places, KEY).records == count


async def test_it_knows_which_events_it_has_over_a_restart(places):
    async with writer(places) as ask:
        assert await ask(AuditLastEvent()) == 0
        await ask(AuditAppend([entry(event="agent_event", eventId=7), entry(event="agent_event", eventId=5)]))
        assert await ask(AuditLastEvent()) == 7
    async with writer(places) as ask:
        assert await ask(AuditLastEvent()) == 7


async def test_a_changed_log_can_be_read_and_takes_nothing(places):
    """X4: every append says `audit_broken` and why; the history up to there is still told."""
    async with writer(places) as ask:
        await ask(AuditAppend([entry(command="one"), entry(command="two"), entry(command="three")]))
    places.audit.write_bytes(places.audit.read_bytes().replace(b"two", b"2wo"))
    before = places.audit.read_bytes()
    async with writer(places) as ask:
        for message in (AuditAppend([entry()]), AuditAppend([]), GetAuditHead()):
            with refuses(Code.AUDIT_BROKEN):
                await ask(message)
        assert [e.summary for e in await ask(AuditHistory())][:1] == ["one"]
    assert places.audit.read_bytes() == before
