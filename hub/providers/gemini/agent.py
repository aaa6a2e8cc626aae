"""Gemini CLI: how it is started, logged in and installed.

Owns: argv, environment and capabilities of `gemini`.
Must not: read its output (`stream.py` does), or write into an account's directory.

Choices: `--acp` (design/decisions/0006). Prompt and contract go over the protocol; the contract is the head
of the first prompt, for `GEMINI_SYSTEM_MD` would replace the program's own system prompt. The program trusts
the worktree (`GEMINI_CLI_TRUST_WORKSPACE`), for otherwise it leaves the chosen approval mode, and it does not
launch itself a second time (`GEMINI_CLI_NO_RELAUNCH`), for the first process swallows signals.

`GEMINI_API_KEY` is enough where the account has no `security.auth.selectedType`; ACP's `authenticate` would
write one, and clear an OAuth login, so it is never sent.

Options in `hub.toml`, all optional: `approval_mode` (default `yolo`, or `default` where a rule of `[[approvals]]` is
about its tools; with any but the first it asks), `partial` (text as it is written), `args` (more arguments), `env`
(more environment).
"""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Mapping

from hub.domain.accounts.login import LoginStore
from hub.domain.detection.adoption import Opening
from hub.domain.intent.amendment import Untold
from hub.providers import jsonline
from hub.providers.acp.setup import approval_mode
from hub.providers.base import Assignment, Launch, Stdin
from hub.providers.gemini.stream import GeminiStream
from hub.providers.provider import Provider, Texts

LOGIN = (
    LoginStore(
        "GEMINI_CLI_HOME",
        "~",
        ".gemini/oauth_creds.json",
        token=("access_token",),
        expires=("expiry_date",),
        renews=("refresh_token",),
    ),
)

POLICY_FILE = "gemini-policy.toml"
POLICY = b"""\
[[rule]]
toolName = "*"
decision = "ask_user"
priority = 900

[[rule]]
toolName = "run_shell_command"
argsPattern = "."
decision = "ask_user"
priority = 999
"""
"""Above the policies of the user and of the project. The second rule is the point: without a pattern for its arguments
the program turns "ask" back into "allow" for the commands that it calls safe."""

_ENV = {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true"}


class Gemini(Provider):
    """The provider `gemini`."""

    def launch(self, assignment: Assignment) -> Launch:
        """The command line; standard input stays open as the channel."""
        argv = [assignment.program or self.program, "--acp", "--approval-mode", approval_mode(assignment)]
        if assignment.model:
            argv += ["-m", assignment.model]
        argv += jsonline.texts(assignment.options.get("args"))
        files = {}
        if assignment.asks:
            argv += ["--admin-policy", str(assignment.run_dir / POLICY_FILE)]
            files[POLICY_FILE] = POLICY
        return Launch(argv, self.environment(assignment, _ENV), assignment.worktree, Stdin.PIPE, files=files)

    def loose(self, assignment: Assignment, env: Mapping[str, str], texts: Texts) -> Mapping[str, str]:
        """A trusted MCP server: no policy makes the program ask for its tools."""
        home = env.get(self.home_env) or env.get("HOME", "")
        for place in (home, str(assignment.worktree)):
            file = f"{place}/.gemini/settings.json"
            if any(_trusts(text) for text in texts(glob.escape(file))):
                why = f'it calls the tools of an MCP server that {file} trusts without asking; take `"trust": true` out.'
                return {"*": why}
        return {}


def _trusts(settings: str) -> bool:
    """Whether settings trust an MCP server; such as cannot be read, comments aside, may."""
    try:
        servers = jsonline.mapping(json.loads(_COMMENT.sub(_without, settings)).get("mcpServers"))
    except (ValueError, AttributeError, RecursionError):
        return "mcpServers" in settings or "\\u" in settings
    return any(jsonline.mapping(server).get("trust") for server in servers.values())


def _without(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else " "


_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)

PROVIDER = Gemini(
    name="gemini",
    stream=GeminiStream,
    install_command=("npm", "install", "-g", "@google/gemini-cli"),
    login_command=("gemini",),
    login_stores=LOGIN,
    key_names=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    home_env="GEMINI_CLI_HOME",
    base_url_env="GOOGLE_GEMINI_BASE_URL",
    untold=(Untold.PLAN, Untold.STATUS),
    opening=Opening(("-i", "{prompt}"), resume=("--resume", "{session}")),
)
