"""The real agent programs, for tests marked `agents`.

Owns: the one table of them: pinned versions, where they are installed (found in `$HUB_TEST_AGENTS` or
`.nox/agents`, else put there by npm or pip), and what points each at the model server.
Must not: import hub, or use a program that happens to be on PATH (its version would not be ours).

An adapter's tests need one line here; `tests/hub/providers/conftest.py` has their fixtures.
Where a program cannot be had a test is skipped, loudly; with CI=true it fails instead: a gate that is skipped is no gate.
"""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NoReturn

import attrs
import pytest

ROOT = Path(__file__).resolve().parent.parent
INSTALL_SECONDS = 600
NODE_CACHE = ROOT / ".pytest_cache" / "node"
"""What Node makes of the large programs that do not keep it themselves: their starts are shorter by a third."""
STAMP = ".installed"
"""The file that names what was installed into its folder, whole."""


@attrs.frozen
class Program:
    """One agent: where it comes from, pinned, and what it needs to talk to the model server. A checker needs nothing."""

    name: str
    """The provider's name: its folder under `hub/providers` and `tests/hub/providers`."""
    package: str
    version: str
    binary: str
    """Name of the executable."""
    url: str = ""
    """The attribute of `ModelServer` with the address of this agent's wire protocol."""
    model: str = ""
    key: str = ""
    """The variable that holds an account's key."""
    env: Mapping[str, str] = attrs.field(factory=dict)
    """What the user of such a machine would set in the provider's `env` table."""
    registry: Literal["npm", "pypi"] = "npm"
    file: str = ""
    """The file of its package that is wanted, where that is no executable."""
    node: int = 0
    """The oldest major version of Node it runs on, where that is not any."""

    @property
    def spec(self) -> str:
        """What the registry is asked for."""
        return f"{self.package}{'@' if self.registry == 'npm' else '=='}{self.version}"

    @property
    def installer(self) -> str:
        """The program that installs it."""
        return "npm" if self.registry == "npm" else sys.executable

    def path(self, prefix: Path) -> Path:
        """Its executable below the folder it was installed in."""
        if self.file:
            return prefix / "node_modules" / self.package / self.file
        return prefix / ("node_modules/.bin" if self.registry == "npm" else "bin") / self.binary

    def commands(self, installer: str, prefix: Path) -> list[list[str]]:
        """What installs it into a folder."""
        if self.registry == "npm":
            return [[installer, "install", "--prefix", str(prefix), "--no-fund", "--no-audit", self.spec]]
        # Of what is never imported nothing is compiled: a third of the time.
        pip = [str(prefix / "bin" / "pip"), "install", "-q", "--no-compile", "--disable-pip-version-check"]
        return [[installer, "-m", "venv", str(prefix)], [*pip, self.spec]]


PROGRAMS = {
    program.name: program
    for program in (
        Program(
            "claude",
            "@anthropic-ai/claude-code",
            "2.1.332",
            "claude",
            url="anthropic_url",
            model="claude-sonnet-5-5",
            key="CLAUDE_CODE_OAUTH_TOKEN",
            env={"DISABLE_TELEMETRY": "1", "IS_SANDBOX": "1"},
        ),
        Program(
            "codex",
            "@openai/codex",
            "0.171.0",
            "codex",
            url="openai_url",
            model="gpt-5.5",
            key="CODEX_API_KEY",
        ),
        Program(
            "gemini",
            "@google/gemini-cli",
            "0.61.0",
            "gemini",
            url="gemini_url",
            model="gemini-2.5-pro",
            key="GEMINI_API_KEY",
            env={"GEMINI_TELEMETRY_ENABLED": "false", "NODE_COMPILE_CACHE": str(NODE_CACHE)},
        ),
        Program(
            "opencode",
            "opencode-ai",
            "1.18.33",
            "opencode",
            url="anthropic_v1_url",
            model="anthropic/claude-sonnet-5-5",
            key="ANTHROPIC_API_KEY",
            env={"OPENCODE_DISABLE_MODELS_FETCH": "1"},
        ),
        Program(
            "qwen",
            "@qwen-code/qwen-code",
            "0.24.4",
            "qwen",
            url="openai_url",
            model="qwen3-coder-plus",
            key="OPENAI_API_KEY",
            env={"QWEN_USAGE_STATISTICS_ENABLED": "0"},
        ),
        Program(
            "copilot",
            "@github/copilot",
            "1.0.102",
            "copilot",
            url="openai_url",
            model="gpt-5.4",
            key="COPILOT_PROVIDER_API_KEY",
            env={"COPILOT_OFFLINE": "true"},
        ),
        Program(
            "aider",
            "aider-chat",
            "0.86.2",
            "aider",
            url="openai_url",
            model="openai/gpt-5.5",
            key="OPENAI_API_KEY",
            env={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
            registry="pypi",
        ),
    )
}

CHECKERS = {
    program.name: program
    for program in (
        Program("inspector", "@modelcontextprotocol/inspector", "2.12.0", "mcp-inspector", node=22),
        Program("conformance", "@modelcontextprotocol/conformance", "0.2.0-alpha.12", "conformance", node=22),
        Program("axe", "axe-core", "4.14.1", "", file="axe.min.js"),
    )
}
"""Programs that are no agents: the protocol's own checks of a tool server, and a page's of its accessibility."""


def cache_dir() -> Path:
    """Where the programs live, one folder each."""
    return Path(os.environ.get("HUB_TEST_AGENTS") or ROOT / ".nox" / "agents")


def program_path(name: str) -> Path:
    """Path of an agent's executable; installs it on first use, skips the test where that is impossible."""
    program = (PROGRAMS | CHECKERS)[name]
    if program.node and (found := _node()) < program.node:
        give_up(
            f"{program.spec} wants Node {program.node}, here is {found or 'none'}; `nox -s e2e` brings one"
        )
    prefix = cache_dir() / name
    if not _installed(prefix, program):
        installer = shutil.which(program.installer)
        if installer is None:
            give_up(f"{program.installer} is not installed, so {program.spec} cannot be tested")
        prefix.mkdir(parents=True, exist_ok=True)
        with (prefix / ".lock").open("w") as lock:
            # Two test runs at once: the second one finds what the first one installed.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _installed(prefix, program):
                _install(installer, prefix, program)
    return program.path(prefix)


@functools.cache
def _node() -> int:
    """The major version of the Node on PATH; 0 = there is none."""
    node = shutil.which("node")
    said = (
        subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
        if node
        else "v0"
    )
    return int(said.removeprefix("v").partition(".")[0])


def _install(installer: str, prefix: Path, program: Program) -> None:
    for command in program.commands(installer, prefix):
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        if done.returncode:
            give_up(f"{' '.join(command)} failed: {done.stderr[-500:]}")
    # Written last: what was broken off halfway is installed anew.
    (prefix / STAMP).write_text(program.spec)


def _installed(prefix: Path, program: Program) -> bool:
    stamp = prefix / STAMP
    return stamp.is_file() and stamp.read_text() == program.spec and program.path(prefix).exists()


def give_up(reason: str) -> NoReturn:
    """Skip the test, loudly; fail it in CI."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def base_env(home: Path) -> dict[str, str]:
    """An environment with nothing of the developer's own in it: a fresh HOME, no colours, a git identity."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "GIT_AUTHOR_NAME": "t",
        "GIT_AUTHOR_EMAIL": "t@example.com",
        "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@example.com",
    }
