"""What this machine may be short of for a while: open files, and processes.

Owns: which errors say so, and their coded form.
Must not: decide what is done meanwhile.
"""

from __future__ import annotations

import errno

from hub.errors import Code, HubError

_FILES = ("Too many files are open.", "It goes on when some are closed.")
_PROCESSES = ("No more processes can be started.", "It goes on when some have ended. Your limit: ulimit -u")
_TOLD = {errno.EMFILE: _FILES, errno.ENFILE: _FILES, errno.EAGAIN: _PROCESSES}
_NO_THREAD = "can't start new thread"

SHORT = frozenset(_TOLD)
"""Their numbers. EAGAIN is meant of a fork: who asks a socket without waiting catches it."""


def shortage(error: BaseException) -> HubError | None:
    """The coded form of what no session may end for; None when it is something else."""
    if isinstance(error, BaseExceptionGroup):
        found = [shortage(part) for part in error.exceptions]
        return found[0] if all(found) else None
    number = errno.EAGAIN if str(error) == _NO_THREAD else getattr(error, "errno", None)
    if number not in SHORT or hasattr(error, "characters_written"):  # that is a stream whose reader is slow
        return None
    detail, hint = _TOLD[number]
    return HubError(Code.UNAVAILABLE, detail, hint=hint)
