"""The clients that can be told of the tool server, and how each is told.

Owns: the table of clients: the file that each documents for this.
Must not: touch anything of a client but the one entry.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import attrs

from hub.errors import Code, HubError
from hub.io.config.patch import set_value
from hub.io.files.atomic import create_atomic, swap_atomic
from hub.io.files.jsonc import put, take

NAME = "hub"
"""What the server is called by its clients."""
START_MS = 60_000
"""What a client that waits five seconds for a server is told to wait instead; hub's takes longer on a busy machine."""
_TRIES = 5
"""How often a file that its client writes meanwhile is read anew."""


@attrs.frozen(kw_only=True)
class Client:
    """One client.

    Attributes:
        home: Its configuration: a folder of the user's home, unless the variable `home_env` names another.
        files: Names of the file in there; the first that exists is meant, else the first.
        path: Where the entry stands in the file.
        toml: Whether the file is TOML.
        entry: Makes the entry of the words that start hub's side.
    """

    home: str
    home_env: str = ""
    files: tuple[str, ...]
    path: tuple[str, ...] = ("mcpServers", NAME)
    toml: bool = False
    entry: Callable[[list[str]], dict[str, object]] = lambda command: {
        "command": command[0],
        "args": command[1:],
    }

    @property
    def file(self) -> Path:
        """The file that holds the entry."""
        named = os.environ.get(self.home_env, "") if self.home_env else ""
        home = Path(named) if named else Path.home() / self.home
        if named and self.home_env == "XDG_CONFIG_HOME":
            home = home / Path(self.home).name
        return next((home / name for name in self.files if (home / name).exists()), home / self.files[0])

    def snippet(self, command: list[str]) -> str:
        """The entry with its place, as it would be written by hand."""
        if self.toml:
            entry = self.entry(command)
            lines = (f"{name} = {json.dumps(value)}" for name, value in entry.items())
            return "\n".join([f"[{'.'.join(self.path)}]", *lines])
        value: object = self.entry(command)
        for key in reversed(self.path):
            value = {key: value}
        return json.dumps(value, indent=2)


CLIENTS = {
    "claude": Client(
        home=".",
        home_env="CLAUDE_CONFIG_DIR",
        files=(".claude.json",),
    ),
    "codex": Client(
        home=".codex",
        home_env="CODEX_HOME",
        files=("config.toml",),
        path=("mcp_servers", NAME),
        toml=True,
    ),
    "gemini": Client(
        home=".gemini",
        files=("settings.json",),
        entry=lambda command: {"command": command[0], "args": command[1:], "timeout": START_MS},
    ),
    "opencode": Client(
        home=".config/opencode",
        home_env="XDG_CONFIG_HOME",
        files=("opencode.jsonc", "opencode.json"),
        path=("mcp", NAME),
        entry=lambda command: {"type": "local", "command": command},
    ),
    "qwen": Client(home=".qwen", files=("settings.json",)),
    "cursor": Client(home=".cursor", files=("mcp.json",)),
}


def command_of(program: str, project: str, verb: str) -> list[str]:
    """The words that start hub's side: of the project around the client's folder, or of the one that is named.

    Args:
        program: How hub is called; "" = it is on no PATH.
        project: The one that is named; "" = none.
        verb: What hub is to be: `mcp` or `acp`.
    """
    # Started in whatever folder the client works in, it must not take its modules from there.
    words = [program] if program else [sys.executable, "-P", "-m", "hub"]
    return [*words, *(["--project", str(Path(project).absolute())] if project else []), verb]


def set_entry(client: Client, entry: dict[str, object] | None) -> None:
    """Tells a client of the server, or with None takes it out again. Doing it twice changes nothing.

    Raises:
        HubError: `config_invalid`, `config_changed`, or what a disk can refuse.
    """
    if client.toml:
        edit(client.file, lambda text: _in_toml(text, client.path, entry))
    elif entry is None:
        edit(client.file, lambda text: take(text, client.path))
    else:
        edit(client.file, lambda text: put(text, client.path, entry))


def _in_toml(text: str, path: tuple[str, ...], entry: dict[str, object] | None) -> str:
    """The text with the entry, or without one where it is None; all else as it was."""
    import tomlkit  # only one client's file needs it

    try:
        document = tomlkit.parse(text)
    except ValueError as error:
        raise HubError(Code.CONFIG_INVALID, f"it is not TOML: {error}", hint="Correct that place.") from None
    set_value(document, path, entry)
    return tomlkit.dumps(document)


def edit(path: Path, change: Callable[[str], str]) -> None:
    """Change a client's file, and nothing that the client saves in it meanwhile.

    Raises:
        HubError: `config_invalid`, `config_changed`, or what a disk can refuse.
    """
    path = path.resolve()  # people keep such files elsewhere, under version control
    for _ in range(_TRIES):
        old = path.read_bytes() if path.exists() else None
        try:
            text = (old or b"").decode()
            changed = change(text)
        except UnicodeDecodeError:
            raise HubError(Code.CONFIG_INVALID, f"{path} is not UTF-8.", hint="Correct the file.") from None
        except HubError as error:
            raise HubError(error.code, f"{path}: {error.detail}", hint=error.hint, **error.extra) from None
        if changed == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        new = changed.encode()
        if create_atomic(path, new) if old is None else swap_atomic(path, old, new):
            return
    raise HubError(
        Code.CONFIG_CHANGED, f"{path} changes faster than it can be read.", hint="Close its client."
    )
