"""OpenCode: how it is started, logged in and installed.

Owns: argv, environment and capabilities of `opencode`.
Must not: read its output (`stream.py` does), or write into an account's directory.

Choices (design/decisions): what runs is hub's bridge (`__main__.py`), which starts `opencode serve` on loopback;
`opencode run` and `opencode acp` say nothing while they wait at a limit. Prompt and contract go over the protocol,
the contract as the `system` text beside the program's own. Settings go in `OPENCODE_CONFIG_CONTENT`, which wins over
the project's and the user's files: everything is allowed by default, nothing is shared, nothing updates itself.

A `model` is `provider/model`, as OpenCode writes it; `base_url` is where that provider is served.

An account with a directory gets all four XDG directories inside it, so its login (`data/opencode/auth.json`), its
sessions and its settings are its own. The shell commands of such an agent see the same XDG directories.

Options in `hub.toml`, all optional: `permission` (default `allow`, or `ask` where a rule of `[[approvals]]` is about
its tools; OpenCode's own table is taken too),
`agent` (the name of one of its agents), `config` (a table laid over the settings above), `partial` (text as it is
written), `args` (more arguments for `opencode serve`), `env` (more environment).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs

from hub.domain.accounts.account import Account
from hub.domain.accounts.login import ANY, LoginStore
from hub.domain.detection.adoption import Opening
from hub.providers import jsonline
from hub.providers.base import Assignment, Launch, Stdin
from hub.providers.opencode.asks import permission
from hub.providers.opencode.stream import OpenCodeStream, model_of
from hub.providers.provider import CONVERSES, Provider

_BRIDGE = (sys.executable, "-I", "-S", str(Path(__file__).resolve().parent))
"""Isolated and without site-packages: it starts in 0.1 s and no user's Python setting reaches it."""
_XDG = ("DATA", "CONFIG", "STATE", "CACHE")
_BASE: Mapping[str, object] = {"autoupdate": False, "share": "disabled"}


_AUTH = ("XDG_DATA_HOME", "~/.local/share", "opencode/auth.json")
LOGIN = (
    LoginStore(*_AUTH, token=(ANY, "access"), expires=(ANY, "expires"), renews=(ANY, "refresh")),
    LoginStore(*_AUTH, token=(ANY, "key"), method="stored_key"),
)
"""One file holds a login for each model provider; any of them counts."""


class OpenCode(Provider):
    """The provider `opencode`."""

    def account_env(self, account: Account) -> Mapping[str, str]:
        """The account's XDG directories and its own keys."""
        place = Path(account.config_dir)
        homes = {f"XDG_{name}_HOME": str(place / name.lower()) for name in _XDG} if account.config_dir else {}
        return {**homes, **account.env}

    def launch(self, assignment: Assignment) -> Launch:
        """The bridge's command line; standard input stays open as the channel."""
        own = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_CONFIG_CONTENT": json.dumps(_config(assignment))}
        if assignment.asks:
            own["OPENCODE_DISABLE_PROJECT_CONFIG"] = "1"
        argv = [*_BRIDGE, assignment.program or self.program]
        argv += jsonline.texts(assignment.options.get("args"))
        return Launch(argv, self.environment(assignment, own), assignment.worktree, Stdin.PIPE)


def _config(assignment: Assignment) -> dict[str, object]:
    """OpenCode's settings for this dispatch; the user's own table wins, key by key."""
    config: dict[str, object] = {**_BASE, "permission": permission(assignment)}
    provider, model = model_of(assignment)
    if provider:
        config["model"] = assignment.model
    if provider and assignment.base_url:
        # Named here, the model is accepted although the program's own list may not have it.
        served = {"options": {"baseURL": assignment.base_url}, "models": {model: {}}}
        config["provider"] = {provider: served}
    merged = _laid_over(config, jsonline.mapping(assignment.options.get("config")))
    return {**merged, "permission": config["permission"]} if assignment.asks else merged


def _laid_over(config: Mapping[str, object], more: Mapping[str, object]) -> dict[str, object]:
    merged = dict(config)
    for name, value in more.items():
        below = merged.get(name)
        if isinstance(below, dict) and isinstance(value, Mapping):
            merged[name] = _laid_over(below, value)
        else:
            merged[name] = value
    return merged


PROVIDER = OpenCode(
    name="opencode",
    stream=OpenCodeStream,
    capabilities=attrs.evolve(CONVERSES, cost=True, system_prompt=True),
    install_command=("npm", "install", "-g", "opencode-ai"),
    login_command=("opencode", "auth", "login"),
    login_stores=LOGIN,
    key_names=(
        "OPENCODE_API_KEY",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "OPENROUTER_API_KEY",
    ),
    opening=Opening(("--prompt", "{prompt}"), resume=("--session", "{session}")),
)
