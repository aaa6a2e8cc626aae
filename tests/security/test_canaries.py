"""Forty secrets that nobody told hub, planted in the task and in all that agents say; no sink may show one.

Security R4. The sinks: every GET route and the error bodies over real HTTP; the WebSocket and the server-sent events,
followed while the session goes on; the tool server by `hub mcp` and by `/mcp`, its refusals too; every file under `.hub/`,
with audit, contract and brief; the commits' messages; the daemon's log. No sinks: the worktree (bytes an agent wrote are sacred), the raw
spool and assignment under `.hub/run` and the record `.hub/fsm.json`, all 0600: the first agent gets the task as it is.
"""

from __future__ import annotations

import json
import logging
import random
import threading
import urllib.error
import urllib.parse
import urllib.request
from functools import partial

import pytest
import trio

from hub.api.session import Started
from hub.errors import HubError
from hub.io.secrets.kingfisher import Detection
from hub.messages import GetStatus, RequestHandoff, RequestReply, StartRun
from hub.web.routes import table
from tests.faults.harness import git, project
from tests.hub.actors.daemon import daemon_of
from tests.redaction.made import BROKERED, COMMON, NAMED
from tests.security.wiretap import listening, over_http, over_stdio
from tests.waiting import answered

RNG = random.Random("canaries")
FORMED = {kind: draw(RNG) for kind, draw in {**BROKERED, **COMMON}.items()}
NAMELESS = {kind: (name, draw(RNG)) for kind, (name, draw) in NAMED.items() if kind in ("mistral", "cohere")}
CANARIES = {**FORMED, **{kind: value for kind, (_, value) in NAMELESS.items()}}
TASK = ["anthropic", "stripe", "gitlab", "mistral"]
STRANGERS = [CANARIES[kind] for kind in ("anthropic", "github", "slack")]
"""Sent where none belongs, so that what is refused is told."""


def said(kind: str) -> str:
    """How the canary is written where it is planted."""
    if kind in NAMELESS:
        name, value = NAMELESS[kind]
        return f'{name}="{value}"'
    return CANARIES[kind]


def escaped(kind: str) -> str:
    """The same inside a JSON text inside a JSON text."""
    return json.dumps(json.dumps({"env": f"A=1\n{said(kind)}\n"}))


def seen(where: str, data: str) -> list[str]:
    """Which canaries have eight characters in a row in the text, beyond what all keys of their kind begin with."""
    return [
        f"{kind} in {where}"
        for kind, value in CANARIES.items()
        if value[-16:-4] in data or value[12:24] in data
    ]


@pytest.fixture
def made(tmp_path, monkeypatch):
    with project(tmp_path) as found:
        for name, value in found.environ().items():
            monkeypatch.setenv(name, value)
        kinds = list(CANARIES)
        pieces = [
            {"raw": json.dumps({"type": "text", "text": said(kind)[at : at + 5], "delta": True})}
            for kind in kinds[:4]
            for at in range(0, len(said(kind)), 5)
        ]
        script = [
            *({"say": f"I use {said(kind)} now"} for kind in kinds),
            *({"think": escaped(kind)} for kind in kinds),
            {"say": "\n".join(map(said, kinds))},
            *pieces,
            {"write": {"path": "notes.txt", "text": "\n".join(map(said, kinds))}},
            *({"run": f"echo '{said(kind)}' >&2; exit 3"} for kind in kinds[::6]),
            {"raw": f"no JSON: {said('google')}"},
        ]
        found.script("demo-first", *script, {"limit": {"resetsIn": 3600, "text": said("openai")}})
        found.script("demo-second", *script, {"ask": f"is {said('github')} right?"}, {"crash": 3})
        hint = f"\n[[profiles]]\nname = 'p'\nchain = ['demo-first']\ncontextHint = '{said('groq')}'\n"
        found.configure(hint, detection=True)
        yield found


