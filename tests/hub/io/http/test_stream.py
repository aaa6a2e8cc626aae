"""The client for model servers: bounded, and every way a server can fail is one coded error."""

import pytest
import trio

from hub.errors import Code, HubError
from hub.io.http import stream as http_stream
from hub.io.http.stream import exchange, fetch, place_of, words_of
from tests.refusals import refuses


async def serving(nursery, answer):
    """A server that answers each connection with these bytes, once it has heard something; its URL."""

    async def serve(stream):
        async with stream:
            await stream.receive_some(65536)
            await stream.send_all(answer)

    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(trio.serve_listeners, serve, [listener])
    return f"http://127.0.0.1:{listener.socket.getsockname()[1]}"


async def refused(call):
    with pytest.raises(HubError) as caught:
        await call
    return caught.value


@pytest.mark.parametrize(
    ("url", "authority", "target"),
    [
        ("http://127.0.0.1:11434/api/tags", "127.0.0.1:11434", "/api/tags"),
        ("https://api.example.com", "api.example.com", "/"),
        ("http://[::1]:80/a?b=c", "[::1]", "/a?b=c"),
        ("http://bücher.example/", "xn--bcher-kva.example", "/"),
    ],
)
def test_a_url_is_taken_apart(url, authority, target):
    place = place_of(url)
    assert (place.authority, place.target) == (authority, target)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://a/",
        "http://",
        "http://u:p@a/",
        "http://a:99999/",
        "http://a/\r\nX: y",
        "http://[::1",
        "//a/",
    ],
)
def test_what_is_no_url_of_ours_is_refused(url):
    with refuses(Code.INVALID):
        place_of(url)


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"", "broke off"),
        (b"SSH-2.0-OpenSSH_9\r\n", "does not speak HTTP"),
        (OK + b"{", "broke off"),
        (OK + b"no", "answered no JSON"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://example.com/\r\nContent-Length: 0\r\n\r\n", "answered 302"),
        (
            b'HTTP/1.1 500 Oh\r\nContent-Length: 29\r\n\r\n{"error": {"message": "full"}}'[:-1],
            "answered 500",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + b"x" * 99, "more than 64 bytes"),
    ],
)
async def test_every_failure_is_one_code(answer, words):
    async with trio.open_nursery() as nursery:
        url = await serving(nursery, answer)
        error = await refused(fetch("GET", url, limit=64))
        nursery.cancel_scope.cancel()
    assert error.code is Code.UPSTREAM_FAILED
    assert words in error.detail


async def test_nobody_there_and_nobody_answering(autojump_clock):
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
    error = await refused(fetch("GET", url, timeout=5))
    assert (error.code, "in time" in error.detail) == (Code.UPSTREAM_FAILED, True)
    await listener.aclose()
    error = await refused(fetch("GET", url))
    assert (error.code, "cannot be reached" in error.detail) == (Code.UPSTREAM_FAILED, True)


async def test_lines_come_as_they_arrive_and_have_a_bound(monkeypatch):
    body = b'{"a": 1}\n\n{"b":\n 2}'
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    async with trio.open_nursery() as nursery:
        url = await serving(nursery, head + body)
        async with exchange("GET", url) as answer:
            lines = [await answer.line() for _ in range(5)]
            assert lines == [b'{"a": 1}', b'{"b":', b"2}", b"", b""]
        monkeypatch.setattr(http_stream, "MAX_LINE", 2)
        async with exchange("GET", url) as answer:
            with pytest.raises(HubError, match="a line of more than 2 bytes"):
                await answer.line()
        nursery.cancel_scope.cancel()


async def test_a_key_never_leaves_in_the_clear():
    """G: a login goes over https, or to this machine."""
    error = await refused(fetch("GET", "http://192.0.2.1/", headers={"Authorization": "Bearer x"}))
    assert error.code is Code.INVALID


def test_the_servers_own_words_are_told_safely():
    assert words_of(b'{"error": "no such model"}') == "no such model"
    assert words_of(b'{"error": {"message": "bad\\u001b[31m key"}}') == "bad key"
    assert words_of(b"<html>\n  no  </html>") == "<html> no </html>"
    assert words_of(b"[" * 100_000) == words_of(b"[" * 100_000)
    assert len(words_of(b"x" * 10_000)) == 300
    assert words_of(b"") == "nothing"
