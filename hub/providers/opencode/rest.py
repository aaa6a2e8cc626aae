"""The lines hub writes to the bridge: requests to OpenCode's server.

Owns: method, path and body of each request hub makes, each a `Write` whose key is the request's id.
Must not: keep state, or know what follows.
Tests: tests/hub/providers/opencode/test_opencode_stream.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from hub.providers.base import Write

_SESSION = re.compile(r"ses_[A-Za-z0-9_-]{1,128}")


def is_session(name: str) -> bool:
    """Whether the text has the form of a session id, so that it may be asked for."""
    return _SESSION.fullmatch(name) is not None


def new(title: str, permission: Sequence[Mapping[str, str]] = ()) -> Write:
    """A fresh session. Its title is given, for otherwise a model is asked to make one.

    `permission` are rules of this session alone; the program puts them behind those of all its settings, and the last
    that matches wins.
    """
    more = {"permission": list(permission)} if permission else {}
    return _write("new", "POST", "/session", {"title": title, **more})


def agents() -> Write:
    """Which agents there are, each with the rules that its settings come to."""
    return _write("agents", "GET", "/agent")


def restrict(session: str, permission: Sequence[Mapping[str, str]]) -> Write:
    """Puts rules on an old session, as `new` does on a fresh one."""
    return _write(
        "restrict", "PATCH", f"/session/{quote(session, safe='')}", {"permission": list(permission)}
    )


def load(session: str) -> Write:
    """Asks whether an old session is there."""
    return _write("load", "GET", f"/session/{quote(session, safe='')}")


def prompt(key: str, session: str, text: str, more: Mapping[str, object]) -> Write:
    """The next prompt; amid a turn it is taken up at its end."""
    body = {"parts": [{"type": "text", "text": text}], **more}
    return _write(key, "POST", f"/session/{quote(session, safe='')}/prompt_async", body)


def abort(key: str, session: str) -> Write:
    """Ends the turn, its tools too; the server stays."""
    return _write(key, "POST", f"/session/{quote(session, safe='')}/abort", {})


def permission(request: str, *, approved: bool, note: str) -> Write:
    """Allows once, or denies with words: without them OpenCode would end the turn."""
    body = {"reply": "once"} if approved else {"reply": "reject", "message": note or "The user said no."}
    return _write(f"answer-{request}", "POST", f"/permission/{quote(request, safe='')}/reply", body)


def answers(key: str, request: str, count: int, text: str) -> Write:
    """The user's words as the answer to every question of a request."""
    path = f"/question/{quote(request, safe='')}/reply"
    return _write(key, "POST", path, {"answers": [[text]] * count})


def reject(request: str) -> Write:
    """No answer to a question."""
    return _write(f"answer-{request}", "POST", f"/question/{quote(request, safe='')}/reject", {})


def _write(key: str, method: str, path: str, body: Mapping[str, object] | None = None) -> Write:
    line = {"id": key, "method": method, "path": path, "body": body}
    # ASCII: a lone surrogate in a user's text stays one character of the text and breaks nothing.
    return Write(key, json.dumps(line, separators=(",", ":")).encode() + b"\n")
