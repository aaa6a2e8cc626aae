"""The way into the command `hub`.

Owns: the answers that are given before anything is imported.
Must not: import click, or any module of hub but the bare package, before it is known that they are needed.
"""

from __future__ import annotations

import os
import sys

from hub import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:  # as in `hub.client.shortcut`
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # A folder that is named from wherever hub stands is the repository's: what is in it nobody has agreed to run.
    path = os.environ.get("PATH", "").split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(filter(os.path.isabs, path)) or os.defpath
    if arguments == ["--version"]:
        sys.stdout.write(f"hub {__version__}\n")
        sys.exit(0)
    if arguments[:1] == ["detect"] and _shown(arguments):
        sys.exit(0)
    if arguments == ["usage", "--json"]:
        sys.exit(_summed())
    from hub.cli.group import run

    sys.exit(run(arguments))


def _shown(arguments: Sequence[str]) -> bool:
    """Whether one JSON document was all there was to it, and has been shown."""
    from hub.client import shortcut

    document = shortcut.answer(arguments, os.environ)
    if document == shortcut.NOBODY:
        document = _looked(shortcut.hours_of(arguments))
    if document is None:
        return False
    sys.stdout.buffer.write(document)
    sys.stdout.buffer.flush()
    return True


def _looked(hours: int | None) -> bytes | None:
    """What this process finds by itself, where the project has no daemon that could tell."""
    if hours is None:
        return None
    try:
        kept = _kept(hours)
        if kept is not None:
            return kept
        from hub.io import garbage

        garbage.begin()  # nor is there any to look for when it ends: both are a tenth of a look
        try:
            from hub.cli.looking import document

            return document(hours)
        finally:
            garbage.begun()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # as in `hub.cli.group.run`
        from hub.cli.ending import ended_by

        sys.exit(ended_by(error, as_json=True))


def _summed() -> int:
    """Shows what all sessions used; the exit status."""
    try:
        from hub.cli.summing import json_document

        sys.stdout.buffer.write(json_document())
        sys.stdout.buffer.flush()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # as in `_looked`
        from hub.cli.ending import ended_by

        return ended_by(error, as_json=True)
    return 0


def _kept(hours: int) -> bytes | None:
    """What the last look has shown, where a look at this moment would show the same."""
    import time

    from hub.client import shortcut
    from hub.io import looks

    root = shortcut.project_of(".")
    return None if root is None else looks.recall(root, hours, time.time())


if __name__ == "__main__":
    main()
