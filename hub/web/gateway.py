"""The API's backend over the actors: each method is one call, or one read-only look at git.

Owns: which actor answers what, and how long it may take.
Must not: hold state, or change an answer beyond adding what the caller asked to see together; import at its head what
one answer in twenty takes.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import trio

from hub import messages
from hub.domain.event import Record
from hub.domain.jsonvalue import JsonArray, JsonObject
from hub.errors import Code, HubError
from hub.io.places import Places
from hub.web.backend import RunRequest
from hub.web.codec import encode_plain
from hub.web.together import asked
from supervisors import ActorDied, NodeInfo, Ref

_TIMEOUT = 10.0
_WRITE_TIMEOUT = 30.0
_BRIEFLY = 0.5
_STOP_TIMEOUT = 300.0
_BEGIN_TIMEOUT = 120.0
_LOOK_TIMEOUT = 240.0
"""Longer than a picture and a model may take together, so that it is them who say what went wrong."""


@attrs.frozen
class Gateway:
    """Implements `hub.web.backend.Backend`."""

    places: Places
    session: Ref[Any]
    pipelines_ref: Ref[Any]
    events: Ref[Any]
    settings: Ref[Any]
    breakers: Ref[Any]
    quota: Ref[Any]
    approvals_ref: Ref[Any]
    outcomes_ref: Ref[Any]
    models: Ref[Any]
    detector: Ref[Any]
    audit: Ref[Any]
    knowledge: Ref[Any]
    snapshot: Callable[[], NodeInfo]
    """Takes the supervision tree's picture."""
    hide: Callable[[str], str]
    """Hides what is secret in a text, every line on its line."""
    insist_on_trust: Callable[[str], None] = lambda _: None
    """Refuses what the user has not agreed to, but for the set of the digest that it is given."""

    async def status(self) -> JsonObject:
        """The Status resource; the graph's size is no reason to have no status."""
        found: JsonObject = await self.session.call(messages.GetStatus(), timeout=_TIMEOUT)
        with contextlib.suppress(HubError, ActorDied, trio.TooSlowError):
            found["graphNodes"] = await self.knowledge.call(messages.GetGraphNodes(), timeout=_BRIEFLY)
        return found

    async def providers(self) -> JsonArray:
        """Provider runtime status entries."""
        return await self.session.call(messages.GetProviders(), timeout=_TIMEOUT)

    async def config_providers(self) -> JsonArray:
        """Provider configuration entries."""
        return await self.settings.call(messages.ProvidersConfigured(), timeout=_TIMEOUT)

    async def patch_provider(self, name: str, changes: JsonObject) -> JsonObject:
        """Change a provider's table in `hub.toml`."""
        return await self.settings.call(messages.PatchProvider(name, changes), timeout=_WRITE_TIMEOUT)

    async def set_key(self, name: str, value: str) -> JsonObject:
        """Put a key into `.hub/.env`, or take it out."""
        return await self.settings.call(messages.SetKey(name, value), timeout=_WRITE_TIMEOUT)

    async def switch_account(self, provider: str, label: str) -> JsonObject:
        """Use this account for the next session or handoff."""
        return await self.settings.call(messages.SwitchAccount(provider, label), timeout=_WRITE_TIMEOUT)

    async def add_account(self, provider: str, label: str, config_dir: str) -> JsonObject:
        """Register a login."""
        order = messages.AddAccount(provider, label, config_dir)
        return await self.settings.call(order, timeout=_WRITE_TIMEOUT)

    async def remove_account(self, provider: str, label: str) -> JsonObject:
        """Forget a login, unless the session that runs has it."""
        facts = await self._facts()
        if facts["active"] and [provider, label] in facts["accounts"]:
            raise HubError(Code.ACCOUNT_IN_USE, f"The session that runs uses {provider}'s account {label!r}.")
        return await self.settings.call(messages.RemoveAccount(provider, label), timeout=_WRITE_TIMEOUT)

    async def profiles(self) -> JsonArray:
        """All profiles."""
        return await self.settings.call(messages.GetProfiles(), timeout=_TIMEOUT)

    async def put_profile(self, profile: JsonObject) -> JsonObject:
        """Store a profile."""
        return await self.settings.call(messages.PutProfile(profile), timeout=_WRITE_TIMEOUT)

    async def remove_profile(self, name: str) -> JsonObject:
        """Forget a stored profile."""
        return await self.settings.call(messages.RemoveProfile(name), timeout=_WRITE_TIMEOUT)

    async def outcomes(self) -> JsonArray:
        """How each profile has done."""
        return await self.outcomes_ref.call(messages.GetOutcomes(), timeout=_TIMEOUT)

    async def instructions(self) -> JsonArray:
        """The instruction files of the project and of the user, and the skills the profiles name."""
        from hub.io.instructions import instructions

        config = await self.settings.call(messages.GetConfig(), timeout=_TIMEOUT)
        return await trio.to_thread.run_sync(instructions, self.places.root, Path.home(), config.profiles)

    async def vision_config(self) -> JsonObject:
        """`[vision]`."""
        return await self.settings.call(messages.GetVision(), timeout=_TIMEOUT)

    async def patch_vision(self, changes: JsonObject) -> JsonObject:
        """Change `[vision]` in `hub.toml`."""
        return await self.settings.call(messages.PatchVision(changes), timeout=_WRITE_TIMEOUT)

    async def install(self, name: str, *, background: bool) -> JsonObject:
        """Run the documented install."""
        return await self.settings.call(messages.Install(name, background), timeout=_WRITE_TIMEOUT)

    async def log_in(self, provider: str, label: str) -> JsonObject:
        """Run the agent's own login."""
        return await self.settings.call(messages.LogIn(provider, label), timeout=_WRITE_TIMEOUT)

    async def look(self, prompt: str, image: str, url: str) -> JsonObject:
        """Let the vision model look."""
        return await self.models.call(messages.Look(prompt, image, url), timeout=_LOOK_TIMEOUT)

    async def local_models(self, base_url: str) -> JsonObject:
        """What an Ollama has."""
        return await self.models.call(messages.ListModels(base_url), timeout=_WRITE_TIMEOUT)

    async def pull_model(self, base_url: str, tag: str) -> JsonObject:
        """Begin a pull."""
        return await self.models.call(messages.PullModel(base_url, tag), timeout=_WRITE_TIMEOUT)

    async def cancel_pull(self, base_url: str, tag: str) -> JsonObject:
        """End a pull."""
        return await self.models.call(messages.CancelPull(base_url, tag), timeout=_WRITE_TIMEOUT)

    async def launch_model(self, provider: str, model: str) -> JsonObject:
        """Start an agent on a local model."""
        await self._insist()
        return await self.models.call(messages.LaunchModel(provider, model), timeout=_WRITE_TIMEOUT)

    async def detect(self, since_hours: int) -> JsonArray:
        """Agents on this machine."""
        return await self.detector.call(messages.Detect(since_hours), timeout=_WRITE_TIMEOUT)

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
        """Go on with what another agent did."""
        if start or interactive:
            await self._insist(trust)
        order = messages.Adopt(
            number, target, start=start, interactive=interactive, stop=stop, repository=repository
        )
        return await self.detector.call(order, timeout=_BEGIN_TIMEOUT)

    async def run(self, request: RunRequest) -> JsonObject:
        """Start a session."""
        await self._insist(request.trust)
        asked = attrs.asdict(request, recurse=False, filter=lambda field, _: field.name != "trust")
        order = messages.StartRun(**asked)
        return await self.session.call(order, timeout=_BEGIN_TIMEOUT)

    async def handoff(self) -> JsonObject:
        """Hand over now."""
        return await self.session.call(messages.RequestHandoff(), timeout=_TIMEOUT)

    async def pause(self, *, pause: bool) -> JsonObject:
        """Stop or continue the agent."""
        return await self.session.call(messages.RequestPause(pause), timeout=_TIMEOUT)

    async def reply(self, text: str) -> JsonObject:
        """Pass on the user's answer."""
        return await self.session.call(messages.RequestReply(text), timeout=_TIMEOUT)

    async def stop(self) -> JsonObject:
        """End the session in order, and with it the pipeline run it may be a node of."""
        # A run that is just restarting hears of the stop from its session.
        with contextlib.suppress(ActorDied):
            run = await self.pipelines_ref.call(messages.StopPipeline(), timeout=_STOP_TIMEOUT)
            if run:
                return {"runId": run["runId"], "state": run["state"]}
        return await self.session.call(messages.RequestStop(), timeout=_STOP_TIMEOUT)

    async def pipelines(self) -> JsonArray:
        """All pipelines."""
        return await self.pipelines_ref.call(messages.GetPipelines(), timeout=_TIMEOUT)

    async def replace_pipelines(self, pipelines: JsonArray) -> JsonArray:
        """Replace the stored list."""
        from hub.domain.pipeline.graph import read

        order = messages.ReplacePipelines(await trio.to_thread.run_sync(read, pipelines))
        return await self.pipelines_ref.call(order, timeout=_TIMEOUT)

    async def run_pipeline(self, name: str, *, resume: bool, trust: str = "") -> JsonObject:
        """Start a run. It begins with a commit of the user's uncommitted work, which may take its time."""
        await self._insist(trust)
        order = messages.RunPipeline(name, resume)
        return await self.pipelines_ref.call(order, timeout=_BEGIN_TIMEOUT)

    async def pipeline_run(self) -> JsonObject:
        """The run that goes on, or the last one."""
        found: JsonObject = await self.pipelines_ref.call(messages.GetPipelineRun(), timeout=_TIMEOUT)
        if not found:
            raise HubError(
                Code.NOT_FOUND, "No pipeline has run yet.", hint="Run one: hub pipeline run <name>"
            )
        return found

    async def _insist(self, said: str = "") -> None:
        """Refuse to start anything that the user has not agreed to.

        Raises:
            HubError: `trust_needed`.
        """
        await trio.to_thread.run_sync(self.insist_on_trust, said)

    async def _facts(self) -> dict[str, Any]:
        return await self.session.call(messages.GetSessionFacts(), timeout=_TIMEOUT)

    async def session_diff(self) -> JsonObject:
        """What the session has changed, with what is in no snapshot yet while it works."""
        from hub.io import git

        facts = await self._facts()
        if not facts["sessionId"]:
            raise HubError(Code.NO_ACTIVE_SESSION)
        main = facts["mainBranch"] or facts["base"]
        worktree = Path(facts["worktree"]) if facts["active"] and facts["begun"] else None
        try:
            diff = await git.session_diff(self.places.root, main, facts["branch"], worktree)
        except HubError as error:
            if error.code is not Code.BRANCH_MISSING or facts["begun"]:
                raise
            return {"summary": "", "diff": ""}  # its branch is still being made, or it ended before it was
        return {**diff}

    async def session_cost(self) -> JsonObject:
        """Tokens and money."""
        return await self.session.call(messages.GetCost(), timeout=_TIMEOUT)

    async def quota_wallet(self) -> JsonArray:
        """What every account has left."""
        return await self.quota.call(messages.GetWallet(), timeout=_TIMEOUT)

    async def approvals(self) -> JsonArray:
        """What waits for a person's word."""
        return await self.approvals_ref.call(messages.GetApprovals(), timeout=_TIMEOUT)

    async def resolve_approval(self, number: str, *, approved: bool, note: str) -> JsonObject:
        """Answer one of them."""
        order = messages.ResolveApproval(number, approved, note)
        return await self.approvals_ref.call(order, timeout=_WRITE_TIMEOUT)

    async def events_since(self, since: int, limit: int) -> Sequence[Record]:
        """Records newer than `since`."""
        return await self.events.call(messages.EventsSince(since, limit), timeout=_TIMEOUT)

    @asynccontextmanager
    async def subscribe(self, since: int | None) -> AsyncIterator[messages.Subscription]:
        """A live view of the event log."""
        found: messages.Subscription = await self.events.call(messages.Subscribe(since), timeout=_TIMEOUT)
        try:
            with found.channel:
                yield found
        finally:
            self.events.try_cast(messages.Unsubscribe(found.token))

    async def graph(self) -> JsonObject:
        """How much the knowledge graph holds."""
        return await self.knowledge.call(messages.GetGraph(), timeout=_TIMEOUT)

    async def graph_detail(self, limit: int, node_type: str, session_id: str) -> JsonObject:
        """Its newest part."""
        order = messages.GetGraphDetail(limit, node_type, session_id)
        return await self.knowledge.call(order, timeout=_TIMEOUT)

    async def graph_project(self, path: str) -> bytes:
        """A look at the code of a folder."""
        from hub.io.graph.project import project_graph

        return await trio.to_thread.run_sync(
            lambda: encode_plain(project_graph(self.places.root, path, self.hide))
        )

    async def index_code(self) -> JsonObject:
        """Have the code indexed."""
        return await self.knowledge.call(messages.IndexCode(), timeout=_TIMEOUT)

    async def retrieval(self, question: str, limit: int) -> bytes:
        """Chunks of code; what they were hidden in has left nothing that is not plain."""
        return encode_plain(await self.knowledge.call(messages.Retrieve(question, limit), timeout=_TIMEOUT))

    async def contract(self) -> JsonObject:
        """The current contract, verified."""
        return await self.session.call(messages.GetContract(), timeout=_TIMEOUT)

    async def history(
        self, limit: int, before: int | None = None, event: str = "", *, handoffs: bool = False
    ) -> JsonArray:
        """The audit timeline."""
        order = messages.AuditHistory(limit, before, event, handoffs)
        return await self.audit.call(order, timeout=_WRITE_TIMEOUT)

    async def history_commits(self) -> JsonArray:
        """The snapshot commits of every session."""
        from hub.io import git

        return [{**entry} for entry in await git.snapshots(self.places.root, None)]

    async def history_diff(self, sha: str) -> JsonObject:
        """What one snapshot changed."""
        from hub.io import git

        return {"sha": sha, **await git.commit_diff(self.places.root, sha)}

    async def rewind(self, sha: str) -> JsonObject:
        """A new branch at the snapshot; nothing else moves."""
        from hub.io import git

        branch = await git.rewind(self.places.root, sha)
        entry = messages.AuditEntry("rewind", {"branch": branch, "sha": sha})
        await self.audit.call(messages.AuditAppend([entry]), timeout=_TIMEOUT)
        return {"branch": branch, "sha": sha}

    async def circuit(self) -> JsonArray:
        """The breakers."""
        return await self.breakers.call(messages.BreakerSnapshots(), timeout=_TIMEOUT)

    async def redactions(self) -> JsonObject:
        """What was scrubbed this session."""
        return await self.session.call(messages.GetRedactions(), timeout=_TIMEOUT)

    async def audit_head(self) -> JsonObject:
        """The chain's newest record."""
        return await self.audit.call(messages.AuditHead(), timeout=_TIMEOUT)

    async def figures(self) -> JsonObject:
        """What a scrape shows; a part that is just restarting keeps no other from being seen."""
        sources = {
            "session": self.status,
            "providers": self.providers,
            "quota": self.quota_wallet,
            "breakers": self.circuit,
            "audit": self.audit_head,
            "tree": self.tree,
        }
        return await asked(sources)

    async def tree(self) -> JsonObject:
        """The supervision tree."""
        return attrs.asdict(self.snapshot())