def get(port: int, path: str) -> str:
    """The body of an answer, be it an error's."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()


def asked(port: int) -> dict[str, str]:
    """The answer of every GET route, and of questions that are refused for a canary in them."""
    plain = [route.path for route in table(port) if route.method == "GET" and "{" not in route.path]
    commits = json.loads(get(port, "/api/history/commits"))
    paths = [*plain, *(f"/api/history/diff?sha={commit['sha']}" for commit in commits)]
    for stranger in STRANGERS:
        value = urllib.parse.quote(stranger)
        paths += [f"/api/history/diff?sha={value}", f"/api/events?since={value}", f"/api/none/{value}"]
    return {path: get(port, path) for path in paths}


async def test_no_secret_of_the_task_or_an_agent_reaches_any_sink(made, monkeypatch, caplog):
    """A whole session with a handoff, a question, a reply, a crash and a failed acceptance command."""
    assert len(CANARIES) >= 40
    caplog.set_level(logging.DEBUG)
    task = "deploy with " + " and ".join(map(said, TASK))
    verify = [f"echo {said('npm')}; cat notes.txt; false"]
    answers: dict[str, str] = {}
    problems: list[str] = []
    async with daemon_of(made, monkeypatch) as live, listening(made.port) as heard:
        await live.ask("sessions", StartRun(task, verify=verify))
        await live.until(lambda s: s["needsInput"] or s["sessionState"] == "failed", "the second agent asks")
        with pytest.raises(HubError) as refused:
            await live.ask("sessions", RequestHandoff())
        problems.append(refused.value.detail)
        await live.ask("sessions", RequestReply(f"yes, and {said('xai')}"))
        await live.until_ended()
        answers = await trio.to_thread.run_sync(partial(asked, made.port))
        answers["status"] = json.dumps(await live.status())
        records = await live.events()
        events = json.dumps([record.to_json() for record in records], ensure_ascii=False)
        answers["/mcp"] = await over_http(made.port, STRANGERS)
        answers["hub mcp"] = await trio.to_thread.run_sync(over_stdio, made.root, made.environ(), STRANGERS)
        await heard.all_until(records[-1].id)
        answers |= {"the socket": heard.socket, "the event stream": heard.stream.decode()}
        counts = json.loads(answers["/api/redactions"])["summary"]
    found = [leak for path, body in answers.items() for leak in seen(path, body)]
    found += seen("events", events) + seen("a problem", " ".join(problems)) + seen("the log", caplog.text)
    found += seen("commit messages", git(made.root, "log", "--all", "--format=%B%an%ae%D"))
    for path in made.hub.rglob("*"):
        inside = path.relative_to(made.hub).parts
        if path.is_file() and inside[0] not in ("worktrees", "run", "fsm.json"):
            found += seen(str(path.relative_to(made.root)), path.read_bytes().decode("utf-8", "replace"))
    assert found == []
    told = dict(pair.strip().split(":") for pair in counts.split(","))
    assert {"anthropic", "github", "openai", "stripe", "google", "generic"} <= set(told)
    marks = events.count("[REDACTED:")
    for wire in ("the socket", "the event stream", "hub mcp"):
        assert answers[wire].count("[REDACTED:") >= marks, f"{wire} did not tell the session"
    assert "[REDACTED:" in answers["/mcp"]
    assert sum(map(int, told.values())) == marks


async def test_the_first_agent_gets_the_task_as_it_is(made, monkeypatch):
    """What the user wrote for the agent is the agent's; it is hidden from everyone else."""
    made.script("demo-first", {"say": "done"})
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun(f"use {said('stripe')}"))
        status = await live.until_ended()
        assert "[REDACTED:stripe:" in status["taskGoal"]
    assignments = [path.read_text() for path in (made.hub / "run").glob("*/assignment.json")]
    assert said("stripe") in assignments[0]
    assert (made.hub / "fsm.json").stat().st_mode & 0o777 == 0o600


async def test_a_missing_engine_is_told_in_the_session(made, monkeypatch):
    """Rules go on alone; that is said, never silent."""
    monkeypatch.setitem(__import__("sys").modules, "kingfisher_sdk", None)
    made.script("demo-first", {"say": f"I use {said('google')}"})
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await live.until_ended()
        events = await live.events()
    assert sum("no detection engine" in record.msg for record in events) == 1
    assert any("[REDACTED:google:" in record.msg for record in events)


async def test_detection_may_be_switched_off(made, monkeypatch):
    """A user's choice is no trouble: nothing is loaded, and nothing is said."""
    monkeypatch.setattr(Detection, "load", lambda _: pytest.fail("loaded"))
    made.script("demo-first", {"say": "done"})
    made.configure(detection=False)
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        await live.until_ended()
        assert not any("detection" in record.msg for record in await live.events())


async def test_a_slow_engine_keeps_nobody_waiting_but_the_run(made, monkeypatch):
    """Its rules take seconds the first time on a machine: one run begins, and until they are there nothing is told."""
    ready = threading.Event()
    monkeypatch.setattr(Detection, "load", lambda _: ready.wait(60))
    made.script("demo-first", {"say": "done"})
    made.configure(detection=True)
    answers = []
    async with daemon_of(made, monkeypatch) as live, trio.open_nursery() as nursery:

        async def start():
            try:
                answers.append(await live.ask("sessions", StartRun("write")))
            except HubError as error:
                answers.append(error.code)

        nursery.start_soon(start)
        nursery.start_soon(start)
        await answered(
            lambda: live.ask("sessions", GetStatus()), lambda status: status.session_state == "starting"
        )
        assert not any("session started" in record.msg for record in await live.events())
        ready.set()
        await live.until_ended()
    assert sorted(isinstance(answer, Started) for answer in answers) == [False, True]
