"""What an agent is told: the assignment of a dispatch; the same record gives the same.

Owns: the prompt, the envelope that goes with it, and the places and keys the agent gets.
Must not: start anything.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from hub.actors.session.context import SessionContext
from hub.domain.brief import guidance, receiver_prompt, render_envelope
from hub.domain.contract import verify
from hub.domain.permission.rules import asks
from hub.domain.session import SessionRecord
from hub.io.files.atomic import read_bounded
from hub.providers.base import Assignment

_CONTRACT_LIMIT = 64 * 1024 * 1024
_CONTINUE = (
    "You were stopped before the task was finished. Look at what is already done in the working directory, "
    "then continue with what is left. The task was:\n\n"
)


def fresh_assignment(context: SessionContext, record: SessionRecord) -> Assignment:
    """A first start, or another try on the same provider: its own session goes on where it can."""
    provider = context.providers[record.provider]
    # The agent chose it: one that begins with a dash would be an option of its program.
    resumable = record.native_id[:1] not in ("", "-") and provider.capabilities.resume
    resume_id = record.native_id if resumable else ""
    if record.adopted:
        return _adopter(context, record, resume_id)
    prompt = (_CONTINUE + record.task) if record.attempt > 1 else record.task
    if record.correction:
        prompt = _corrected(record, record.task, resumed=bool(resume_id))
    return assignment_of(context, record, prompt, resume_id=resume_id)


def _corrected(record: SessionRecord, task: str, *, resumed: bool) -> str:
    """What the acceptance commands refused; who does not remember the task is told it again."""
    return record.correction if resumed else f"{record.correction}\n\nThe task was:\n\n{task}"


def _adopter(context: SessionContext, record: SessionRecord, resume_id: str) -> Assignment:
    """Who goes on with the work of an agent that hub had not started, or of a session: it is given its contract.

    With a session of its own, too: that may prove not to be resumable, and it was begun in another folder.

    Raises:
        HubError: `contract_invalid`; the file is not what hub has signed, and is given to nobody.
    """
    places = context.places
    signed = places.adopted_json(record.session_id)
    contract = verify(
        read_bounded(signed, _CONTRACT_LIMIT),
        context.keys.contract,
        session_id=record.session_id,
        snapshot=record.first or record.base,
    )
    path = places.run_dir / record.dispatch_id / "envelope.md"
    envelope = render_envelope(contract, file=places.below(signed), adopted=not record.continues)
    prompt = (_CONTINUE + contract.task_goal) if resume_id else receiver_prompt(contract)
    if record.correction:
        prompt = _corrected(record, contract.task_goal, resumed=bool(resume_id))
    return assignment_of(context, record, prompt, envelope=envelope, path=path, resume_id=resume_id)


def assignment_of(
    context: SessionContext,
    record: SessionRecord,
    prompt: str,
    *,
    envelope: str = "",
    path: Path | None = None,
    resume_id: str = "",
) -> Assignment:
    """What an agent is given with this prompt. The receiver of a handoff, in a fresh session, gets the contract with it."""
    settings = context.config.provider(record.provider)
    return Assignment(
        dispatch_id=record.dispatch_id,
        session_id=record.session_id,
        prompt=_guided(context, record, prompt),
        worktree=Path(record.worktree),
        run_dir=context.places.run_dir / record.dispatch_id,
        program=settings.program,
        envelope=envelope,
        envelope_path=path,
        resume_id=resume_id,
        # Derived, not drawn: a crash between the record and the start must lead to the same id.
        native_id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"hub:{record.dispatch_id}")),
        model=settings.model,
        base_url=settings.base_url,
        account=context.account(record.provider, record.account),
        options=settings.options,
        asks=asks(context.config.approvals, record.provider),
    )


def _guided(context: SessionContext, record: SessionRecord, prompt: str) -> str:
    """With what the profile tells every agent; nothing that hub keeps secret is for all of them."""
    told = context.secrets.text(guidance(record.profile, record.context_hint, record.skills))
    return f"{prompt}\n\n{told}" if told else prompt
