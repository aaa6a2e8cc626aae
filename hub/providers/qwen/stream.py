"""Qwen Code over ACP: what it does in its own way.

Owns: Qwen's side of the fold in `hub.providers.acp.stream`.
Must not: repeat the protocol, or classify failures (`failures.py`).

Traps this fold knows, each with a test:
 1. Tokens are told with each request, in the `_meta` of a chunk without text; the turn's answer has none.
 2. A tool call is announced before the model has written its arguments; told is what it is about, later.
 3. Between tools it asks its client for queued messages (`craft/drainMidTurnQueue`) and waits two seconds for
    an answer: it is told at once that nobody serves this, and then asks no more.
 4. Errors of the model are "Internal error", their words are in `data.details`.
 5. A prompt that comes amid a turn ends that turn with an empty internal error, not as cancelled.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.providers import jsonline
from hub.providers.acp.setup import YOLO, approval_mode
from hub.providers.acp.stream import AcpStream
from hub.providers.acp.usage import usage_event
from hub.providers.base import Assignment, Step
from hub.providers.qwen import failures


class QwenStream(AcpStream):
    """The fold over one dispatch of `qwen --acp`."""

    wording = failures.WORDING

    def __init__(self, assignment: Assignment) -> None:
        super().__init__(assignment, title="Qwen Code", people=approval_mode(assignment) != YOLO)

    def _message(self, update: Mapping[str, object]) -> Step:
        counts = jsonline.mapping(jsonline.mapping(update.get("_meta")).get("usage"))
        used = usage_event(counts, self._assignment.model or self._model) if counts else None
        said = super()._message(update)
        return Step([*said.events, used]) if used else said
