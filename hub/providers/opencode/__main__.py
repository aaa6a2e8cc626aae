"""Start of the bridge by its path: `python -I -S hub/providers/opencode PROGRAM [ARGUMENT...]`.

Owns: finding the package from here, since an isolated Python without site-packages does not.
Must not: do more; this file is compiled at every start, what it imports is not.
Tests: tests/hub/providers/opencode/test_opencode_bridge.py
"""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

    from hub.providers.opencode.bridge import main

    # Threads may stand in a read or a write of a standard stream, and a Python that finalizes around them aborts.
    os._exit(main(sys.argv[1:]))
