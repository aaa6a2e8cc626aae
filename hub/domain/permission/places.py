"""What a name of a file or an address means: from where it is used, without what changes nothing of it.

Owns: the folders in which names have a meaning, and absolute names.
Must not: look at a file, or know a rule.
Tests: tests/hub/domain/permission/test_rules.py
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

import attrs

from hub.domain.permission.quoting import HOLE
from hub.domain.permission.wildcards import endless, guessed, overlap

_PROCESS = re.compile(r"proc/[^/]+/(?:task/[^/]+/)?(?:cwd|root)")
"""A process's own name of where it works, and of the root."""
_DEEPEST = 5
"""Names in such a one."""

_FILE = re.compile(r"(?i)fileb?://(?:(?:localhost|127\.0\.0\.1)(?=/))?")
"""What a file's address begins with, that of AWS too; another machine's name stays."""

_UP = re.compile(r"[^/.]/+(?:\./+)*\.\.(?:/|$)|[^/]\.+/+(?:\./+)*\.\.(?:/|$)")
"""A step back behind a name, which may be a link's."""

_ADDRESS = re.compile(r"(?i)(?:(https?):/*|(?=[^/:@?#\s]+\.\w))([^/].*)")
"""An address with its scheme, or without one where the first name has a point in it."""
_LATER = re.compile(r"(?i)https?://")
"""One may stand behind something else: `git+https://h/x`."""
_SCHEME = re.compile(r"(?:https?:|[a-z][a-z\d.+-]*:(?=/))?/*")
_BEGIN = re.compile(rf"[^\w./%{HOLE}-]|\b(?=https?://)")
"""Where an address may begin in a word: `--url=h/x`, `git+h/x`, `name@h/x`, `proxy = h/x`."""
_SIGNS = 8
_HOST_ENDS = re.compile(r"[/?#]")


@attrs.frozen
class Where:
    """The folders in which names have a meaning; absolute."""

    root: str = "/"
    """The user's project: a file of the agent's copy is also meant by its name there."""
    home: str = "/"


def expanded(name: str, where: Where) -> str:
    """With the user's home in the place of `~`."""
    for home in ("~", "$HOME", "${HOME}"):
        if name == home or name.startswith(f"{home}/"):
            return where.home + name[len(home) :]
    return name


def absolute(name: str, folder: str, where: Where) -> str:
    """The path that a name leads to from a folder, without `.` and `..`."""
    if an_address := _FILE.match(name):
        name = unquote(name[an_address.end() :])
    path = posixpath.normpath(posixpath.join("/", folder, expanded(_told(name, folder), where)))
    return "/" + path.lstrip("/")  # two slashes at the beginning mean nothing here


def every(name: str, folder: str, where: Where) -> tuple[str, ...]:
    """The path that a name leads to, and the name itself where a `..` in it may come behind a link: `link/../x`."""
    path = absolute(name, folder, where)
    whole = posixpath.join("/", folder, _told(expanded(name, where), folder))
    return (path, whole) if _UP.search(whole) and not _FILE.match(name) else (path,)


def _told(name: str, folder: str) -> str:
    """With the folder in the place of a process's own name of where it works, and without that of the root."""
    if not name.startswith("/"):
        return name
    found, parts = list[str](), name.split("/")
    for at, part in enumerate(parts, 1):
        if part == "..":
            del found[-1:]
        elif part not in ("", "."):
            found.append(part)
        if found == ["dev", "fd"]:
            found = ["proc", "self", "fd"]
        if part in ("cwd", "root") and len(found) <= _DEEPEST and _PROCESS.fullmatch("/".join(found)):
            return f"{folder if part == 'cwd' else ''}/{'/'.join(parts[at:])}"
    return name


def inside(path: str, folder: str) -> str:
    """The path relative to the folder; "" of one that is not below it."""
    return path[len(folder) + 1 :] if folder and path.startswith(f"{folder.rstrip('/')}/") else ""


def head(pattern: str) -> str:
    """The folder, or the file, that a pattern names before its first sign; "" of none but the root."""
    found = re.search(r"[*?]", pattern)
    return posixpath.dirname(pattern[: found.start()] + "x").rstrip("/") if found else pattern.rstrip("/")


def addresses(text: str, *, bare: bool) -> Iterator[str]:
    """An address as it is dialled: its name in small letters, without a login, a usual port and needless escapes.

    It is read as a browser and `curl` read one: slashes may lean the other way or be missing.

    Args:
        text: What may be one.
        bare: Whether it may be one without its scheme.
    """
    text = _plain(text)
    later = _LATER.search(text, 1)
    for each in (text, text[later.start() :] if later else ""):
        found = _ADDRESS.fullmatch(each)
        if found and (found[1] or bare):
            for scheme in (found[1].lower(),) if found[1] else ("http", "https"):
                yield from _dialled(scheme, found[2])


def _plain(text: str) -> str:
    return re.sub(r"[\t\r\n]", "", text).strip().replace("\\", "/")


def _dialled(scheme: str, rest: str) -> Iterator[str]:
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        port = parts.port if parts.port not in (None, {"http": 80, "https": 443}[scheme]) else None
        host = unicodedata.normalize("NFKC", unquote(parts.hostname or "")).lower().replace("\u3002", ".")
    except ValueError:
        return
    place = f"{scheme}://{host.rstrip('.')}" + (f":{port}" if port else "")
    query = f"?{unquote(parts.query)}" if parts.query else ""
    for path in (unquote(parts.path),) if parts.path else ("", "/"):
        yield f"{place}{path}{query}"


def may_be_asked(word: str, pattern: str) -> bool:
    """Whether a word, of which `HOLE` is not known, may be an address of a pattern; whatever its scheme, and in any case.

    What is not known of a host may make it any: `h.example$X` may be `h.example@evil.example`.
    """
    word, pattern = _plain(word.lower()), _SCHEME.sub("", pattern.casefold(), count=1)
    begins = [0]
    if not re.match(r"https?:", word):  # what stands in an address is no other: `https://h/?id=$X`
        begins = list(dict.fromkeys([0, *(found.end() for found in _BEGIN.finditer(word))]))
    if endless(word) or len(begins) > _SIGNS:
        return True
    for each in (word[begin:] for begin in begins):
        rest = _SCHEME.sub("", each, count=1)
        host = _HOST_ENDS.split(rest, maxsplit=1)[0]
        # `-xh`: what stands behind the letters of short options may be one too.
        if HOLE in host or (each.startswith("-") and not each.startswith("--")):
            return True
        # Behind a host it may be any page: `h/a/$X` may be `h/a/../b`.
        asked = [form for scheme in ("http", "https") for form in _dialled(scheme, f"{host}/{HOLE}")]
        forms = (guessed(_SCHEME.sub("", form, count=1)) for form in (rest, f"{host}/{HOLE}", *asked))
        if any(overlap(form, pattern) for form in forms):
            return True
    return False
