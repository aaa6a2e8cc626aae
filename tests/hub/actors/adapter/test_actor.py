"""The adapter over a real runner and a real process: the same events at the same places, however it is read.

The agent is a few lines of Python that speak Codex's recorded stream, with pieces of text, lines on stderr, a line that
is too long, and one without an end; the session is an actor that keeps what it is handed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import uuid
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

import attrs
import pytest
import trio

from hub.actors.adapter.actor import Adapter
from hub.domain.redaction.events import EventRedactor
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.io.processes import control
from hub.io.runner.client import RunnerClient
from hub.io.runner.files import INDEX, RECORD
from hub.io.runner.framing import MAX_LINE
from hub.io.runner.launch import AgentLaunch
from hub.message_map import slot_of
from hub.messages.agent import AdapterInterrupt, AdapterPause, AdapterReply, AdapterStop, AgentBatch, Dispatch
from hub.providers.base import Ending, Write
from hub.providers.codex.agent import PROVIDER as CODEX
from hub.providers.demo.agent import FIRST as DEMO
from hub.providers.demo.stream import DemoStream
from supervisors import Actor, Restart, Slot, SupervisorSpec, actor_spec
from tests.hub.io.runner.kit import QUICK, claim_of
from tests.hub.providers.captured import ASSIGNMENT, lines_of
from tests.trees import kill, running
from tests.waiting import changed, eventually

PATIENCE = 20.0
SECRET = "canary-4f9a8b7c6d5e"
WRITE = """
import json, os, sys, time
for stream, hexed, pause in json.load(open(sys.argv[1])):
    os.write(stream, bytes.fromhex(hexed))
    time.sleep(pause)
