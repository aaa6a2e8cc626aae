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
from typing import Any

import attrs
import trio

from hub import messages as m
from hub.actors.pipelines.answers import run_status, shown
from hub.api.accounts import AccountGone, AccountNow
from hub.api.approvals import Approval, Resolved
from hub.api.convert import structure, unstructure
from hub.api.costs import Costs
from hub.api.detect import Adopted, Detected
from hub.api.graph import Chunk, Detail, Graph, Scanning
from hub.api.history import HistoryEntry
from hub.api.jobs import Begun
from hub.api.localmodel import LocalModels, PullEnded, Pulling
from hub.api.observability import AuditHead, Breaker, Redactions
from hub.api.pipelines import RunStarted
from hub.api.profiles import Profile, ProfileDone, ProfileOutcome
from hub.api.providers import Chosen, KeySet, ProviderConfig, ProviderStatus
from hub.api.quota import Entry
from hub.api.session import Cost, HandingOver, Paused, Replied, Started, Stopped
from hub.api.sessions import Session, Sessions
from hub.api.status import Status
from hub.api.tables import read_pipelines
from hub.api.vision import Seen, VisionConfig, VisionDone
from hub.domain.breaker import BreakerState
from hub.domain.config.reader import Config
from hub.domain.contract import Contract, to_json
from hub.domain.event import Record
from hub.domain.pipeline.run import begin
from hub.domain.session import SessionRecord
from hub.io.project.places import Places
from hub.mcp.http import ToolsApp
from hub.web.context import Context
from hub.web.doors import Bound, Doors
from hub.web.server import serve
from supervisors import NodeInfo
from tests.faults.harness import git
from tests.sample import sample

