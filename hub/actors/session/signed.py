"""The contract that a handoff has signed: read back from disk, and held against the log.

Owns: the verification at every reading; gathering what the fidelity is made of, and telling it.
Must not: write the contract (`passing.py` does), or weigh the parts of the score (`hub.domain.fidelity` does).
"""

from __future__ import annotations

import hashlib
from functools import partial

import attrs
import trio

from hub.actors.insist import insist
from hub.actors.session.evidence import Evidence
from hub.actors.session.kit import Kit
from hub.domain.contract import Contract, verify
from hub.domain.event import Tag
from hub.domain.fidelity import Fidelity, score
from hub.domain.session import SessionRecord
from hub.errors import HubError
from hub.io.atomic import read_bounded
from hub.io.git.manifest import manifest
from hub.messages import AuditIntact

_LIMIT = 64 * 1024 * 1024


@attrs.frozen
class Signed:
    """The contract of the handoff under way."""

    kit: Kit
    evidence: Evidence

    def contract(self, record: SessionRecord) -> Contract:
        """The contract on disk, if it is the one this handoff signed.

        Raises:
            HubError: `contract_invalid`; it must not be given to anybody.
        """
        return self._verified(record, self._bytes())

    async def fidelity(self, record: SessionRecord) -> float:
        """The handoff's score, which is told: the contract as it was given, held against the log; 0 of a false one."""
        data = self._bytes()
        try:
            contract = self._verified(record, data)
        except HubError:
            return 0
        found = await self._judged(record, contract, data)
        await self.kit.ledger.say(
            Tag.HANDOFF,
            f"fidelity {found.hfs} of 100",
            source=f"hfs:{record.handoff_id}",
            hfs=found.hfs,
            recallPermille={facet: round(share * 1000) for facet, share in found.per_class.items()},
            missing=list(found.missing[:20]),
            unsupported=list(found.unsupported[:20]),
        )
        return found.hfs

    async def _judged(self, record: SessionRecord, contract: Contract, data: bytes) -> Fidelity:
        records = await self.evidence.records(record)
        text = data.decode()
        files, _ = await manifest(self.kit.places.root, record.base, record.snapshot_sha)
        audited = hashlib.sha256(data).hexdigest() == record.contract_sha256
        audited = audited and await insist(self.kit.audit, AuditIntact())
        judge = partial(
            score,
            [(item.id, item) for item in records],
            contract,
            goal=self.kit.task(record),
            acceptance=self.kit.assertions(record),
            signed=True,
            audited=audited,
            secret_free=self.kit.redactor().text(text) == text,
            tree_matches=record.tree_matches,
            root=record.worktree,
            snapshot_paths=[entry.path for entry in files],
        )
        return await trio.to_thread.run_sync(judge)

    def _bytes(self) -> bytes:
        return read_bounded(self.kit.places.envelope_json, _LIMIT)

    def _verified(self, record: SessionRecord, data: bytes) -> Contract:
        return verify(
            data,
            self.kit.keys.contract,
            session_id=record.session_id,
            handoff_id=record.handoff_id,
            snapshot=record.snapshot_sha,
        )
