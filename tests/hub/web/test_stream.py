"""The event log live: order, replay, batches, how a stream ends, and what a client may send."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from wsproto.events import BytesMessage, TextMessage

from hub.domain.text.plain import plain_value
from hub.messages.events import Subscribe
from hub.web import connection, feed
from hub.web import stream as streams
from hub.web.encoder import CACHED, MAX_BATCH, Encoder
from supervisors import ActorDied
from tests.hub.web.fake import Fake, Server, record, running
from tests.hub.web.wire import PATIENCE, Refused, ask, request, socket
from tests.waiting import eventually


async def messages(client: Any, count: int) -> list[Any]:
    return [json.loads(await client.text()) for _ in range(count)]


async def test_without_since_it_starts_live(server: Server):
    server.actors.publish(record(1))
    async with socket(server.port) as client:
        await server.actors.subscribed.wait()
        server.actors.publish(record(2), record(3))
        assert [event["id"] for event in await messages(client, 2)] == [2, 3]
    assert Subscribe(None) in server.actors.calls


async def test_with_since_it_replays_and_goes_on(server: Server):
    """No gap, no double at the seam."""
    server.actors.publish(*map(record, range(1, 6)))
    async with socket(server.port, "/ws?since=2") as client:
        await server.actors.subscribed.wait()
        server.actors.publish(record(6))
        assert [event["id"] for event in await messages(client, 4)] == [3, 4, 5, 6]


async def test_a_message_is_the_event_as_polling_gives_it(server: Server):
    async with socket(server.port) as client:
        await server.actors.subscribed.wait()
        server.actors.publish(record(1, 'quote " and é \u2028'))
        assert [json.loads(await client.text())] == (
            await ask(server.port, "GET", "/api/events?since=0")
        ).json


async def test_a_batch_is_an_array_of_all_that_is_queued_up_to_the_limit(server: Server):
    server.actors.publish(*map(record, range(1, 2 * MAX_BATCH + 89)))
    async with socket(server.port, "/ws?since=0&batch=1") as client:
        sizes = [len(batch) for batch in await messages(client, 3)]
    assert sizes == [MAX_BATCH, MAX_BATCH, 88]


async def test_a_batch_gathers_what_comes_meanwhile(server: Server, monkeypatch: pytest.MonkeyPatch):
    """While one frame is paced, everything that comes goes into the next one."""
    monkeypatch.setattr(feed, "PACE", 1)
    monkeypatch.setattr(feed, "MAX_PACE", 0.05)
    async with socket(server.port, "/ws?batch=1") as client:
        await server.actors.subscribed.wait()
        server.actors.publish(record(1))
        assert await messages(client, 1) == [[record(1).to_json()]]
        for number in range(2, 12):
            server.actors.publish(record(number))
        assert [event["id"] for event in (await messages(client, 1))[0]] == list(range(2, 12))


@pytest.mark.parametrize(
    "query",
    [
        "since=-1",
        "since=100000000000000000000",
        "since=abc",
        "since=1.5",
        "since=",
        "since=1&since=2",
        "batch=2",
        "batch=yes",
        "sinse=1",
    ],
)
@pytest.mark.parametrize("path", ["/ws", "/api/events/stream", "/api/events"])
async def test_a_query_that_does_not_validate_is_told_before_anything_begins(
    server: Server, path: str, query: str
):
    """Row 44 of the security table."""
    if path == "/ws":
        with pytest.raises(Refused) as refused:
            async with socket(server.port, f"{path}?{query}"):
                pass
        status, body = refused.value.status, json.loads(refused.value.body)
    else:
        reply = await ask(server.port, "GET", f"{path}?{query}")
        status, body = reply.status, reply.json
    assert (status, body["code"]) == (422, "invalid")
    assert body["errors"][0]["path"] in ("$.since", "$.batch", "$.sinse")
    assert server.actors.calls == []


@pytest.mark.parametrize(
    ("error", "status"), [(ActorDied("events"), 503), (trio.TooSlowError(), 504), (ValueError("x"), 500)]
)
async def test_a_log_that_does_not_answer_is_told_before_the_stream_begins(
    server: Server, error: Exception, status: int
):
    server.actors.error = error
    with pytest.raises(Refused) as refused:
        async with socket(server.port):
            pass
    assert refused.value.status == status
    assert (await ask(server.port, "GET", "/api/events/stream")).status == status


async def test_open_streams_are_bounded(server: Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(streams, "MAX_STREAMS", 1)
    async with socket(server.port):
        await server.actors.subscribed.wait()
        with pytest.raises(Refused) as refused:
            async with socket(server.port):
                pass
        assert (refused.value.status, refused.value.headers["retry-after"]) == (503, "1")
        assert (await ask(server.port, "GET", "/api/events/stream")).status == 503
    await eventually(lambda: server.actors.watching == 0)
    async with socket(server.port) as client:
        await eventually(lambda: server.actors.watching > 0)
        server.actors.publish(record(1))
        assert len(await messages(client, 1)) == 1


async def test_a_slow_client_is_closed_with_1013_and_loses_nothing_by_it(monkeypatch: pytest.MonkeyPatch):
    """It reads late; what was queued still comes, then 1013; with `since` the rest."""
    monkeypatch.setattr(streams, "MAX_BEHIND", 3)
    actors = Fake()
    async with running(actors) as server:
        async with socket(server.port, receive_buffer=4096) as client:
            await eventually(lambda: actors.watching == 2)
            number = 0
            while actors.watching > 1:  # until it is up to date
                actors.publish(record(number := number + 1))
                await trio.testing.wait_all_tasks_blocked()
            for _ in range(99):
                actors.publish(record(number := number + 1, "x" * 300_000))
                await trio.testing.wait_all_tasks_blocked()
            texts, close = await client.rest()
            seen = [json.loads(text)["id"] for text in texts]
            assert close.code == 1013
        rest = len(actors.log) - len(seen)
        assert rest > 0
        async with socket(server.port, f"/ws?since={seen[-1]}") as client:
            seen += [event["id"] for event in await messages(client, rest)]
        assert seen == [event.id for event in actors.log]


@pytest.mark.parametrize("target", ["/ws", "/ws?batch=1"])
async def test_a_client_that_takes_nothing_finds_1013_when_it_reads_again(
    monkeypatch: pytest.MonkeyPatch, target: str
):
    """It was dropped without a word when a send's time was over; nothing is kept for it but what the kernel holds."""
    monkeypatch.setattr(connection, "SEND_TIMEOUT", 0.05)
    actors = Fake(room=10_000)
    async with running(actors) as server:
        async with socket(server.port, target, receive_buffer=4096) as client:
            await eventually(lambda: actors.watching)
            for number in range(1, 4001):
                actors.publish(record(number, "x" * 500))
            # Its place is free, and so is the feed's, while it has not read a byte.
            await eventually(lambda: actors.watching == 0)
            texts, close = await client.rest()
        assert (close.code, close.reason) == (1013, "too slow; come back with since")
        seen = [
            item["id"]
            for text in texts
            for item in (json.loads(text) if "batch" in target else [json.loads(text)])
        ]
        assert seen == list(range(1, len(seen) + 1))
        assert 0 < len(seen) < 4000


