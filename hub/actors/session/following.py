"""A session that goes on where an ended one stopped: what the first agent of the new one is given.

Owns: the contract for it, made of the ended session's record, log and last snapshot, with the new task as its goal.
Must not: begin anything, or change the session that has ended.
Tests: tests/hub/actors/session/test_following.py
"""

from __future__ import annotations

import attrs

from hub.actors.common.clock import iso
from hub.actors.session.context import SessionContext
from hub.actors.session.drafting import Drafting
from hub.actors.session.exposure import refuse_known_secrets
from hub.domain.brief import render_envelope
from hub.domain.contract import Evidence, EvidenceKind, encode, sign
from hub.domain.routing import Target
from hub.domain.text.safe import clip
from hub.errors import Code, HubError
from hub.io.files.atomic import write_atomic
from hub.messages import DraftFollowUp, FollowUp

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
