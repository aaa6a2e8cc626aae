"""The contract of a handoff, or of a session that follows another, put together; no known secret leaves in it.

Owns: which of the things that hub knows stand in a contract, and what a secret in what is given away leads to.
Must not: sign or write it (`handoff_steps.py` does), or ask the outgoing agent anything.

Tests: tests/hub/actors/session/test_following.py, tests/hub/actors/session/test_handoff_steps.py
"""

from __future__ import annotations

import contextlib

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.clock import iso
from hub.actors.session.chronicler import Chronicler
from hub.actors.session.context import SessionContext
from hub.actors.session.evidence import EvidenceGatherer, GateResult, IntentSource
from hub.domain.brief import render_envelope
from hub.domain.contract import (
    Anchor,
    Contract,
    Evidence,
    EvidenceKind,
    ManifestEntry,
    change_evidence,
    encode,
    sign,
)
from hub.domain.event import Tag
from hub.domain.intent.claims import claims_of
from hub.domain.intent.draft import draft
from hub.domain.routing import Target
from hub.domain.session import SessionRecord
from hub.domain.text.safe import clip
from hub.errors import Code, HubError
from hub.io import git
from hub.io.files.atomic import write_atomic
from hub.io.git.env import together
from hub.io.git.manifest import changed_lines, manifest
from hub.io.git.proving import proofs
from hub.messages import DraftFollowUp, FollowUp, GetAuditHead

_INTERRUPTED = "no safe point came in time: a tool call was interrupted"


@attrs.define
class _Work:
    """What git tells."""

    files: tuple[ManifestEntry, ...] = ()
    changes: tuple[tuple[str, str], ...] = ()


@attrs.frozen
class Drafting:
    """Drafts; the same record, log and tree give the same contract."""

    context: SessionContext
    evidence: EvidenceGatherer
    chronicler: Chronicler

    async def contract(
        self, record: SessionRecord, target: Target, gate: GateResult | None
    ) -> tuple[Contract, IntentSource]:
        """The unsigned contract, derived from what is on record, and where its intent was found."""
        intent, source = await self.evidence.intent(record)
        chronicle = await self.chronicler.whole(record)
        head = await call_until_answered(self.context.audit, GetAuditHead())
        work, words = await self._work(record), chronicle.words()
        claims = claims_of(words)
        made = draft(
            intent,
            contract_id=contract_id(record),
            session_id=record.session_id,
            task_id=record.task_id,
            task_goal=self.context.task(record),
            snapshot_commit_sha=record.snapshot_sha,
            acceptance_assertions=self.context.assertions(record),
            file_manifest=work.files,
            verify_evidence=_verified(record, gate),
            more_evidence=(*words, *change_evidence(work.changes)),
            claims=claims,
            skills=chronicle.subject.skills,
            proofs=await proofs(
                self.context.places.root,
                record.snapshot_sha,
                record.handoff.snapshot_tree,
                [item.text for item in (*intent.do_not_redo, *claims)],
                work.files,
                verified=gate is not None and bool(gate.checks) and gate.passed,
            ),
            audit=Anchor(head.seq, head.hash),
            handoff_id=record.handoff_id,
            created_at=record.at,
            from_provider=record.provider,
            to_provider=target.provider,
        )
        return made, source

    async def _work(self, record: SessionRecord) -> _Work:
        """The files of the work, their names redacted."""
        root, sha, work = self.context.places.root, record.snapshot_sha, _Work()

        async def files() -> None:
            work.files, _ = await manifest(root, record.base, sha)

        async def changes() -> None:
            work.changes = await changed_lines(root, record.session_id, record.base, sha)

        await together(files, changes)
        hide = self.context.secrets.events().text
        if hide(names := "\n".join(entry.path for entry in work.files)) != names:
            work.files = tuple(attrs.evolve(entry, path=hide(entry.path)) for entry in work.files)
            work.changes = tuple((hide(path), how) for path, how in work.changes)
        return work


