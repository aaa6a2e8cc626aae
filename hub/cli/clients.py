"""The clients that can be told of the tool server, and how each is told.

Owns: the table of clients: the client's own command where it has one, else the file it documents.
Must not: touch anything of a client but the one entry.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import attrs

from hub.domain.text.safe import clip
from hub.errors import Code, HubError
from hub.io.files.atomic import write_atomic
from hub.io.files.jsonc import put, take

NAME = "hub"
"""What the server is called by its clients."""
COMMAND = "{command}"
"""Stands for the words of the server's command."""
START_MS = 60_000
"""What a client that waits five seconds for a server is told to wait instead; hub's takes longer on a busy machine."""
_LIMIT = 120.0
_SAID = 400
"""Letters of what a client says when it refuses."""
_TRACE = re.compile(
    r"\s*(?:at \S.*[):]\d*|Stack backtrace:|\d+: <unknown>|Node\.js v[\d.]+)\s*$|\s*(?:file|node):\S+:\d+$"
)


@attrs.frozen(kw_only=True)
class Client:
    """One client.

    Attributes:
        program: Its executable; "" = it has no command of its own for this.
        add: What adds the server.
        remove: What removes it; () = it has no such command, and the file is edited.
        home: Its configuration: a folder of the user's home, unless the variable `home_env` names another.
        files: Names of the file in there; the first that exists is meant, else the first.
        path: Where the entry stands in the file.
        toml: Whether the file is TOML.
        entry: Makes the entry of the words that start hub's side.
    """

    program: str = ""
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
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
        program="claude",
        add=("mcp", "add", "--scope", "user", NAME, "--", COMMAND),
        remove=("mcp", "remove", "--scope", "user", NAME),
        home=".",
        home_env="CLAUDE_CONFIG_DIR",
        files=(".claude.json",),
    ),
    "codex": Client(
        program="codex",
        add=("mcp", "add", NAME, "--", COMMAND),
        remove=("mcp", "remove", NAME),
        home=".codex",
        home_env="CODEX_HOME",
        files=("config.toml",),
        path=("mcp_servers", NAME),
        toml=True,
    ),
    "gemini": Client(
        program="gemini",
        add=("mcp", "add", "--scope", "user", "--timeout", str(START_MS), NAME, COMMAND),
        remove=("mcp", "remove", "--scope", "user", NAME),
        home=".gemini",
        files=("settings.json",),
        entry=lambda command: {"command": command[0], "args": command[1:], "timeout": START_MS},
    ),
    "opencode": Client(
        program="opencode",
        add=("mcp", "add", NAME, "--", COMMAND),
        home=".config/opencode",
        home_env="XDG_CONFIG_HOME",
        files=("opencode.jsonc", "opencode.json"),
        path=("mcp", NAME),
        entry=lambda command: {"type": "local", "command": command},
    ),
    "qwen": Client(
        program="qwen",
        add=("mcp", "add", "--scope", "user", NAME, COMMAND),
        remove=("mcp", "remove", "--scope", "user", NAME),
        home=".qwen",
        files=("settings.json",),
    ),
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


def install(client: Client, command: list[str]) -> None:
    """Tells a client of the server. Doing it again changes nothing, or brings the entry up to date.

    Raises:
        HubError: `agent_missing`, `agent_exited`, `config_invalid`, or what a disk can refuse.
    """
    if not client.program:
        edit(client.file, lambda text: put(text, client.path, client.entry(command)))
        return
    words = [word for part in client.add for word in (command if part == COMMAND else [part])]
    by_hand = f"put it in by hand: hub mcp install {client.program} --print"
    done = _run(client, words, by_hand)
    if done.returncode and client.remove:  # Claude Code refuses a name that is taken
        _run(client, list(client.remove), by_hand)
        done = _run(client, words, by_hand)
    if done.returncode:
        raise _refused(client, done, by_hand)


def uninstall(client: Client) -> None:
    """Takes the server out of a client's configuration, if it is in it.

    Raises:
        HubError: As `install`.
    """
    if not client.remove:
        edit(client.file, lambda text: take(text, client.path))
        return
    by_hand = f"take the entry {NAME!r} out by hand: {client.file}"
    done = _run(client, list(client.remove), by_hand)
    if done.returncode and NAME not in done.stdout + done.stderr:  # that names it says that it is not there
        raise _refused(client, done, by_hand)


def _run(client: Client, words: list[str], by_hand: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which(client.program)
    if program is None:
        detail = f"{client.program} is not on PATH."
        raise HubError(Code.AGENT_MISSING, detail, hint=f"Install it, or {by_hand}")
    try:
        return subprocess.run(
            [program, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise HubError(Code.TIMEOUT, f"{client.program} mcp did not end within {_LIMIT:g} s.") from None


def _refused(client: Client, done: subprocess.CompletedProcess[str], by_hand: str) -> HubError:
    """What the client said, without the traces that most of them show when they do not like their own file."""
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    told = [line.strip() for line in lines if line.strip() and not _TRACE.match(line)]
    said = clip(" ".join(told), _SAID)
    return HubError(
        Code.AGENT_EXITED,
        f"{client.program} mcp ended with {done.returncode}: {said}",
        hint=f"Correct {client.file} where it is broken, or {by_hand}",
    )


def edit(path: Path, change: Callable[[str], str]) -> None:
    """Write a client's file anew, if the change is one.

    Raises:
        HubError: `config_invalid`, or what a disk can refuse.
    """
    path = path.resolve()  # people keep such files elsewhere, under version control
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        text = ""
    except UnicodeDecodeError:
        raise HubError(Code.CONFIG_INVALID, f"{path} is not UTF-8.", hint="Correct the file.") from None
    try:
        changed = change(text)
    except HubError as error:
        raise HubError(error.code, f"{path}: {error.detail}", hint=error.hint, **error.extra) from None
    if changed != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, changed.encode())