_TOKENS = count(1)
APPROVAL = {
    "id": "a-1f2e3d4c5b6a", "action": "Bash: git push", "reason": "claude asks", "severity": "warn",
    "createdAt": "2026-01-01T00:00:00.000Z", "expiresAt": None, "kind": "tool", "sessionId": "s-1",
    "provider": "claude", "account": "default", "tool": "Bash", "context": {"command": "git push"},
}  # fmt: skip
NODE = {"id": "a", "provider": "claude", "task": "x", "dependsOn": [], "fallback": [], "verify": []}
PIPELINE = {"name": "p", "nodes": [NODE]}
ACCOUNT = AccountNow(
    provider="claude", label="work", active=False, config_dir="/w", logged_in=False, active_account="default"
)
JOB = Begun(job="login", provider="", command="claude auth login", terminal="tmux", account="")
PROFILE = {"name": "p", "chain": ["claude"], "kinds": [], "skills": [], "contextHint": ""}
GRAPH = {
    "nodes": 1, "edges": 0, "files": 1, "chunks": 1, "state": "ready", "scannedAt": "2026-01-01T00:00:00.000Z",
    "truncated": False, "eventId": 7, "scan": {"files": 1, "bytes": 5, "error": ""},
}  # fmt: skip
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
PROVIDER = {
    "name": "claude", "displayName": "Claude Code", "status": "standby", "account": "default", "model": "",
    "reason": "", "resetsAt": None, "accounts": [],
}  # fmt: skip
CONFIGURED = {
    "name": "claude", "displayName": "Claude Code", "enabled": True, "declaredCap": 0, "model": "", "baseUrl": "",
    "install": {"installed": True, "version": "1", "path": "/bin/claude", "command": "npm i"},
    "auth": {
        "loggedIn": True, "method": "oauth", "loginCommand": "claude login", "expiresAt": None,
        "keyNames": ["ANTHROPIC_API_KEY"], "keys": [],
    },
    "capabilities": {"replies": True}, "probe": None,
    "accounts": [{"label": "default", "active": True, "configDir": "", "loggedIn": True}], "activeAccount": "default",
}  # fmt: skip
OUTCOME = {
    "profile": "p", "runs": 2, "judged": 1, "successes": 1, "successRate": 1.0, "avgTokens": 10.5, "avgCostUsd": None,
    "lastRun": "2026-01-01T00:00:00.000Z",
}  # fmt: skip
INTEL = {
    "sessionId": "n-1", "model": "m", "initialPrompt": "p", "plan": ["a"], "tasksRemaining": ["a"],
    "filesTouched": ["a.py"], "skills": [], "mcps": [], "recentTurns": [{"role": "user", "text": "p"}],
    "tokensIn": 1, "tokensOut": 2, "tokensExact": True, "messageCount": 1, "alarm": "",
}  # fmt: skip
DETECTED = {
    "id": "claude:n-1", "provider": "claude", "displayName": "Claude Code", "surface": "command-line", "pid": 7,
    "pids": [7], "running": True, "workDir": "/w", "account": "default", "detectedVia": ["process", "transcript"],
    "lastActive": 1, "owner": "user", "confidence": "exact", "candidates": [], "alarm": "", "adoptable": True,
    "session": INTEL,
}  # fmt: skip
ADOPTED = {
    "brief": "/w/.hub/adopted/s-1.md", "mode": "start", "resumed": False, "stopped": [], "sessionId": "s-1",
    "branch": "hub/s-1", "worktree": "/w/.hub/worktrees/s-1", "command": "", "terminal": "",
}  # fmt: skip
VISION = VisionConfig(enabled=False, provider="", model="", base_url="", max_pixels=1_500_000)
MODELS = {
    "baseUrl": "", "reachable": True, "detail": "",
    "models": [{"name": "m", "bytes": 1, "modifiedAt": "", "family": "clip", "parameters": "7B",
                "quantization": "Q4_0", "vision": True}],
    "curated": [{"tag": "t", "title": "T", "gigabytes": 1.5}],
}  # fmt: skip
COST = {
    "sessionUsd": 0.5, "tokensIn": 1, "tokensOut": 2, "provider": "claude", "cachedIn": 0, "cacheWriteIn": 0,
    "priced": True, "sources": ["agent"], "unpricedModels": [],
}  # fmt: skip
SPENT = {
    "day": "2026-01-01", "sessionId": "s-1", "provider": "claude", "usd": 0.5, "priced": True, "tokensIn": 1,
    "tokensOut": 2, "ended": True,
}  # fmt: skip
WINDOW = {
    "window": "five_hour", "remaining": 58, "total": 100, "unit": "percent", "fractionUsed": 0.42,
    "resetsAt": "2026-01-01T05:00:00.000Z", "source": "stream", "readAt": "2026-01-01T00:00:00.000Z",
    "ageSeconds": 5, "burnPerMin": 0.5, "etaMinutes": 116.0, "etaLowMinutes": 80.0, "etaHighMinutes": 150.0,
    "forecast": "ready",
}  # fmt: skip
RISES = [
    {"at": "2025-12-31T23:30:00.000Z", "fractionUsed": 0.1},
    {"at": "2025-12-31T23:59:00.000Z", "fractionUsed": 0.4},
]
BURNED = [
    {"sessionId": "s-1", "model": "m-1", "tokens": 900},
    {"sessionId": "", "model": "", "tokens": 200},
    {"sessionId": "s-gone", "model": "", "tokens": 100},
]
METERED = {**WINDOW, "rises": RISES, "burned": BURNED, "burnedSince": "2025-12-31T23:00:00.000Z"}
WALLET = {
    "provider": "claude", "account": "default", "tokensToday": 1200, "tokensElsewhere": 200, **WINDOW,
    "windows": [METERED],
}  # fmt: skip
DETAIL = {
    "nodes": [
        {"id": "file:a.py", "node_type": "file", "payload": {"path": "a.py"}, "session_id": "s-1", "weight": 1.0,
         "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z"},
    ],
    "edges": [{"from_id": "task:s-1", "to_id": "file:a.py", "edge_type": "touches", "weight": 1.0}],
}  # fmt: skip
CHUNK = {
    "ID": "a.py:1-2", "Path": "a.py", "Lang": "python", "StartLine": 1, "EndLine": 2, "Body": "x = 1",
    "SHA": "0" * 64, "Dim": 0, "Mark": "", "Touches": 0.0, "Stale": False,
}  # fmt: skip
RECORD = {
    "seq": 0, "ts": "2026-01-01T00:00:00.000Z", "event": "handoff", "provider": "claude", "summary": "",
    "sessionId": "s-1",
}  # fmt: skip

