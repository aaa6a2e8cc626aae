"""The contract of a handoff, or of a session that follows another: put together, and read back from disk.

Owns: which of the things that hub knows stand in a contract, what a secret in what is given away leads to, the verification
at every reading, and what binds a contract to this project and its session.
Must not: sign or write that of a handoff (`handoff_steps.py` does), or ask the outgoing agent anything.

The intent is drawn from the graph's nodes. Where the graph does not give it at once, for whatever reason, it is that of the
session's chronicle: both are the same, and a handoff neither waits for an index nor fails because a database is damaged or
locked.

Tests: tests/hub/actors/session/test_following.py
"""

from __future__ import annotations

import contextlib
import hashlib
from enum import StrEnum
from functools import partial
from pathlib import Path

import attrs
import msgspec
import trio

from hub.actors.common.calls import call_or_none, call_until_answered
from hub.actors.session.chronicle import Chronicler
from hub.actors.session.context import SessionContext
from hub.domain.brief import render_envelope
from hub.domain.contract import (
    MAX_BYTES,
    Anchor,
    Contract,
    ContractInvalid,
    Evidence,
    EvidenceKind,
    ManifestEntry,
    Refusal,
    change_evidence,
    encode,
    sign,
    verify,
)
from hub.domain.event import Tag
from hub.domain.intent.claims import claims_of
from hub.domain.intent.draft import draft
from hub.domain.intent.fold import Intent
from hub.domain.jsonvalue import JsonObject
from hub.domain.missing import invalid_field
from hub.domain.prompt import Orders, orders_of_adopter
from hub.domain.result.gate import GateResult
from hub.domain.routing import Target
from hub.domain.session import SessionRecord
from hub.domain.text.safe import clip
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.io.files.atomic import read_bounded, write_atomic
from hub.io.git import repository
from hub.io.git.env import together
from hub.io.git.manifest import changed_lines, manifest
from hub.io.git.proving import proofs
from hub.messages.audit import GetAuditHead
from hub.messages.events import EventsHead
from hub.messages.knowledge import DrawIntent
from hub.messages.session import DraftFollowUp, FollowUp

_INTERRUPTED = "no safe point came in time: a tool call was interrupted"
_GRAPH_PATIENCE = 0.1
"""Seconds that a handoff waits for the graph, at most."""


class IntentSource(StrEnum):
    """Where a contract's intent was found."""

    GRAPH = "graph"
    """Its nodes, which hold all that the log tells."""
    LOG = "log"
    """The events themselves: the graph did not answer, or has not read the session from its task on."""


async def draft_contract(
    context: SessionContext,
    chronicler: Chronicler,
    record: SessionRecord,
    target: Target,
    gate: GateResult | None,
) -> tuple[Contract, IntentSource]:
    """The unsigned contract, derived from what is on record, and where its intent was found.

    The same record, log and tree give the same contract.
    """
    intent, source = await intent_of(context, chronicler, record)
    chronicle = await chronicler.whole(record)
    head = await call_until_answered(context.audit, GetAuditHead())
    files, changes = await _work_of(context, record)
    words = chronicle.words()
    claims = claims_of(words)
    known = Contract(
        contract_id=contract_id(record),
        session_id=record.session_id,
        task_id=record.task_id,
        task_goal=context.task(record),
        snapshot_commit_sha=record.snapshot_sha,
        acceptance_assertions=context.assertions(record),
        file_manifest=files,
        audit=Anchor(head.seq, head.hash),
        handoff_id=record.handoff_id,
        created_at=record.at,
        from_provider=record.provider,
        to_provider=target.provider,
    )
    made = draft(
        known,
        intent,
        verify_evidence=_verified(record, gate),
        more_evidence=(*words, *change_evidence(changes)),
        claims=claims,
        skills=chronicle.subject.skills,
        proofs=await proofs(
            context.places.root,
            record.snapshot_sha,
            record.handoff.snapshot_tree,
            [item.text for item in (*intent.do_not_redo, *claims)],
            files,
            verified=gate is not None and bool(gate.checks) and gate.passed,
        ),
    )
    return made, source


async def intent_of(
    context: SessionContext, chronicler: Chronicler, record: SessionRecord
) -> tuple[Intent, IntentSource]:
    """The intent block as of the log's last event, and where it was found."""
    drawn = await _drawn(context, record)
    if drawn is not None:
        return drawn, IntentSource.GRAPH
    chronicle = await chronicler.whole(record)
    return await trio.to_thread.run_sync(chronicle.intent), IntentSource.LOG


async def _drawn(context: SessionContext, record: SessionRecord) -> Intent | None:
    """Out of the graph's nodes; None where they are not to be had, or are of a task that is told otherwise by now."""
    upto = await call_until_answered(context.events, EventsHead())
    question = DrawIntent(record.session_id, upto)
    found = await call_or_none(context.knowledge, question, _GRAPH_PATIENCE)
    task = context.task(record)
    return found if found is not None and found.initial_prompt == (task or found.initial_prompt) else None


