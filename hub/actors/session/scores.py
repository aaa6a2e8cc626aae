"""The score of the newest handoff: held against the log once the receiver works.

Owns: when a score is computed, what it is computed from, and telling it.
Must not: hold up a handoff, weigh the parts of a score (`hub.domain.fidelity.score` does), or take an agent's word.

That a score is owed is on record from the moment the receiver works; so is all it is made of but the contract, which lies
in its file until the next one is written: a score that is still owed then is computed first.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from functools import partial

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.transient import passes, shortage
from hub.actors.session.chronicler import Chronicler
from hub.actors.session.context import SessionContext
from hub.domain.contract import Contract, ContractInvalid, verify
from hub.domain.event import Tag
from hub.domain.fidelity.fact import Facts
from hub.domain.fidelity.score import Fidelity, done_claims, verified, weigh
from hub.domain.session import SessionRecord, Unscored
from hub.errors import Code, HubError
from hub.io.files.atomic import read_bounded
from hub.io.git.manifest import manifest
from hub.io.git.proving import proofs
from hub.messages import AuditIntact

_LIMIT = 64 * 1024 * 1024
_AGAIN = 2.0
_LOG = logging.getLogger(__name__)


@attrs.define
class Scores:
    """Computes what is owed, one at a time; each call may be repeated after a crash."""

    context: SessionContext
    chronicler: Chronicler
    _computing: trio.Lock = attrs.field(factory=trio.Lock)

    async def run(self) -> None:
        """Whenever a score is owed, for ever."""
        store = self.context.store
        while True:
            await self.context.shared.until(lambda: store.active and store.now.unscored)
            try:
                await self.settle()
            except HubError:
                await trio.sleep(_AGAIN)  # a full disk: it is owed until it can be told
            self.context.shared.touch()

    async def settle(self) -> None:
        """Compute and tell what is owed; nothing is, when this returns.

        Raises:
            HubError: It cannot be told; it is still owed.
        """
        async with self._computing:
            record = self.context.store.now
            owed = record.unscored
            if owed is None:
                return
            history = record.hfs_history
            try:
                found = await self._judged(record, owed)
                await self._tell(owed, found)
                history = (*history, found.hfs if found else 0)
            except HubError as error:
                if passes(error):
                    raise
                await self._unknown(owed, error)
            except Exception as error:
                if (short := shortage(error)) is not None:
                    raise short from error
                _LOG.exception("a handoff cannot be scored")  # no session ends for the want of a number
                await self._unknown(owed, HubError(Code.INTERNAL))
            await self.context.store.update(unscored=None, hfs_history=history)

    async def _judged(self, record: SessionRecord, owed: Unscored) -> Fidelity | None:
        """The contract as it was given, held against the log; None of one that is not what was signed."""
        try:
            data = read_bounded(self.context.places.envelope_json, _LIMIT)
            contract = verify(
                data,
                self.context.keys.contract,
                session_id=record.session_id,
                handoff_id=owed.handoff,
                snapshot=owed.snapshot,
            )
        except (ContractInvalid, OSError):
            return None
        facts = (await self.chronicler.whole(record)).facts(owed.handoff)
        return await self._weighed(record, owed, contract, data, facts)

    async def _weighed(
        self, record: SessionRecord, owed: Unscored, contract: Contract, data: bytes, facts: Facts
    ) -> Fidelity:
        root, text = self.context.places.root, data.decode()
        files, _ = await manifest(root, record.base, owed.snapshot)
        audited = hashlib.sha256(data).hexdigest() == owed.sha256
        judge = partial(
            weigh,
            facts,
            contract,
            signed=True,
            audited=audited and await call_until_answered(self.context.audit, AuditIntact()),
            secret_free=self.context.secrets.events().text(text) == text,
            tree_matches=owed.still,
            root=record.worktree,
            snapshot_paths={entry.path for entry in files},
            proofs=await proofs(
                root,
                owed.snapshot,
                owed.tree,
                done_claims(facts),
                files,
                verified=verified(facts, self.context.assertions(record)),
            ),
        )
        return await trio.to_thread.run_sync(judge)

    async def _tell(self, owed: Unscored, found: Fidelity | None) -> None:
        hfs = found.hfs if found else 0
        await self.context.store.note("fidelity", f"hfs:{owed.handoff}", handoffId=owed.handoff, hfs=hfs)
        if found is None:
            return
        await self.context.store.say(
            Tag.HANDOFF,
            f"fidelity {hfs} of 100",
            source=f"hfs:{owed.handoff}",
            handoffId=owed.handoff,
            hfs=hfs,
            recallPermille={facet: round(share * 1000) for facet, share in found.per_class.items()},
            missing=list(found.missing[:20]),
            unsupported=list(found.unsupported[:20]),
        )

    async def _unknown(self, owed: Unscored, error: HubError) -> None:
        """Said where it can be: the audit log itself may be what is broken."""
        with contextlib.suppress(HubError):
            await self.context.store.note("fidelity", f"hfs:{owed.handoff}", handoffId=owed.handoff)
        with contextlib.suppress(HubError):
            await self.context.store.say(
                Tag.ERROR,
                f"the fidelity of the last handoff is not known: {error.detail}",
                source=f"hfs:{owed.handoff}",
                code=str(error.code),
                hint=error.hint,
            )
