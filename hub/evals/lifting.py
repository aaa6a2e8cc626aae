"""What hub makes of a recorded session at each of its moments.

Owns: the two ways from a session to what the next agent is told: over the agent's output, as while hub runs it
(events, intent, contract), and over the store the agent keeps, as for a session that hub finds (session intel).
Must not: measure, or know the labels.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import attrs

from hub.domain.contract import Contract, EvidenceKind, ManifestEntry
from hub.domain.intel import WHOLE, SessionIntel
from hub.domain.intent import Intent, IntentFold, draft
from hub.errors import Code, HubError
from hub.evals.labels import Class, norm
from hub.evals.recording import Moment, Recording
from hub.io.stores import StoreFiles
from hub.providers import registry, stores
from hub.providers.base import Assignment

NOW = 1_795_000_000.0
"""The time of every recorded line: a reset is told relative to it."""


@attrs.frozen
class Item:
    """One thing that is told to the next agent."""

    kind: Class
    text: str
    exit_code: int | None = None


def over_events(recording: Recording) -> Iterator[tuple[Item, ...]]:
    """What the contract would say at each moment, of a session that hub itself runs.

    The contract's list of files is git's, and exact. What is measured here is what the events alone tell of files.
    """
    provider = registry.load(recording.provider)
    folder = Path(recording.worktree)
    assignment = Assignment(
        dispatch_id="d-1", session_id="s-1", prompt=recording.task, worktree=folder, run_dir=folder
    )
    stream = provider.stream(assignment)
    fold = IntentFold(recording.task, recording.worktree)
    events = list(stream.open().events)
    fed = lines = 0
    for moment in recording.moments:
        for line in recording.stream[lines : moment.lines]:
            events += stream.feed(line, NOW).events
        lines = moment.lines
        for number in range(fed, len(events)):
            fold.feed(number + 1, events[number])
        fed = len(events)
        yield tuple(_of_contract(_contract(recording, fold.intent())))


def over_store(recording: Recording) -> Iterator[tuple[Item, ...]]:
    """What the session's store tells at each moment.

    Raises:
        HubError: Hub has no reader of this agent's store.
    """
    for moment in recording.moments:
        with tempfile.TemporaryDirectory(prefix="hub-eval-") as folder:
            recording.lay_out(moment, Path(folder))
            yield tuple(_of_intel(_read(recording, moment, folder)))


def _read(recording: Recording, moment: Moment, folder: str) -> SessionIntel:
    """The session's intel; that of no session where the agent had not begun to write one."""
    env = {name: str(Path(folder) / place).rstrip("/.") for name, place in recording.env.items()}
    if recording.provider not in stores.names():
        raise HubError(Code.NOT_FOUND, f"Hub cannot read the store of {recording.provider}.")
    files = StoreFiles()
    found = stores.search(files, folder, env, 0, folders=[folder], only=[recording.provider])
    if not moment.files or not found.hits:
        return SessionIntel()
    # An agent may keep sessions of its own beside the user's; of those the one where something was said is meant.
    return max((stores.read(hit, files, WHOLE) for hit in found.hits), key=lambda intel: intel.message_count)


def _contract(recording: Recording, intent: Intent) -> Contract:
    written = [file.path for file in intent.files if file.written]
    return draft(
        intent,
        contract_id="c-1",
        session_id="s-1",
        task_id="t-1",
        task_goal=recording.task,
        snapshot_commit_sha="",
        acceptance_assertions=(),
        file_manifest=tuple(ManifestEntry(path, "", modified=True) for path in written),
    )


def _of_contract(contract: Contract) -> Iterator[Item]:
    yield from _lists(contract)
    for entry in contract.file_manifest:
        yield Item(Class.FILES, norm(entry.path))
    kinds = {
        EvidenceKind.COMMAND: Class.COMMANDS,
        EvidenceKind.FAILED_ATTEMPT: Class.FAILURES,
        EvidenceKind.HARNESS: Class.MODEL,
    }
    for entry in contract.evidence:
        yield Item(kinds[entry.kind], norm(entry.text), entry.exit_code)
    for kind, said in ((Class.DECISIONS, contract.decisions), (Class.CONSTRAINTS, contract.constraints)):
        yield from (Item(kind, norm(one.text)) for one in said)


def _of_intel(intel: SessionIntel) -> Iterator[Item]:
    yield from _lists(intel)
    yield from (Item(Class.FILES, norm(path)) for path in intel.files_touched)
    if intel.model:
        yield Item(Class.MODEL, norm(intel.model))


def _lists(told: Contract | SessionIntel) -> Iterator[Item]:
    if told.initial_prompt:
        yield Item(Class.OBJECTIVE, norm(told.initial_prompt))
    yield from (Item(Class.PLAN, norm(step)) for step in told.plan)
    yield from (Item(Class.REMAINING, norm(step)) for step in told.tasks_remaining)
    if isinstance(told, Contract):
        yield from (Item(Class.DO_NOT_REDO, norm(step)) for step in told.do_not_redo)
        if told.next_action:
            yield Item(Class.NEXT, norm(told.next_action))
