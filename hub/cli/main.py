"""The way into the command `hub`.

Owns: the search path that every program hub starts is found by, and the answer to `--version`.
Must not: import any module of hub but the bare package before that is answered.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from hub import __version__


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # A folder that is named from wherever hub stands is the repository's: what is in it nobody has agreed to run.
    path = os.environ.get("PATH", "").split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(filter(os.path.isabs, path)) or os.defpath
    if arguments == ["--version"]:
        sys.stdout.write(f"hub {__version__}\n")
        sys.exit(0)
    from hub.cli.group import run

    sys.exit(run(arguments))


if __name__ == "__main__":
    main()
