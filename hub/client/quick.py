"""One call to the daemon and out: what short commands use.

Owns: finding the daemon, one HTTP request, and the way back from a problem document to a `HubError`.
Must not: import more than the standard library, `hub.errors`, `hub.owners` and its neighbours before there is an answer to
read. Send a byte to a daemon that is another user's.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import attrs

from hub.client.exchange import exchange
from hub.client.place import (
    PROJECT_HEADER,
    DaemonRecord,
    port_number,
    project_name,
    root_of,
    token_for,
    told_by,
)
from hub.client.whose import insist_own
from hub.errors import Code, HubError

T = TypeVar("T")
Query = Mapping[str, str | int]

DEFAULT_PORT = 4748
TIMEOUT = 30.0
ABSENT = frozenset({Code.DAEMON_NOT_RUNNING, Code.OTHER_PROJECT, Code.OTHER_USER, Code.NOT_A_REPOSITORY})
"""Why a request did not reach the project's daemon: there is none, or no project, or what listens is somebody else's."""
_REFUSED = 400
_CHOOSE = "Go to one, or name it: hub --project DIR ...   What runs in all of them: hub ls -A"


@attrs.define(eq=False)
class Api:
    """One daemon of this machine.

    Every method raises `HubError`: the daemon's own, or `daemon_not_running`, or `timeout`.

    Args:
        port: Where it listens on loopback.
        timeout: Seconds for one answer.
        socket: The path of its unix socket, which is then used instead of the port.
        token: What it wants to see, if it wants a token.
        project: The root of the project that is meant: the daemon of another one refuses. None = whichever it is.
        named: Whether the user said where it listens. Else another project's daemon there is none.
        absent: Whether it is known already that there is none.
    """

    port: int
    _timeout: float = TIMEOUT
    socket: str = attrs.field(default="", kw_only=True)
    _token: str = attrs.field(default="", kw_only=True, repr=False)
    _project: Path | None = attrs.field(default=None, kw_only=True)
    named: bool = attrs.field(default=True, kw_only=True)
    absent: bool = attrs.field(default=False, kw_only=True)

    @property
    def url(self) -> str:
        """The base address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        """What opens the door, for requests and for the handshake of a WebSocket."""
        token = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        return token | ({PROJECT_HEADER: project_name(self._project)} if self._project else {})

    def within(self, timeout: float) -> Api:
        """The same daemon with another patience."""
        return attrs.evolve(self, timeout=timeout)

    def again(self) -> Api:
        """The way to the project's daemon as it tells of itself now: the next one may listen elsewhere."""
        told = told_by(self._project) if self._project is not None else DaemonRecord()
        if told.port is None:
            return self
        token = told.token or self._token or (token_for(os.environ) if told.guarded else "")
        return attrs.evolve(self, port=told.port, socket=told.socket, token=token, absent=False)

    def read(self, kind: type[T], path: str, query: Query | None = None) -> T:
        """A resource, as the class of `hub.api` that describes it."""
        return typed(self.get(path, query), kind)

    def order(self, kind: type[T], path: str, body: object = None) -> T:
        """What a POST made or changed.

        Args:
            kind: The class that describes the answer.
            path: As the route has it; a name in braces stands for that field of the body.
            body: Of the class that describes it.
        """
        from hub.api.convert import unstructure  # noqa: PLC0415  # as in `typed`

        given: Any = unstructure(body) if body is not None else {}
        path = re.sub(r"{(\w+)}", lambda name: quote(given.pop(name[1]), safe=""), path)
        return typed(self.post(path, given), kind)

    def get(self, path: str, query: Query | None = None) -> Any:
        """The JSON of a resource, for who passes it on."""
        return self._ask("GET", f"{path}?{urlencode(query)}" if query else path, None)

    def post(self, path: str, body: Mapping[str, object] | None = None) -> object:
        """What a POST made or changed, as JSON."""
        return self._ask("POST", path, json.dumps(body or {}).encode())

    def _ask(self, method: str, target: str, body: bytes | None) -> object:
        headers = {"Host": f"127.0.0.1:{self.port}", "Accept": "application/json", **self.headers}
        if body:
            headers["Content-Type"] = "application/json"
        if self.absent:
            raise self._nobody()
        try:
            with socket.socket(socket.AF_UNIX if self.socket else socket.AF_INET) as connection:
                connection.settimeout(self._timeout)
                connection.connect(self.socket or ("127.0.0.1", self.port))
                insist_own(connection)
                return self._read(*exchange(connection, method, target, headers, body))
        except TimeoutError as error:
            raise HubError(Code.TIMEOUT, f"The daemon did not answer within {self._timeout:g} s") from error
        except (ConnectionRefusedError, FileNotFoundError) as error:
            raise not_running(self.port) from error
        except OSError as error:
            detail = f"The connection to {self.url} broke: {str(error) or type(error).__name__}"
            raise HubError(Code.DAEMON_NOT_RUNNING, detail) from error
        except ValueError as error:
            raise HubError(Code.USAGE, f"{target!r} cannot be asked for.") from error

    def _nobody(self) -> HubError:
        """Why there is none to ask."""
        if self._project is not None:
            return not_running(self.port, ": none runs in this project.")
        return HubError(
            Code.NOT_A_REPOSITORY,
            "There is no project here: this folder is in no git repository.",
            hint=_CHOOSE,
        )

    def _read(self, status: int, body: bytes) -> Any:
        try:
            document = json.loads(body)
        except ValueError as error:
            raise _stranger(self.port) from error
        if status < _REFUSED:
            return document
        refused = error_of(document) or _stranger(self.port)
        if refused.code is Code.OTHER_PROJECT and not self.named:
            raise not_running(self.port)
        raise refused


