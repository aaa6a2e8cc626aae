"""What hub writes to Claude Code, and what of it was taken.

Owns: user messages with their ids, the interrupt request, and the set of messages that wait.
Must not: decide when a run is over.

Ids are derived from the dispatch and the write's key: a message that is sent again after a restart carries
the same id, and Claude Code takes an id once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from uuid import NAMESPACE_URL, uuid5

from hub.providers import jsonline
from hub.providers.base import Write

_MENTION = re.compile(r"(?<![\w.+-])@(?=\S)")
_UNREAD = "\u2060@"
"""A file named as `@path` in a message is read before any tool is called, and nobody is asked; behind a sign that takes no
place it is a word like any other."""


class ClaudeInput:
    """The standard input of one run. Where it is `held` to rules, no message of hub's makes the program read a file."""

    def __init__(self, dispatch_id: str, *, held: bool = False) -> None:
        self._dispatch = dispatch_id
        self._held = held
        self._waiting: set[str] = set()
        self._reported = False

    @property
    def waiting(self) -> bool:
        """Whether a message was sent and not taken. An older program that reports nothing counts as fast."""
        return self._reported and bool(self._waiting)

    def message(self, key: str, text: str, own: Collection[str] = ()) -> Write:
        """A user message; it waits until the program tells that it took it.

        One that looks like a command of the program gets a head, for it is none, unless it is one of the user's `own`.
        Where the program is held those are words too: the file of a command reads and runs, and nobody is asked.
        """
        uuid = str(uuid5(NAMESPACE_URL, f"hub:{self._dispatch}:{key}"))
        self._waiting.add(uuid)
        head = "Task:\n" if is_command(text) and (self._held or _name(text) not in own) else ""
        said = head + (_MENTION.sub(_UNREAD, text) if self._held else text)
        body = {"role": "user", "content": [{"type": "text", "text": said}]}
        return Write(key, line({"type": "user", "uuid": uuid, "message": body}))

    def interrupt(self, turn: int) -> Write:
        """Ends the running turn and drops what is queued behind it."""
        key = f"interrupt-{turn}"
        request = {"subtype": "interrupt", "cancel_queued": True}
        return Write(key, line({"type": "control_request", "request_id": key, "request": request}))

    def lifecycle(self, message: Mapping[str, object]) -> None:
        """Notes a `command_lifecycle` line; a message that is put back is queued a second time."""
        self._reported = True
        uuid = jsonline.text(message.get("command_uuid"))
        if message.get("state") == "queued":
            self._waiting.add(uuid)
        else:
            self._waiting.discard(uuid)

    def replayed(self, message: Mapping[str, object]) -> None:
        """Notes the echo of a message, which comes when it is taken."""
        self._waiting.discard(jsonline.text(message.get("uuid")))


def is_command(text: str) -> bool:
    """Whether the program may take it for one of its commands."""
    return text.lstrip().startswith("/")


def own_commands(initialized: Mapping[str, object]) -> Collection[str]:
    """The user's and the project's own commands and skills; () from a program too old to tell them from its own."""
    listed = [jsonline.mapping(command) for command in jsonline.items(initialized.get("commands"))]
    own = [jsonline.text(command.get("name")) for command in listed if command.get("builtin") is not True]
    return own if len(own) < len(listed) else ()


def _name(text: str) -> str:
    return text.split(maxsplit=1)[0].removeprefix("/")


def line(value: Mapping[str, object]) -> bytes:
    """One line of the protocol."""
    return json.dumps(value).encode() + b"\n"
