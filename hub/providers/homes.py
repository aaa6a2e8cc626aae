"""Where an agent's own folder is.

Owns: the rule by which an environment variable moves it.
Must not: know any one agent, or import anything: what counts sessions starts with it.
Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def home_of(home: str, env: Mapping[str, str], name: str, usual: str) -> str:
    """The folder that an environment variable names where it is set to an absolute path, else the usual one."""
    moved = env.get(name, "")
    return moved.rstrip("/") if moved.startswith("/") else f"{home}/{usual}"


def data_home(home: str, env: Mapping[str, str]) -> str:
    """Where programs keep their data, by the XDG rules."""
    return home_of(home, env, "XDG_DATA_HOME", ".local/share")
