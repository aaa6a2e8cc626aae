"""A real daemon as a process, on a real repository, for tests that break it.

Owns: the project a test works on, the daemon's processes, and what the scripted agents wrote as the outside record.
Must not: look into the daemon but through its API and its files.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import attrs

from hub.client.quick import Api
from hub.errors import Code, HubError
from hub.io.files import seal
from hub.io.files.sealed import name_of
from hub.io.project.places import load_or_create_key
from tests.described import DescribedApi
from tests.forks import Forked, fork, run
from tests.settings import lay_out
from tests.waiting import PATIENCE, ended, until

__all__ = ["HUB", "PATIENCE", "Project", "git", "project", "reply", "try_post", "until", "write"]

HUB = [sys.executable, "-m", "hub"]

GIT_ENV = {
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.com",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(root: Path, *args: str) -> str:
    """A git of the test's own."""
    done = subprocess.run(
        ["git", *args], cwd=root, env={**os.environ, **GIT_ENV}, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def spawn(
    words: Sequence[str], *, cwd: Path, env: Mapping[str, str], out: IO[bytes]
) -> subprocess.Popen[bytes]:
    """As `fork`, from Python's own start."""
    return subprocess.Popen([*HUB, *words], cwd=cwd, env=env, stdout=out, stderr=out)


@attrs.define
class Project:
    """A repository, its daemon and its scripted agents."""

    root: Path
    state: Path
    log: Path
    """One line per started agent, with its dispatch id: the duplicate detector."""
    daemon: Forked | subprocess.Popen[bytes] | None = None
    port: int = 0
    forked: bool = True
    """Whether its daemons begin with all imported; not where that is a part of what is tested, or their memory is measured."""

    @property
    def hub(self) -> Path:
        """`.hub/`."""
        return self.root / ".hub"

    @property
    def own(self) -> Path:
        """Where the user's own configuration is."""
        return self.root.parent / "config"

    def script(self, provider: str, *steps: Mapping[str, Any]) -> None:
        """What a scripted agent does."""
        (self.root.parent / f"{provider}.json").write_text(json.dumps({"steps": list(steps)}))

    def program(self, name: str, text: str) -> Path:
        """An executable beside the repository; a script of the shell's unless it names another interpreter."""
        path = self.root.parent / name
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def configure(
        self,
        extra: str = "",
        *,
        detection: bool = False,
        session: str = "",
        orphan_grace: int = 90,
        programs: Mapping[str, Path | str] = {},
    ) -> None:
        """`hub.toml` with both scripted agents, or with what runs in their place.

        Without the detection engine, which is half a second of a daemon's life.
        """
        folder = self.root.parent
        text = "".join(
            f'[providers.{name}]\nenabled = true\nscript = "{folder / name}.json"\n'
            + (f'program = "{programs[name]}"\n' if name in programs else "")
            for name in ("demo-first", "demo-second")
            if (folder / f"{name}.json").exists()
        )
        session = f'[session]\nchain = ["demo-first", "demo-second"]\norphanGrace = {orphan_grace}\n{session}'
        quick = f"[redaction]\ndetection = {str(detection).lower()}\n"
        lay_out(session + quick + text + extra, self.root, self.own)

    def python(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        """A program of Python's, run in the project to its end."""
        return subprocess.run(
            [sys.executable, "-c", program, *words],
            cwd=self.root,
            env=self.environ(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def command(self, *words: str, timeout: float = PATIENCE, **env: str) -> subprocess.CompletedProcess[str]:
        """A command of hub's, run in the project to its end."""
        return run(words, cwd=self.root, env=self.environ(**env), timeout=timeout)

    def environ(self, **more: str) -> dict[str, str]:
        """The daemon's environment."""
        return {
            **os.environ,
            **GIT_ENV,
            "HUB_STATE_DIR": str(self.state),
            "HUB_CONFIG_DIR": str(self.own),
            "HUB_TRUST": "1",
            "HUB_DEMO_LOG": str(self.log),
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            **more,
        }

    def start(self, *options: str, **env: str) -> Api:
        """A daemon; ready when this returns."""
        with (self.root.parent / "daemon.log").open("ab") as out:
            words = ("daemon", "--port", "0", *options)
            begin = fork if self.forked else spawn
            self.daemon = begin(words, cwd=self.root, env=self.environ(**env), out=out)
        self.port = until(self._announced, "the daemon says where it listens")
        # The first session of a machine compiles the detection engine's rules.
        return DescribedApi(self.port, PATIENCE)

    def _announced(self) -> int:
        assert self.daemon is not None
        if self.daemon.poll() is not None:
            raise AssertionError(f"the daemon ended: {(self.root.parent / 'daemon.log').read_text()[-3000:]}")
        try:
            told = json.loads((self.hub / "daemon.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return 0
        return int(told["port"]) if told["pid"] == self.daemon.pid else 0

    def announced(self) -> int:
        """The process that says it is the project's daemon, whoever started it; 0 = none does."""
        try:
            return int(json.loads((self.hub / "daemon.json").read_bytes())["pid"])
        except (FileNotFoundError, ValueError):
            return 0

    def wait_dead(self) -> int:
        """The daemon's exit status, once it has ended."""
        assert self.daemon is not None
        if not ended(self.daemon.pid):
            raise AssertionError(f"the daemon has not ended within {PATIENCE:g} s")
        return self.daemon.wait()

    def kill(self) -> None:
        """kill -9."""
        assert self.daemon is not None
        self.daemon.kill()
        self.daemon.wait()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """An ordered stop."""
        if self.daemon is None or self.daemon.poll() is not None:
            return 0
        self.daemon.send_signal(number)
        return self.wait_dead()

    def sealed(self, name: str, body: bytes) -> bytes:
        """What a file below `.hub` holds when hub itself has written this there."""
        return seal.closed(load_or_create_key("seal", self.state), name_of(self.hub / name), body)

    def put(self, name: str, body: bytes) -> None:
        """Write a file below `.hub` as hub itself would, before its first start."""
        self.hub.mkdir(mode=0o700, exist_ok=True)
        for each, data in (("stamp.json", b'{"madeBy":"hub"}'), (name, body)):
            (self.hub / each).write_bytes(self.sealed(each, data))
            (self.hub / each).chmod(0o600)

    def fsm(self) -> dict[str, Any]:
        """The durable record."""
        try:
            record: dict[str, Any] = json.loads((self.hub / "fsm.json").read_bytes())
        except FileNotFoundError:
            return {}
        return record

    def ended(self) -> dict[str, Any]:
        """The record, once the session has ended; {} before."""
        record = self.fsm()
        return record if record.get("sessionState") in ("completed", "failed", "stopped") else {}

    def show(self, name: str) -> bytes:
        """An object of the repository, byte for byte."""
        return subprocess.run(["git", "show", name], cwd=self.root, check=True, capture_output=True).stdout

    def starts(self) -> list[str]:
        """The dispatch ids of all agents that were ever started."""
        return [line.split()[0] for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def says(self, text: str) -> dict[str, Any]:
        """The first event that says this, also of those that were told before; waits on the daemon's own stream."""
        late = time.monotonic() + PATIENCE
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request("GET", "/api/events/stream?since=0")
            with connection.getresponse() as stream:
                for line in stream:
                    if line.startswith(b"data:") and text in (event := json.loads(line[5:]))["msg"]:
                        return dict(event)
                    if time.monotonic() > late:
                        break
        raise AssertionError(f"no event said {text!r}: {[event['msg'] for event in self.events()]}")

    def events(self, port: int = 0) -> list[dict[str, Any]]:
        """The whole event log."""
        api, found = Api(port or self.port), []
        while page := api.get("/api/events", {"since": found[-1]["id"] if found else 0, "limit": 1000}):
            found += page
        return found


def repository(root: Path) -> Path:
    """A new one, with one commit."""
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "README.md").write_text("hello\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "start")
    return root


@contextmanager
def project(tmp: Path) -> Iterator[Project]:
    """A fresh project; its daemon and agents are gone when the block ends."""
    root = repository(tmp / "repo")
    made = Project(root, tmp / "state", tmp / "agents.log")
    try:
        yield made
    finally:
        if made.daemon is not None and made.daemon.poll() is None:
            try:
                made.stop()
            except AssertionError:
                made.kill()
                raise


def write(oracle: Path, name: str, text: str) -> dict[str, str]:
    """A step that writes a file and puts its hash on the outside record."""
    command = (
        f"printf '%s\\n' '{text}' > {name} && printf '%s %s\\n' {name} "
        f"$(sha256sum < {name} | cut -d' ' -f1) >> {oracle}"
    )
    return {"run": command}


def reply(api: Api, text: str) -> None:
    """Answer an agent's question; for a moment after a daemon's start it is on record and the agent out of reach."""

    def taken() -> bool:
        try:
            api.post("/api/session/reply", {"reply": text})
        except HubError as error:
            if error.code is not Code.HANDOFF_IN_PROGRESS:
                raise
            return False
        return True

    until(taken, "the reply is taken")


def try_post(api: Api, path: str, body: Mapping[str, Any]) -> Any:
    """A POST that a fault may cut off."""
    try:
        return api.post(path, body)
    except HubError as error:
        if error.code is not Code.DAEMON_NOT_RUNNING:
            raise
        return None
