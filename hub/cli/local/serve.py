"""Running a daemon in this process: what `daemon`, `run` and `demo` share.

Owns: the way from the command line's options to the daemon's order, and that a terminal can stop this process (Ctrl-Z).
Must not: print.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from hub.client.quick import DEFAULT_PORT
from hub.daemon import Order
from hub.io.config.accounts import read_added
from hub.io.config.file import BUILT_IN, ReadSettings, project_tables, settings
from hub.io.project.hub_dir import insist_private
from hub.io.project.places import Places, find_project
from hub.io.project.trust import Gate


def in_a_job() -> None:
    """Let Ctrl-Z stop this process, where a terminal may: from here on it starts others by `fork`, not by `vfork`.

    By vfork the thread that starts a process sleeps until that is another program, and nothing but a kill wakes it. Ctrl-Z
    stops the child, which is in the same job until then, and waits for that thread: neither ever goes on, and the shell is
    not told that its job stands still.
    """
    with contextlib.suppress(OSError):
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))  # only whoever has a terminal can open it
        vars(subprocess)["_USE_VFORK"] = False  # the switch that Python's documentation names


def order_for(
    project: Path,
    *,
    flags: Mapping[str, object],
    detach: bool = False,
    port: int = DEFAULT_PORT,
    on_event: Callable[[object], None] | None = None,
    gate: Gate | None = None,
) -> Order:
    """The daemon of the project around a folder.

    Args:
        project: A folder in the project.
        flags: The command line's options that are settings; None is not given.
        detach: Whether a stop by signal leaves the agent to the next daemon.
        port: Where to listen when no setting says where.
        on_event: Told what happens in the supervision tree.
        gate: The project's door, where its user was asked at it already.

    Raises:
        HubError: `not_a_repository`, `config_invalid`, `trust_needed`.
    """
    places = Places(find_project(project))
    insist_private(places.root)
    door = gate or Gate.of(places.root, os.environ)

    def insist(said: str = "") -> None:
        standing = door.standing(project_tables(places.config, environ=os.environ))
        if said and said == standing.digest:
            door.agree(standing, once=True)
        else:
            standing.insist()

    def read() -> ReadSettings:
        added_accounts = read_added(places.accounts)
        return settings(
            places.config, environ=os.environ, flags=flags, added_accounts=added_accounts, gate=door
        )

    if gate is None:
        insist()
    found = read()
    config, chosen = found.config, found.of("server.port") != BUILT_IN
    return Order(
        places,
        config,
        lambda: read().config,
        door,
        config.server.host,
        config.server.port if chosen else port,
        elsewhere=not chosen,
        detach=detach,
        on_event=on_event,
        clock=time.time,
        insist_on_trust=insist,
    )
