"""`python -m hub`.

Owns: nothing but the way in.
Must not: do anything itself, or let Python look for modules in the folder where it was called, which is somebody's project.
Tests: tests/test_packaging.py
"""

import os
import sys

try:  # with the two modules that Python itself has imported by now
    _here = os.getcwd()  # noqa: PTH109
except FileNotFoundError:
    _here = ""
if not sys.flags.safe_path and sys.path[0] == _here != os.path.dirname(os.path.dirname(__file__)):  # noqa: PTH120
    del sys.path[0]

from hub.cli.main import main

main()
