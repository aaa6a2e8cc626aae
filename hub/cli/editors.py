"""The editors that can be told of hub as their agent, and how each is told.

Owns: the table of editors: the file that one documents for this, or what its user does by hand.
Must not: touch anything of an editor but the one entry.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from hub.cli.clients import edit
from hub.errors import Code, HubError
from hub.io.files.jsonc import put, take

NAME = "hub"
"""What the agent is called by its editors."""


@attrs.frozen(kw_only=True)
class Editor:
    """One editor.

    Attributes:
        file: Its configuration, below the user's home; "" = there is none that hub could write.
        xdg: Whether that folder moves with `XDG_CONFIG_HOME`.
        more: Further members of the entry.
        by_hand: What its user does instead; `{quoted}` is the command as one word, `{command}` its program, `{args}` the
            rest as a list of texts.
        where: Where that is done.
    """

    file: str = ""
    xdg: bool = False
    more: Mapping[str, Any] = attrs.field(factory=dict)
    by_hand: str = ""
    where: str = ""

    @property
    def written(self) -> bool:
        """Whether hub writes the entry itself."""
        return bool(self.file)

    @property
    def path(self) -> Path:
        """The file that holds the entry."""
        config = os.environ.get("XDG_CONFIG_HOME", "") if self.xdg else ""
        return Path(config) / self.file.removeprefix(".config/") if config else Path.home() / self.file

    @property
    def place(self) -> str:
        """Where the entry stands, or what is to be done."""
        return str(self.path) if self.written else self.where

    def entry(self, command: list[str]) -> dict[str, object]:
        """The agent as the editor's file has it."""
        return {**self.more, "command": command[0], "args": command[1:], "env": {}}

    def snippet(self, command: list[str]) -> str:
        """The entry with its place, as it would be written by hand."""
        if self.written:
            return json.dumps({"agent_servers": {NAME: self.entry(command)}}, indent=2)
        words, args = shlex.join(command), ", ".join(json.dumps(word) for word in command[1:])
        return self.by_hand.format(
            quoted=shlex.quote(words),
            command=json.dumps(command[0]),
            args=args,
        )


_AT = ("agent_servers", NAME)
_CODECOMPANION = """require("codecompanion").setup({{
  adapters = {{
    acp = {{
      hub = function()
        return require("codecompanion.adapters").extend("opencode", {{
          name = "hub",
          formatted_name = "hub",
          commands = {{ default = {{ {command}, {args} }} }},
        }})
      end,
    }},
  }},
  interactions = {{ chat = {{ adapter = "hub" }} }},
}})"""
"""Of the adapters that come with it, this one has no login of its own."""
EDITORS = {
    "zed": Editor(file=".config/zed/settings.json", xdg=True, more={"type": "custom"}),
    "jetbrains": Editor(file=".jetbrains/acp.json"),
    "neovim": Editor(where="in init.lua, with the plugin codecompanion.nvim", by_hand=_CODECOMPANION),
    "toad": Editor(where="Toad keeps no list of your own agents; start it with", by_hand="toad acp {quoted}"),
}
"""Name -> editor."""


def agent_command(project: str) -> list[str]:
    """The words that start the agent: of the project around the editor's folder, or of the one that is named.

    The program by its whole path: an editor that was started from a desktop has another PATH than a shell.
    """
    found = shutil.which("hub")
    words = [str(Path(found).absolute())] if found else [sys.executable, "-P", "-m", "hub"]
    return [*words, *(["--project", str(Path(project).absolute())] if project else []), "acp"]


def install(editor: Editor, command: list[str]) -> None:
    """Tells an editor of hub. Doing it again changes nothing, or brings the entry up to date.

    Raises:
        HubError: `config_invalid`, or what a disk can refuse.
    """
    edit(editor.path, lambda text: put(text, _AT, editor.entry(command)))


def uninstall(editor: Editor) -> None:
    """Takes hub out of an editor's configuration, if it is in it.

    Raises:
        HubError: As `install`; `usage` where hub has written nothing.
    """
    if not editor.written:
        raise HubError(
            Code.USAGE, "hub has written nothing there.", hint=f"Take it out by hand: {editor.where}"
        )
    edit(editor.path, lambda text: take(text, _AT))
