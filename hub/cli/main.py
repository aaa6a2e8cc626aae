"""The way into the command `hub`.

Owns: the answers that are given before anything is imported.
Must not: import click, or any module of hub but the bare package, before it is known that they are needed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from hub import __version__


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        sys.stdout.write(f"hub {__version__}\n")
        sys.exit(0)
    if arguments[:1] == ["detect"] and _shown(arguments):
        sys.exit(0)
    from hub.cli.group import run

    sys.exit(run(arguments))


def _shown(arguments: Sequence[str]) -> bool:
    """Whether the daemon's answer was all there was to it, and has been shown."""
    from hub.client import shortcut

    document = shortcut.answer(arguments, os.environ)
    if document is None:
        return False
    sys.stdout.buffer.write(document)
    sys.stdout.buffer.flush()
    return True


if __name__ == "__main__":
    main()
