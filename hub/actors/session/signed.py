"""The contract that a handoff has signed, read back from disk.

Owns: the verification at every reading, and what binds a contract to this project and its session.
Must not: write the contract (`handoff_steps.py` does), or score it (`scores.py` does).
"""

from __future__ import annotations

import hashlib

import attrs
import msgspec
import trio

from hub.actors.session.context import SessionContext
from hub.domain.contract import Contract, ContractInvalid, Refusal, verify
from hub.domain.jsonvalue import JsonObject
from hub.domain.session import SessionRecord
from hub.errors import Code, HubError
from hub.io import git
from hub.io.files.atomic import read_bounded

_WHEN = "One is made at each handoff: hub handoff"
_REFUSED = (
    "It is shown to nobody. A handoff writes a new one: hub handoff; what was signed is in: hub history"
)
_LIMIT = 64 * 1024 * 1024


@attrs.frozen
class Signed:
    """The contract of the handoff under way."""

    context: SessionContext

    async def current(self) -> JsonObject:
        """The contract on disk as JSON, if hub has signed it for this project's session and nothing newer is on record.

        Raises:
            HubError: `not_found`, `contract_invalid`.
        """
        try:
            data = await trio.to_thread.run_sync(read_bounded, self.context.places.envelope_json, _LIMIT)
        except FileNotFoundError:
            raise HubError(Code.NOT_FOUND, "There is no contract yet.", hint=_WHEN) from None
        try:
            contract = verify(data, self.context.keys.contract)
            await self._bound(contract, data)
        except ContractInvalid as error:
            raise HubError(error.code, error.detail, hint=_REFUSED, **error.extra) from error
        if (record := self.context.store.record) is not None and record.session_id != contract.session_id:
            raise HubError(Code.NOT_FOUND, "This session has no contract yet.", hint=_WHEN)
        shown: JsonObject = self.context.secrets.value(msgspec.json.decode(data))
        return shown

    async def _bound(self, contract: Contract, data: bytes) -> None:
        """Of this project: it keeps the snapshot of the contract's handoff; and the one on record, where there is one."""
        snapshot = contract.snapshot_commit_sha
        if (
            await git.kept_snapshot(self.context.places.root, contract.session_id, contract.handoff_id)
            != snapshot
        ):
            raise ContractInvalid(Refusal.WRONG_BINDING, "it is of another project, or its snapshot is gone")
        record = self.context.store.record
        if record is None or record.session_id != contract.session_id or not record.handoff.contract_id:
            return
        if record.handoff.contract_id != contract.contract_id:
            raise ContractInvalid(Refusal.WRONG_BINDING, "it is an older one than the session's newest")
        if hashlib.sha256(data).hexdigest() != record.handoff.contract_sha256:
            raise ContractInvalid(Refusal.WRONG_BINDING, "it is not the one on record")

    def contract(self, record: SessionRecord) -> Contract:
        """The contract on disk, if it is the one this handoff signed.

        Raises:
            HubError: `contract_invalid`; it must not be given to anybody.
        """
        return verify(
            read_bounded(self.context.places.envelope_json, _LIMIT),
            self.context.keys.contract,
            session_id=record.session_id,
            handoff_id=record.handoff_id,
            snapshot=record.snapshot_sha,
        )
