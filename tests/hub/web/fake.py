"""An in-memory stand-in for the actors, and a server over it. The server, its sockets and its clients are real."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, get_args, get_origin

import attrs
import trio

from hub.actors.pipelines.answers import run_status, shown
from hub.api.approvals import Resolved
from hub.api.convert import structure, unstructure
from hub.api.detect import Adopted
from hub.api.observability import Redactions
from hub.api.pipelines import RunStarted
from hub.api.session import Started
from hub.api.sessions import Session, Sessions
from hub.api.status import Status
from hub.api.tables import read_pipelines
from hub.domain.config.reader import Config
from hub.domain.contract import Contract, to_json
from hub.domain.event import Record
from hub.domain.pipeline.run import begin
from hub.domain.session import SessionRecord
from hub.io.project.places import Places
from hub.mcp.http import ToolsApp
from hub.message_map import EDGES
from hub.messages.approvals import ResolveApproval
from hub.messages.detector import Adopt
from hub.messages.events import EventsSince, Subscribe, Subscription
from hub.messages.pipelines import GetPipelineRun, GetPipelines, ReplacePipelines, RunPipeline, StopPipeline
from hub.messages.session import (
    GetContract,
    GetInUse,
    GetRedactions,
    GetSessionFacts,
    GetSessions,
    GetStatus,
    SessionFacts,
    StartRun,
)
from hub.messages.settings import GetConfig
from hub.web.context import Context
from hub.web.doors import Bound, Doors
from hub.web.server import serve
from supervisors import Call, NodeInfo
from tests.faults.harness import git
from tests.sample import sample, whole

_TOKENS = count(1)
NODE = {"id": "a", "provider": "claude", "task": "x", "dependsOn": [], "fallback": [], "verify": []}
PIPELINE = {"name": "p", "nodes": [NODE]}
RUN = run_status(begin("p-1", *read_pipelines([PIPELINE]), "2026-01-01T00:00:00.000Z"))


SESSION = unstructure(
    sample(
        Session,
        sessionId="s-1",
        title="t",
        sessionState="queued",
        needs="none",
        lastAction="Read a.py",
        position=1,
    )
)
STATUS = unstructure(sample(Status, role="idle", fsmState="RUNNING", sessionState="idle"))


def answer_of(message: type) -> Any:
    """What a message promises."""
    return next(get_args(base)[0] for base in vars(message)["__orig_bases__"] if get_origin(base) is Call)


ANSWERS: dict[type, Callable[[Any], Any]] = {
    **{
        edge.message: lambda message: whole(answer_of(type(message)))
        for edge in EDGES
        if edge.sender == "front" and edge.receiver != "events"
    },
    Adopt: lambda order: whole(Adopted, id=order.id),
    GetConfig: lambda _: Config(),
    GetContract: lambda _: to_json(sample(Contract)),
    GetInUse: lambda _: [],
    GetPipelineRun: lambda _: RUN,
    GetPipelines: lambda _: shown(read_pipelines([PIPELINE])),
    GetSessionFacts: lambda _: SessionFacts(
        SessionRecord(session_id="s-1", branch="hub/s-1", main_branch="main", worktree_ready=True)
    ),
    GetSessions: lambda _: structure({"sessions": [SESSION], "concurrent": 1}, Sessions),
    GetStatus: lambda _: structure(STATUS, Status),
    GetRedactions: lambda _: Redactions(summary="aws:1"),
    ReplacePipelines: lambda order: shown(order.pipelines),
    ResolveApproval: lambda order: Resolved(id=order.id, approved=order.approved),
    RunPipeline: lambda _: RunStarted(**attrs.asdict(RUN, recurse=False)),
    StartRun: lambda _: whole(Started, sessionId="s-1"),
    StopPipeline: lambda _: None,
}
"""What an actor answers to each message of the front end."""


@cache
def repository() -> Path:
    """A real one, with a session's branch: what git is asked is asked of it."""
    root = Path(tempfile.mkdtemp(prefix="hub-web-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    git(root, "branch", "hub/s-1")
    return root


def begin_again() -> None:
    """The session's branch is there and holds nothing, whatever a request has done with it."""
    git(repository(), "branch", "-f", "hub/s-1", "main")


@contextmanager
def with_work() -> Iterator[None]:
    """There is something to take on the session's branch, for the length of the block."""
    root, main = repository(), commit()
    (root / "new.txt").write_text("new\n")
    blob = git(root, "hash-object", "-w", "new.txt")
    (root / "new.txt").unlink()
    git(root, "update-index", "--add", "--cacheinfo", f"100644,{blob},new.txt")
    made = git(root, "commit-tree", "-p", main, "-m", "work", git(root, "write-tree"))
    git(root, "rm", "-q", "--cached", "new.txt")
    git(root, "branch", "-f", "hub/s-1", made)
    try:
        yield
    finally:
        begin_again()


def commit() -> str:
    """The commit of that repository."""
    return git(repository(), "rev-parse", "main")


@attrs.define
class Fake:
    """Actors in memory: each answers with plausible data; `error` makes every call raise; `calls` has what was asked."""

    error: Exception | None = None
    calls: list[Any] = attrs.field(factory=list)
    log: list[Record] = attrs.field(factory=list)
    room: float = 64
    instead: dict[type, Callable[[Any], Awaitable[Any]]] = attrs.field(factory=dict)
    """What a test has an actor do with a message."""
    subscribed: trio.Event = attrs.field(factory=trio.Event)
    _subscribers: list[Any] = attrs.field(factory=list)

    def context(self) -> Context:
        """What the routes are served from."""
        places = Places(repository(), repository() / ".hub-state")
        return Context(places, lambda _: self, self.snapshot, str)

    def snapshot(self) -> NodeInfo:
        """One node."""
        return NodeInfo("root", "root", "supervisor", "running", 1, 0, 1.0)

    async def call(self, message: Any, timeout: float = 0) -> Any:
        """As every named actor's reference."""
        self.calls.append(message)
        if self.error is not None:
            raise self.error
        if isinstance(message, Subscribe):
            return self._subscribe(message.since)
        if isinstance(message, EventsSince):
            return [record for record in self.log if record.id > message.since][: message.limit]
        if own := self.instead.get(type(message)):
            return await own(message)
        return ANSWERS[type(message)](message)

    def try_cast(self, message: Any) -> bool:
        """Somebody leaves the log."""
        for entry in list(self._subscribers):
            if entry[1].token == message.token:
                entry[0].close()
                self._subscribers.remove(entry)
        return True

    def _subscribe(self, since: int | None) -> Subscription:
        replay = [] if since is None else [record for record in self.log if record.id > since]
        send, receive = trio.open_memory_channel[Sequence[Record]](self.room)
        subscription = Subscription(next(_TOKENS), receive, trio.Event())
        self._subscribers.append((send, subscription))
        self.subscribed.set()
        if replay:
            send.send_nowait(replay)
        return subscription

    @property
    def watching(self) -> int:
        return len(self._subscribers)

    def publish(self, *records: Record) -> None:
        self.log.extend(records)
        for entry in list(self._subscribers):
            send, subscription = entry
            try:
                send.send_nowait(records)
            except trio.WouldBlock:
                subscription.lagged.set()
                send.close()
                self._subscribers.remove(entry)

    def end(self) -> None:
        """The log goes down: every subscription ends."""
        for send, _ in self._subscribers:
            send.close()
        self._subscribers.clear()


def record(number: int, msg: str = "hello", tag: str = "text") -> Record:
    return Record(number, "12:00:00.000", tag, msg, {"at": "2026-01-01T12:00:00.000Z", "sessionId": "s-1"})


@attrs.define
class Server:
    """A server that runs, its actors, and how to stop it."""

    actors: Fake
    bound: Bound
    stop: trio.Event
    done: trio.Event

    @property
    def port(self) -> int:
        return self.bound.port


@asynccontextmanager
async def running(actors: Fake | None = None, **options: Any) -> AsyncIterator[Server]:
    """A real server on a free port of 127.0.0.1, stopped at the end."""
    actors = Fake() if actors is None else actors
    stop, done = trio.Event(), trio.Event()
    options.setdefault("tools", ToolsApp)

    async def run(*, task_status: trio.TaskStatus[Bound]) -> None:
        with closing(Doors(port=0, unix=options.pop("unix", None))) as doors:
            await serve(actors.context(), stop, doors, task_status=task_status, **options)
        done.set()

    async with trio.open_nursery() as nursery:
        bound = await nursery.start(run)
        yield Server(actors, bound, stop, done)
        stop.set()
        with trio.fail_after(30):
            await done.wait()
