"""GitHub Copilot CLI: how it is started, logged in and installed.

Owns: argv, environment and capabilities of `copilot`.
Must not: read its output (`stream.py` does), or write into an account's directory.

Choices: `--acp` (design/decisions/0013). Prompt and contract go over the protocol; the contract is the head of the
first prompt. `--allow-all` is the permission policy; in any other a person is asked.

With a `base_url` it works without a GitHub account, on any model server that speaks OpenAI's protocol, Ollama
included (`COPILOT_PROVIDER_BASE_URL`, which needs a `model`). More of that kind goes into `env`:
`COPILOT_PROVIDER_TYPE` (openai, azure, anthropic), `COPILOT_PROVIDER_WIRE_API` (completions, responses),
`COPILOT_OFFLINE = "true"` (no word to GitHub at all). It keeps its login in the system's keychain, where hub does not look.

Options in `hub.toml`, all optional: `approval_mode` (default `allow-all`, or `ask` where a rule of `[[approvals]]`
is about its tools; with any but the first it asks), `partial` (text as it is written), `args` (more arguments), `env`
(more environment).
"""

from __future__ import annotations

from hub.domain.detection.adoption import Opening
from hub.providers import jsonline
from hub.providers.acp.setup import approval_mode
from hub.providers.base import Assignment, Launch, Stdin
from hub.providers.copilot.stream import ALLOW_ALL, CopilotStream
from hub.providers.provider import Provider

_UNASKED = ("view", "rg", "grep", "glob", "task", "web_fetch", "web_search", "read_agent", "write_agent")
"""Tools for which it never asks: under rules it has the shell in their place, for which it does."""


class Copilot(Provider):
    """The provider `copilot`."""

    def launch(self, assignment: Assignment) -> Launch:
        """The command line; standard input stays open as the channel."""
        argv = [assignment.program or self.program, "--acp", "--no-auto-update"]
        if approval_mode(assignment, ALLOW_ALL, "ask") == ALLOW_ALL:
            argv.append("--allow-all")
        if assignment.asks:
            argv += ["--excluded-tools", *_UNASKED]
        if assignment.model:
            argv += ["--model", assignment.model]
        argv += jsonline.texts(assignment.options.get("args"))
        return Launch(argv, self.environment(assignment), assignment.worktree, Stdin.PIPE)


PROVIDER = Copilot(
    name="copilot",
    stream=CopilotStream,
    install_command=("npm", "install", "-g", "@github/copilot"),
    login_command=("copilot", "login"),
    key_names=(
        "COPILOT_GITHUB_TOKEN",
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "COPILOT_PROVIDER_API_KEY",
        "COPILOT_PROVIDER_BEARER_TOKEN",
    ),
    home_env="COPILOT_HOME",
    base_url_env="COPILOT_PROVIDER_BASE_URL",
    opening=Opening(("-i", "{prompt}"), resume=("--resume", "{session}")),
)
