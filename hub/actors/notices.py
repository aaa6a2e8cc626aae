"""The notices actor: news for a user who looks elsewhere.

Owns: what is told by the bell, the desktop and the user's own program.
Must not: tell what is not in the event log, or anything twice; hold anybody up.

It begins at the newest event: what happened before the daemon is no news.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Never

import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.follower import LogFollower
from hub.actors.common.outbox import Outbox
from hub.domain.config.model import Notify
from hub.domain.event import Record, Tag
from hub.domain.notice import Notice, notice_of
from hub.domain.terminal import supports_ansi
from hub.errors import HubError
from hub.io.processes.commands import base_env
from hub.messages.events import EventsInbox
from hub.messages.settings import GetConfig
from supervisors import Actor, Exit, Ref

TIMEOUT = 30.0
"""Seconds that the user's program may take."""
_MANY = 8
"""Programs at once; news beyond that wait."""
_OWN = "hub.io.apprise"
"""What sends to `[notify] urls`, and says who did not take it."""
_SAID = 300
_SESSION = ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR")
"""What a program needs to reach its user's desktop."""


class Notices(Actor[Never]):
    """Asked by nobody."""

    def __init__(self, events: Ref[EventsInbox], settings: Ref[GetConfig]) -> None:
        self._outbox = Outbox(events, time.time)
        self._settings = settings
        self._follower = LogFollower(events, self._place)
        self._upto = -1
        self._limit = trio.CapacityLimiter(_MANY)
        self._said: set[str] = set()

    async def continue_(self) -> None:
        """Follow the log from here on."""
        self.ctx.nursery.start_soon(self._follower.follow, self._take)

    async def stopped(self, exit: Exit) -> None:
        """Leave the log."""
        self._follower.leave()

    async def _place(self, head: int) -> int:
        return head if self._upto < 0 or self._upto > head else self._upto

    async def _take(self, records: Sequence[Record]) -> None:
        for record in records:
            self._upto = record.id
            if (notice := notice_of(record)) is not None:
                await self._tell(notice)

    async def _tell(self, notice: Notice) -> None:
        try:
            wanted = (await call_until_answered(self._settings, GetConfig())).notify
        except HubError:
            return  # the settings cannot be read; that is told elsewhere
        if notice.news not in wanted.on:
            return
        if wanted.bell:
            ring(notice)
        for argv, env in programs(notice, wanted):
            self.ctx.nursery.start_soon(self._run, argv, env)

    async def _run(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        async with self._limit:
            why = await _ran(argv, env)
        name = "apprise" if _OWN in argv else argv[0]
        if why and name not in self._said:
            self._said.add(name)
            hint = "Correct it: hub config set --user notify.urls VALUE" if _OWN in argv else ""
            with contextlib.suppress(HubError):
                await self._outbox.publish(
                    Tag.ERROR, f"news could not be told: {name} {why}", {"hint": hint} if hint else {}
                )


def ring(notice: Notice) -> None:
    """The bell, and the words for terminals that show them; nothing where no terminal is."""
    if sys.stderr.isatty():
        words = f"\x1b]9;{notice.title}: {notice.text}\x07" if supports_ansi(os.environ) else ""
        os.write(sys.stderr.fileno(), f"{words}\x07".encode())


def programs(notice: Notice, wanted: Notify) -> list[tuple[Sequence[str], Mapping[str, str]]]:
    """What is started, each with its environment."""
    own = {name: os.environ[name] for name in _SESSION if name in os.environ}
    env = {**base_env(), **own}
    found: list[tuple[Sequence[str], Mapping[str, str]]] = []
    if wanted.desktop:
        found.append((_desktop(notice), env))
    told = {
        "HUB_NOTIFY_EVENT": str(notice.news),
        "HUB_NOTIFY_SESSION": notice.session_id,
        "HUB_NOTIFY_TITLE": notice.title,
        "HUB_NOTIFY_TEXT": notice.text,
    }
    if wanted.command:
        found.append((wanted.command, {**env, **told}))
    if wanted.urls:
        # An address holds its key: as an argument every user of the machine could read it.
        found.append((_apprise(), {**env, **told, "HUB_NOTIFY_URLS": json.dumps(wanted.urls)}))
    return found


def _apprise() -> Sequence[str]:
    """The extra, or the program of its name, of which is said that it is not installed."""
    there = importlib.util.find_spec("apprise") is not None
    return (sys.executable, "-P", "-m", _OWN) if there else ("apprise",)


def _desktop(notice: Notice) -> Sequence[str]:
    """The words are arguments of their own: no shell and no script reads them."""
    if sys.platform == "darwin":
        script = "on run a\ndisplay notification (item 2 of a) with title (item 1 of a)\nend run"
        return ("osascript", "-e", script, notice.title, notice.text)
    return ("notify-send", "--app-name=hub", "--", notice.title, notice.text)


async def _ran(argv: Sequence[str], env: Mapping[str, str]) -> str:
    """Why it did not do what it should; "" = it did."""
    program = shutil.which(argv[0], path=env.get("PATH"))
    if program is None:
        return "is not installed"
    with trio.move_on_after(TIMEOUT) as scope:
        try:
            done = await trio.run_process(
                [program, *argv[1:]],
                env=env,
                stdin=subprocess.DEVNULL,
                # What another program says may be endless.
                **({"capture_stdout": True} if _OWN in argv else {"stdout": subprocess.DEVNULL}),
                stderr=subprocess.DEVNULL,
                check=False,
            )
        except OSError as error:
            return f"cannot be started: {error.strerror}"
        said = (done.stdout or b"").decode("utf-8", "replace").strip()[:_SAID]
        return (said or f"ended with {done.returncode}") if done.returncode else ""
    return f"took longer than {TIMEOUT:g} s" if scope.cancelled_caught else ""
