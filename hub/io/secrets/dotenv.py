"""`.hub/.env`: the providers' keys.

Owns: the reading and writing of that file.
Must not: put a value into this process's environment, an error or a log, or set a name it was not told.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from hub.domain.config.values import env_name_problem
from hub.domain.missing import invalid_field
from hub.errors import Code, HubError
from hub.io.files.atomic import read_bounded, write_atomic

MAX_BYTES = 1 << 20
MAX_VALUE = 16_384
_UNFIT = re.compile("[\0\r\n\x85\u2028\u2029\x0b\x0c\x1c-\x1e\ud800-\udfff]")


def read_env(path: Path, allowed: Collection[str]) -> dict[str, str]:
    """The values of the allowed names; {} when there is no file. Nothing is interpolated.

    A file that others may read is taken back to 0600.

    Raises:
        HubError: NO_PERMISSION when it is a link, no regular file, or another user's; CONFIG_INVALID when it
            is not UTF-8.
    """
    return {
        name: value
        for name, value, _ in _bindings(_text(path))
        if name in allowed and value is not None and not env_name_problem(name)
    }


def every_value(path: Path) -> dict[str, str]:
    """All that the file sets, whoever takes it; as `read_env`."""
    return {name: value for name, value, _ in _bindings(_text(path)) if name and value is not None}


def write_env(path: Path, name: str, value: str | None, allowed: Collection[str]) -> None:
    """Set one name, or remove it with None; comments and other names stay. The new file is 0600 and whole.

    Raises:
        HubError: INVALID for a name that is not allowed or a value with a line break or NUL; NO_PERMISSION,
            NO_SPACE, READ_ONLY.
    """
    if wrong := env_name_problem(name) or (
        "" if name in allowed else "is not a name that any provider takes"
    ):
        raise invalid_field("name", f"{name[:64]!r} {wrong}.", "Allowed: " + ", ".join(sorted(allowed)))
    if value is not None and (len(value) > MAX_VALUE or _UNFIT.search(value)):
        raise invalid_field("value", f"The value of {name} has a line break or NUL in it, or is too long.")
    old = _text(path)
    kept = [original for key, _, original in _bindings(old) if key != name]
    wanted = [(key, kept_value) for key, kept_value, _ in _bindings(old) if key not in (name, "")]
    if value is not None:
        if kept and not kept[-1].endswith("\n"):
            kept.append("\n")
        kept.append(f"{name}={_quoted(value)}\n")
        wanted.append((name, value))
    new = "".join(kept)
    if [(key, found) for key, found, _ in _bindings(new) if key] != wanted:
        raise HubError(Code.CONFIG_INVALID, f"{path} cannot be changed safely.", hint="Correct it by hand.")
    write_atomic(path, new.encode())


def _quoted(value: str) -> str:
    """In single quotes nothing is special but the quote and the backslash."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _bindings(text: str) -> Iterator[tuple[str, str | None, str]]:
    """Name ("" for a comment or what cannot be read), value, and the lines as they stand."""
    from dotenv.parser import parse_stream  # only who has keys needs it

    for binding in parse_stream(io.StringIO(text)):
        readable = binding.key is not None and not binding.error
        yield binding.key or "" if readable else "", binding.value, binding.original.string


def _text(path: Path) -> str:
    try:
        _make_private(path)
        return read_bounded(path, MAX_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise HubError(Code.CONFIG_INVALID, f"{path} is not UTF-8.") from error


def _make_private(path: Path) -> None:
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise HubError(Code.NO_PERMISSION, f"{path} is not a regular file.")
    if found.st_uid != os.geteuid():
        raise HubError(Code.NO_PERMISSION, f"{path} belongs to another user.")
    if stat.S_IMODE(found.st_mode) & 0o077:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fchmod(fd, 0o600)
        finally:
            os.close(fd)
