"""The methods of the Agent Client Protocol that hub answers.

Owns: what each method takes and answers, what hub announces of itself, and the conversations of one editor.
Must not: know what a prompt leads to (`conversation` does), or a transport.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import attrs
import trio

from hub import __version__
from hub.acp.choices import PROFILE
from hub.acp.connection import MAX_LINE, NOT_FOUND, EditorConnection
from hub.acp.conversation import EditorConversation, first_of
from hub.acp.daemon import ProjectDaemon
from hub.api.profiles import Profile
from hub.api.providers import ProviderStatus
from hub.api.sessions import Session, Sessions
from hub.domain.jsonvalue import JsonObject
from hub.errors import Code, HubError
from hub.wire.frames import INVALID_PARAMS, METHOD_NOT_FOUND, RefusedError
from hub.wire.wires import LineConnection, Wires

VERSION = 1
"""The newest version of the protocol that hub speaks; whoever speaks another decides whether to go on."""
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,55}")
"""Of a conversation; its later sessions have a number behind it."""
_ABOUT = {"name": "hub", "title": "hub", "version": __version__}
_CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": False, "sse": False},
    "sessionCapabilities": {"list": {}, "resume": {}},
}
_LIST = 100
"""Sessions of a page."""


def run(wires: Wires, daemon_of: Callable[[Path], ProjectDaemon]) -> None:
    """Serves one editor until it closes its side, and returns within a second of that. Sessions go on.

    Args:
        wires: See `Wires.claim`.
        daemon_of: The daemon of the project around a folder; raises `HubError` where there is none, or it is not meant.
    """
    trio.run(_serve, EditorConnection(LineConnection(wires, MAX_LINE)), daemon_of)


async def _serve(connection: EditorConnection, daemon_of: Callable[[Path], ProjectDaemon]) -> None:
    async with trio.open_nursery() as nursery:
        agent = EditorAgent(connection, daemon_of, nursery)
        await connection.serve(agent.answer, agent.hear)
        nursery.cancel_scope.cancel(reason="the editor has gone")


@attrs.define
class EditorAgent:
    """One editor's."""

    connection: EditorConnection
    daemon_of: Callable[[Path], ProjectDaemon]
    nursery: trio.Nursery
    _conversations: dict[str, EditorConversation] = attrs.field(factory=dict)

    async def answer(self, method: str, params: JsonObject) -> JsonObject:
        """The result of a request.

        Raises:
            RefusedError, HubError: What it is refused for.
        """
        methods: dict[str, Callable[[JsonObject], Awaitable[JsonObject]]] = {
            "initialize": _hello,
            "session/new": self._new,
            "session/load": partial(self._load, replay=True),
            "session/resume": partial(self._load, replay=False),
            "session/list": self._list,
            "session/prompt": self._prompt,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_option,
        }
        if method not in methods:
            raise RefusedError(METHOD_NOT_FOUND, "Method not found", method[:100])
        return await methods[method](params)

    def hear(self, method: str, params: JsonObject) -> None:
        """Take a notification; one that nobody knows is nothing."""
        if method == "session/cancel":
            found = self._conversations.get(str(params.get("sessionId")))
            if found is not None:
                found.cancel()

    async def _new(self, params: JsonObject) -> JsonObject:
        daemon = self.daemon_of(_folder(params))
        await daemon.ensure()
        # As the daemon's own: in the order of time, and never twice.
        session_id = f"s-{int(time.time()):x}-{os.urandom(4).hex()}"
        made = await self._opened(session_id, daemon)
        return {"sessionId": session_id, **_offered(made)}

    async def _load(self, params: JsonObject, *, replay: bool) -> JsonObject:
        session_id, daemon = _text(params, "sessionId"), self.daemon_of(_folder(params))
        if not _ID.fullmatch(session_id):
            raise RefusedError(NOT_FOUND, f"There is no session {session_id[:64]!r}.")
        await daemon.ensure()
        before = self._conversations.get(session_id)
        made = await self._opened(session_id, daemon)
        if before is not None and not before.sessions:
            return _offered(made)  # made here, and nothing was said yet
        try:
            await made.load(replay=replay)
        except HubError as error:
            del self._conversations[session_id]
            if error.code is Code.NOT_FOUND:
                raise RefusedError(NOT_FOUND, f"{error.detail} {error.hint}".strip()) from error
            raise
        return _offered(made)

    async def _opened(self, session_id: str, daemon: ProjectDaemon) -> EditorConversation:
        made = EditorConversation(session_id, daemon, self.connection, self.nursery)
        made.choices.learn(
            await daemon.get(list[ProviderStatus], "/api/providers"),
            await daemon.get(list[Profile], "/api/profiles"),
        )
        if (before := self._conversations.get(session_id)) is not None:
            before.close()
        self._conversations[session_id] = made
        return made

    async def _list(self, params: JsonObject) -> JsonObject:
        daemon = self.daemon_of(_folder(params) if params.get("cwd") else Path.cwd())
        if not await daemon.runs():
            return {"sessions": []}
        there = (await daemon.get(Sessions, "/api/sessions")).sessions
        known = {row.session_id for row in there}
        begun = [row for row in there if not row.run_id and first_of(row.session_id) not in known]
        page, more = page_of(begun[::-1], params.get("cursor"))
        rows = [_row(row, daemon.root) for row in page]
        return {"sessions": rows, **({"nextCursor": page[-1].session_id} if more else {})}

    async def _prompt(self, params: JsonObject) -> JsonObject:
        return await self._meant(params).prompt(params.get("prompt"))

    async def _set_mode(self, params: JsonObject) -> JsonObject:
        meant = self._meant(params)
        meant.choices.choose(PROFILE, _text(params, "modeId"))
        await meant.update(
            {"sessionUpdate": "config_option_update", "configOptions": meant.choices.options()}
        )
        return {}

    async def _set_option(self, params: JsonObject) -> JsonObject:
        meant, option = self._meant(params), _text(params, "configId")
        meant.choices.choose(option, _text(params, "value"))
        if option == PROFILE:
            mode = meant.choices.modes()["currentModeId"]
            await meant.update({"sessionUpdate": "current_mode_update", "currentModeId": mode})
        return {"configOptions": meant.choices.options()}

    def _meant(self, params: JsonObject) -> EditorConversation:
        session_id = _text(params, "sessionId")
        found = self._conversations.get(session_id)
        if found is None:
            detail = (
                f"There is no session {session_id[:64]!r} here: it is made by session/new or session/load."
            )
            raise RefusedError(NOT_FOUND, detail)
        return found


