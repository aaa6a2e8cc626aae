"""The user's own folders: where hub keeps what belongs to no project.

Owns: the two folders' places.
Must not: make them.
Tests: tests/hub/io/project/test_places.py
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping


def state_dir(environ: Mapping[str, str] = os.environ) -> str:
    """The directory for what hub writes; `HUB_STATE_DIR` overrides the platform's."""
    return _place(environ, "HUB_STATE_DIR", "XDG_STATE_HOME", "~/.local/state")


def config_dir(environ: Mapping[str, str] = os.environ) -> str:
    """The directory of the user's configuration; `HUB_CONFIG_DIR` overrides the platform's."""
    return _place(environ, "HUB_CONFIG_DIR", "XDG_CONFIG_HOME", "~/.config")


def _place(environ: Mapping[str, str], own: str, shared: str, usual: str) -> str:
    override = environ.get(own, "")
    if override:
        return os.path.join(os.getcwd(), override)  # noqa: PTH109, PTH118  # a text is asked for
    if sys.platform != "linux":
        import platformdirs  # noqa: PLC0415  # each platform has its own rules

        find = platformdirs.user_state_dir if own == "HUB_STATE_DIR" else platformdirs.user_config_dir
        return find("hub", appauthor=False)
    # As platformdirs has it, which costs a short command more than all it does there.
    base = os.environ.get(shared, "")
    return f"{base if base.startswith('/') else os.path.expanduser(usual)}/hub"  # noqa: PTH111  # as above
