"""Codex: how it is started, logged in and installed.

Owns: argv, environment and capabilities of `codex`.
Must not: read its output (`stream.py` does).

Choices: `codex app-server` takes replies, interrupts and reports the quota; `codex exec` does none of that. Prompt and
contract go by the protocol, so no long text is an argument.

The app-server ignores `CODEX_API_KEY` and `OPENAI_API_KEY` (its requests go out without a key): so an account
with a key, or a `base_url`, makes a model provider `hub` that names the key's variable. Without either, Codex's own
login in the account's directory is used.

Options in `hub.toml`, all optional: `approval_policy` (default `never`, or `untrusted` where a rule of
`[[approvals]]` is about its tools; any but the first asks over the protocol), `sandbox` (default
`danger-full-access`), `env_key` (the key's variable for `base_url`; "" = none is needed), `mcp_resources` (true: no
MCP server of the user's gives what a rule is about), `partial` (text as it is written), `args` (more arguments),
`env` (more environment).
"""

from __future__ import annotations

import glob
import json
import re
import tomllib
from collections.abc import Mapping

import attrs

from hub.domain.accounts.login import LoginStore
from hub.domain.detection.adoption import Opening
from hub.providers import jsonline
from hub.providers.base import Assignment, Launch, Stdin
from hub.providers.codex.stream import CodexStream
from hub.providers.provider import CONVERSES, Provider, Texts

_PROMPT = "prompt"
OPENAI_URL = "https://api.openai.com/v1"


_HOME = ("CODEX_HOME", "~/.codex", "auth.json")
LOGIN = (
    LoginStore(*_HOME, token=("tokens", "access_token"), renews=("tokens", "refresh_token")),
    LoginStore(*_HOME, token=("OPENAI_API_KEY",), method="stored_key"),
)


class Codex(Provider):
    """The provider `codex`."""

    def launch(self, assignment: Assignment) -> Launch:
        """The command line: the app-server with its channel."""
        more = jsonline.texts(assignment.options.get("args"))
        argv = [assignment.program or self.program, "app-server", *self._config(assignment), *more]
        return Launch(argv, self.environment(assignment), assignment.worktree, Stdin.PIPE)

    def loose(self, assignment: Assignment, env: Mapping[str, str], texts: Texts) -> Mapping[str, str]:
        """Rules of its own that allow commands, and MCP servers: tools that it calls unasked, and their resources."""
        home = env.get(self.home_env) or f"{env.get('HOME', '')}/.codex"
        if any(_allows(text) for text in texts(f"{glob.escape(home)}/rules/*.rules")):
            why = f"its own rules ({home}/rules) let commands run without asking; take those that allow out."
            return {"*": why}
        for text in texts(glob.escape(f"{home}/config.toml")):
            servers = _servers(text)
            if names := [name for name, server in servers.items() if not _prompts(server)]:
                why = (
                    f"it may call tools of its MCP server {names[0]} without asking; in {home}/config.toml say "
                    f'`default_tools_approval_mode = "prompt"` in [mcp_servers.{names[0]}].'
                )
                return {"*": why}
            if (names := [*servers]) and assignment.options.get("mcp_resources") is not True:
                # The program has no setting for it, and asks in no approval mode.
                why = (
                    f"it reads resources of its MCP server {names[0]} without asking; in {home}/config.toml say "
                    f"`enabled = false` in [mcp_servers.{names[0]}], or, where none of its servers gives what a rule is "
                    "about, options = { mcp_resources = true } in [providers.codex]."
                )
                return {"*mcp_resource*": why}
        return {}

    def _config(self, assignment: Assignment) -> list[str]:
        # Of all settings only these are hub's business: where the model is, and that Codex stays as it is.
        flags = ["-c", "check_for_update_on_startup=false"]
        if assignment.asks:
            flags += _held(assignment)
        owned = next((name for name in self.key_names if name in assignment.account.env), "")
        chosen = assignment.options.get("env_key")
        env_key = jsonline.text(chosen) if isinstance(chosen, str) else owned
        if not assignment.base_url and not env_key:
            return flags
        if not isinstance(chosen, str):
            env_key = env_key or self.key_names[0]
        fields = {"name": "hub", "base_url": assignment.base_url or OPENAI_URL}
        if env_key:
            fields["env_key"] = env_key
        fields["wire_api"] = "responses"
        table = ", ".join(f"{name} = {_toml(value)}" for name, value in fields.items())
        return [*flags, "-c", f"model_providers.hub={{{table}}}", "-c", 'model_provider="hub"']


def _held(assignment: Assignment) -> list[str]:
    """What `untrusted` leaves open is closed: the project's own settings, and the tools that never ask."""
    project = f'projects={{{_toml(str(assignment.worktree))}={{trust_level="untrusted"}}}}'
    return ["-c", project, "-c", "features.view_image=false", "-c", 'web_search="disabled"']


def _allows(rules: str) -> bool:
    """Whether a file of Codex's rules may allow a command; without a decision of its own a rule does."""
    lines = [line for line in rules.splitlines() if not line.lstrip().startswith("#")]
    kept = "\n".join(lines)
    strict = re.findall(r"decision\s*=\s*[\"'](?:prompt|forbidden)[\"']", kept)
    return kept.count("prefix_rule") > len(strict)


def _servers(config: str) -> Mapping[str, Mapping[str, object]]:
    """The MCP servers of a `config.toml` that are not switched off; one of which nothing is known, if it cannot be read."""
    try:
        servers = jsonline.mapping(tomllib.loads(config).get("mcp_servers"))
    except tomllib.TOMLDecodeError:
        return {"(its settings cannot be read)": {}}
    found = {name: jsonline.mapping(server) for name, server in servers.items()}
    return {name: server for name, server in found.items() if server.get("enabled") is not False}


def _prompts(server: Mapping[str, object]) -> bool:
    """Whether it asks for each of its tools."""
    tools = [jsonline.mapping(tool) for tool in jsonline.mapping(server.get("tools")).values()]
    modes = [
        server.get("default_tools_approval_mode"),
        *(tool.get("approval_mode", _PROMPT) for tool in tools),
    ]
    return all(mode == _PROMPT for mode in modes)


def _toml(text: str) -> str:
    # A JSON string is a TOML basic string, DEL aside.
    return json.dumps(text).replace("\x7f", "\\u007f")


PROVIDER = Codex(
    name="codex",
    stream=CodexStream,
    capabilities=attrs.evolve(CONVERSES, quota=True, system_prompt=True),
    install_command=("npm", "install", "-g", "@openai/codex"),
    login_command=("codex", "login"),
    login_stores=LOGIN,
    key_names=("CODEX_API_KEY", "OPENAI_API_KEY"),
    home_env="CODEX_HOME",
    opening=Opening(("{prompt}",), resume=("resume", "{session}", "{prompt}"), roams=True),
)
