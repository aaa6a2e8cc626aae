"""An in-memory stand-in for the actors, and a server over it. The server, its sockets and its clients are real."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio

from hub.client.quick import Api
from hub.domain.event import Record
from hub.domain.pipeline.graph import read
from hub.domain.pipeline.run import begin, told
from hub.domain.text import clean
from hub.mcp.http import ToolsApp
from hub.web.backend import RunRequest
from hub.web.codec import encode
from hub.web.server import Bound, serve

APPROVAL = {
    "id": "a-1f2e3d4c5b6a", "action": "Bash: git push", "reason": "claude asks", "severity": "warn",
    "createdAt": "2026-01-01T00:00:00.000Z", "expiresAt": None, "kind": "tool", "sessionId": "s-1",
    "provider": "claude", "account": "default", "tool": "Bash", "context": {"command": "git push"},
}  # fmt: skip
NODE = {"id": "a", "provider": "claude", "task": "x", "dependsOn": [], "fallback": [], "verify": []}
PIPELINE = {"name": "p", "nodes": [NODE]}
ACCOUNT = {
    "provider": "claude", "label": "work", "active": False, "configDir": "/w", "loggedIn": False,
    "activeAccount": "default",
}  # fmt: skip
JOB = {"job": "login", "command": "claude auth login", "terminal": "tmux", "account": ""}
GRAPH = {
    "nodes": 1, "edges": 0, "files": 1, "chunks": 1, "state": "ready", "scannedAt": "2026-01-01T00:00:00.000Z",
    "truncated": False, "eventId": 7, "scan": {"files": 1, "bytes": 5, "error": ""},
}  # fmt: skip
RUN = told(begin("p-1", *read([PIPELINE]), "2026-01-01T00:00:00.000Z"))


@attrs.define
class FakeSubscription:
    channel: trio.MemoryReceiveChannel[Sequence[Record]]
    lagged: trio.Event


@attrs.define
class Fake:
    """Answers every call with plausible data; `error` makes every call raise; `calls` counts what was asked."""

    error: Exception | None = None
    calls: list[Any] = attrs.field(factory=list)
    log: list[Record] = attrs.field(factory=list)
    room: float = 64
    subscribed: trio.Event = attrs.field(factory=trio.Event)
    _subscribers: list[Any] = attrs.field(factory=list)

    def _asked(self, *what: Any) -> None:
        self.calls.append(what)
        if self.error is not None:
            raise self.error

    async def status(self) -> dict[str, Any]:
        self._asked("status")
        return {
            "sessionId": "", "taskId": "", "taskGoal": "", "role": "idle", "activeProvider": "", "tokensUsed": 0,
            "graphNodes": 0, "handoffsDone": 0, "hfsScore": 0.0, "hfsHistory": [], "hfsPending": False, "fsmState": "RUNNING",
            "sessionState": "idle", "account": "", "needsInput": False, "needsApproval": False,
            "leftOut": [], "withheld": [],
        }  # fmt: skip

    async def providers(self) -> list[Any]:
        self._asked("providers")
        return [
            {"name": "claude", "displayName": "Claude Code", "status": "standby", "account": "default",
             "model": "", "reason": "", "resetsAt": None, "accounts": []},
        ]  # fmt: skip

    async def config_providers(self) -> list[Any]:
        self._asked("config_providers")
        return [
            {
                "name": "claude", "displayName": "Claude Code", "enabled": True, "declaredCap": 0, "model": "", "baseUrl": "",
                "install": {"installed": True, "version": "1", "path": "/bin/claude", "command": "npm i"},
                "auth": {"loggedIn": True, "method": "oauth", "loginCommand": "claude login",
                         "expiresAt": None, "keyNames": ["ANTHROPIC_API_KEY"], "keys": []},
                "capabilities": {"replies": True}, "probe": None,
                "accounts": [{"label": "default", "active": True, "configDir": "", "loggedIn": True}], "activeAccount": "default",
            },
        ]  # fmt: skip

    async def patch_provider(self, name: str, changes: dict[str, Any]) -> dict[str, Any]:
        self._asked("patch_provider", name, changes)
        return {"name": name, "enabled": True, "declaredCap": 0, "model": "m", "baseUrl": ""}

    async def set_key(self, name: str, value: str) -> dict[str, Any]:
        self._asked("set_key", name, value)
        return {"provider": "claude", "name": "ANTHROPIC_API_KEY", "set": bool(value)}

    async def switch_account(self, provider: str, label: str) -> dict[str, Any]:
        self._asked("switch_account", provider, label)
        return {**ACCOUNT, "label": label, "active": True}

    async def add_account(self, provider: str, label: str, config_dir: str) -> dict[str, Any]:
        self._asked("add_account", provider, label, config_dir)
        return {**ACCOUNT, "label": label}

    async def remove_account(self, provider: str, label: str) -> dict[str, Any]:
        self._asked("remove_account", provider, label)
        return {"provider": provider, "label": label, "configDir": "/w", "activeAccount": "default"}

    async def profiles(self) -> list[Any]:
        self._asked("profiles")
        return [{"name": "p", "chain": ["claude"], "kinds": [], "skills": [], "contextHint": ""}]

    async def put_profile(self, profile: dict[str, Any]) -> dict[str, Any]:
        self._asked("put_profile", profile)
        return profile

    async def remove_profile(self, name: str) -> dict[str, Any]:
        self._asked("remove_profile", name)
        return {"name": name}

    async def outcomes(self) -> list[Any]:
        self._asked("outcomes")
        return [
            {"profile": "p", "runs": 2, "judged": 1, "successes": 1, "successRate": 1.0, "avgTokens": 10.5,
             "avgCostUsd": None, "lastRun": "2026-01-01T00:00:00.000Z"},
        ]  # fmt: skip

    async def instructions(self) -> list[Any]:
        self._asked("instructions")
        return [
            {"path": "AGENTS.md", "kind": "agents_md", "title": "t", "scope": "project", "bytes": 1, "sha256": "0" * 64}
        ]  # fmt: skip

    async def detect(self, since_hours: int) -> list[Any]:
        self._asked("detect", since_hours)
        intel = {
            "sessionId": "n-1", "model": "m", "initialPrompt": "p", "plan": ["a"], "tasksRemaining": ["a"],
            "filesTouched": ["a.py"], "skills": [], "mcps": [], "recentTurns": [{"role": "user", "text": "p"}],
            "tokensIn": 1, "tokensOut": 2, "tokensExact": True, "messageCount": 1, "alarm": "",
        }  # fmt: skip
        return [
            {
                "id": "claude:n-1", "provider": "claude", "displayName": "Claude Code", "surface": "command-line",
                "pid": 7, "pids": [7], "running": True, "workDir": "/w", "account": "default",
                "detectedVia": ["process", "transcript"], "lastActive": 1, "owner": "user", "confidence": "exact",
                "candidates": [], "alarm": "", "adoptable": True, "session": intel,
            }
        ]  # fmt: skip

    async def adopt(
        self, number: str, target: str, *, start: bool, interactive: bool, stop: bool, **more: str
    ) -> dict[str, Any]:
        self._asked("adopt", number, target, start, interactive, stop, *filter(None, more.values()))
        return {
            "id": number, "target": target, "brief": "/w/.hub/adopted/s-1.md", "mode": "start", "resumed": False,
            "stopped": [], "sessionId": "s-1", "branch": "hub/s-1", "worktree": "/w/.hub/worktrees/s-1", "command": "",
            "terminal": "",
        }  # fmt: skip

    async def vision_config(self) -> dict[str, Any]:
        self._asked("vision_config")
        return {"enabled": False, "provider": "", "model": "", "baseUrl": "", "maxPixels": 1_500_000}

    async def patch_vision(self, changes: dict[str, Any]) -> dict[str, Any]:
        self._asked("patch_vision", changes)
        return {"enabled": True, "provider": "", "model": "m", "baseUrl": "", "maxPixels": 1_500_000}

    async def install(self, name: str, *, background: bool) -> dict[str, Any]:
        self._asked("install", name, background)
        return {**JOB, "job": f"install {name}", "provider": name}

    async def log_in(self, provider: str, label: str) -> dict[str, Any]:
        self._asked("log_in", provider, label)
        return {**JOB, "provider": provider, "account": label or "default"}

    async def look(self, prompt: str, image: str, url: str) -> dict[str, Any]:
        self._asked("look", prompt, image, url)
        return {"text": "a button", "model": "m", "width": 1, "height": 1, "latencyMs": 5}

    async def local_models(self, base_url: str) -> dict[str, Any]:
        self._asked("local_models", base_url)
        model = {"name": "m", "bytes": 1, "modifiedAt": "", "family": "clip", "parameters": "7B",
                 "quantization": "Q4_0", "vision": True}  # fmt: skip
        return {"baseUrl": base_url, "reachable": True, "detail": "", "models": [model],
                "curated": [{"tag": "t", "title": "T", "gigabytes": 1.5}]}  # fmt: skip

    async def pull_model(self, base_url: str, tag: str) -> dict[str, Any]:
        self._asked("pull_model", base_url, tag)
        return {"job": f"pull {tag}", "tag": tag, "baseUrl": base_url}

    async def cancel_pull(self, base_url: str, tag: str) -> dict[str, Any]:
        self._asked("cancel_pull", base_url, tag)
        return {"tag": tag, "baseUrl": base_url}

    async def launch_model(self, provider: str, model: str) -> dict[str, Any]:
        self._asked("launch_model", provider, model)
        return {**JOB, "provider": provider}

    async def run(self, request: RunRequest) -> dict[str, Any]:
        self._asked("run", request)
        return {"sessionId": "s-1", "taskId": "t-1", "branch": "hub/s-1", "worktree": "/w/s-1"}

    async def handoff(self) -> dict[str, Any]:
        self._asked("handoff")
        return {}

    async def pause(self, *, pause: bool) -> dict[str, Any]:
        self._asked("pause", pause)
        return {"pause": pause}

    async def reply(self, text: str) -> dict[str, Any]:
        self._asked("reply", text)
        return {}

    async def stop(self) -> dict[str, Any]:
        self._asked("stop")
        return {}

    async def pipelines(self) -> list[Any]:
        self._asked("pipelines")
        return [PIPELINE]

    async def replace_pipelines(self, pipelines: list[Any]) -> list[Any]:
        self._asked("replace_pipelines", pipelines)
        return pipelines

    async def run_pipeline(self, name: str, *, resume: bool, trust: str = "") -> dict[str, Any]:
        self._asked("run_pipeline", name, resume)
        return RUN

    async def pipeline_run(self) -> dict[str, Any]:
        self._asked("pipeline_run")
        return RUN

    async def session_diff(self) -> dict[str, Any]:
        self._asked("session_diff")
        return {"summary": " a | 1 +", "diff": "+x"}

    async def session_cost(self) -> dict[str, Any]:
        self._asked("session_cost")
        return {"sessionUsd": 0.5, "tokensIn": 1, "tokensOut": 2, "provider": "claude", "cachedIn": 0,
                "cacheWriteIn": 0, "priced": True, "sources": ["agent"], "unpricedModels": []}  # fmt: skip

    async def quota_wallet(self) -> list[Any]:
        self._asked("quota_wallet")
        window = {
            "window": "five_hour", "remaining": 58, "total": 100, "unit": "percent", "fractionUsed": 0.42,
            "resetsAt": "2026-01-01T05:00:00.000Z", "source": "stream", "readAt": "2026-01-01T00:00:00.000Z",
            "ageSeconds": 5, "burnPerMin": 0.5, "etaMinutes": 116.0, "etaLowMinutes": 80.0,
            "etaHighMinutes": 150.0, "forecast": "ready",
        }  # fmt: skip
        owner = {"provider": "claude", "account": "default", "tokensToday": 1200, "tokensElsewhere": 200}
        return [{**owner, **window, "windows": [window]}]

    async def approvals(self) -> list[Any]:
        self._asked("approvals")
        return [APPROVAL]

    async def resolve_approval(self, number: str, *, approved: bool, note: str) -> dict[str, Any]:
        self._asked("resolve_approval", number, approved, note)
        return {"id": number, "approved": approved}

    async def events_since(self, since: int, limit: int) -> Sequence[Record]:
        self._asked("events_since", since, limit)
        return [record for record in self.log if record.id > since][:limit]

    async def graph(self) -> dict[str, Any]:
        self._asked("graph")
        return GRAPH

    async def graph_detail(self, limit: int, node_type: str, session_id: str) -> dict[str, Any]:
        self._asked("graph_detail", limit, node_type, session_id)
        times = {"created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z"}
        node = {
            "id": "file:a.py",
            "node_type": "file",
            "payload": {"path": "a.py"},
            "session_id": "s-1",
            "weight": 1.0,
        }
        edge = {"from_id": "task:s-1", "to_id": "file:a.py", "edge_type": "touches", "weight": 1.0}
        return {"nodes": [{**node, **times}], "edges": [edge]}

    async def graph_project(self, path: str) -> bytes:
        self._asked("graph_project", path)
        node = {"id": "module:a.py", "node_type": "module", "payload": {"path": "a.py"}}
        return encode({"nodes": [node], "edges": [], "truncated": False, "limit": ""})

    async def index_code(self) -> dict[str, Any]:
        self._asked("index_code")
        return {**GRAPH, "state": "scanning"}

    async def retrieval(self, question: str, limit: int) -> bytes:
        self._asked("retrieval", question, limit)
        return encode([
            {"ID": "a.py:1-2", "Path": "a.py", "Lang": "python", "StartLine": 1, "EndLine": 2, "Body": "x = 1",
             "SHA": "0" * 64, "Dim": 0, "Mark": "", "Touches": 0.0, "Stale": False},
        ])  # fmt: skip

    async def contract(self) -> dict[str, Any]:
        self._asked("contract")
        return {"version": 2}

    async def history(
        self, limit: int, before: int | None = None, event: str = "", *, handoffs: bool = False
    ) -> list[Any]:
        self._asked("history", limit, before, event, handoffs)
        return [
            {
                "seq": 0,
                "ts": "2026-01-01T00:00:00.000Z",
                "event": "handoff",
                "provider": "claude",
                "summary": "",
            }
        ]

    async def history_commits(self) -> list[Any]:
        self._asked("history_commits")
        return [{"sha": "a" * 40, "short": "a" * 7, "subject": "s", "when": "2026-01-01T00:00:00Z"}]

    async def history_diff(self, sha: str) -> dict[str, Any]:
        self._asked("history_diff", sha)
        return {"sha": sha, "diff": ""}

    async def rewind(self, sha: str) -> dict[str, Any]:
        self._asked("rewind", sha)
        return {"branch": f"hub/rewind/{sha[:7]}-1", "sha": sha}

    async def circuit(self) -> list[Any]:
        self._asked("circuit")
        return [{"name": "claude/default", "state": "closed", "failures": 0}]

    async def redactions(self) -> dict[str, Any]:
        self._asked("redactions")
        return {"summary": "aws:1"}

    async def audit_head(self) -> dict[str, Any]:
        self._asked("audit_head")
        return {"seq": 0, "hash": "0" * 64, "bytes": 10}

    async def figures(self) -> dict[str, Any]:
        self._asked("figures")
        return {"audit": {"seq": 0, "hash": "0" * 64, "bytes": 10}, "session": None}

    async def tree(self) -> dict[str, Any]:
        self._asked("tree")
        return {"name": "root", "path": "root", "restarts": 0, "depth": 0, "children": []}

    @asynccontextmanager
    async def subscribe(self, since: int | None) -> AsyncIterator[FakeSubscription]:
        self._asked("subscribe", since)
        replay = [] if since is None else [record for record in self.log if record.id > since]
        send, receive = trio.open_memory_channel[Sequence[Record]](self.room)
        subscription = FakeSubscription(receive, trio.Event())
        entry = (send, subscription.lagged)
        self._subscribers.append(entry)
        self.subscribed.set()
        if replay:
            send.send_nowait(replay)
        try:
            with receive:
                yield subscription
        finally:
            send.close()
            if entry in self._subscribers:
                self._subscribers.remove(entry)

    @property
    def watching(self) -> int:
        return len(self._subscribers)

    def publish(self, *records: Record) -> None:
        self.log.extend(records)
        for entry in list(self._subscribers):
            send, lagged = entry
            try:
                send.send_nowait(records)
            except trio.WouldBlock:
                lagged.set()
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
    """A server that runs, its backend, and how to stop it."""

    backend: Fake
    bound: Bound
    stop: trio.Event
    done: trio.Event

    @property
    def port(self) -> int:
        return self.bound.port


@asynccontextmanager
async def running(backend: Fake | None = None, **options: Any) -> AsyncIterator[Server]:
    """A real server on a free port of 127.0.0.1, stopped at the end."""
    backend = Fake() if backend is None else backend
    stop, done = trio.Event(), trio.Event()
    # As in the daemon: the tools go through the same door as everybody.
    options.setdefault("tools", ToolsApp(lambda: Api(bound.port, token=options.get("token", "")), clean))

    async def run(*, task_status: trio.TaskStatus[Bound]) -> None:
        await serve(backend, stop, port=0, task_status=task_status, **options)
        done.set()

    async with trio.open_nursery() as nursery:
        bound = await nursery.start(run)
        yield Server(backend, bound, stop, done)
        stop.set()
        with trio.fail_after(30):
            await done.wait()