async def _work_of(
    context: SessionContext, record: SessionRecord
) -> tuple[tuple[ManifestEntry, ...], tuple[tuple[str, str], ...]]:
    """The files of the work, and how much of each has changed, their names redacted."""
    root, sha = context.places.root, record.snapshot_sha
    (files, _), changes = await together(
        partial(manifest, root, record.base, sha),
        partial(changed_lines, root, record.session_id, record.base, sha),
    )
    hide = context.secrets.events().text
    if hide(names := "\n".join(entry.path for entry in files)) != names:
        files = tuple(attrs.evolve(entry, path=hide(entry.path)) for entry in files)
        changes = tuple((hide(path), how) for path, how in changes)
    return files, changes


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


async def follow_up(context: SessionContext, chronicler: Chronicler, order: DraftFollowUp) -> FollowUp:
    """Write the signed contract that the new session's first agent is given; doing it again writes the same.

    Raises:
        HubError: `session_already_running`: it has not ended. `invalid`: it has no work to go on with. What a disk can
            refuse.
    """
    record = context.store.now
    if record.session_state.active:
        hint = f"Reply to it, or end it first: hub stop {record.session_id}"
        raise HubError(Code.SESSION_ALREADY_RUNNING, f"Session {record.session_id} works.", hint=hint)
    if not record.snapshot_sha:
        detail = f"Session {record.session_id} ended before there was any work to go on with."
        raise invalid_field("continues", detail, 'Start anew: hub run "task"')
    made, _ = await draft_contract(context, chronicler, record, Target("", ""), None)
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
        given = await repository.given_patch(context.places.root, record.base, record.branch)
        counts = await trio.to_thread.run_sync(context.secrets.count, _added(given))
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
    """The lines a difference adds, and the files' names: a line `++ x` of a file looks like one."""
    return "\n".join(line[1:] for line in diff.split("\n") if line.startswith("+"))


_WHEN = "One is made at each handoff: hub handoff"
_REFUSED = (
    "It is shown to nobody. A handoff writes a new one: hub handoff; what was signed is in: hub history"
)


async def current_contract(context: SessionContext) -> JsonObject:
    """The contract on disk as JSON, if hub has signed it for this project's session and nothing newer is on record.

    Raises:
        HubError: `not_found`, `contract_invalid`.
    """
    try:
        data = await trio.to_thread.run_sync(read_bounded, context.places.envelope_json, MAX_BYTES)
    except FileNotFoundError:
        raise HubError(Code.NOT_FOUND, "There is no contract yet.", hint=_WHEN) from None
    try:
        contract = verify(data, context.keys.contract)
        await _insist_bound(context, contract, data)
    except ContractInvalid as error:
        raise HubError(error.code, error.detail, hint=_REFUSED, **error.extra) from error
    if (record := context.store.record) is not None and record.session_id != contract.session_id:
        raise HubError(Code.NOT_FOUND, "This session has no contract yet.", hint=_WHEN)
    shown: JsonObject = context.secrets.value(msgspec.json.decode(data))
    return shown


async def _insist_bound(context: SessionContext, contract: Contract, data: bytes) -> None:
    """Of this project: it keeps the snapshot of the contract's handoff; and the one on record, where there is one."""
    snapshot = contract.snapshot_commit_sha
    if (
        await repository.kept_snapshot(context.places.root, contract.session_id, contract.handoff_id)
        != snapshot
    ):
        raise ContractInvalid(Refusal.WRONG_BINDING, "it is of another project, or its snapshot is gone")
    record = context.store.record
    if record is None or record.session_id != contract.session_id or not record.handoff.contract_id:
        return
    if record.handoff.contract_id != contract.contract_id:
        raise ContractInvalid(Refusal.WRONG_BINDING, "it is an older one than the session's newest")
    if hashlib.sha256(data).hexdigest() != record.handoff.contract_sha256:
        raise ContractInvalid(Refusal.WRONG_BINDING, "it is not the one on record")


def _kept(path: Path) -> bytes:
    """The bytes of a contract that hub has written there."""
    try:
        return read_bounded(path, MAX_BYTES)
    except FileNotFoundError:
        raise ContractInvalid(Refusal.GONE, f"{path.name} was deleted") from None


def signed_contract(context: SessionContext, record: SessionRecord) -> Contract:
    """The contract on disk, if it is the one this handoff signed.

    Raises:
        HubError: `contract_invalid`; it must not be given to anybody.
    """
    return verify(
        _kept(context.places.envelope_json),
        context.keys.contract,
        session_id=record.session_id,
        handoff_id=record.handoff_id,
        snapshot=record.snapshot_sha,
    )


def adopted_orders(context: SessionContext, record: SessionRecord, *, resumes: bool) -> Orders:
    """What the first agent is told of a session that goes on with another's work: the contract, if hub has signed it for it.

    Raises:
        HubError: `contract_invalid`; it must not be given to anybody.
    """
    signed = context.places.adopted_json(record.session_id)
    contract = verify(
        _kept(signed),
        context.keys.contract,
        session_id=record.session_id,
        snapshot=record.first or record.base,
    )
    text = render_envelope(contract, file=context.places.below(signed), adopted=not record.continues)
    return orders_of_adopter(record, contract, text, resumes=resumes)
