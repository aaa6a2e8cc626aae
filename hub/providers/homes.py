"""Where an agent's own folder is.

Owns: the rule by which an environment variable moves it.
Must not: know any one agent, or import anything: what counts sessions starts with it.
Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Mapping


def home_of(home: str, env: Mapping[str, str], name: str, usual: str, below: str = "") -> str:
    """The folder, or one `below` it, that an environment variable names as an absolute path, else the usual one."""
    moved = env.get(name, "")
    return f"{moved.rstrip('/')}/{below}".rstrip("/") if moved.startswith("/") else f"{home}/{usual}"
