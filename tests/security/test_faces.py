"""An agent that attacks whoever looks at its work: no face of hub passes on what a terminal acts on.

The bytes themselves stay as they are in the work: the commit holds them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import trio

from hub.client.quick import Api
from hub.domain.text.plain import plain_value
from hub.errors import HubError
from hub.messages.session import RequestStop, StartRun
from hub.web.routes import table
from tests.faults.harness import git
from tests.hub.actors.daemon import Live, daemon_of
from tests.hub.cli.command import environ, hub

EVIL = "a\x1b]52;c;ZXZpbA==\x07b\x1b[2Jc\x9b31md\x1b]8;;http://evil\x1b\\e\u202ef\u200bg\x08\r\x7f"
FAKE = '{"ts":"2030-01-01T00:00:00.000Z","event":"approved","data":{}}'
NAME = "n\x1b[2J\x9b1m\u202e.txt"
ID = re.compile(r"hub/[a-z0-9][a-z0-9-]{0,63}")


@pytest.fixture
def made(made):
    text = f"{EVIL}\n{FAKE}\n"
    script = [
        {"say": text},
        {"think": text},
        {"write": {"path": NAME, "text": text}},
        {"run": f"printf '%s' '{EVIL}'; mkfifo 'p\x1b[2J'"},
        {"raw": EVIL},
    ]
    made.script("demo-first", *script, {"limit": {"resetsIn": 3600, "text": EVIL}})
    made.script("demo-second", *script, {"ask": EVIL})
    made.configure()
    return made


def texts(value: Any) -> Iterator[str]:
    """Every string of a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (key, *texts(item))
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def answers(port: int) -> dict[str, Any]:
    """The answer of every GET route, and of questions that are refused."""
    api = Api(port)
    paths = [route.path for route in table(port) if route.method == "GET" and "{" not in route.path]
    paths += [f"/api/history/diff?sha={commit['sha']}" for commit in api.get("/api/history/commits")]
    paths += ["/api/events?since=%1b[2J", "/api/events?%1b[2J=1", "/%1b[2J"]
    found: dict[str, Any] = {}
    for path in paths:
        try:
            found[path] = api.get(path)
        except HubError as error:
            found[path] = error.problem()
    return found


async def attacked(live: Live) -> None:
    """A session with a handoff and a failed acceptance command, until its second agent asks."""
    await live.ask(
        "sessions", StartRun(f"--upload-pack=x ../..@{{.lock {EVIL}", verify=[f"printf '{EVIL}'; false"])
    )
    await live.until(lambda s: s["needsInput"] or s["sessionState"] == "failed", "the second agent asks")


async def test_no_answer_and_no_screen_passes_on_what_a_terminal_acts_on(made, monkeypatch):
    """Every route, the errors, the commands' own output; and the file's bytes are in the commit as they were."""
    async with daemon_of(made, monkeypatch) as live:
        await attacked(live)
        told = await trio.to_thread.run_sync(partial(answers, made.port))
        env = environ(made.root.parent)
        shown = {
            command: (
                await trio.to_thread.run_sync(partial(hub, *command.split(), cwd=made.root, env=env))
            ).stdout
            for command in ("status", "logs", "diff", "history", "history --commits", "history --handoffs")
        }
        branch = (await live.status())["branch"]
        await live.ask("sessions", RequestStop())
    assert not [
        (path, text) for path, answer in told.items() for text in texts(answer) if text != plain_value(text)
    ]
    assert "abcdefg" in told["/api/session/diff"]["diff"]
    assert all(shown.values())
    assert not {name for name, text in shown.items() if plain_value(text) != text}
    assert ID.fullmatch(branch)
    files = git(made.root, "ls-tree", "-z", "--name-only", branch).split("\0")
    assert NAME in files
    assert EVIL.encode() in made.show(f"{branch}:{NAME}")


async def test_a_line_of_a_log_is_one_record_whatever_is_in_it(made, monkeypatch):
    """Text that looks like a record of the audit log does not become one."""
    async with daemon_of(made, monkeypatch) as live:
        await attacked(live)
        await live.ask("sessions", RequestStop())
        history = await live.get("/api/history", {"limit": 10_000})
    lines = (made.hub / "audit.jsonl").read_bytes().split(b"\n")
    assert lines.pop() == b""
    records = [json.loads(line) for line in lines]
    assert [record["data"]["seq"] for record in records][: len(history)] == [
        entry["seq"] for entry in history
    ]
    assert "approved" not in {record["event"] for record in records}
    assert any("approved" in line.decode() for line in lines), "the attack is not in the log"
    assert not [text for record in records for text in texts(record) if text != plain_value(text)]