"""


class Keeper(Actor):
    """Keeps every batch; `ready` holds it back."""

    def __init__(self, kept, more):
        self.kept = kept
        self.more = more

    async def handle(self, message):
        assert isinstance(message, AgentBatch)
        self.kept.append(message)
        self.more[0].set()
        self.more[0] = trio.Event()
        return message.answer(None)


@attrs.define
class Bench:
    """An adapter in its tree, the batches it has handed over, and the run it belongs to."""

    run_dir: object
    root: object
    session: Slot
    adapter: Slot
    kept: list
    more: list

    def events(self):
        """By place: what the log would keep of repeated batches."""
        found = {}
        for batch in self.kept:
            for item in batch.events:
                place = (item.offset, item.index)
                known = found.setdefault(place, item)
                assert known == item, f"{place} was told differently the second time"
        return found

    async def until(self, condition):
        with trio.fail_after(PATIENCE):
            while not condition(self):
                await self.more[0].wait()

    async def over(self):
        await self.until(lambda bench: any(batch.exit for batch in bench.kept))
        return next(batch for batch in self.kept if batch.exit)


def redactor():
    return EventRedactor(Redactor(KnownSecrets([SECRET], ["canary"]), b"r" * 32))


def assignment_of(run_dir, **options):
    return attrs.evolve(ASSIGNMENT, dispatch_id=run_dir.name, run_dir=run_dir, options=options)


def launched(argv, cwd, env=MappingProxyType({}), **more):
    """As the product does it, but nobody waits long for its end, and it waits long for who comes back."""
    return lambda: AgentLaunch(argv=argv, env=env, cwd=cwd, graces=QUICK, drain=0.3, linger=30.0, **more)


@asynccontextmanager
async def bench_of(run_dir, launch, *, attach=False, provider=CODEX, kept=None):
    assignment = assignment_of(run_dir, partial=True)
    session, adapter, kept, more = (
        slot_of("session"),
        slot_of("adapter"),
        [] if kept is None else kept,
        [trio.Event()],
    )
    tries = [attach]

    def make():
        again, tries[0] = tries[0], True
        dispatch = Dispatch(assignment, provider.name, again)
        return Adapter(dispatch, provider, session.ref, redactor(), launch)

    spec = SupervisorSpec(
        intensity=100,
        children=[
            actor_spec("session", lambda: Keeper(kept, more), session),
            actor_spec("adapter", make, adapter, restart=Restart.TRANSIENT),
        ],
    )
    async with running(spec) as root:
        yield Bench(run_dir, root, session, adapter, kept, more)


@pytest.fixture
async def run_dir(tmp_path):
    path = tmp_path / f"d-{uuid.uuid4().hex[:12]}"
    yield path
    with trio.CancelScope(shield=True):
        await control.sweep([path.name])


def delta(text):
    """A piece of streamed text, as Codex writes it."""
    params = {"threadId": "t", "turnId": "u", "itemId": "m", "delta": text}
    return json.dumps({"method": "item/agentMessage/delta", "params": params}).encode()


def story():
    """stdout with every kind of trouble, and stderr."""
    captured = lines_of("codex", "rich")
    odd = [
        delta("the key is " + SECRET[:7]),
        delta(SECRET[7:] + " and " + SECRET[:4]),
        delta(SECRET[4:]),
        b'{"type": "unknown thing"}',
        b"no JSON " + SECRET.encode(),
        b"\xff\xfe bad bytes",
        b"x" * (MAX_LINE + 10),
    ]
    lines = [*captured[:-1], *odd, captured[-1], b"the last line has no end " + SECRET.encode()]
    return b"\n".join(lines), b"warning one\n" + SECRET.encode() + b"\nno end"


def speaker(tmp_path, seed, pause=0.0):
    """An agent that writes the story in pieces cut anywhere, now of the one stream and now of the other."""
    chance = random.Random(seed)
    left = {}
    for stream, data in enumerate(story(), start=1):
        cuts = sorted(chance.sample(range(1, len(data)), 12))
        left[stream] = [data[a:b].hex() for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    turns = [stream for stream, pieces in left.items() for _ in pieces]
    chance.shuffle(turns)
    told = [(stream, left[stream].pop(0), pause) for stream in turns]
    path = tmp_path / "pieces.json"
    path.write_text(json.dumps(told))
    return launched([sys.executable, "-I", "-S", "-c", WRITE, str(path)], tmp_path)


@pytest.mark.parametrize("seed", range(3))
async def test_a_replay_gives_the_same_events_at_the_same_places(tmp_path, run_dir, seed):
    """Whatever the pieces: live, re-attached in the middle again and again, and from the spool of an ended run."""
    async with bench_of(run_dir, speaker(tmp_path, seed, pause=0.01)) as bench:
        for _ in range(3):
            seen = len(bench.kept)
            await bench.until(lambda b, n=seen: len(b.kept) > n)
            gone = trio.Event()
            bench.adapter.ref.monitor(lambda _, gone=gone: gone.set())
            kill(bench.root, "adapter")
            await gone.wait()
        last = await bench.over()
        live = bench.events()
    assert last.outcome.ending is Ending.DONE
    for _ in range(2):
        async with bench_of(run_dir, None, attach=True) as bench:
            await bench.over()
            assert bench.events() == live


async def test_what_an_agent_once_said_is_told_from_what_it_says(tmp_path, run_dir):
    """A session took the words of an hour ago for the last ones while the spool of a living agent was read again."""
    lines = 3000
    said = "no JSON at all\n" * lines + '{"id": 99, "result": {}}\n' * lines
    text = f"import signal; print({said!r}, end='', flush=True); signal.pause()"
    (tmp_path / "agent.py").write_text(text)
    agent = launched([sys.executable, "-I", "-S", str(tmp_path / "agent.py")], tmp_path)
    async with bench_of(run_dir, agent) as bench:
        await bench.until(lambda b: len(b.events()) >= lines)
    async with bench_of(run_dir, None, attach=True) as bench:
        await bench.until(lambda b: b.kept and b.kept[-1].current)
        assert not bench.kept[0].current
        assert len(bench.events()) == lines


async def test_places_rise_and_name_their_stream(tmp_path, run_dir):
    """stdout by offset, then stderr, then the end; all within what a canonical record can hold."""
    async with bench_of(run_dir, speaker(tmp_path, 1)) as bench:
        await bench.over()
        found = bench.events()
    out, _ = story()
    places = [place for place, _ in found]
    assert all(0 <= place < 2**53 for place in places)
    assert max(place for place in places if place < 1 << 52) <= len(out)
    for offset in {place for place, _ in found}:
        indexes = sorted(index for place, index in found if place == offset)
        assert indexes == list(range(len(indexes)))


async def test_a_line_that_is_too_long_is_told_and_the_next_one_is_read(tmp_path, run_dir):
    async with bench_of(run_dir, speaker(tmp_path, 1)) as bench:
        await bench.over()
        said = [item.event for item in bench.events().values()]
    cut = [event for event in said if event.meta.get("truncated")]
    assert len(cut) == 1
    assert f"a line of {MAX_LINE + 10} bytes was cut" in cut[0].content
    assert any("the last line has no end" in event.content for event in said)


async def test_no_event_shows_a_secret_that_came_in_pieces(tmp_path, run_dir):
    """Redaction over the borders of pieces, lines, streams and batches."""
    async with bench_of(run_dir, speaker(tmp_path, 2)) as bench:
        last = await bench.over()
        said = [item.event for _, item in sorted(bench.events().items())]
    text = "".join(event.content for event in said if event.meta.get("delta"))
    assert text.count("[REDACTED:canary:") == 2
    assert SECRET not in text
    assert not any(SECRET in json.dumps(event.to_json()) for event in said)
    assert SECRET not in last.outcome.text


def demo(tmp_path, run_dir, *steps):
    """The demo agent's real program with these steps."""
    script = tmp_path / "steps.json"
    script.write_text(json.dumps({"steps": steps}))
    found = DEMO.launch(assignment_of(run_dir, script=str(script)))
    return launched(found.argv, tmp_path, found.env, stdin="pipe", files=found.files)


