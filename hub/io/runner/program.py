"""How hub starts its own programs, `main.py` and `command.py`: as they were when this hub began.

Owns: their archive, in memory: whoever installs another hub under a running daemon changes no program that it starts.
Must not: start anything.
"""

from __future__ import annotations

import importlib.util
import io
import marshal
import os
import sys
import zipfile
from importlib.machinery import SourceFileLoader
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_BOOT = """import os, sys
place = sys.argv[1]
sys.path.append("/proc/self/fd/" + place)
from hub.io.runner.{name} import run
os.close(int(place))
run(sys.argv[2])"""
"""The archive comes behind the standard library, so that no module of it is shadowed, and the agent gets none of it."""


def _archive() -> int:
    """A descriptor of all that these programs import, compiled."""
    packages = ("hub", "hub/io", "hub/io/files")
    parts = [*(f"{name}/__init__.py" for name in packages), "hub/io/files/seal.py"]
    parts += [str(path.relative_to(_ROOT)) for path in sorted(Path(__file__).parent.glob("*.py"))]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for part in parts:
            name = part.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            code = marshal.dumps(SourceFileLoader(name, str(_ROOT / part)).get_code(name))
            archive.writestr(f"{part}c", importlib.util.MAGIC_NUMBER + bytes(12) + code)
    place = os.memfd_create("hub-programs")
    with open(place, "wb", closefd=False) as file:
        file.write(packed.getbuffer())
    return place


ARCHIVE = _archive()
"""What whoever starts one hands on to it."""


def argv(name: str, argument: str) -> list[str]:
    """The command line that runs one of them, without any package of the user's; the child needs `ARCHIVE` open."""
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT.format(name=name), str(ARCHIVE), argument]
