"""Kilo Code: the sessions it keeps.

Owns: which two formats they are in.
Must not: open a file.

The program and its extension are made from OpenCode and share `<data>/kilo/kilo.db`; older versions of the extension were
made from Roo and keep tasks.
"""

from __future__ import annotations

from hub.domain.detection.processes import Signature
from hub.providers import tasks
from hub.providers.opencode import store as opencode
from hub.providers.places import either
from hub.providers.store import KindStore

_SESSIONS = opencode.store("kilo", "kilo", "kilo.db")
_TASKS = tasks.store("kilo", "kilocode.kilo-code")

_PLATFORMS = tuple(f"{system}-{chip}" for system in ("linux", "darwin") for chip in ("x64", "arm64"))
SIGNATURE = Signature(
    executables=(".kilo/bin/kilo", *(f"@kilocode/cli-{one}/bin/kilo" for one in _PLATFORMS)),
    packages=("@kilocode/cli",),
    home="XDG_DATA_HOME",
    default_home=".local/share/kilo",
    below="kilo",
    store=r"^(?P<home>/.+/kilo)/kilo\.db$",
    session_options=("--session", "-s"),
    helpers="auth providers models mcp upgrade uninstall export stats db debug session agent github attach "
    "--version -v --help -h",
    surfaces={"serve": "server", "web": "server", "acp": "editor"},
)
"""How its processes look, which are OpenCode's under another name. The name alone is also an editor's."""

STORE = KindStore(
    name="kilo", where=either(_SESSIONS.where, _TASKS.where), kinds={**_SESSIONS.kinds, "": _TASKS}
)
