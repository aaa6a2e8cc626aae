"""Real agents as a user starts them: by their own command, in a folder of the user's, with a login of its own.

Owns: those commands, and that nothing of them is left after a test.
Must not: go through hub; what is tested is that hub finds them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from hub.providers.base import Account
from hub.providers.registry import load
from tests.agents import PROGRAMS, base_env, program_path
from tests.model_server import ModelServer

MODELS = {"claude": "claude-sonnet-5-5", "codex": "gpt-5.5"}
"""The agents, and what each calls its model."""
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


COMMANDS: Mapping[str, Command] = {"claude": _claude, "codex": _codex}


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


def repository(path: Path) -> Path:
    """An empty repository of the user's."""
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    return path


def start(name: str, models: ModelServer, base: Path, folder: Path, prompt: str) -> Started:
    """Start one; its output goes to a file beside its account."""
    program, home = PROGRAMS[name], base / f"{name}-account"
    home.mkdir()
    user = base / "home"
    user.mkdir(exist_ok=True)
    url = getattr(models, program.url)
    env = {**base_env(user), **models.proxy_env(), **program.env, **_more(name, url)}
    env |= load(name).account_env(Account("test", str(home), {program.key: name}))
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


def _more(name: str, url: str) -> dict[str, str]:
    """What points each at the model server."""
    return {"ANTHROPIC_BASE_URL": url, "DISABLE_AUTOUPDATER": "1"} if name == "claude" else {}
