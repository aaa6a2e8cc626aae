"""The way into the command `hub`.

Owns: the search path that every program hub starts is found by, its three streams, and the answer to `--version`.
Must not: import any module of hub but the bare package before that is answered.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from hub import __version__

INTERRUPTED = 130
"""The exit status of a command that Ctrl-C ended."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _all_open()
    _all_sayable()
    # A folder that is named from wherever hub stands is the repository's: what is in it nobody has agreed to run.
    path = os.environ.get("PATH", "").split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(filter(os.path.isabs, path)) or os.defpath
    if arguments == ["--version"]:
        try:
            print(f"hub {__version__}", flush=True)
        except OSError as error:
            sys.exit(None if isinstance(error, BrokenPipeError) else f"hub: {error.strerror}.")
        sys.exit(0)
    try:
        from hub.cli.group import run
    except KeyboardInterrupt:  # before there is anything that could say it
        sys.exit(INTERRUPTED)
    sys.exit(run(arguments))


def _all_open() -> None:
    """Whoever closed an output (`>&-`) reads nothing; and the first file that hub opens must not take its place."""
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # The lowest number that is free is the one that was closed.
            opened = os.open(os.devnull, os.O_RDONLY if fd == 0 else os.O_WRONLY)
            setattr(sys, name, os.fdopen(opened, "r" if fd == 0 else "w"))


def _all_sayable() -> None:
    """What a terminal of another encoding than UTF-8 has no letter for is told by its number."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
