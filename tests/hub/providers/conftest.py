"""The fixtures of the real agents' tests: a model server, a repository, an assignment, an environment.

Owns: what every `test_real_<agent>.py` starts from. Which agent it is, the test's own folder says.
Must not: know any one agent; what differs between them is a line of `tests.agents.PROGRAMS`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hub.domain.accounts.account import Account
from hub.providers.base import Assignment
from tests.agents import PROGRAMS, Program, base_env, program_path
from tests.model_server import ModelServer

KEPT_ELSEWHERE = {"copilot": (".cache/",), "aider": (".aider/",)}
"""What these leave in the user's home all the same: an unpacked program, a list of prices; neither is a login."""


@pytest.fixture
def models() -> Iterator[ModelServer]:
    """The models of every vendor, on loopback."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An empty repository: the agent's worktree."""
    path = tmp_path / "repo"
    path.mkdir()
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    return path


@pytest.fixture
def account_dir(tmp_path: Path) -> Path:
    """Where the account keeps its settings and sessions."""
    path = tmp_path / "account"
    path.mkdir()
    return path


@pytest.fixture
def agent(request: pytest.FixtureRequest) -> Program:
    """The agent whose folder the test is in."""
    return PROGRAMS[request.path.parent.name]


@pytest.fixture
def env(models: ModelServer, tmp_path: Path) -> dict[str, str]:
    """The agent's whole environment but what its launch adds: a fresh home, no way to the internet."""
    home = tmp_path / "home"
    home.mkdir()
    return {**base_env(home), **models.proxy_env()}


@pytest.fixture
def nothing_left_at_home(agent: Program, env: dict[str, str]) -> Iterator[None]:
    """Two accounts of one agent must not meet: nothing that makes one a user is left in the user's home."""
    yield
    home = Path(env["HOME"])
    left = {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}
    assert {path for path in left if not path.startswith(KEPT_ELSEWHERE.get(agent.name, ()))} == set()


@pytest.fixture
def assign(
    agent: Program, models: ModelServer, repo: Path, account_dir: Path, tmp_path: Path
) -> Callable[..., Assignment]:
    """Makes assignments: whatever a test does not name is what the agent's line of `PROGRAMS` says.

    `key` is the account's key, under which the model server knows it, in the variable `key_name`; "" = no login.
    """
    program = str(program_path(agent.name))

    def make(
        *,
        dispatch: str = "d-1",
        key: str = "key",
        key_name: str = agent.key,
        options: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Assignment:
        given = {
            "prompt": "Write hello.txt.",
            "model": agent.model,
            "base_url": getattr(models, agent.url),
            "account": Account("test", str(account_dir), {key_name: key} if key else {}),
        } | more
        if "envelope" in given:  # a file too, as whoever dispatches makes one
            given.setdefault("envelope_path", tmp_path / f"{dispatch}-envelope.md").write_text(
                given["envelope"]
            )
        return Assignment(
            dispatch_id=dispatch,
            session_id="s-1",
            worktree=repo,
            run_dir=tmp_path / dispatch,
            program=program,
            options={"env": agent.env, **(options or {})},
            **given,
        )

    return make
