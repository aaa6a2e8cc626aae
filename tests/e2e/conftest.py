"""A project on which the real agent programs work, each pointed by its own settings at the model server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import attrs
import psutil
import pytest

from tests.agents import PROGRAMS, base_env, program_path
from tests.faults.harness import Api, Project, project, until
from tests.model_server import ModelServer, Seen
from tests.settings import lay_out

PATIENCE = 90.0


def key_of(member: str) -> str:
    """An account's credential, as people make them up: with the provider's name in it."""
    name, _, label = member.partition(":")
    return f"key-{name}-{label or 'default'}"


@attrs.define
class Team:
    """The project, the model server and who works."""

    made: Project
    models: ModelServer
    tmp: Path

    def hire(self, *members: str, session: str = "") -> None:
        """Write hub.toml for agents named `claude`, or `claude:a` for one account of several, in chain order."""
        accounts: dict[str, list[str]] = {}
        for member in members:
            name, _, label = member.partition(":")
            accounts.setdefault(name, []).append(label or "default")
        chain = ", ".join(f'"{name}"' for name in accounts)
        text = f"[session]\nchain = [{chain}]\n{session}\n"
        for name, labels in accounts.items():
            text += self._provider(name) + "".join(self._account(name, label) for label in labels)
        lay_out(text, self.made.root, self.made.own)

    def looks_at(self, rule: str = 'command = "touch*"\nreason = "looked at"') -> None:
        """Put a rule for approvals at the end of hub.toml."""
        config = self.made.root / "hub.toml"
        config.write_text(f"{config.read_text()}\n[[approvals]]\n{rule}\n")

    def _provider(self, name: str) -> str:
        agent = PROGRAMS[name]
        env = {**self.models.proxy_env(), **agent.env}
        shown = ", ".join(f'{key} = "{value}"' for key, value in env.items() if key.isupper())
        return (
            f'[providers.{name}]\nenabled = true\nprogram = "{program_path(name)}"\nmodel = "{agent.model}"\n'
            f'baseUrl = "{getattr(self.models, agent.url)}"\nenv = {{ {shown} }}\n'
        )

    def _account(self, name: str, label: str) -> str:
        folder = self.tmp / f"{name}-{label}"
        folder.mkdir(exist_ok=True, mode=0o700)
        return (
            f'[[providers.{name}.accounts]]\nlabel = "{label}"\nconfigDir = "{folder}"\n'
            f'env = {{ {PROGRAMS[name].key} = "{key_of(f"{name}:{label}")}" }}\n'
        )

    def script(self, member: str, *turns) -> None:
        """What the model says to this account."""
        self.models.script(key_of(member), *turns)

    def mains(self, member: str) -> list[Seen]:
        """The requests for a model's turn that this account has sent."""
        return self.models.mains(key_of(member))

    def run(self, task: str = "Write the files.", **body) -> dict[str, object]:
        """A whole session on a daemon of its own; returns the last record."""
        api = self.start()
        api.post("/api/run", {"task": task, **body})
        return self.ended()

    def start(self, **env: str) -> Api:
        """The daemon, with nothing of the developer's own in its environment."""
        home = self.tmp / "home"
        home.mkdir(exist_ok=True)
        return self.made.start(**base_env(home), **env)

    def ended(self) -> dict[str, object]:
        """Wait for the session's end."""
        return until(self.made.ended, "the session ends", PATIENCE)

    def ended_of(self, session: object) -> dict[str, object]:
        """Wait for the end of this session; the last one's record stays until it begins."""
        return until(
            lambda: (r := self.made.ended()).get("sessionId") == session and r, "the session ends", PATIENCE
        )

    def busy(self, mark: str, **body) -> Api:
        """A session under way whose agent has begun the command that makes the file `mark`; returns the daemon's API."""
        api = self.start()
        api.post("/api/run", {"task": "Write both.", **body})
        worktree = until(lambda: api.get("/api/status")["worktree"], "the worktree is made", PATIENCE)
        until((Path(worktree) / mark).exists, "the command has begun", PATIENCE)
        return api

    def agent(self) -> psutil.Process:
        """The agent that works."""
        folder = self.made.hub / "run" / self.made.fsm()["dispatchId"]
        return psutil.Process(json.loads((folder / "agent.json").read_text())["pid"])

    def branch_file(self, path: str) -> bytes:
        """A file's bytes on the session's branch."""
        return self.made.show(f"hub/{self.made.fsm()['sessionId']}:{path}")

    def contract_seen(self, member: str, contract: str = "") -> bool:
        """Whether a continuation contract, the newest unless one is named, was in a request this account sent."""
        contract = contract or self.made.fsm()["handoff"]["contractId"]
        mains = self.mains(member)
        return any("hub" in str(seen.body) and contract in str(seen.body) for seen in mains)


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """Nobody is hired yet."""
    with ModelServer() as models, project(tmp_path) as made:
        yield Team(made, models, tmp_path)
        foreign = models.foreign_hosts
    print(f"hosts the agents asked for and did not get: {sorted(set(foreign))}")
