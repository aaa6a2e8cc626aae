"""Claude Code: how it is started, logged in and installed.

Owns: argv, environment and capabilities of `claude`.
Must not: read its output (`stream.py` does), or set its telemetry switches (they are the user's).

Choices: `-p` with stream-json on both sides keeps one process for the whole run, which takes replies,
interrupts and permission answers; the prompt goes over standard input and the contract by file, never into
argv. A resumed session would keep its recorded system prompt, so `--system-prompt-snapshot off` goes with the contract of
one; a version older than that option (2.1.257) may still begin one.

Options in `hub.toml`, all optional: `permission_mode` (default `bypassPermissions`, or `default` where a rule of
`[[approvals]]` is about its tools; any mode but the first asks over the protocol), `partial` (stream text as it is
written), `args` (more arguments), `env` (more environment, for instance `IS_SANDBOX = "1"`, without which root may not
bypass permissions; set for hub itself it is passed on).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import UUID

import attrs

from hub.domain.accounts.login import LoginStore
from hub.domain.detection.adoption import Opening
from hub.providers import jsonline
from hub.providers.base import Assignment, Launch, Stdin
from hub.providers.claude.stream import ClaudeStream
from hub.providers.provider import CONVERSES, Provider

BYPASS = "bypassPermissions"
ASKS = "default"
SETTINGS_FILE = "claude-settings.json"
_ASKED_FOR = ("Bash", "Read", "Grep", "Glob", "WebFetch", "WebSearch", "mcp__*", "Agent", "Write", "Edit")
HELD = {"disableAllHooks": False, "permissions": {"ask": list(_ASKED_FOR)}}
"""Settings above those of the user and of the project, for an agent that must ask: they keep the hook that makes it ask
for every tool (`stream.py`), and name the tools that do something, should that hook be late."""

_ENV = {"DISABLE_AUTOUPDATER": "1"}
"""A program that replaces itself in the middle of a session helps nobody."""

_TRUE = frozenset({"1", "true", "yes", "on"})
_ROOT = "it refuses to bypass permissions (--dangerously-skip-permissions) for the user root"
_ROOT_HINT = (
    "Run hub as another user. In a container made for it: export IS_SANDBOX=1 before the daemon starts, "
    'or set env = { IS_SANDBOX = "1" } in [providers.claude]; or a permission_mode in [providers.claude.options]'
)

_TABLE = "claudeAiOauth"
LOGIN = (
    LoginStore(
        "CLAUDE_CONFIG_DIR",
        "~/.claude",
        ".credentials.json",
        token=(_TABLE, "accessToken"),
        expires=(_TABLE, "expiresAt"),
        renews=(_TABLE, "refreshToken"),
        keychain=True,
    ),
)


class Claude(Provider):
    """The provider `claude`."""

    def refuses_root(
        self, options: Mapping[str, object], env: Mapping[str, str], *, asks: bool
    ) -> tuple[str, str]:
        """For root it bypasses no permissions, unless it is told that it is in a sandbox."""
        given = {**env, **{k: str(v) for k, v in jsonline.mapping(options.get("env")).items()}}
        free = given.get("IS_SANDBOX") == "1" or given.get("CLAUDE_CODE_BUBBLEWRAP", "").lower() in _TRUE
        return ("", "") if free or _mode(options, asks=asks) != BYPASS else (_ROOT, _ROOT_HINT)

    def launch(self, assignment: Assignment) -> Launch:
        """The command line; standard input stays open as the channel."""
        files = {SETTINGS_FILE: json.dumps(HELD).encode()} if assignment.asks else {}
        argv = [assignment.program or self.program, "-p", "--verbose"]
        argv += ["--input-format", "stream-json", "--output-format", "stream-json"]
        argv += _permissions(assignment)
        if assignment.model:
            argv += ["--model", assignment.model]
        if assignment.envelope_path is not None:
            argv += ["--append-system-prompt-file", str(assignment.envelope_path)]
            argv += ["--system-prompt-snapshot", "off"] if assignment.resume_id else []
        argv += _session(assignment)
        if assignment.options.get("partial") is True:
            argv.append("--include-partial-messages")
        argv += jsonline.texts(assignment.options.get("args"))
        if assignment.asks:
            argv += ["--settings", str(assignment.run_dir / SETTINGS_FILE)]
        return Launch(argv, self.environment(assignment, _ENV), assignment.worktree, Stdin.PIPE, files)


def _mode(options: Mapping[str, object], *, asks: bool) -> str:
    mode = jsonline.text(options.get("permission_mode")) or BYPASS
    return ASKS if mode == BYPASS and asks else mode


def _permissions(assignment: Assignment) -> list[str]:
    mode = _mode(assignment.options, asks=assignment.asks)
    if mode == BYPASS:
        return ["--dangerously-skip-permissions"]
    return ["--permission-mode", mode, "--permission-prompt-tool", "stdio"]


def _session(assignment: Assignment) -> list[str]:
    if assignment.resume_id:
        return ["--resume", assignment.resume_id]
    try:
        return ["--session-id", str(UUID(assignment.native_id))]
    except ValueError:
        return []


PROVIDER = Claude(
    name="claude",
    stream=ClaudeStream,
    capabilities=attrs.evolve(CONVERSES, quota=True, cost=True, system_prompt=True),
    install_command=("npm", "install", "-g", "@anthropic-ai/claude-code"),
    login_command=("claude", "auth", "login"),
    login_stores=LOGIN,
    key_names=("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"),
    home_env="CLAUDE_CONFIG_DIR",
    base_url_env="ANTHROPIC_BASE_URL",
    opening=Opening(("{prompt}",), resume=("--resume", "{session}", "{prompt}")),
)
