"""Where the page is mounted: its paths, its files, and the headers every page leaves with.

Owns: the policy of what a page's document may load and do, that pages are made in a thread, on the first request, and which
files the page has, their types, and that an unchanged one is not sent again.
Must not: know what is on a page, open a path that a request names, or answer anything that changes something.

A page is read by requests that change nothing. What changes something is a POST of the API's own, sent by the page's
script as JSON: a form without the script cannot send that, so there is none to be seen without it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from functools import cache
from html import escape
from pathlib import Path

import attrs
import trio

from hub.errors import Code, HubError
from hub.installed import outdated, replaced
from hub.web.guard import Receive, Scope, Send, respond
from hub.web.inprocess import InProcess
from hub.web.page.ask import Ask
from hub.web.page.paths import STATIC, FoundPage, page_of
from hub.web.problem import WholeResponse, as_hub_error, problem

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


BRIEFLY = b"hub-briefly"
"""The header by which the page's script asks for what has changed and is quickly made."""
METHODS = ("GET", "HEAD")
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types hub"
)
"""Only files of hub's own, no script or style within a document, and markup becomes nodes in one place of the script."""
_HTML = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": CONTENT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Vary": "Accept",
}


@attrs.frozen
class Pages:
    """The pages over the API of this process."""

    api: InProcess
    project: str
    """As a request names it in `Hub-Project`; "" = it need not."""

    def takes(self, scope: Scope) -> bool:
        """Whether a request is for a page or one of its files."""
        return scope["path"].startswith(STATIC) or page_of(scope) is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        del receive
        if scope["method"] not in METHODS:
            reply = problem(HubError(Code.METHOD_NOT_ALLOWED), headers={"Allow": ", ".join(METHODS)})
        else:
            reply = await self._reply(scope)
        if scope["method"] != "HEAD":
            await respond(scope, send, reply)
            return
        await send({"type": "http.response.start", "status": reply.status, "headers": reply.raw_headers()})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _reply(self, scope: Scope) -> WholeResponse:
        found = page_of(scope)
        if found is None:
            return await trio.to_thread.run_sync(file_reply, scope)
        try:
            make = await trio.to_thread.run_sync(_maker)
        except Exception as error:  # noqa: BLE001  # as in `site.page`, which is what could not be loaded
            return _bare(as_hub_error(error))
        ask = Ask(self.api, briefly=(BRIEFLY, b"1") in scope["headers"])
        status, html = await make(ask, self.project, found, scope["query_string"])
        return WholeResponse(status, _HTML, html)


def _bare(error: HubError) -> WholeResponse:
    """A page where there is nothing to make one with."""
    words = "".join(f"<p>{escape(text)}</p>" for text in (error.detail, error.hint))
    return WholeResponse(error.status, _HTML, f"<!doctype html><title>hub</title>{words}".encode())


@cache
def _maker() -> Callable[[Ask, str, FoundPage, bytes], Awaitable[tuple[int, bytes]]]:
    """Loaded with the first page, and whole: templates, colours and prose are no part of a daemon's start.

    Raises:
        HubError: `outdated`; a page would be made half of this hub and half of another.
    """
    if replaced():
        raise outdated()
    from hub.web.page.site import environment, page  # noqa: PLC0415

    environment()
    files()
    return page