def find(
    port: int | None = None,
    project: Path | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    timeout: float = TIMEOUT,
) -> Api:
    """The daemon of a project: by `port`, `HUB_PORT`, or the project's `.hub/daemon.json`.

    It is not asked whether it runs; the first call tells. From within a project only its own daemon is talked to,
    whoever named the port, and outside of all projects only one that was named: what is done to a session must not
    happen to another project's.

    Raises:
        HubError: `usage` when `HUB_PORT` is no port.
    """
    environ = os.environ if environ is None else environ
    root = root_of(project or Path.cwd())
    told = told_by(root) if root is not None else DaemonRecord()
    named = port or _named_port(environ)
    where = named or told.port or DEFAULT_PORT
    own = told.token if where == told.port else ""
    token = own or (token_for(environ) if told.guarded else environ.get("HUB_TOKEN", ""))
    # A port that was named is meant; otherwise the socket is the door only this user can come to.
    # A daemon of this project would have said so: what listens on 4748 serves another one.
    absent = not named and told.port is None
    return Api(
        where,
        timeout,
        socket="" if named else told.socket,
        token=token,
        project=root,
        named=bool(named),
        absent=absent,
    )


def _named_port(environ: Mapping[str, str]) -> int | None:
    named = environ.get("HUB_PORT", "")
    if named in ("", "0"):
        return None
    number = port_number(int(named) if named.isascii() and named.isdigit() and len(named) < _LONG else None)
    if number is None:
        raise HubError(Code.USAGE, f"HUB_PORT is {named!r}, not a port", hint="Set it to 1..65535.")
    return number


_LONG = 20
"""Digits no port has; `int` refuses thousands of them with an error of its own."""


def unless_absent(ask: Callable[[], T], absent: Container[Code] = ABSENT) -> T | None:
    """What is asked for; None where it is refused with one of the codes of what is absent: there is no daemon to ask.

    Raises:
        HubError: Whatever else it is refused for.
    """
    try:
        return ask()
    except HubError as error:
        if error.code not in absent:
            raise
        return None


def typed(answer: object, kind: type[T]) -> T:
    """An answer as the class that describes it; what a newer daemon says besides is passed over.

    Raises:
        HubError: `internal`; it lacks what this hub must know.
    """
    from hub.api.convert import ProblemsError, structure  # noqa: PLC0415  # who finds no daemon pays for no classes

    try:
        return structure(answer, kind, closed=False)
    except ProblemsError as error:
        (where, what), *_ = error.problems
        raise HubError(
            Code.INTERNAL,
            f"The daemon's answer cannot be read: {where} {what}",
            hint="It is of another version. How to end it: hub doctor",
        ) from error


def error_of(document: object) -> HubError | None:
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


def not_running(port: int, why: str = "") -> HubError:
    """The project's daemon does not listen on `port`."""
    return HubError(Code.DAEMON_NOT_RUNNING, f"The daemon cannot be reached at http://127.0.0.1:{port}{why}")


def _stranger(port: int) -> HubError:
    detail = f"What answers on port {port} is not hub"
    return HubError(Code.DAEMON_NOT_RUNNING, detail, hint="Start hub on another port: hub daemon --port 0")
