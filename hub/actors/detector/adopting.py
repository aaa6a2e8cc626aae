"""Adoption: a detected agent's work becomes a brief, and a session or a terminal in which another agent goes on.

Owns: what may be adopted, the order in which that is done, and the files in `.hub/adopted/`.
Must not: write to another agent's store or to the tree it works in, or end an agent without the user's word.

Theory of operation. Everything that can be refused is refused first; then the agent is ended, if the user wants that;
only then are its transcript and the state of its files read, both whole: they are the last word of an agent that no
longer runs. The brief is written and on the audit log before anybody is started with it. Two agents never work on the
same task: what runs, or may be running, is not gone on with.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.outbox import Outbox
from hub.actors.detector.carrying import Carrying
from hub.actors.detector.scanner import Scanner, told
from hub.api.convert import unstructure
from hub.api.detect import Adopted
from hub.domain.brief import render_envelope
from hub.domain.contract import Contract, Evidence, ManifestEntry, Sourced, change_evidence, encode, sign
from hub.domain.detection.adoption import events, goal, intent_texts, lifted, redacted, seen_work
from hub.domain.detection.detected import DetectedAgent
from hub.domain.detection.intel import SessionIntel
from hub.domain.event import Event
from hub.domain.intent.claims import claims_of
from hub.domain.intent.draft import draft
from hub.domain.intent.fold import Intent
from hub.domain.meta import EventMeta
from hub.domain.result.proof import Proofs
from hub.domain.routing import Target
from hub.domain.text.figures import first_of
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.io.events.store import NewEvent
from hub.io.files.atomic import write_atomic
from hub.io.git import repository
from hub.io.git.layout import same_repository, tree_of
from hub.io.git.manifest import changed_lines, manifest
from hub.io.git.proving import proofs
from hub.io.git.worktree import carry
from hub.io.processes.control import Identity, end, with_all_below
from hub.io.project.places import Places
from hub.messages.detector import Adopt
from hub.messages.session import GetInUse
from supervisors import Ref

_FEW = 3
"""Sessions that a refusal names."""


@attrs.frozen
class WorkState:
    """The state of the files an agent leaves."""

    base: str = ""
    """The commit it began at; "" where the folder is in no repository of the project."""
    first: str = ""
    """The same with all that is not committed."""
    files: tuple[ManifestEntry, ...] = ()
    changes: tuple[tuple[str, str], ...] = ()
    proofs: Proofs = attrs.field(factory=Proofs)


@attrs.frozen
class TranscriptNews:
    """What its transcript tells."""

    intent: Intent
    seen: tuple[Evidence, ...]
    """Beside the intent: where it worked, what it wrote, what it said last."""
    claims: tuple[Sourced, ...]
    """What that says is done."""


@attrs.frozen(kw_only=True)
class Adopting:
    """Adopts; one at a time."""

    scanner: Scanner
    places: Places
    outbox: Outbox
    """Hides secrets."""
    session: Ref[GetInUse]
    carrying: Carrying
    key: bytes = attrs.field(repr=False)
    """Signs contracts."""
    arm: Callable[[], Awaitable[None]]
    """Makes all ready that finds secrets: what is adopted goes to another vendor."""
    new_id: Callable[[str], str]
    insist_orders: Callable[[Path], None]
    """Looks at what agents obey in a working tree; raises where the user has not agreed to it."""

    async def adopt(self, order: Adopt, found: DetectedAgent) -> Adopted:
        """Write the brief, and go on as the order says.

        Raises:
            HubError: Why not; nothing was begun, but an agent that was to be ended may have been.
        """
        account = await self._insist_possible(order, found)
        stopped = await self._stop(found) if order.stop else ()
        intel = await self._intel(found)
        told = self._told(intel, found)
        work = await self._work(
            order, found, [item.text for item in (*told.intent.do_not_redo, *told.claims)]
        )
        name = self.new_id("s")
        contract = self._contract(name, order, found, told, work)
        await self._write(contract, found)
        adopted = Adopted(
            id=found.id,
            target=order.target,
            brief=str(self.places.adopted_md(name)),
            mode="start" if order.start else "interactive" if order.interactive else "brief",
            resumed=False,
            running=not order.stop and found.agent is not None,
            stopped=[one.pid for one in stopped],
            session_id="",
            branch="",
            worktree="",
            command="",
            terminal="",
        )
        if order.start:
            logged = self._events(name, found, events(told.intent, intel.recent_turns))
            await self.outbox.log(logged)
            return await self.carrying.start(adopted, contract, found, work.base, work.first)
        if order.interactive:
            return await self.carrying.open(adopted, Target(order.target, account), found)
        return adopted

    async def _insist_possible(self, order: Adopt, found: DetectedAgent) -> str:
        """The account that the target goes on with in a terminal; "" in any other way.

        Raises:
            HubError: Why it is not possible.
        """
        goes_on = order.start or order.interactive
        in_use = await call_until_answered(self.session, GetInUse()) if goes_on else ()
        if mine := next((facts.session_id for facts in in_use if facts.record.adopts == found.id), ""):
            hint = f"Follow it: hub attach {mine}   Or end it: hub stop {mine}"
            detail = f"Session {mine} goes on with it already."
            raise HubError(Code.SESSION_ALREADY_RUNNING, detail, hint=hint)
        account = await self.carrying.insist_fit(order)
        if found.hubs:
            hint = "Hand its work on: hub handoff"
            raise HubError(Code.NOTHING_TO_ADOPT, "hub has started this agent itself.", hint=hint)
        if found.kept is None:
            hint = "Wait until it was asked something, or adopt one of its sessions: hub detect"
            raise HubError(Code.NOTHING_TO_ADOPT, "No session of this agent is known.", hint=hint)
        if order.interactive and order.stop:
            self.carrying.insist_terminal()
        self._insist_there(order, found)
        tree = tree_of(found.work_dir)
        if order.start and tree != str(self.places.root):
            # The session begins with the files of that tree, on a branch that the project may never have had.
            await trio.to_thread.run_sync(self.insist_orders, Path(tree))
        if order.start and len(in_use) >= self.carrying.scanner.config.session.concurrent:
            raise HubError(Code.SESSION_ALREADY_RUNNING)
        self._insist_at_rest(order, found)
        return account

    def _insist_there(self, order: Adopt, found: DetectedAgent) -> None:
        """Where the agent worked: in this project, or in the working tree that the user named.

        Raises:
            HubError: `outside_project`, `not_a_repository`.
        """
        where = found.work_dir or "a folder nobody knows"
        if order.repository and not tree_of(order.repository):
            raise HubError(Code.NOT_A_REPOSITORY, f"{order.repository} is in no git repository.")
        if order.repository and not same_repository(found.work_dir, tree_of(order.repository)):
            hint = (
                "Name the repository it works in, or leave that out for a brief of what its transcript tells."
            )
            raise HubError(
                Code.OUTSIDE_PROJECT, f"It works in {where}, which is not in {order.repository}.", hint=hint
            )
        if order.start and not self.scanner.inside(found.work_dir):
            folder = tree_of(found.work_dir) or found.work_dir
            hint = (
                f"A session begins in the project of its work: hub -C {shlex.quote(folder)} daemon --port 0"
            )
            raise HubError(Code.OUTSIDE_PROJECT, f"It works in {where}.", hint=hint if folder else "")

    def _insist_at_rest(self, order: Adopt, found: DetectedAgent) -> None:
        """That nobody works on it, or whoever does can be ended, and nothing else with it.

        Raises:
            HubError: `agent_running`.
        """
        goes_on = order.start or order.interactive
        pid = found.pids[0] if found.pids else 0
        if (goes_on or order.stop) and found.agent is not None and found.agent.hosted:
            raise HubError(
                Code.AGENT_RUNNING,
                f"It runs in the background, as process {pid}; where that ends its own program starts another one.",
                hint="Stop it in that program, then adopt it without --stop.",
            )
        if goes_on and not order.stop and found.agent is not None:
            way = "--start" if order.start else "--interactive"
            hint = f"Wait until it has ended, or let hub end it: hub adopt {found.id} --for {order.target} {way} --stop"
            raise HubError(Code.AGENT_RUNNING, f"It is still running, as process {pid}.", hint=hint)
        if order.stop and found.also:
            others = first_of(found.also, _FEW)
            raise HubError(
                Code.AGENT_RUNNING,
                f"Process {found.pids[-1]} has other sessions, too, which would end with it: {others}.",
                hint="End this one in its own program, then adopt it without --stop.",
            )
        if goes_on and found.contenders:
            pids = ", ".join(str(agent.pids[0]) for agent in found.contenders)
            raise HubError(
                Code.AGENT_RUNNING,
                f"One of the processes {pids} may be working on this session; which one cannot be told.",
                hint="End the one that does, then adopt its session.",
            )

    async def _stop(self, found: DetectedAgent) -> tuple[Identity, ...]:
        """End the agent and all that it has started: what still writes would not be in the brief."""
        processes = with_all_below(self.scanner.identities(found))
        try:
            gone = await end(processes)
        except PermissionError as error:
            raise HubError(Code.NO_PERMISSION, "The agent belongs to another user.") from error
        if not gone:
            raise HubError(
                Code.AGENT_RUNNING, "It did not end.", hint="End it by hand, then adopt its session."
            )
        return processes

    def _told(self, intel: SessionIntel, found: DetectedAgent) -> TranscriptNews:
        intent = lifted(intel, tree_of(found.work_dir) or found.work_dir)
        seen = seen_work(intel, intent, self.outbox.scrub(found.work_dir))
        return TranscriptNews(intent, seen, claims_of(seen))

    async def _intel(self, found: DetectedAgent) -> SessionIntel:
        """All that its store tells, redacted.

        Raises:
            HubError: `nothing_to_adopt`; it tells no task.
        """
        await self.arm()
        intel = await trio.to_thread.run_sync(self.scanner.whole, found)
        shown = await trio.to_thread.run_sync(lambda: self.outbox.scrub(_wire(intel)))
        intel = redacted(intel, shown)
        if not goal(intel):
            raise HubError(Code.NOTHING_TO_ADOPT, intel.alarm or "Its session holds no prompt yet.")
        return intel

    async def _work(self, order: Adopt, found: DetectedAgent, claims: Sequence[str]) -> WorkState:
        """The files as they are now, what is not committed included; the tree and its index are only read.

        Those of a repository outside of the project only where the user has named it.
        """
        if not (order.repository or self.scanner.inside(found.work_dir)):
            return WorkState(proofs=Proofs())
        tree = Path(tree_of(found.work_dir))
        base = (await repository.repo_state(tree)).head_sha
        if not base:
            raise HubError(Code.NO_COMMIT)
        first = await carry(tree, base, self.places.root)
        files, _ = await manifest(tree, base, first)
        changes = await changed_lines(tree, "", base, first)
        shown = [attrs.evolve(entry, path=self.outbox.scrub(entry.path)) for entry in files]
        found_out = await proofs(tree, first, "", claims, files, verified=False)
        told = tuple((self.outbox.scrub(path), how) for path, how in changes)
        return WorkState(base, first, tuple(shown), told, found_out)

    def _contract(
        self, name: str, order: Adopt, found: DetectedAgent, told: TranscriptNews, work: WorkState
    ) -> Contract:
        """The signed contract. What is accepted comes from the configuration, never from a transcript."""
        known = Contract(
            contract_id=f"c-{name}",
            session_id=name,
            task_id=self.new_id("t"),
            task_goal=told.intent.initial_prompt,
            snapshot_commit_sha=work.first,
            acceptance_assertions=tuple(map(self.outbox.scrub, self.scanner.config.session.verify)),
            file_manifest=work.files,
            created_at=iso(self.outbox.clock()),
            from_provider=found.provider,
            to_provider=order.target,
        )
        seen = (*told.seen, *change_evidence(work.changes))
        return sign(
            draft(known, told.intent, more_evidence=seen, claims=told.claims, proofs=work.proofs), self.key
        )

    async def _write(self, contract: Contract, found: DetectedAgent) -> None:
        name, data = contract.session_id, encode(contract)
        signed = self.places.adopted_json(name)
        write_atomic(signed, data)
        text = render_envelope(contract, file=self.places.below(signed), adopted=True)
        write_atomic(self.places.adopted_md(name), text.encode())
        told = {
            "sessionId": name,
            "adopted": found.id,
            "provider": found.provider,
            "to": contract.to_provider,
            "contractId": contract.contract_id,
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        await self.outbox.record("adopted", told, f"adopted:{name}")

    def _events(self, name: str, found: DetectedAgent, told: Iterable[Event]) -> list[NewEvent]:
        """What the transcript tells, on hub's own log under the new session."""
        at_ms, source = int(self.outbox.clock() * 1000), f"adopted:{name}"
        base: EventMeta = {"sessionId": name, "provider": found.provider, "account": found.account}
        return [
            NewEvent(
                str(event.tag),
                event.content,
                {**event.meta, **base, "type": str(event.type)},
                at_ms,
                source,
                0,
                i,
            )
            for i, event in enumerate(told)
        ]


def _wire(intel: SessionIntel) -> dict[str, object]:
    """As it is served, and all that its intent says."""
    return {**unstructure(told(intel)), "intent": intent_texts(intel.intent or Intent())}
