"""The real agent programs, for tests marked `agents`.

Owns: their pinned versions and where they are installed: found in `$HUB_TEST_AGENTS` or `.nox/agents`, else put
there by npm.
Must not: import hub, or use a program that happens to be on PATH (its version would not be ours).

Where npm is missing a test is skipped, loudly; with CI=true it fails instead: a gate that is skipped is no gate.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import attrs
import pytest

ROOT = Path(__file__).resolve().parent.parent
INSTALL_SECONDS = 600


@attrs.frozen
class Program:
    """One agent: its npm package, pinned, and the name of its executable."""

    name: str
    package: str
    version: str
    binary: str

    @property
    def spec(self) -> str:
        """What npm is asked for."""
        return f"{self.package}@{self.version}"


PROGRAMS = {
    "claude": Program("claude", "@anthropic-ai/claude-code", "2.1.329", "claude"),
    "codex": Program("codex", "@openai/codex", "0.169.0", "codex"),
    "gemini": Program("gemini", "@google/gemini-cli", "0.61.0", "gemini"),
    "opencode": Program("opencode", "opencode-ai", "1.18.33", "opencode"),
}


def cache_dir() -> Path:
    """Where the programs live, one folder each."""
    return Path(os.environ.get("HUB_TEST_AGENTS") or ROOT / ".nox" / "agents")


def program_path(name: str) -> Path:
    """Path of an agent's executable; installs it on first use, skips the test where that is impossible."""
    program = PROGRAMS[name]
    prefix = cache_dir() / name
    path = prefix / "node_modules" / ".bin" / program.binary
    if _installed(prefix, program) and path.exists():
        return path
    npm = shutil.which("npm")
    if npm is None:
        _give_up(f"npm is not installed, so {program.spec} cannot be tested")
    prefix.mkdir(parents=True, exist_ok=True)
    with (prefix / ".lock").open("w") as lock:
        # Two test runs at once: the second one finds what the first one installed.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (_installed(prefix, program) and path.exists()):
            _install(npm, prefix, program)
    return path


def _install(npm: str, prefix: Path, program: Program) -> None:
    command = [npm, "install", "--prefix", str(prefix), "--no-fund", "--no-audit", program.spec]
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode:
        _give_up(f"npm install {program.spec} failed: {done.stderr[-500:]}")


def _installed(prefix: Path, program: Program) -> bool:
    manifest = prefix / "node_modules" / program.package / "package.json"
    return manifest.is_file() and f'"version": "{program.version}"' in manifest.read_text()


def _give_up(reason: str) -> NoReturn:
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
