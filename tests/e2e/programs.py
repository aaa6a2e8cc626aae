"""Real agents as a user starts them: by their own command, in a folder of the user's, with a login of its own.

Owns: those commands, and that nothing of them is left after a test.
Must not: go through hub; what is tested is that hub finds them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from hub.domain.accounts.account import Account
from hub.providers.registry import load
from tests.agents import PROGRAMS, base_env, program_path
from tests.model_server import ModelServer

NAMES = ("claude", "codex", "gemini", "opencode", "qwen")
"""The agents."""
Command = Callable[[str, str, str, str], list[str]]
"""Program, model, address and prompt -> argv."""


def _claude(program: str, model: str, _url: str, prompt: str) -> list[str]:
    stream = ["--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
    return [program, "-p", *stream, "--model", model, prompt]


def _codex(program: str, model: str, url: str, prompt: str) -> list[str]:
    # Under the name that hub gives one: Codex resumes a session with the model provider it was begun with, or not at all.
    server = f'{{name="models",base_url="{url}",env_key="CODEX_API_KEY",wire_api="responses"}}'
    told = ["-c", f"model_providers.hub={server}", "-c", 'model_provider="hub"', "--skip-git-repo-check"]
    return [
        program,
        "exec",
        "--json",
        "--dangerously-bypass-approvals-and-sandbox",
        "-m",
        model,
        *told,
        prompt,
    ]


def _gemini(program: str, model: str, _url: str, prompt: str) -> list[str]:
    return [program, "-m", model, "--approval-mode", "yolo", "-o", "stream-json", "-p", prompt]


def _opencode(program: str, model: str, _url: str, prompt: str) -> list[str]:
    return [program, "run", "--format", "json", "-m", model, prompt]


def _qwen(program: str, model: str, _url: str, prompt: str) -> list[str]:
    return [program, "--auth-type", "openai", "--yolo", "-m", model, "-o", "stream-json", prompt]


COMMANDS: Mapping[str, Command] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "qwen": _qwen,
}


@attrs.define
class Started:
    """An agent of the user's."""

    name: str
    process: subprocess.Popen[bytes]
    folder: Path
    """Where it works."""
    home: Path
    """Its account's directory."""

    def end(self) -> None:
        """Its whole group: some launchers leave before what they launched."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def key(name: str) -> str:
    """The credential of the user's own, by which the model server knows who asks."""
    return f"key-of-the-user-of-{name}"


def start(name: str, models: ModelServer, base: Path, folder: Path, prompt: str) -> Started:
    """Start one; its output goes to a file beside its account."""
    program, home = PROGRAMS[name], base / f"{name}-account"
    home.mkdir(exist_ok=True, mode=0o700)
    _settle(name, home)
    user = base / "home"
    user.mkdir(exist_ok=True)
    url = getattr(models, program.url)
    env = {**base_env(user), **models.proxy_env(), **program.env, **_more(name, url)}
    env |= load(name).account_env(Account("test", str(home), {program.key: key(name)}))
    argv = COMMANDS[name](str(program_path(name)), program.model, url, prompt)
    with (base / f"{name}.out").open("wb") as out:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    return Started(name, process, folder, home)


def _settle(name: str, home: Path) -> None:
    """The settings that its user would have made at its first start."""
    if name == "gemini":
        (home / ".gemini").mkdir(exist_ok=True)
        told = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        (home / ".gemini" / "settings.json").write_text(json.dumps(told))


def _more(name: str, url: str) -> dict[str, str]:
    """What points each at the model server."""
    model = PROGRAMS["opencode"].model.partition("/")
    served = {"options": {"baseURL": url}, "models": {model[2]: {}}}
    config = {"autoupdate": False, "share": "disabled", "permission": "allow", "provider": {model[0]: served}}
    told = {
        "claude": {"ANTHROPIC_BASE_URL": url, "DISABLE_AUTOUPDATER": "1"},
        "gemini": {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        "opencode": {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        "qwen": {"OPENAI_BASE_URL": url},
    }
    return told.get(name, {})
