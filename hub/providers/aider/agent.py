"""Aider: how it is started, logged in and installed.

Owns: argv, environment and capabilities of `aider`.
Must not: read its output (`stream.py` does), or write into an account's directory.

Choices (design/decisions): one message from a file, then it ends; contract and task are that file. It answers yes to
its own questions (`--yes-always`), which takes some care: a yes also opens a browser at every address in an error
message, fetches every address in a prompt and installs a browser for that, so each of these is switched off. Shell
commands that the model suggests need a yes of a person and are not offered. hub takes the snapshots, so Aider neither
commits nor touches `.gitignore`, and its histories lie in the run's directory.

Aider knows keys and no login, so it has no directory for one: an account's directory is where its `.env` lies, which
Aider reads last and which so wins over a `.env` in the project.

A `model` is `provider/model`, as LiteLLM writes it; `base_url` is where that provider is served.

Options in `hub.toml`, all optional: `edit_format`, `auto_commits` (true lets Aider commit), `args` (more arguments),
`env` (more environment).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hub.domain.accounts.account import Account
from hub.domain.detection.adoption import Opening
from hub.providers import jsonline
from hub.providers.aider.stream import AiderStream
from hub.providers.base import Assignment, Capabilities, Launch
from hub.providers.provider import Provider

PROMPT_FILE = "prompt.md"
CHAT_FILE = "aider.chat.md"
INPUT_FILE = "aider.input"
_ALWAYS = (
    "--yes-always",
    "--no-pretty",
    "--no-fancy-input",
    "--no-analytics",
    "--no-check-update",
    "--no-show-release-notes",
    "--no-show-model-warnings",
    "--no-suggest-shell-commands",
    "--no-detect-urls",
    "--disable-playwright",
    "--no-gitignore",
    "--no-dirty-commits",
)
_ENV: Mapping[str, str] = {
    # It wraps its lines at 80 columns where no terminal tells a width: an error would come in pieces.
    "COLUMNS": "4000",
    "LINES": "50",
    "PYTHONUNBUFFERED": "1",
    # With `--yes-always` it opens every address in an error message.
    "BROWSER": "true",
}
_DEFAULT_PROVIDER = "openai"


class Aider(Provider):
    """The provider `aider`."""

    def account_env(self, account: Account) -> Mapping[str, str]:
        """Where the account's `.env` is, and its own keys."""
        place = {"AIDER_ENV_FILE": str(Path(account.config_dir) / ".env")} if account.config_dir else {}
        return {**place, **account.env}

    def launch(self, assignment: Assignment) -> Launch:
        """The command line; the message is a file."""
        run_dir = assignment.run_dir
        argv = [assignment.program or self.program, *_ALWAYS]
        argv.append(
            "--auto-commits" if assignment.options.get("auto_commits") is True else "--no-auto-commits"
        )
        argv += ["--chat-history-file", str(run_dir / CHAT_FILE)]
        argv += ["--input-history-file", str(run_dir / INPUT_FILE)]
        if assignment.model:
            argv += ["--model", assignment.model]
        if form := jsonline.text(assignment.options.get("edit_format")):
            argv += ["--edit-format", form]
        if assignment.base_url:
            # As an argument, for the project's own `.env` would win over the environment.
            argv += ["--set-env", f"{_provider(assignment.model)}_API_BASE={assignment.base_url}"]
        argv += jsonline.texts(assignment.options.get("args"))
        argv += ["--message-file", str(run_dir / PROMPT_FILE)]
        files = {PROMPT_FILE: _message(assignment).encode("utf-8", "replace")}
        return Launch(argv, self.environment(assignment, _ENV), assignment.worktree, files=files)


def _message(assignment: Assignment) -> str:
    """Contract and task; a task that looks like one of Aider's own commands gets a head, for it is none."""
    if assignment.envelope:
        return f"{assignment.envelope}\n\n{assignment.prompt}"
    head = "Task:\n" if assignment.prompt.lstrip().startswith(("/", "!")) else ""
    return head + assignment.prompt


def _provider(model: str) -> str:
    """LiteLLM's provider of a model, as its variables write it."""
    provider, slash, _ = model.partition("/")
    return (provider if slash else _DEFAULT_PROVIDER).upper().replace("-", "_")


PROVIDER = Aider(
    name="aider",
    stream=AiderStream,
    capabilities=Capabilities(cost=True, accounts=True),
    install_command=("uv", "tool", "install", "aider-chat"),
    login_command=("aider",),
    key_names=(
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "DEEPSEEK_API_KEY",
        "OPENROUTER_API_KEY",
    ),
    opening=Opening(("--read", "{brief}")),
)
