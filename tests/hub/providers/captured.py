"""Captured runs of real programs, fed through a fold.

Owns: reading `tests/captures/<agent>/<run>/` and folding it.
Must not: know any one agent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs

from hub.domain.event import Event, EventType
from hub.providers.base import Assignment, Outcome, ProcessExit, Step, Stream
from hub.providers.provider import Provider
from tests.described import described_meta

ASSIGNMENT = Assignment("d-1", "s-1", "Write hello.txt.", Path("/home/dev/repo"), Path("/run/d-1"))
"""The dispatch of every captured run."""
CAPTURES = Path(__file__).resolve().parents[2] / "captures"
NOW = 1_795_241_600.0
"""2026-11-21 06:13:20 UTC: shortly before the captures were taken."""


@attrs.define
class Folded:
    """Everything a fold made of its lines."""

    stream: Stream
    steps: list[Step]

    @property
    def events(self) -> list[Event]:
        return [event for step in self.steps for event in step.events]

    @property
    def unknown(self) -> int:
        """How many lines were of no known form."""
        return sum(bool(event.meta.get("unknown")) for event in self.events)

    @property
    def writes(self) -> dict[str, Any]:
        """What was written, by its key, decoded."""
        return {write.key: json.loads(write.data) for step in self.steps for write in step.writes}

    @property
    def outcome(self) -> Outcome:
        return next(step.outcome for step in self.steps if step.outcome is not None)

    @property
    def ended(self) -> list[Outcome]:
        return [step.outcome for step in self.steps if step.outcome is not None]

    def of(self, kind: EventType) -> list[Event]:
        return [event for event in self.events if event.type is kind]

    def said(self, kind: EventType) -> list[str]:
        return [event.content for event in self.of(kind)]


def runs(agent: str) -> list[str]:
    return sorted(path.parent.name for path in CAPTURES.glob(f"{agent}/*/stdout.*"))


def lines_of(agent: str, run: str) -> list[bytes]:
    [path] = (CAPTURES / agent / run).glob("stdout.*")
    return path.read_bytes().splitlines()


def stderr_of(agent: str, run: str) -> list[bytes]:
    path = CAPTURES / agent / run / "stderr.txt"
    return path.read_bytes().splitlines() if path.exists() else []


def exit_of(agent: str, run: str) -> ProcessExit:
    told = json.loads((CAPTURES / agent / run / "exit.json").read_text())
    stderr = told.get("stderr") or b"\n".join(stderr_of(agent, run)).decode()
    return ProcessExit(told["code"], told.get("signal"), stderr_tail=stderr)


def fold(
    provider: Provider,
    assignment: Assignment,
    lines: Sequence[bytes],
    *,
    end: ProcessExit | None = None,
    stderr: Sequence[bytes] = (),
    now: float = NOW,
    before: Callable[[Stream], object] | None = None,
    after: Callable[[Stream, int], None] | None = None,
) -> Folded:
    """Folds the lines; standard error comes before the output, `end` after it. Every event is as it is described.

    Args:
        provider: Whose fold.
        assignment: The dispatch.
        lines: Standard output.
        end: How the process ended; None = it runs on.
        stderr: Standard error.
        now: The time of every line.
        before: Called before the first line.
        after: Called after each line of standard output with its number.
    """
    stream = provider.stream(assignment)
    steps = [stream.open(), *(stream.feed_stderr(line, now) for line in stderr)]
    if before is not None:
        before(stream)
    for number, line in enumerate(lines):
        steps.append(stream.feed(line, now))
        if after is not None:
            after(stream, number)
    if end is not None:
        steps.append(stream.finish(end, now))
    folded = Folded(stream, steps)
    for event in folded.events:
        described_meta(event.meta)
    return folded


def rpc(**members: Any) -> bytes:
    """One JSON-RPC line."""
    return json.dumps(members).encode()