async def test_a_client_that_lags_behind_the_log_itself_is_closed_with_1013():
    """Before it is up to date, it has a place in the log's own queues, and their bound holds."""
    actors = Fake(room=3)
    async with running(actors) as server, socket(server.port, "/ws?since=0", receive_buffer=4096) as client:
        await actors.subscribed.wait()
        for number in range(1, 30):  # all at once: neither it nor the feed has had a turn
            actors.publish(record(number, "x"))
        texts, close = await client.rest()
        assert close.code == 1013
        assert [json.loads(text)["id"] for text in texts] == list(range(1, len(texts) + 1))
        assert len(texts) < len(actors.log)


async def test_a_log_that_restarts_closes_with_1012(server: Server):
    async with socket(server.port) as client:
        await server.actors.subscribed.wait()
        server.actors.publish(record(1))
        server.actors.end()
        assert len(await messages(client, 1)) == 1
        assert (await client.closed()).code == 1012


# --- what a client sends ----------------------------------------------------------------------------------


async def test_json_from_a_client_means_nothing(server: Server):
    async with socket(server.port) as client:
        await server.actors.subscribed.wait()
        await client.send(TextMessage(data='{"hello": [1, 2]}'))
        server.actors.publish(record(1))
        assert len(await messages(client, 1)) == 1