def contract_id(record: SessionRecord) -> str:
    """The id of the contract of the record's handoff."""
    return f"c-{record.handoff_id}"


def _verified(record: SessionRecord, gate: GateResult | None) -> tuple[Evidence, ...]:
    """How the acceptance commands ended; and before that, that the agent was stopped in the middle of something."""
    found = gate.evidence() if gate is not None else ()
    if record.handoff.safe_point == "interrupted":
        return (Evidence(EvidenceKind.INTERRUPT, _INTERRUPTED, 0), *found)
    return found


_GOAL = 2_000
"""Letters of the task before that the brief repeats."""


@attrs.frozen
class Following:
    """Of one session that has ended."""

    context: SessionContext
    drafting: Drafting

    async def draft(self, order: DraftFollowUp) -> FollowUp:
        """Write the signed contract that the new session's first agent is given; doing it again writes the same.

        Raises:
            HubError: `session_already_running`: it has not ended. `no_contract`... what a disk can refuse.
        """
        context = self.context
        record = context.store.now
        if record.session_state.active:
            hint = f"Reply to it, or end it first: hub stop {record.session_id}"
            raise HubError(Code.SESSION_ALREADY_RUNNING, f"Session {record.session_id} works.", hint=hint)
        if not record.snapshot_sha:
            detail = f"Session {record.session_id} ended before there was any work to go on with."
            raise HubError(Code.INVALID, detail, hint='Start anew: hub run "task"')
        made, _ = await self.drafting.contract(record, Target("", ""), None)
        before = f"The task before this one: {clip(context.task(record), _GOAL)}"
        contract = sign(
            attrs.evolve(
                made,
                contract_id=f"c-{order.new_id}",
                session_id=order.new_id,
                task_goal=context.secrets.text(order.task),
                acceptance_assertions=tuple(map(context.secrets.text, order.verify)),
                evidence=(Evidence(EvidenceKind.DECIDED, before, 0), *made.evidence),
                handoff_id="",
                created_at=iso(context.clock()),
            ),
            context.keys.contract,
        )
        file = context.places.below(context.places.adopted_json(order.new_id))
        data, text = encode(contract), render_envelope(contract, file=file)
        refuse_known_secrets(context, data.decode(), text)
        write_atomic(context.places.adopted_json(order.new_id), data)
        write_atomic(context.places.adopted_md(order.new_id), text.encode())
        return FollowUp(base=record.base, first=record.snapshot_sha)


async def warn_of_secrets(context: SessionContext, record: SessionRecord, target: Target) -> None:
    """Tell, before another provider gets the work, which kinds of secrets it holds beyond the user's commits.

    Told once a handoff. A difference that cannot be read is no reason to stop one: what is wrong with the branch is
    met, and told, where the branch is needed.
    """
    if target.provider == record.provider:
        return
    with contextlib.suppress(HubError):
        diff = await git.session_diff(context.places.root, record.base, record.branch, carried=True)
        counts = await trio.to_thread.run_sync(context.secrets.count, _added(diff.diff))
        if counts:
            kinds = ", ".join(f"{kind}:{count}" for kind, count in sorted(counts.items()))
            await context.store.say(
                Tag.SYSTEM,
                f"the work holds what looks like secrets ({kinds}), and {target.provider} is given it",
                source=f"secrets:{record.handoff_id}",
                secrets=counts,
            )


def refuse_known_secrets(context: SessionContext, *texts: str) -> None:
    """The last look at a contract: all that goes into it was redacted before.

    Raises:
        HubError: `contract_invalid`; one of the values hub keeps secret stands in a text.
    """
    if any(map(context.secrets.holds, texts)):
        raise HubError(
            Code.CONTRACT_INVALID, "A key that hub holds stands in the contract: nobody is given it."
        )


def _added(diff: str) -> str:
    """The lines a difference adds."""
    return "\n".join(
        line[1:] for line in diff.split("\n") if line.startswith("+") and not line.startswith("+++ ")
    )
