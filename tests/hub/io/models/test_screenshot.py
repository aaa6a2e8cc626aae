"""The picture of a page: only of this machine, within its bounds, and nothing is left behind."""

import shutil
import socket
import tempfile

import pytest
import trio

from hub.domain.models.image import image_of
from hub.errors import Code, HubError
from hub.io.models import screenshot as module
from hub.io.models.screenshot import BROWSERS, screenshot, size_within
from tests.waiting import ended


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Where temporary folders are made; and a PATH with nothing but this test's browser."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def browser(folders, text):
    (folders / "bin/chromium").write_text(f"#!/bin/sh\n{text}\n")
    (folders / "bin/chromium").chmod(0o700)


@pytest.fixture
def page():
    """The address of something that listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


async def refused(url="http://127.0.0.1:1/"):
    with pytest.raises(HubError) as caught:
        await screenshot(url, 1_000_000)
    return caught.value.code


@pytest.mark.parametrize(
    "url",
    ["http://example.com/", "http://127.0.0.1.example.com/", "file:///etc/passwd", "http://0x7f000001/"],
)
async def test_a_page_elsewhere_is_refused_before_anything_runs(folders, url):
    browser(folders, f"touch {folders}/ran")
    assert await refused(url) is Code.INVALID
    assert not (folders / "ran").exists()


async def test_without_a_browser_it_says_so(folders):
    assert await refused() is Code.PROGRAM_MISSING


async def test_a_page_that_nothing_serves_is_not_looked_at(folders):
    """Chromium draws a page of its own about it, and a model was paid to describe that."""
    browser(folders, f"touch {folders}/ran")
    assert await refused() is Code.UPSTREAM_FAILED
    assert not (folders / "ran").exists()


async def test_a_browser_that_takes_no_picture_is_told_and_leaves_nothing(folders, page):
    browser(folders, f'echo "$@" > {folders}/args; exit 1')
    assert await refused(page) is Code.UPSTREAM_FAILED
    assert list((folders / "tmp").iterdir()) == []
    args = (folders / "args").read_text()
    assert "MAP * ~NOTFOUND" in args, "the page cannot load anything from elsewhere"
    assert args.endswith(f"{page}\n")


async def test_a_browser_that_hangs_is_ended_with_what_it_started(folders, monkeypatch, page):
    monkeypatch.setattr(module, "_TIMEOUT", 0.2)
    browser(folders, f"/bin/sleep 600 & echo $! > {folders}/pid; wait")
    assert await refused(page) is Code.UPSTREAM_FAILED
    pid = int((folders / "pid").read_text())
    assert ended(pid)
    assert list((folders / "tmp").iterdir()) == []


@pytest.mark.parametrize("pixels", [1, 2, 1000, 1_024_000, 10**9])
def test_a_window_has_at_most_so_many_pixels(pixels):
    width, height = size_within(pixels)
    assert width * height <= max(pixels, 1)
    assert (width, height) <= (1280, 800)


@pytest.mark.browser
@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="no Chromium is installed")
async def test_a_real_chromium_takes_a_picture():
    async def page(stream):
        async with stream:
            await stream.receive_some(65536)
            await stream.send_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<h1>hub</h1>"
            )

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, page, [listener])
        data = await screenshot(f"http://127.0.0.1:{listener.socket.getsockname()[1]}/", 500_000)
        nursery.cancel_scope.cancel()
    found = image_of(data)
    assert (found.media, found.width, found.height) == ("image/png", *size_within(500_000))
