"""Whether hub is still the one on disk that this process was started from.

Owns: what it means that a part of hub cannot be loaded: another hub was installed meanwhile, or the installation is broken.
Must not: load anything, or say so before something is missed: what is loaded works on.
"""

from __future__ import annotations

import os
from pathlib import Path

import hub
from hub.errors import Code, HubError

_PLACE = Path(__file__).with_name("__init__.py")


def _stamp() -> object:
    """Changes with each installation, also of the same version; None where there is none."""
    try:
        found = _PLACE.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


_BEGUN = _stamp()


def replaced() -> bool:
    """Whether hub was installed anew, or taken away, since this process began."""
    return _stamp() != _BEGUN


def outdated(hint: str = "", *, retry: bool = False) -> HubError:
    """Why a process that was left behind cannot do what it has not done before, and a daemon's next step, or `hint`.

    With `retry` it is tried again until it works: by the next daemon.
    """
    return HubError(
        Code.OUTDATED,
        f"Another hub was installed since this one ({hub.__version__}) was started.",
        hint=hint or f"When its sessions are over: kill {os.getpid()}   Then: hub daemon",
        retry=retry or None,
    )


def install_broken(error: ImportError, hint: str = "") -> HubError:
    """What an import that failed means: hub was replaced; or a package is missing, or none that hub works with."""
    if replaced():
        return outdated(hint)
    return HubError(Code.INSTALL_BROKEN, f"A part of hub cannot be imported: {error}")
