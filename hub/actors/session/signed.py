"""The contract that a handoff has signed, read back from disk.

Owns: the verification at every reading.
Must not: write the contract (`passing.py` does), or score it (`scores.py` does).
"""

from __future__ import annotations

import attrs

from hub.actors.session.kit import Kit
from hub.domain.contract import Contract, verify
from hub.domain.session import SessionRecord
from hub.io.atomic import read_bounded

_LIMIT = 64 * 1024 * 1024


@attrs.frozen
class Signed:
    """The contract of the handoff under way."""

    kit: Kit

    def contract(self, record: SessionRecord) -> Contract:
        """The contract on disk, if it is the one this handoff signed.

        Raises:
            HubError: `contract_invalid`; it must not be given to anybody.
        """
        return verify(
            read_bounded(self.kit.places.envelope_json, _LIMIT),
            self.kit.keys.contract,
            session_id=record.session_id,
            handoff_id=record.handoff_id,
            snapshot=record.snapshot_sha,
        )
