"""`python -m hub`.

Owns: nothing but the way in.
Must not: do anything itself.
"""

from hub.cli.main import main

main()
