"""Running a daemon in this process: what `daemon`, `run` and `demo` share.

Owns: the way from the command line's options to the daemon's order.
Must not: print.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from hub.daemon import Order
from hub.io.config_file import load
from hub.io.places import Places, find_project

DEFAULT_PORT = 4748


def order_for(project: Path, *, flags: Mapping[str, Any], detach: bool = False) -> Order:
    """The daemon of the project around a folder.

    Raises:
        HubError: `not_a_repository`, `config_invalid`.
    """
    places = Places(find_project(project))
    read = partial(load, places.config, environ=os.environ, flags=flags)
    config = read()
    port = config.server.port if config.server.port is not None else DEFAULT_PORT
    return Order(places, config, read, config.server.host, port, detach=detach, clock=time.time)
