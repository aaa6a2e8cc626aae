"""Qwen Code: how it is started, logged in and installed.

Owns: argv, environment and capabilities of `qwen`.
Must not: read its output (`stream.py` does), or write into an account's directory.

Choices: `--acp` (design/decisions/0013). Prompt and contract go over the protocol; the contract is the head of the
first prompt, for `--append-system-prompt` would be an argument, and a contract is too long for one.

`DEFAULTS` are settings of the lowest rank, which the user's own settings outrank: they are a file of this dispatch
that `QWEN_CODE_SYSTEM_DEFAULTS_PATH` names. A used-up quota is retried up to eleven times for 95 s each, in silence:
waiting is hub's business, so one such round is enough. Its keeper of memories and its suggestions of what a person
might type next ask the model once more each after every turn, at the user's cost and with the whole conversation.

The launcher dies at a signal and leaves its child behind: signals go to the group, and the end is the end of the
output (the runner does both).

A key, or a `base_url`, means the OpenAI protocol (`--auth-type openai`); without either the account's own settings
say where its model is. A local model runner takes any key, but the program insists on one:
`env = { OPENAI_API_KEY = "local" }`.

Options in `hub.toml`, all optional: `approval_mode` (default `yolo`, or `default` where a rule of `[[approvals]]` is
about its tools; with any but the first it asks), `partial` (text as it is written), `args` (more arguments), `env`
(more environment).
"""

from __future__ import annotations

import json

from hub.domain.accounts.login import LoginStore
from hub.domain.detection.adoption import Opening
from hub.providers import jsonline
from hub.providers.acp.setup import approval_mode
from hub.providers.base import Assignment, Launch, Stdin
from hub.providers.provider import Provider
from hub.providers.qwen.stream import QwenStream

DEFAULTS_FILE = "qwen-defaults.json"
DEFAULTS = {
    "general": {"enableAutoUpdate": False},
    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False, "enableAutoSkill": False},
    "model": {"generationConfig": {"maxRetries": 0}},
    "ui": {"enableFollowupSuggestions": False},
}
_ACTS = (
    *("run_shell_command", "monitor", "edit", "write_file", "notebook_edit", "save_memory", "read_file"),
    *("grep_search", "glob", "list_directory", "zoom_image", "lsp", "web_fetch", "web_search", "image_gen"),
    *("read_mcp_resource", "mcp__*", "skill", "artifact", "enter_worktree", "send_message"),
)
_STARTS_OTHERS = (
    "agent",
    "workflow",
    "create_sub_session",
    "team_create",
    "cron_create",
    "loop_wakeup",
    "exec",
)
HELD = {"permissions": {"ask": list(_ACTS), "deny": list(_STARTS_OTHERS)}}
"""For an agent that must ask. The program lays these lists over those of the user and of the project, and asking
outranks allowing. Its subagents read and search without asking whatever the settings: they are not started then."""
_OPENAI = ("OPENAI_API_KEY", "OPENAI_BASE_URL")

LOGIN = (
    LoginStore(
        "QWEN_HOME",
        "~/.qwen",
        "oauth_creds.json",
        token=("access_token",),
        expires=("expiry_date",),
        renews=("refresh_token",),
    ),
)


class Qwen(Provider):
    """The provider `qwen`."""

    def launch(self, assignment: Assignment) -> Launch:
        """The command line; standard input stays open as the channel."""
        own = {"QWEN_CODE_SYSTEM_DEFAULTS_PATH": str(assignment.run_dir / DEFAULTS_FILE)}
        env = self.environment(assignment, own)
        argv = [assignment.program or self.program, "--acp", "--approval-mode", approval_mode(assignment)]
        if any(name in env for name in _OPENAI):
            argv += ["--auth-type", "openai"]
        if assignment.model:
            argv += ["-m", assignment.model]
        argv += jsonline.texts(assignment.options.get("args"))
        defaults = {**DEFAULTS, **HELD} if assignment.asks else DEFAULTS
        files = {DEFAULTS_FILE: json.dumps(defaults).encode()}
        return Launch(argv, env, assignment.worktree, Stdin.PIPE, files=files)


PROVIDER = Qwen(
    name="qwen",
    stream=QwenStream,
    install_command=("npm", "install", "-g", "@qwen-code/qwen-code"),
    login_command=("qwen",),
    login_stores=LOGIN,
    key_names=(
        "OPENAI_API_KEY",
        "DASHSCOPE_API_KEY",
        "BAILIAN_CODING_PLAN_API_KEY",
        "BAILIAN_TOKEN_PLAN_API_KEY",
    ),
    home_env="QWEN_HOME",
    base_url_env="OPENAI_BASE_URL",
    opening=Opening(("-i", "{prompt}"), resume=("--resume", "{session}")),
)
