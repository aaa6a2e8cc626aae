"""What hub makes of a recorded session at each of its moments.

Owns: the two ways from a session to what the next agent is told: over the agent's output, as while hub runs it
(events, intent, contract), and over the store the agent keeps, as for a session that hub finds (session intel).
Must not: measure, or know the labels.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from hub.domain.contract import Contract, EvidenceKind, ManifestEntry
from hub.domain.detection.adoption import lifted
from hub.domain.detection.intel import WHOLE, SessionIntel
from hub.domain.event import Event, Record
from hub.domain.intent.amendment import amendments
from hub.domain.intent.draft import draft
from hub.domain.intent.fold import Intent, IntentFold
from hub.errors import Code, HubError
from hub.evals.labels import Class, norm
from hub.evals.recording import Moment, Recording
from hub.io.stores import StoreFiles
from hub.providers import registry, stores
from hub.providers.base import Assignment, ProcessExit

NOW = 1_795_000_000.0
"""The time of every recorded line: a reset is told relative to it."""


@attrs.frozen
class LiftedItem:
    """One thing that is told to the next agent."""

    kind: Class
    text: str
    exit_code: int | None = None


def over_events(recording: Recording) -> Iterator[tuple[LiftedItem, ...]]:
    """What the contract would say at each moment, of a session that hub itself runs and stops there.

    The contract's list of files is git's, and exact. What is measured here is what the events alone tell of files.
    """
    for moment in recording.moments:
        fold = IntentFold(recording.task, recording.worktree)
        told = list(_events(recording, moment))
        for number, event in enumerate([*told, *_amendments(recording, moment, told)], 1):
            fold.feed(number, event)
        yield tuple(_of_contract(_contract(recording, fold.intent())))


def _amendments(recording: Recording, moment: Moment, told: Sequence[Event]) -> Sequence[Event]:
    """What the agent's own store tells beside its stream, where hub would look there."""
    untold = registry.load(recording.provider).untold
    if not untold:
        return ()
    log = [Record(number, "", event.tag, event.content, event.meta) for number, event in enumerate(told, 1)]
    with tempfile.TemporaryDirectory(prefix="hub-eval-") as folder:
        recording.lay_out(moment, Path(folder))
        return amendments(log, _read(recording, moment, folder).ends, untold)


def _events(recording: Recording, moment: Moment) -> Iterator[Event]:
    """The agent's events up to the moment. Then hub ends it, unless it has ended by itself: this was all it had to say."""
    folder = Path(recording.worktree)
    assignment = Assignment(
        dispatch_id="d-1",
        session_id="s-1",
        prompt=recording.task,
        worktree=folder,
        run_dir=folder,
        model=recording.model,
        options={"args": list(recording.args)},
    )
    stream = registry.load(recording.provider).stream(assignment)
    yield from stream.open().events
    for line in recording.stream[: moment.lines]:
        yield from stream.feed(line, NOW).events
    whole = moment.lines == len(recording.stream)
    yield from stream.finish(ProcessExit(0, asked=not whole), NOW).events


def over_store(recording: Recording) -> Iterator[tuple[LiftedItem, ...]]:
    """What the session's store tells at each moment.

    Raises:
        HubError: Hub has no reader of this agent's store.
    """
    for moment in recording.moments:
        with tempfile.TemporaryDirectory(prefix="hub-eval-") as folder:
            recording.lay_out(moment, Path(folder))
            yield tuple(_of_contract(_adopted(recording, _read(recording, moment, folder))))


def _read(recording: Recording, moment: Moment, folder: str) -> SessionIntel:
    """The session's intel; that of no session where the agent had not begun to write one."""
    env = {name: str(Path(folder) / place) for name, place in recording.env.items()}
    if recording.provider not in stores.names():
        raise HubError(Code.NOT_FOUND, f"Hub cannot read the store of {recording.provider}.")
    files = StoreFiles()
    found = stores.search(files, folder, env, 0, folders=[folder], only=[recording.provider])
    if not moment.files or not found.hits:
        return SessionIntel()
    # An agent may keep sessions of its own beside the user's; of those the one where something was said is meant.
    return max((stores.read(hit, files, WHOLE) for hit in found.hits), key=lambda intel: intel.message_count)


def _adopted(recording: Recording, intel: SessionIntel) -> Contract:
    """The contract of an adopted session."""
    # Tool servers are harness too, and no labelled class.
    return _contract(recording, attrs.evolve(lifted(intel, recording.worktree), mcps=()))


def _contract(recording: Recording, intent: Intent) -> Contract:
    written = [file.path for file in intent.files if file.written]
    known = Contract(
        contract_id="c-1",
        session_id="s-1",
        task_id="t-1",
        task_goal=recording.task,
        snapshot_commit_sha="",
        file_manifest=tuple(ManifestEntry(path, "", modified=True) for path in written),
    )
    return draft(known, intent)


def _of_contract(contract: Contract) -> Iterator[LiftedItem]:
    for entry in contract.file_manifest:
        yield LiftedItem(Class.FILES, norm(entry.path))
    for kind, words in (
        (Class.OBJECTIVE, (contract.initial_prompt,)),
        (Class.PLAN, contract.plan),
        (Class.REMAINING, contract.tasks_remaining),
        (Class.DO_NOT_REDO, contract.do_not_redo),
        (Class.DECISIONS, (said.text for said in contract.decisions)),
        (Class.CONSTRAINTS, (said.text for said in contract.constraints)),
        (Class.NEXT, (contract.next_action,)),
    ):
        yield from (LiftedItem(kind, norm(one)) for one in words if one)
    kinds = {
        EvidenceKind.COMMAND: Class.COMMANDS,
        EvidenceKind.FAILED_ATTEMPT: Class.FAILURES,
        EvidenceKind.MODEL: Class.MODEL,
    }
    for seen in contract.evidence:
        yield LiftedItem(kinds[seen.kind], norm(seen.text), seen.exit_code)
