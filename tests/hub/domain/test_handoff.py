"""The handoff table: legal moves, illegal moves, and the drawing of it."""

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain import handoff
from hub.domain.handoff import MOVES, STARTS, IllegalTransition, State, Trigger
from hub.errors import Code

SPECIFIED = [
    ("RUNNING", "quota_breach", "PAUSING"),
    ("RUNNING", "manual_handoff", "PAUSING"),
    ("PAUSING", "safe_point", "SNAPSHOTTED"),
    ("SNAPSHOTTED", "snapshot_done", "ENVELOPE_BUILT"),
    ("ENVELOPE_BUILT", "contract_written", "DISPATCHED"),
    ("DISPATCHED", "adapter_started", "RESUMING"),
    ("RESUMING", "receiver_heartbeat", "RUNNING"),
]
TOLD = {
    Trigger.QUOTA_BREACH: ("session active", "waits for a safe pause"),
    Trigger.MANUAL_HANDOFF: ("session active", "waits for a safe pause"),
    Trigger.FAILURE: ("session active", "waits for a safe pause"),
    Trigger.SAFE_POINT: ("adapter reports a safe point", "git commit on the session branch"),
    Trigger.SNAPSHOT_DONE: ("none", "contract Markdown and signed JSON sidecar written"),
    Trigger.CONTRACT_WRITTEN: ("none", "next adapter spawned"),
    Trigger.ADAPTER_STARTED: ("none", "receiver begins work"),
    Trigger.RECEIVER_HEARTBEAT: ("receiver alive", "handoff complete"),
    Trigger.DISPATCH_FAILED: ("receiver proven not running", "next target tried"),
    Trigger.ABANDONED: ("session ended, or nobody is free", "reason recorded"),
}
"""Who must have made sure of what before the trigger is given ("none" when nothing is asked), and what comes with the move,
in the words of the specification's columns "Condition" and "Also"."""
PAGE = Path(__file__).parents[3] / "design" / "handoff.md"


def document() -> str:
    """The text of `design/handoff.md`: what is drawn from the table, and what is done while in a state as it stands there."""
    moves = "\n".join(f"    {state} --> {target}: {trigger}" for (state, trigger), target in MOVES.items())
    told = (
        (state, trigger, TOLD[trigger][0], target, TOLD[trigger][1])
        for (state, trigger), target in MOVES.items()
    )
    rows = "\n".join(f"| {' | '.join(row)} |" for row in told)
    work = PAGE.read_text(encoding="utf-8").partition("## Work\n")[2]
    return _DOCUMENT.format(moves=moves, rows=rows) + work


_DOCUMENT = """\
# The handoff state machine

Drawn from the literal table in `hub/domain/handoff.py`; do not edit it by hand above "Work". To write it anew:

    python -c "from tests.hub.domain.test_handoff import PAGE, document; PAGE.write_text(document())"

```mermaid
stateDiagram-v2
    [*] --> RUNNING
{moves}
```

## Moves

Each move is durable in `.hub/fsm.json` before the work of the next state begins.

| State | Trigger | Condition | Next state | Also |
|---|---|---|---|---|
{rows}

## Work
"""


@pytest.mark.parametrize(("state", "trigger", "target"), SPECIFIED)
def test_table_holds_every_row_of_the_specification(state, trigger, target):
    assert MOVES[State(state), Trigger(trigger)] == target


@pytest.mark.parametrize(("state", "trigger"), list(product(State, Trigger)))
def test_a_move_is_either_in_the_table_or_raises(state, trigger):
    if (state, trigger) in MOVES:
        assert handoff.advance(state, trigger) is MOVES[state, trigger]
        return
    with pytest.raises(IllegalTransition) as caught:
        handoff.advance(state, trigger)
    expected = Code.HANDOFF_IN_PROGRESS if trigger in STARTS else Code.INTERNAL
    assert caught.value.code is expected


def test_a_second_handoff_request_is_the_callers_409():
    with pytest.raises(IllegalTransition) as caught:
        handoff.advance(State.SNAPSHOTTED, Trigger.MANUAL_HANDOFF)
    assert (caught.value.status, caught.value.code) == (409, "handoff_in_progress")


def test_every_transitional_state_can_be_abandoned_so_that_no_ended_session_stays_in_it():
    for state in set(State) - {State.RUNNING}:
        assert handoff.advance(state, Trigger.ABANDONED) is State.RUNNING


@pytest.mark.parametrize("state", [State.DISPATCHED, State.RESUMING])
def test_a_receiver_that_never_worked_leads_to_the_next_target_with_the_same_contract(state):
    assert handoff.advance(state, Trigger.DISPATCH_FAILED) is State.ENVELOPE_BUILT


@given(st.lists(st.sampled_from(Trigger), max_size=30))
def test_a_handoff_is_complete_only_after_snapshot_contract_and_spawn(triggers):
    """On any road from RUNNING to a finished handoff every state of the specification was passed in order."""
    order = list(State)
    state, passed = State.RUNNING, [State.RUNNING]
    for trigger in triggers:
        try:
            state = handoff.advance(state, trigger)
        except IllegalTransition:
            continue
        if trigger in STARTS:
            passed = [State.RUNNING]
        passed.append(state)
        if trigger is Trigger.RECEIVER_HEARTBEAT:
            assert list(dict.fromkeys(passed)) == order


def test_each_state_has_one_work_of_its_own():
    work = PAGE.read_text(encoding="utf-8").partition("## Work\n")[2]
    assert re.findall(r"^\| ([A-Z_]+) \| [a-z]", work, re.MULTILINE) == list(State)


def test_design_document_is_drawn_from_the_table():
    hint = "stale: see the command inside design/handoff.md"
    assert PAGE.read_text(encoding="utf-8") == document(), hint
