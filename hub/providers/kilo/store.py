"""Kilo Code: the sessions it keeps.

Owns: which two formats they are in.
Must not: open a file.

The program and its extension are made from OpenCode and share `<data>/kilo/kilo.db`; older versions of the extension were
made from Roo and keep tasks.
"""

import attrs

from hub.providers import tasks
from hub.providers.opencode import store as opencode
from hub.providers.store import KindStore

_PLATFORMS = tuple(f"{system}-{chip}" for system in ("linux", "darwin") for chip in ("x64", "arm64"))
SIGNATURE = attrs.evolve(
    opencode.SIGNATURE,
    executables=(".kilo/bin/kilo", *(f"@kilocode/cli-{one}/bin/kilo" for one in _PLATFORMS)),
    packages=("@kilocode/cli",),
    program="",
    default_home=".local/share/kilo",
    below="kilo",
    store=r"^(?P<home>/.+/kilo)/kilo\.db$",
)
"""How its processes look, which are OpenCode's under another name. The name alone is also an editor's."""

STORE = KindStore(
    {
        **opencode.store("kilo", SIGNATURE, "kilo.db").kinds,
        "task": tasks.store("kilo", "kilocode.kilo-code"),
    }
)
