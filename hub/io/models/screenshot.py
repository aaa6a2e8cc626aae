"""A picture of a page on this machine, taken by an installed Chromium.

Owns: the browser's command line, and its end.
Must not: show the browser any host but this machine, or leave a profile behind.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import trio

from hub.domain.missing import invalid_field
from hub.errors import Code, HubError
from hub.io.files.atomic import read_bounded
from hub.io.http.stream import place_of
from hub.io.processes.commands import base_env
from hub.io.processes.probe import kill_group, which

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "chrome-headless-shell",
    "microsoft-edge",
    "brave-browser",
)
HOSTS = ("127.0.0.1", "localhost", "::1")
_TIMEOUT = 30.0
_LIMIT = 32 << 20
_WIDTH, _HEIGHT = 1280, 800


async def screenshot(url: str, max_pixels: int) -> bytes:
    """The page as PNG, of at most `max_pixels`.

    Raises:
        HubError: INVALID; the URL leads elsewhere. PROGRAM_MISSING; there is no browser. UPSTREAM_FAILED; nothing
            answers there, or it took no picture.
    """
    place = place_of(url)
    if place.host not in HOSTS:
        raise invalid_field("url", "The page must be on this machine.", "Use http://127.0.0.1:<port>/")
    program = next(filter(None, map(which, BROWSERS)), "")
    if not program:
        raise HubError(
            Code.PROGRAM_MISSING, "No Chromium is installed.", hint="Install one, or send an image."
        )
    try:
        await (await trio.open_tcp_stream(place.host, place.port)).aclose()
    except OSError as error:  # else the model is paid to look at the browser's own page about it
        hint = "Start what serves it, then try again."
        raise HubError(Code.UPSTREAM_FAILED, f"Nothing answers at {url}.", hint=hint) from error
    width, height = size_within(max_pixels)
    folder = Path(tempfile.mkdtemp(prefix="hub-look-"))
    try:
        await _run(program, _options(folder, width, height), url)
        return await trio.to_thread.run_sync(read_bounded, folder / "page.png", _LIMIT)
    except FileNotFoundError as error:
        raise HubError(Code.UPSTREAM_FAILED, f"{Path(program).name} took no picture of {url}.") from error
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


def size_within(max_pixels: int) -> tuple[int, int]:
    """A window of the usual shape with at most that many pixels."""
    scale = min(1.0, math.sqrt(max_pixels / (_WIDTH * _HEIGHT)))
    return max(1, math.floor(_WIDTH * scale)), max(1, math.floor(_HEIGHT * scale))


def _options(folder: Path, width: int, height: int) -> list[str]:
    rules = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {host}" for host in HOSTS)])
    options = [
        "--headless=new",
        "--disable-gpu",
        "--hide-scrollbars",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-extensions",
        "--disable-background-networking",
        "--force-device-scale-factor=1",
        f"--host-resolver-rules={rules}",
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={width},{height}",
        f"--screenshot={folder / 'page.png'}",
        "--virtual-time-budget=5000",
    ]
    # Chromium's sandbox does not work for root, as in most containers.
    return [*options, "--no-sandbox"] if os.geteuid() == 0 else options


async def _run(program: str, options: list[str], url: str) -> None:
    """Nothing of it is left when this returns."""
    try:
        with trio.fail_after(_TIMEOUT):
            await trio.run_process(
                [program, *options, url],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
                env=base_env(),
                start_new_session=True,
                deliver_cancel=kill_group,
            )
    except trio.TooSlowError as error:
        raise HubError(
            Code.UPSTREAM_FAILED, f"{Path(program).name} took no picture within {_TIMEOUT:g} s."
        ) from error
    except OSError as error:
        raise HubError(Code.PROGRAM_MISSING, f"{program} cannot be run: {error.strerror}.") from error
