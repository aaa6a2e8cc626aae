"""The editors that can be told of hub as their agent, and how each is told.

Owns: the table of editors: the file that one documents for this, or what its user does by hand.
Must not: touch anything of an editor but the one entry.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

import attrs

from hub.cli.clients import Client

_AT = ("agent_servers", "hub")


@attrs.frozen
class ByHand:
    """An editor that has no file which hub could write."""

    file: str
    """Where its user does it instead."""
    words: str
    """What he does; `{quoted}` is the command as one word, `{command}` its program, `{args}` the rest as a list of texts."""

    def snippet(self, command: list[str]) -> str:
        """What is done, as it is written."""
        return self.words.format(
            quoted=shlex.quote(shlex.join(command)),
            command=json.dumps(command[0]),
            args=", ".join(json.dumps(word) for word in command[1:]),
        )


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
EDITORS: Mapping[str, Client | ByHand] = {
    "zed": Client(
        home=".config/zed",
        home_env="XDG_CONFIG_HOME",
        files=("settings.json",),
        path=_AT,
        entry=lambda command: {"type": "custom", "command": command[0], "args": command[1:], "env": {}},
    ),
    "jetbrains": Client(
        home=".jetbrains",
        files=("acp.json",),
        path=_AT,
        entry=lambda command: {"command": command[0], "args": command[1:], "env": {}},
    ),
    "neovim": ByHand("in init.lua, with the plugin codecompanion.nvim", _CODECOMPANION),
    "toad": ByHand("Toad keeps no list of your own agents; start it with", "toad acp {quoted}"),
}
