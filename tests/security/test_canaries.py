"""Forty secrets that nobody told hub, planted in the task and in all that agents say; no sink may show one.

Security R4; the sinks are those of `tests/security/wiretap.py`. None is the record `.hub/fsm.json`, nor the raw assignment, both
0600: the first agent gets the task as it is.
"""

from __future__ import annotations

import json
import random
import threading

import pytest
import trio

from hub.api.session import Started
from hub.errors import HubError
from hub.io.secrets.kingfisher import Detection
from hub.messages.session import GetStatus, StartRun
from tests.faults.harness import project
from tests.hub.actors.daemon import daemon_of
from tests.redaction.made import BROKERED, COMMON, NAMED
from tests.security.wiretap import sinks
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


async def test_no_secret_of_the_task_or_an_agent_reaches_any_sink(made, monkeypatch, caplog):
    assert len(CANARIES) >= 40
    task = "deploy with " + " and ".join(map(said, TASK))
    order = StartRun(task, verify=[f"echo {said('npm')}; cat notes.txt; false"])
    reply = f"yes, and {said('xai')}"
    found = await sinks(made, monkeypatch, caplog, order, reply, strangers=STRANGERS, but=["fsm.json"])
    assert [leak for where, told in found.items() for leak in seen(where, told)] == []
    counts = json.loads(found["/api/redactions"])["summary"]
    told = dict(pair.strip().split(":") for pair in counts.split(","))
    assert {"anthropic", "github", "openai", "stripe", "google", "generic"} <= set(told)
    marks = found["events"].count("[REDACTED:")
    for wire in ("the socket", "the event stream", "hub mcp"):
        assert found[wire].count("[REDACTED:") >= marks, f"{wire} did not tell the session"
    assert "[REDACTED:" in found["/mcp"]
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
