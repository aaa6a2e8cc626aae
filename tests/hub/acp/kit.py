"""An editor: a process of `hub acp`, and one JSON object a line, both ways.

Owns: starting it, asking, answering what it asks, and what it told meanwhile.
Must not: use the SDK; what the wire looks like is what is tested. (`test_sdk_client` is the other way round.)
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import attrs

from tests.faults.harness import Project
from tests.hub.mcp.kit import Client, Json, served
from tests.waiting import ended

HUB_ACP = (sys.executable, "-m", "hub", "acp")
HELLO = {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
REJECT = {"outcome": {"outcome": "selected", "optionId": "reject_once"}}


@attrs.define
class Editor(Client):
    """One editor, with one agent."""

    root: Path = Path()
    permit: Callable[[Json], Json | None] = lambda _: ALLOW
    """What a question is answered; None = not yet."""
    heard: Callable[[Json], None] = lambda _: None
    """Told each update as it comes."""
    updates: list[Json] = attrs.field(factory=list)
    asked: list[Json] = attrs.field(factory=list)
    """What it was asked: the whole requests."""
    told: list[Json] = attrs.field(factory=list)
    """Other notifications."""
    session: str = ""

    def ask(self, method: str, **params: Any) -> Json:
        """One request; its answer, with all that comes before it taken."""
        return self.answer_to(self.request(method, **params))

    def request(self, method: str, **params: Any) -> int:
        """A request, without waiting; its id."""
        self._last += 1
        self.send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        return self._last

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def answer_to(self, number: int) -> Json:
        while (message := self.read()).get("id") != number or "method" in message:
            self.take(message)
        return message

    def take(self, message: Json) -> None:
        """One message of the agent's own."""
        if message.get("method") == "session/update":
            assert message["params"]["sessionId"] == self.session or not self.session
            self.updates.append(message["params"]["update"])
            self.heard(message["params"]["update"])
        elif message.get("method") == "session/request_permission":
            self.asked.append(message)
            if (answer := self.permit(message["params"])) is not None:
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": answer})
        else:
            self.told.append(message)

    def until(self, fits: Callable[[Json], object]) -> Json:
        """The first update that fits, of those that still come."""
        while True:
            seen = len(self.updates)
            self.take(self.read())
            for update in self.updates[seen:]:
                if fits(update):
                    return update

    def hello(self) -> Json:
        return self.ask("initialize", **HELLO)["result"]

    def new(self) -> str:
        """A session; its id."""
        answer = self.ask("session/new", cwd=str(self.root), mcpServers=[])
        assert "result" in answer, answer
        self.session = answer["result"]["sessionId"]
        return self.session

    def prompt(self, text: str) -> Json:
        """A prompt; the answer at the end of its turn."""
        return self.answer_to(self.say(text))

    def say(self, text: str) -> int:
        """A prompt, without waiting."""
        return self.request("session/prompt", sessionId=self.session, prompt=[{"type": "text", "text": text}])

    def load(self, session: str) -> Json:
        self.session = session
        return self.ask("session/load", sessionId=session, cwd=str(self.root), mcpServers=[])

    def words(self, kind: str = "agent_message_chunk") -> str:
        """All that was said in updates of a kind."""
        return "".join(
            update["content"]["text"] for update in self.updates if update["sessionUpdate"] == kind
        )

    def calls(self) -> dict[str, Json]:
        """The tool calls, as they stand after all updates."""
        found: dict[str, Json] = {}
        for update in self.updates:
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                found.setdefault(update["toolCallId"], {}).update(update)
        return found


@contextmanager
def opened(root: Path, env: Mapping[str, str] | None = None, *words: str) -> Iterator[Editor]:
    """`hub acp`, started in a folder as an editor starts it."""
    command = (*HUB_ACP[:3], *words, "acp")
    with served(root, env, command=command, kind=Editor) as found:
        found.root = root
        yield found


@contextmanager
def editor(work: Project, **env: str) -> Iterator[Editor]:
    """An editor in a project, hands shaken. A daemon that it had to start is ended with the block."""
    try:
        with opened(work.root, work.environ(**env)) as found:
            found.hello()
            yield found
    finally:
        end_daemon(work)


def end_daemon(work: Project) -> None:
    """An ordered end of the daemon that is not the test's own process."""
    with suppress(FileNotFoundError, ProcessLookupError):
        pid = json.loads((work.hub / "daemon.json").read_bytes())["pid"]
        if work.daemon is None or work.daemon.pid != pid:
            os.kill(pid, signal.SIGTERM)
            assert ended(pid)
