"""The contract of a handoff, put together.

Owns: which of the things that hub knows stand in a contract.
Must not: sign or write it (`handoff_steps.py` does), or ask the outgoing agent anything.
"""

from __future__ import annotations

import attrs

from hub.actors.common.calls import call_until_answered
from hub.actors.session.chronicler import Chronicler
from hub.actors.session.context import SessionContext
from hub.actors.session.evidence import Evidence, Gate, Source
from hub.domain.contract import Anchor, Contract, EvidenceKind, ManifestEntry, change_evidence
from hub.domain.contract import Evidence as ContractEvidence
from hub.domain.intent.claims import claims_of
from hub.domain.intent.draft import draft
from hub.domain.routing import Target
from hub.domain.session import SessionRecord
from hub.io.git.env import together
from hub.io.git.manifest import changed_lines, manifest
from hub.io.git.proving import proofs
from hub.messages import AuditHead

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
    evidence: Evidence
    chronicler: Chronicler

    async def contract(
        self, record: SessionRecord, target: Target, gate: Gate | None
    ) -> tuple[Contract, Source]:
        """The unsigned contract, derived from what is on record, and where its intent was found."""
        intent, source = await self.evidence.intent(record)
        chronicle = await self.chronicler.whole(record)
        head = await call_until_answered(self.context.audit, AuditHead())
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


def _verified(record: SessionRecord, gate: Gate | None) -> tuple[ContractEvidence, ...]:
    """How the acceptance commands ended; and before that, that the agent was stopped in the middle of something."""
    found = gate.evidence() if gate is not None else ()
    if record.handoff.safe_point == "interrupted":
        return (ContractEvidence(EvidenceKind.INTERRUPT, _INTERRUPTED, 0), *found)
    return found
