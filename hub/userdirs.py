"""The user's own folders: where hub keeps what belongs to no project, as the XDG base directories have it.

Owns: the places of the home and the two folders.
Must not: make them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping


def home() -> str:
    """The user's home; "~" where nobody knows it, and then nothing is found in it."""
    return os.path.expanduser("~")  # noqa: PTH111  # `Path.home` raises there


def state_dir(environ: Mapping[str, str] = os.environ) -> str:
    """The directory for what hub writes; `HUB_STATE_DIR` overrides it."""
    return _place(environ, "HUB_STATE_DIR", "XDG_STATE_HOME", "~/.local/state")


def config_dir(environ: Mapping[str, str] = os.environ) -> str:
    """The directory of the user's configuration; `HUB_CONFIG_DIR` overrides it."""
    return _place(environ, "HUB_CONFIG_DIR", "XDG_CONFIG_HOME", "~/.config")


def _place(environ: Mapping[str, str], own: str, shared: str, usual: str) -> str:
    if override := environ.get(own, ""):
        return os.path.join(os.getcwd(), override)  # noqa: PTH109, PTH118  # a text is asked for
    base = os.environ.get(shared, "")  # one that is not absolute does not count: so the specification
    return f"{base if base.startswith('/') else os.path.expanduser(usual)}/hub"  # noqa: PTH111  # as above
