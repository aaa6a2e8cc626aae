"""One call to the daemon and out: what short commands use.

Owns: finding the daemon, one HTTP request, and the way back from a problem document to a `HubError`.
Must not: import more than the standard library and `hub.errors`; a command that only asks pays for no more.
"""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from hub.errors import Code, HubError

DEFAULT_PORT = 4748
TIMEOUT = 30.0


class Api:
    """The daemon on one port of this machine.

    Every method raises `HubError`: the daemon's own, or `daemon_not_running`, or `timeout`.
    """

    def __init__(self, port: int, timeout: float = TIMEOUT) -> None:
        self.port = port
        self._timeout = timeout

    @property
    def url(self) -> str:
        """The base address."""
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, query: Mapping[str, str | int] | None = None) -> Any:
        """The JSON of a resource."""
        return self._ask("GET", f"{path}?{urlencode(query)}" if query else path, None)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """What a POST made or changed."""
        return self._ask("POST", path, json.dumps(body or {}).encode())

    def _ask(self, method: str, target: str, body: bytes | None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self._timeout)
        headers = {"Accept": "application/json"} | ({"Content-Type": "application/json"} if body else {})
        try:
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            return self._read(response.status, response.read())
        except TimeoutError as error:
            raise HubError(Code.TIMEOUT, f"The daemon did not answer within {self._timeout:g} s") from error
        except ConnectionRefusedError as error:
            raise not_running(self.port) from error
        except (OSError, http.client.HTTPException) as error:
            detail = f"The connection to {self.url} broke: {str(error) or type(error).__name__}"
            raise HubError(Code.DAEMON_NOT_RUNNING, detail) from error
        finally:
            connection.close()

    def _read(self, status: int, body: bytes) -> Any:
        try:
            document = json.loads(body)
        except ValueError as error:
            raise _stranger(self.port) from error
        if status < http.client.BAD_REQUEST:
            return document
        raise error_of(document) or _stranger(self.port)


def find(
    port: int | None = None, project: Path | None = None, environ: Mapping[str, str] | None = None
) -> Api:
    """The daemon of a project: by `port`, `HUB_PORT`, the project's `.hub/daemon.json`, then 4748.

    It is not asked whether it runs; the first call tells.

    Raises:
        HubError: `usage` when `HUB_PORT` is no port.
    """
    return Api(port or port_of(project or Path.cwd(), os.environ if environ is None else environ))


def port_of(directory: Path, environ: Mapping[str, str]) -> int:
    """Where the daemon of the project that `directory` lies in listens, as far as can be known."""
    named = environ.get("HUB_PORT", "")
    if named not in ("", "0"):
        number = _port(int(named) if named.isascii() and named.isdigit() and len(named) < _LONG else None)
        if number is None:
            raise HubError(Code.USAGE, f"HUB_PORT is {named!r}, not a port", hint="Set it to 1..65535.")
        return number
    for place in (directory, *directory.parents):
        try:
            told = json.loads((place / ".hub" / "daemon.json").read_bytes())
        except (OSError, ValueError):
            told = None
        number = _port(told.get("port")) if isinstance(told, dict) else None
        if number is not None:
            return number
        if (place / ".git").exists():
            break
    return DEFAULT_PORT


_LONG = 20
"""Digits no port has; `int` refuses thousands of them with an error of its own."""


def _port(value: Any) -> int | None:
    return value if type(value) is int and 0 < value < 2**16 else None


def error_of(document: Any) -> HubError | None:
    """The error a problem document tells; None when it is not one of ours."""
    if not isinstance(document, dict):
        return None
    members = dict(document)
    try:
        code = Code(members.pop("code", ""))
    except ValueError:
        return None
    detail, hint = str(members.pop("detail", "")), str(members.pop("hint", ""))
    extra = {name: value for name, value in members.items() if name not in ("type", "title", "status")}
    return HubError(code, detail, hint=hint, **extra)


def not_running(port: int) -> HubError:
    """Nothing listens on `port`."""
    return HubError(Code.DAEMON_NOT_RUNNING, f"The daemon cannot be reached at http://127.0.0.1:{port}")


def _stranger(port: int) -> HubError:
    detail = f"What answers on port {port} is not hub"
    return HubError(Code.DAEMON_NOT_RUNNING, detail, hint="Start hub on another port: hub daemon --port 0")