def heard(bench):
    return [item.event.content for _, item in sorted(bench.events().items())]


async def test_a_reply_is_taken_once_however_often_it_is_sent(tmp_path, run_dir):
    """The runner takes each key once: a repeated order, also over a new connection, is no second answer."""
    launch = demo(tmp_path, run_dir, {"ask": "first?"}, {"ask": "second?"}, {"done": "ok"})
    async with bench_of(run_dir, launch, provider=DEMO) as bench:
        await bench.until(lambda b: "first?" in heard(b))
        for _ in range(3):
            await bench.adapter.ref.cast(AdapterReply("one", "r-1"))
        await bench.until(lambda b: "second?" in heard(b))
        kill(bench.root, "adapter")
        await bench.adapter.ref.wait_alive()
        await bench.adapter.ref.cast(AdapterReply("one", "r-1"))
        await bench.adapter.ref.cast(AdapterReply("two", "r-2"))
        last = await bench.over()
        assert last.outcome.ending is Ending.DONE
        assert [text for text in heard(bench) if text in ("one", "two")] == ["one", "two"]


@pytest.mark.parametrize("hard", [False, True])
async def test_a_stop_that_comes_before_the_connection_is_done_with_it(tmp_path, run_dir, hard):
    """Sent in the same moment as the start, it is not lost."""
    async with bench_of(run_dir, demo(tmp_path, run_dir, {"hang": {}}), provider=DEMO) as bench:
        assert bench.adapter.ref.try_cast(AdapterStop("test", hard=hard))
        assert (await bench.over()).exit.asked


async def test_a_pause_that_comes_before_the_connection_holds(tmp_path, run_dir):
    steps = [{"say": "tick"}, {"sleep": 0.01}] * 1000
    async with bench_of(run_dir, demo(tmp_path, run_dir, *steps), provider=DEMO) as bench:
        assert bench.adapter.ref.try_cast(AdapterPause(pause=True))
        await changed(run_dir, (run_dir / "agent.json").exists)
        pid = json.loads((run_dir / "agent.json").read_text())["pid"]

        def state():
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]

        await eventually(lambda: state() == "T")
        await bench.adapter.ref.cast(AdapterPause(pause=False))
        await bench.until(lambda b: heard(b).count("tick") > 3)
        await bench.adapter.ref.cast(AdapterStop("test", hard=True))
        await bench.over()


async def test_the_agents_own_interrupt_ends_it_as_interrupted(tmp_path, run_dir):
    async with bench_of(run_dir, demo(tmp_path, run_dir, {"ask": "go on?"}), provider=DEMO) as bench:
        await bench.until(lambda b: "go on?" in heard(b))
        await bench.adapter.ref.cast(AdapterInterrupt())
        assert (await bench.over()).outcome.ending is Ending.INTERRUPTED


async def test_the_end_of_a_run_whose_runner_was_killed_has_a_time(tmp_path, run_dir):
    """Nobody wrote down when it ended: the log said 1970."""
    began = time.time()
    async with bench_of(
        run_dir, demo(tmp_path, run_dir, {"say": "on it"}, {"hang": {}}), provider=DEMO
    ) as bench:
        await bench.until(lambda b: "on it" in heard(b))
        os.kill(claim_of(run_dir)["pid"], signal.SIGKILL)
        end = (await bench.over()).events[-1]
        assert began <= end.at_ms / 1000 <= time.time()


async def test_a_killed_session_gets_the_batch_again(tmp_path, run_dir):
    """The adapter waits for the next incarnation; nothing is lost between the two."""
    launch = demo(tmp_path, run_dir, *({"say": f"line {n}"} for n in range(200)), {"done": "ok"})
    async with bench_of(run_dir, launch, provider=DEMO) as bench:
        for _ in range(3):
            seen = len(bench.kept)
            await bench.until(lambda b, n=seen: len(b.kept) > n or any(k.exit for k in b.kept))
            kill(bench.root, "session")
            await bench.session.ref.wait_alive()
        await bench.over()
        said = [text for text in heard(bench) if text.startswith("line")]
        assert said == [f"line {n}" for n in range(200)]