async def test_binary_is_1003(server: Server):
    async with socket(server.port) as client:
        await client.send(BytesMessage(data=b"x"))
        assert (await client.closed()).code == 1003


@pytest.mark.parametrize(
    "text",
    ["not json", "", '{"a":1,"a":2}', "NaN", "[" * 60_000, '"\\ud800"'],
    ids=lambda text: text[:9] or "empty",
)
async def test_52_text_that_is_no_json_is_1007(server: Server, text: str):
    """Case 52: nesting without end is no 500 and no dead handler."""
    async with socket(server.port) as client:
        await client.send(TextMessage(data=text))
        assert (await client.closed()).code == 1007
    assert (await ask(server.port, "GET", "/api/health")).status == 200


# --- server-sent events -------------------------------------------------------------------------------------


@asynccontextmanager
async def sse(server: Server, query: str = "", *headers: tuple[str, str]) -> AsyncIterator[Any]:
    """An open stream: `read(n)` gives the next n blocks."""
    async with await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
        await stream.send_all(
            request("GET", f"/api/events/stream{query}", [("Host", f"127.0.0.1:{server.port}"), *headers])
        )
        got = b""

        async def read(count: int) -> list[str]:
            nonlocal got
            with trio.fail_after(PATIENCE):
                while True:
                    blocks = dechunk(got).split("\n\n")
                    if len(blocks) > count:
                        return blocks[:count]
                    got += await stream.receive_some(65536)

        await server.actors.subscribed.wait()
        yield read, lambda: got


def dechunk(data: bytes) -> str:
    rest, body = data.partition(b"\r\n\r\n")[2], b""
    while b"\r\n" in rest:
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return body.decode()


async def test_sse_has_the_same_ids_and_events(server: Server):
    server.actors.publish(record(1), record(2))
    async with sse(server, "?since=0") as (read, raw):
        server.actors.publish(record(3))
        first, *blocks = await read(4)
        assert first == "retry: 1000"
        assert [block.split("\n")[0] for block in blocks] == ["id: 1", "id: 2", "id: 3"]
        assert json.loads(blocks[2].split("\n")[1].removeprefix("data: ")) == record(3).to_json()
        assert b"text/event-stream" in raw()
        assert b"no-store" in raw()


async def test_sse_last_event_id_wins_over_since(server: Server):
    """The browser comes back by itself with the old address and the new id."""
    server.actors.publish(*map(record, range(1, 6)))
    async with sse(server, "?since=1", ("Last-Event-ID", "4")) as (read, _):
        assert (await read(2))[1].startswith("id: 5\n")


async def test_sse_says_that_it_lives(server: Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(streams, "HEARTBEAT", 0.01)
    async with sse(server) as (read, _):
        assert (await read(3))[1:] == [": still here", ": still here"]


@pytest.mark.parametrize("last", ["x", "-1", "9" * 30])
async def test_sse_a_last_event_id_that_is_none(server: Server, last: str):
    assert (
        await ask(server.port, "GET", "/api/events/stream", headers=[("Last-Event-ID", last)])
    ).status == 422


async def test_sse_ends_when_the_client_is_too_slow(server: Server):
    async with sse(server) as (_, __):
        for _send, subscription in server.actors._subscribers:
            subscription.lagged.set()
        server.actors.end()
        await eventually(lambda: server.actors.watching == 0)


async def test_plain_requests_to_stream_paths(server: Server):
    assert (await ask(server.port, "GET", "/ws")).status == 400
    reply = await ask(server.port, "POST", "/api/events/stream", {})
    assert (reply.status, reply.headers["allow"]) == (405, "GET")


# --- the encoder ----------------------------------------------------------------------------------------------


def test_a_record_is_encoded_once_for_all():
    encoder, one = Encoder(), record(7)
    assert encoder.json(one) is encoder.json(one)
    assert encoder.frame(one) is encoder.frame(one)


@given(st.lists(st.tuples(st.integers(1, 3 * CACHED), st.text(max_size=5)), max_size=30))
def test_the_cache_never_gives_another_records_text(records: list[tuple[int, str]]):
    """Not for an id that comes again, nor for two that share a slot; and as plain as every answer."""
    encoder = Encoder()
    for number, msg in [*records, *records]:
        one = record(number, msg)
        assert json.loads(encoder.json(one)) == plain_value(one.to_json())
        assert encoder.frame(one).endswith(encoder.json(one))
