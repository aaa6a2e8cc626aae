"""`python -m hub`.

Owns: nothing but the way in.
Must not: do anything itself, or let Python look for modules in the folder where it was called, which is somebody's project.
"""

import os
import sys

if not sys.flags.safe_path and sys.path[0] == os.getcwd() != os.path.dirname(os.path.dirname(__file__)):  # noqa: PTH109, PTH120
    del sys.path[0]

from hub.cli.main import main

main()