ANSWERS: dict[type, Callable[[Any], Any]] = {
    m.AddAccount: lambda order: attrs.evolve(ACCOUNT, label=order.label),
    m.Adopt: lambda order: structure({"ok": True, "id": order.id, "target": order.target, **ADOPTED}, Adopted),
    m.AuditAppend: lambda _: AuditHead(seq=0, hash="0" * 64, bytes=10),
    m.GetAuditHead: lambda _: AuditHead(seq=0, hash="0" * 64, bytes=10),
    m.AuditHistory: lambda _: structure([RECORD], list[HistoryEntry]),
    m.BreakerSnapshots: lambda _: [Breaker(name="claude/default", state=BreakerState.CLOSED, failures=0)],
    m.CancelPull: lambda order: PullEnded(tag=order.tag, base_url=order.base_url),
    m.Detect: lambda _: structure([DETECTED], list[Detected]),
    m.GetApprovals: lambda _: structure([APPROVAL], list[Approval]),
    m.GetConfig: lambda _: Config(),
    m.GetContract: lambda _: to_json(sample(Contract)),
    m.GetCost: lambda _: structure(COST, Cost),
    m.GetCosts: lambda _: structure({"spent": [SPENT]}, Costs),
    m.GetGraph: lambda _: structure(GRAPH, Graph),
    m.GetGraphDetail: lambda _: structure(DETAIL, Detail),
    m.GetGraphNodes: lambda _: 1,
    m.GetOutcomes: lambda _: structure([OUTCOME], list[ProfileOutcome]),
    m.GetPipelineRun: lambda _: RUN,
    m.GetPipelines: lambda _: shown(read_pipelines([PIPELINE])),
    m.GetProfiles: lambda _: structure([PROFILE], list[Profile]),
    m.GetProviders: lambda _: structure([PROVIDER], list[ProviderStatus]),
    m.GetRedactions: lambda _: Redactions(summary="aws:1"),
    m.GetInUse: lambda _: [],
    m.GetSessionFacts: lambda _: m.SessionFacts(
        SessionRecord(session_id="s-1", branch="hub/s-1", main_branch="main", worktree_ready=True)
    ),
    m.GetSessions: lambda _: structure({"sessions": [SESSION], "concurrent": 1}, Sessions),
    m.GetStatus: lambda _: structure(STATUS, Status),
    m.GetVision: lambda _: VISION,
    m.GetWallet: lambda _: structure([WALLET], list[Entry]),
    m.IndexCode: lambda _: structure({"ok": True, **GRAPH, "state": "scanning"}, Scanning),
    m.InstallAgent: lambda order: attrs.evolve(JOB, job=f"install {order.name}", provider=order.name),
    m.LaunchModel: lambda order: attrs.evolve(JOB, provider=order.provider),
    m.ListModels: lambda order: structure({**MODELS, "baseUrl": order.base_url}, LocalModels),
    m.LogIn: lambda order: attrs.evolve(JOB, provider=order.provider, account=order.label or "default"),
    m.LookAtImage: lambda _: Seen(text="a button", model="m", width=1, height=1, latency_ms=5),
    m.PatchProvider: lambda order: Chosen(
        name=order.name, enabled=True, declared_cap=0, model="m", base_url=""
    ),
    m.PatchVision: lambda _: VisionDone(enabled=True, provider="", model="m", base_url="", max_pixels=1_500_000),
    m.ProvidersConfigured: lambda _: structure([CONFIGURED], list[ProviderConfig]),
    m.PullModel: lambda order: Pulling(job=f"pull {order.tag}", tag=order.tag, base_url=order.base_url),
    m.PutProfile: lambda order: structure({"ok": True, "deleted": False, **order.profile}, ProfileDone),
    m.RemoveAccount: lambda order: AccountGone(
        provider=order.provider, label=order.label, config_dir="/w", active_account="default"
    ),
    m.RemoveProfile: lambda order: ProfileDone(deleted=True, name=order.name),
    m.ReplacePipelines: lambda order: shown(order.pipelines),
    m.RequestHandoff: lambda _: HandingOver(session_id="s-1", handoff_id="h-1"),
    m.RequestPause: lambda order: Paused(session_id="s-1", paused=order.pause),
    m.RequestReply: lambda _: Replied(session_id="s-1"),
    m.RequestStop: lambda _: Stopped(session_id="s-1", state="stopped"),
    m.ResolveApproval: lambda order: Resolved(id=order.id, approved=order.approved),
    m.Retrieve: lambda _: structure([CHUNK], list[Chunk]),
    m.RunPipeline: lambda _: RunStarted(**attrs.asdict(RUN, recurse=False)),
    m.SetKey: lambda order: KeySet(provider="claude", name="ANTHROPIC_API_KEY", set=bool(order.value)),
    m.StartRun: lambda _: Started(
        session_id="s-1", task_id="t-1", branch="hub/s-1", worktree="/w/s-1", withheld=[], position=0
    ),
    m.StopPipeline: lambda _: None,
    m.SwitchAccount: lambda order: attrs.evolve(ACCOUNT, label=order.label, active=True),
}  # fmt: skip
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
        if isinstance(message, m.Subscribe):
            return self._subscribe(message.since)
        if isinstance(message, m.EventsSince):
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

    def _subscribe(self, since: int | None) -> m.Subscription:
        replay = [] if since is None else [record for record in self.log if record.id > since]
        send, receive = trio.open_memory_channel[Sequence[Record]](self.room)
        subscription = m.Subscription(next(_TOKENS), receive, trio.Event())
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
