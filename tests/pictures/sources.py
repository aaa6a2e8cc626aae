"""Which picture shows what, and whether it is as new as that.

Owns: the list of pictures, the sources of the screens they show, and the mark that a picture carries.
Must not: draw.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "design" / "pictures"
_TALK = (
    "hub/cli/terminal/*.py",
    "hub/cli/commands/demo.py",
    "hub/cli/commands/diff.py",
    "hub/cli/ending.py",
)
_WORDS = ("hub/domain/standing.py", "hub/domain/quota/spoken.py")
SHOWN: Mapping[str, tuple[str, ...]] = {
    "../demo.svg": (*_TALK, "hub/providers/demo/*.py"),
    "tui-board.svg": ("hub/tui/**/*.py", *_WORDS),
    "tui-session.svg": ("hub/tui/**/*.py", *_WORDS),
    "page.png": ("hub/web/page/**/*", *_WORDS),
    "page-session.png": ("hub/web/page/**/*", *_WORDS),
}
"""A picture, and what its screen is made of; the recording is of a conversation on a terminal."""
_MARKS = PICTURES / "drawn-from.txt"


def digest(name: str) -> str:
    """What the picture's sources are now."""
    found = {path for pattern in SHOWN[name] for path in ROOT.glob(pattern) if path.suffix != ".pyc"}
    total = hashlib.sha256()
    for path in sorted(path for path in found if path.is_file()):
        total.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return total.hexdigest()[:16]


def kept() -> dict[str, str]:
    """What each picture was drawn from."""
    lines = _MARKS.read_text().splitlines() if _MARKS.exists() else []
    return dict(re.split(r"\s+", line, maxsplit=1)[::-1] for line in lines)


def mark(names: list[str]) -> None:
    """Note that these were drawn just now."""
    made = {**kept(), **{name: digest(name) for name in names}}
    _MARKS.write_text("".join(f"{made[name]}  {name}\n" for name in sorted(made)))
