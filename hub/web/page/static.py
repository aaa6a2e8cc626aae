"""The page's own files: a style sheet, a script, an icon.

Owns: which they are, their types, and that an unchanged one is not sent again.
Must not: open a path that a request names; a name is looked up among those that are there.
Tests: tests/hub/web/page/test_mount.py
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from hub.errors import Code, HubError
from hub.web.guard import Scope
from hub.web.page.paths import STATIC
from hub.web.problem import WholeResponse

FOLDER = Path(__file__).with_name("static")
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@cache
def files() -> dict[str, tuple[str, str, bytes]]:
    """By name: media type, entity tag, content."""
    return {
        path.name: (TYPES[path.suffix], f'"{hashlib.sha256(data).hexdigest()[:32]}"', data)
        for path in sorted(FOLDER.iterdir())
        for data in (path.read_bytes(),)
    }


def file_reply(scope: Scope) -> WholeResponse:
    """The file that a request asks for.

    Raises:
        HubError: `not_found`.
    """
    found = files().get(scope["path"].removeprefix(STATIC))
    if found is None:
        raise HubError(Code.NOT_FOUND)
    media, tag, data = found
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    known = b",".join(value for name, value in scope["headers"] if name.lower() == b"if-none-match")
    if tag in [one.strip() for one in known.decode("latin-1").split(",")]:
        return WholeResponse(304, headers, b"")
    return WholeResponse(200, {"Content-Type": media, **headers}, data)
