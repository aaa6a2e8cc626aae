"""Kilo Code: the sessions it keeps.

Owns: which two formats they are in.
Must not: open a file.

The program and its extension are made from OpenCode and share `<data>/kilo/kilo.db`; older versions of the extension were
made from Roo and keep tasks.
"""

from __future__ import annotations

from hub.providers import tasks
from hub.providers.opencode import store as opencode
from hub.providers.places import either
from hub.providers.store import KindStore

_SESSIONS = opencode.store("kilo", "kilo", "kilo.db")
_TASKS = tasks.store("kilo", "kilocode.kilo-code")

STORE = KindStore(
    name="kilo", where=either(_SESSIONS.where, _TASKS.where), kinds={**_SESSIONS.kinds, "": _TASKS}
)
