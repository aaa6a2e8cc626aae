"""Where a pipeline's run and its nodes stand.

Owns: the words for it, which those who only tell of a run need alone.
Must not: know a run.
Tests: tests/hub/domain/pipeline/test_run.py
"""

from __future__ import annotations

from enum import StrEnum


class NodeState(StrEnum):
    """Where a node stands."""

    PENDING = "pending"
    STARTING = "starting"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    HALTED = "halted"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to the node."""
        return self not in (NodeState.PENDING, NodeState.STARTING, NodeState.RUNNING)


class NodeOutcome(StrEnum):
    """What became of a node in this run."""

    OPEN = ""
    EXECUTED = "executed"
    REPLAYED = "replayed"
    HALTED = "halted"


class RunState(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
