"""How hub starts its own programs, `main.py` and `command.py`: as they were when this hub began.

Owns: their archive, in memory: whoever installs another hub under a running daemon changes no program that it starts.
Must not: start anything.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import marshal
import os
import sys
import zipfile
from collections.abc import Iterator
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


def _archive() -> bytes:
    """All that these programs import, compiled."""
    packages = ("hub", "hub/io", "hub/io/files")
    parts = [*(f"{name}/__init__.py" for name in packages), "hub/io/files/seal.py"]
    parts += [str(path.relative_to(_ROOT)) for path in sorted(Path(__file__).parent.glob("*.py"))]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for part in parts:
            name = part.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            code = marshal.dumps(SourceFileLoader(name, str(_ROOT / part)).get_code(name))
            archive.writestr(f"{part}c", importlib.util.MAGIC_NUMBER + bytes(12) + code)
    return packed.getvalue()


_ARCHIVE = _archive()


@contextlib.contextmanager
def program(name: str, argument: str) -> Iterator[tuple[list[str], int]]:
    """The command line that runs one of them, without any package of the user's, and the descriptor that it is to inherit.

    Raises:
        OSError: Too many files are open.
    """
    place = os.memfd_create("hub-programs")
    try:
        with open(place, "wb", closefd=False) as file:
            file.write(_ARCHIVE)
        boot = _BOOT.format(name=name)
        yield [sys.executable, "-I", "-S", "-X", "utf8", "-c", boot, str(place), argument], place
    finally:
        os.close(place)