async def _hello(params: JsonObject) -> JsonObject:
    if type(params.get("protocolVersion")) is not int:
        raise RefusedError(INVALID_PARAMS, "initialize needs protocolVersion, an integer")
    return {
        "protocolVersion": VERSION,
        "agentCapabilities": _CAPABILITIES,
        "agentInfo": _ABOUT,
        "authMethods": [],
    }


def _offered(made: EditorConversation) -> JsonObject:
    return {"configOptions": made.choices.options(), "modes": made.choices.modes()}


def page_of(rows: Sequence[Session], cursor: object) -> tuple[Sequence[Session], bool]:
    """The rows after a cursor, which is the last one's id of the page before, and whether there are more.

    Raises:
        RefusedError: No page ended there.
    """
    if cursor:
        ids = [row.session_id for row in rows]
        if cursor not in ids:
            raise RefusedError(INVALID_PARAMS, "There is no such cursor: ask for the list anew, without one.")
        rows = rows[ids.index(cursor) + 1 :]
    return rows[:_LIST], len(rows) > _LIST


def _row(row: Session, root: Path) -> JsonObject:
    when = row.ended_at or row.started_at
    return {
        "sessionId": row.session_id,
        "cwd": str(root),
        "title": row.title,
        **({"updatedAt": when} if when else {}),
    }


def _text(params: JsonObject, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise RefusedError(INVALID_PARAMS, f"{name} is a text, and needed")
    return value


def _folder(params: JsonObject) -> Path:
    cwd = Path(_text(params, "cwd"))
    if not cwd.is_absolute():
        raise RefusedError(INVALID_PARAMS, "cwd is an absolute path")
    if not os.path.isdir(cwd):  # noqa: PTH112  # as `Path.is_dir`, but of what may not be looked at, too
        raise RefusedError(INVALID_PARAMS, f"There is no folder {cwd}: open one that is there.")
    return cwd