class Answering(DemoStream):
    """One that answers its agent's first line by itself."""

    def feed(self, line, now):
        step = super().feed(line, now)
        return attrs.evolve(step, writes=[Write("a-1", b"go on\n")]) if line == b"line 0" else step


@attrs.frozen
class AnsweringDemo:
    """Its provider."""

    name: str = "demo-first"

    def stream(self, assignment):
        return Answering(assignment)


async def test_a_connection_that_is_lost_at_an_answer_costs_no_line(tmp_path, run_dir, monkeypatch):
    """The lines that had come with the one it answered were lost, and what came later was never the latest."""
    plain, lost = RunnerClient.write, []

    async def write(self, key, data):
        if key == "a-1" and not lost:
            lost.append(key)
            await trio.aclose_forcefully(self._stream)
        await plain(self, key, data)

    monkeypatch.setattr(RunnerClient, "write", write)
    lines = [f"line {n}" for n in range(20)]
    text = f"import signal; print({chr(10).join(lines)!r}, flush=True); print(input(), flush=True); signal.pause()"
    agent = launched([sys.executable, "-I", "-S", "-c", text], tmp_path, stdin="pipe")
    async with bench_of(run_dir, agent, provider=AnsweringDemo()) as bench:
        await bench.until(lambda b: "go on" in str(heard(b)) and b.kept[-1].current)
        assert lost
        assert all(any(line in said for said in heard(bench)) for line in lines)


class Shy(DemoStream):
    """An agent that takes no word before it has said one, as Codex between two turns."""

    def reply(self, text, key):
        return super().reply(text, key) if self.alive else ()


@attrs.frozen
class ShyDemo:
    """Its provider."""

    name: str = "demo-first"

    def stream(self, assignment):
        return Shy(assignment)


async def test_a_reply_that_comes_before_the_agent_can_take_it_waits(tmp_path, run_dir):
    """Right behind the start, or while the spool is still read: it is passed on as soon as the stream allows it."""
    launch = demo(tmp_path, run_dir, {"ask": "first?"}, {"done": "ok"})
    async with bench_of(run_dir, launch, provider=ShyDemo()) as bench:
        assert bench.adapter.ref.try_cast(AdapterReply("early", "r-1"))
        await bench.until(lambda b: "first?" in heard(b))
        await bench.adapter.ref.cast(AdapterReply("late", "r-2"))
        await bench.over()
        assert "early" in heard(bench)


class Counted(DemoStream):
    """Counts the lines it is fed."""

    fed = 0

    def feed(self, line, now):
        self.fed += 1
        return super().feed(line, now)


@attrs.frozen
class CountedDemo:
    """Its provider."""

    streams: list
    name: str = "demo-first"

    def stream(self, assignment):
        self.streams.append(Counted(assignment))
        return self.streams[-1]


async def most_in_a_turn(bench, streams):
    """How many lines were read in one turn of the loop, at most, until the agent's end."""
    most, seen = 0, 0
    with trio.fail_after(PATIENCE):
        while not any(batch.exit for batch in bench.kept):
            await trio.lowlevel.checkpoint()
            now = streams[0].fed if streams else 0
            most, seen = max(most, now - seen), now
    assert seen == 2000
    return most


async def test_a_flood_gives_everybody_else_a_turn_every_few_lines(tmp_path, run_dir):
    """Hundreds of lines come in one read, and one answer of the API takes several turns of the loop.

    So it is where the agent has written them one by one, and each is in a message of its own: a daemon that lags reads
    hundreds of them at once too, and by that lagged the more.
    """
    text = json.dumps({"type": "text", "text": "more"}) + "\n"
    (tmp_path / "flood").write_text(text * 2000)
    launch = AgentLaunch(argv=["/bin/cat", str(tmp_path / "flood")], env={}, cwd=tmp_path, graces=QUICK)
    streams = []
    async with bench_of(run_dir, lambda: launch, provider=CountedDemo(streams)) as bench:
        assert await most_in_a_turn(bench, streams) <= 64
    (run_dir / INDEX).write_bytes(b"".join(RECORD.pack(len(text) * (at + 1), 0, 1000) for at in range(2000)))
    streams = []
    async with bench_of(run_dir, lambda: launch, attach=True, provider=CountedDemo(streams)) as bench:
        assert await most_in_a_turn(bench, streams) <= 64
