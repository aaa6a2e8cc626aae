"""Errors that are not the end of anything.

Owns: which codes go away by themselves or by the user's hand outside hub, and which say that the audit log takes
nothing more.
Must not: decide what is done meanwhile.
"""

from __future__ import annotations

from hub.errors import Code

PASSING = frozenset({Code.NO_SPACE, Code.READ_ONLY, Code.UNAVAILABLE, Code.DISK_FAILED})
"""What failed is tried again until it works; after `disk_failed` by the next daemon, for this one is about to end."""
UNAUDITED = frozenset({Code.AUDIT_BROKEN, Code.AUDIT_UNREADABLE})
"""No session goes on without its audit log, but one may end."""
