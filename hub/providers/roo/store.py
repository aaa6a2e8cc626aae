"""Roo Code: the tasks it keeps.

Owns: which extension it is.
Must not: open a file.
"""

from hub.providers.tasks import store

STORE = store("roo", "rooveterinaryinc.roo-cline")
