"""What the web layer asks of the daemon: one method is one actor call.

Owns: the `Backend` protocol, and the shape of a live subscription.
Must not: know an actor, a reference or a message type; the composition root implements it over those.

Every method answers plain JSON values, or raises: `HubError` (its problem document is served),
`supervisors.ActorDied` (503 with Retry-After), `trio.TooSlowError` (504). Anything else is a bug and is
served as a 500 that tells nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import attrs
import trio

from hub.domain.event import Record
from hub.domain.jsonvalue import JsonArray, JsonObject


@attrs.frozen
class RunRequest:
    """What `POST /api/run` asks for, validated."""

    task: str
    threshold: float | None = None
    max_handoffs: int | None = None
    """None, here and in `threshold` and `on_limit`: as configured."""
    provider: str = ""
    profile: str = ""
    verify: tuple[str, ...] | None = None
    """Acceptance commands; None = those of `hub.toml`."""
    on_limit: str | None = None
    kind: str = ""
    """What kind of task it is: it chooses the profile where none is named."""
    trust: str = ""
    """The digest of what the project would do, where the user agrees to that for this time."""


class Subscription(Protocol):
    """A live view of the event log: no gap, no double."""

    @property
    def channel(self) -> trio.MemoryReceiveChannel[Sequence[Record]]:
        """Lists of records in the order of their ids; ends when the log goes down or the reader lags."""

    @property
    def lagged(self) -> trio.Event:
        """Set before the channel ends when, and only when, the reader was too slow."""


class Backend(Protocol):
    """The daemon as the API sees it."""

    async def status(self) -> JsonObject:
        """The Status resource."""

    async def providers(self) -> JsonArray:
        """Provider runtime status entries."""

    async def config_providers(self) -> JsonArray:
        """Provider configuration entries."""

    async def patch_provider(self, name: str, changes: JsonObject) -> JsonObject:
        """Change a provider's table in `hub.toml`; answers what is chosen then. None removes a key."""

    async def set_key(self, name: str, value: str) -> JsonObject:
        """Put a key into `.hub/.env`, or take it out with ""; answers `{provider, name, set}`."""

    async def switch_account(self, provider: str, label: str) -> JsonObject:
        """Use this account for the next session or handoff; answers it."""

    async def add_account(self, provider: str, label: str, config_dir: str) -> JsonObject:
        """Register a login; answers it."""

    async def remove_account(self, provider: str, label: str) -> JsonObject:
        """Forget a login; answers where its directory stays."""

    async def profiles(self) -> JsonArray:
        """All profiles."""

    async def put_profile(self, profile: JsonObject) -> JsonObject:
        """Store a profile under its name; answers it."""

    async def remove_profile(self, name: str) -> JsonObject:
        """Forget a stored profile; answers `{name}`."""

    async def outcomes(self) -> JsonArray:
        """How each profile has done."""

    async def instructions(self) -> JsonArray:
        """What tells agents how to work here: files, rules and skills."""

    async def vision_config(self) -> JsonObject:
        """`{enabled, provider, model, baseUrl, maxPixels}`."""

    async def patch_vision(self, changes: JsonObject) -> JsonObject:
        """Change `[vision]` in `hub.toml`; answers all of it. None removes a key."""

    async def install(self, name: str, *, background: bool) -> JsonObject:
        """Run the documented install; answers the job."""

    async def log_in(self, provider: str, label: str) -> JsonObject:
        """Run the agent's own login for an account, "" = the active one; answers the job."""

    async def look(self, prompt: str, image: str, url: str) -> JsonObject:
        """Let the vision model look at the image (base64), or else at the page; answers what it says."""

    async def local_models(self, base_url: str) -> JsonObject:
        """What an Ollama has, and what may be pulled; "" is its usual place."""

    async def pull_model(self, base_url: str, tag: str) -> JsonObject:
        """Begin a pull; answers `{job, tag, baseUrl}`."""

    async def cancel_pull(self, base_url: str, tag: str) -> JsonObject:
        """End a pull; `not_found` when there is none."""

    async def launch_model(self, provider: str, model: str) -> JsonObject:
        """Start an agent on a local model in a terminal; answers the job."""

    async def adopt(
        self,
        number: str,
        target: str,
        *,
        start: bool,
        interactive: bool,
        stop: bool,
        repository: str = "",
        trust: str = "",
    ) -> JsonObject:
        """Write the brief of a detected agent for `target`, and go on with it; answers what was made."""

    async def detect(self, since_hours: int) -> JsonArray:
        """Agents on this machine: what runs, and sessions written in the last hours."""

    async def run(self, request: RunRequest) -> JsonObject:
        """Start a session; answers `{sessionId, taskId, branch, worktree}`."""

    async def handoff(self) -> JsonObject:
        """Hand over now; answers what was begun (may be empty)."""

    async def pause(self, *, pause: bool) -> JsonObject:
        """Stop or continue the agent; answers what changed."""

    async def reply(self, text: str) -> JsonObject:
        """Give the active agent the user's answer."""

    async def stop(self) -> JsonObject:
        """End the session in order; answers when it has ended."""

    async def pipelines(self) -> JsonArray:
        """All pipelines."""

    async def replace_pipelines(self, pipelines: JsonArray) -> JsonArray:
        """Store these in place of those that are stored; answers all pipelines."""

    async def run_pipeline(self, name: str, *, resume: bool, trust: str = "") -> JsonObject:
        """Start a run; answers it."""

    async def pipeline_run(self) -> JsonObject:
        """The run that goes on, or the last one; `not_found` when there was none."""

    async def session_diff(self) -> JsonObject:
        """`{summary, diff}` of the session branch against the main branch."""

    async def session_cost(self) -> JsonObject:
        """`{sessionUsd, tokensIn, tokensOut, provider}`."""

    async def quota_wallet(self) -> JsonArray:
        """Quota wallet entries: one a provider and account."""

    async def approvals(self) -> JsonArray:
        """Approvals that are pending, oldest first."""

    async def resolve_approval(self, number: str, *, approved: bool, note: str) -> JsonObject:
        """Answer one, once; answers `{id, approved}`. `not_found`, `approval_resolved`."""

    async def events_since(self, since: int, limit: int) -> Sequence[Record]:
        """Records with a greater id, oldest first, at most `limit`."""

    def subscribe(self, since: int | None) -> AbstractAsyncContextManager[Subscription]:
        """A live view that starts after `since`, or with what comes next where it is None."""

    async def graph(self) -> JsonObject:
        """How much the knowledge graph holds, and as of when."""

    async def graph_detail(self, limit: int, node_type: str, session_id: str) -> JsonObject:
        """`{nodes, edges}`: the newest nodes, "" = of every type and session, and the edges between them."""

    async def graph_project(self, path: str) -> bytes:
        """JSON `{nodes, edges, truncated, limit}` of a folder's code; `not_found` for any outside of the project."""

    async def index_code(self) -> JsonObject:
        """Bring the index of the code up to date, in the background; answers as `graph`."""

    async def retrieval(self, question: str, limit: int) -> bytes:
        """JSON of the chunks of code that answer best."""

    async def contract(self) -> JsonObject:
        """The current continuation contract; `not_found` when there is none yet."""

    async def history(
        self, limit: int, before: int | None = None, event: str = "", *, handoffs: bool = False
    ) -> JsonArray:
        """The newest `limit` history entries, oldest first; see `messages.AuditHistory`."""

    async def history_commits(self) -> JsonArray:
        """Snapshot commits."""

    async def history_diff(self, sha: str) -> JsonObject:
        """`{sha, diff}` of one snapshot; `not_found` when `sha` names none."""

    async def rewind(self, sha: str) -> JsonObject:
        """Make a branch at the snapshot; answers `{branch, sha}`."""

    async def circuit(self) -> JsonArray:
        """Circuit breaker snapshots."""

    async def redactions(self) -> JsonObject:
        """`{summary}`."""

    async def audit_head(self) -> JsonObject:
        """`{seq, hash, bytes}` of the audit chain's newest record."""

    async def figures(self) -> JsonObject:
        """`session`, `providers`, `quota`, `breakers`, `audit` and `tree` together; null for one that did not answer."""

    async def tree(self) -> JsonObject:
        """The supervision tree as plain data."""
