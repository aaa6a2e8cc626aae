"""The directories that logins live in.

Owns: which directory an account may have, where one that is not named is made, and their file.
Must not: delete a directory, or look into one.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from hub.api import tables
from hub.domain.accounts.account import Account
from hub.domain.accounts.added import AddedAccounts, plain
from hub.domain.missing import invalid_field
from hub.errors import HubError
from hub.io.config.file import decoded
from hub.io.files.atomic import coded_errors
from hub.io.files.sealed import NotSealed, put_aside, read_sealed, write_sealed
from hub.io.project.places import Places

MAX_BYTES = 1 << 20
_OTHERS_WRITE = 0o022
_SLUG = 24
_HEAD = "# Written by hub: accounts that were added, and which is active. Yours may stand in hub.toml.\n"


def read_added(path: Path) -> AddedAccounts:
    """The accounts that were added; none when there is no file, or one that hub did not write there.

    Raises:
        HubError: CONFIG_INVALID, naming the file.
    """
    try:
        text = decoded(read_sealed(path, MAX_BYTES), path)
    except (FileNotFoundError, NotSealed):
        return {}
    return tables.read_added(tables.parse_toml(text, str(path)), str(path))


def write_added(path: Path, added_accounts: AddedAccounts) -> None:
    """Replace their file (0600, whole); one that hub did not write is kept beside it.

    Raises:
        HubError: NO_SPACE, READ_ONLY or NO_PERMISSION.
    """
    import tomlkit  # only a change needs it

    with contextlib.suppress(FileNotFoundError):
        try:
            read_sealed(path, MAX_BYTES)
        except NotSealed:
            put_aside(path)
    write_sealed(path, (_HEAD + tomlkit.dumps(plain(added_accounts))).encode())


def own_dir(places: Places, provider: str, label: str) -> Path:
    """The directory of an account that named none: the same for the same label, in all of the user's projects.

    A label may be anything that prints; its directory is made of a few of its letters, and a hash of all.
    """
    import hashlib  # it loads OpenSSL, and this is asked where an account is added

    slug = re.sub(r"[^a-z0-9]+", "-", label.lower())[:_SLUG].strip("-")
    digest = hashlib.sha256(f"{provider}\0{label}".encode()).hexdigest()[:8]
    return places.state / "accounts" / provider / "-".join(filter(None, (slug, digest)))


def make_account_dir(place: str, home: Path, root: Path, taken: Iterable[Path]) -> Path:
    """Make sure that a login may live there, and make the directory (0700) if it is not there.

    Args:
        place: Absolute, or below `~/`.
        home: The user's home.
        root: The project: what lies in it may be committed, and read by every agent.
        taken: Directories of other accounts.

    Returns:
        The real path.

    Raises:
        HubError: `invalid`, with why.
    """
    path = Path(home / place[2:] if place.startswith("~/") else place)
    if wrong := _misplaced(path, home, root):
        raise _unfit(place, wrong)
    real = Path(os.path.realpath(path))
    if wrong := _misplaced(real, home, root):
        raise _unfit(place, wrong)
    if real in {Path(os.path.realpath(other)) for other in taken}:
        raise _unfit(place, "is another account's directory already")
    with coded_errors(real):
        real.mkdir(mode=0o700, parents=True, exist_ok=True)
    if wrong := _unsafe(real):
        raise _unfit(place, wrong)
    return real


def make_home(account: Account) -> None:
    """Some agents refuse to start where their directory is not there; the user's own is left as it is."""
    if account.config_dir:
        Path(account.config_dir).mkdir(mode=0o700, parents=True, exist_ok=True)


def _misplaced(path: Path, home: Path, root: Path) -> str:
    real_home, real_root = Path(os.path.realpath(home)), Path(os.path.realpath(root))
    if not path.is_absolute() or ".." in path.parts or not str(path).isprintable():
        return "must be an absolute path, or one that begins with ~/, of printable characters and without .."
    if path.is_symlink():
        return "is a link: name the directory itself"
    if path.exists() and not path.is_dir():
        return "is not a directory"
    if path in {real_home, *real_home.parents, home}:
        return "holds more than one login: name a directory of its own"
    if path == real_root or real_root in path.parents:
        return "lies in the project, where it could be committed"
    return ""


def _unsafe(path: Path) -> str:
    found = path.stat()
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    if stat.S_IMODE(found.st_mode) & _OTHERS_WRITE:
        return "may be written by others: take that away with chmod go-w"
    return ""


def _unfit(place: str, why: str) -> HubError:
    return invalid_field(
        "configDir", f"{place[:200]!r} {why}.", "Leave configDir out for one of hub's making."
    )
