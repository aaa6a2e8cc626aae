"""The progress of a model's pull, as Ollama streams it.

Owns: which of its many lines are worth telling, and when the pull has ended.
Must not: read from anything.

A server sends a line for every megabyte of every layer. Told is each new step, and each tenth of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from hub.domain.text.safe import clean, clip

_GIGABYTE = 10**9
_STEPS = 10


@attrs.define
class Pull:
    """One pull, from its first line to its last."""

    tag: str
    done: bool = False
    """Whether the server said `success`."""
    error: str = ""
    """What the server said instead."""
    _status: str = ""
    _tenth: int = -1
    _layers: dict[str, tuple[int, int]] = attrs.field(factory=dict)
    """Completed and total bytes of each layer, by its digest."""

    def take(self, line: object) -> str:
        """Take one line; answers what to tell of it, "" for nothing."""
        if not isinstance(line, Mapping):
            return ""
        if "error" in line:
            self.error = clip(clean(str(line["error"])), 300) or "it said no more"
            return ""
        status = clip(clean(str(line.get("status", ""))), 200)
        self.done = self.done or status == "success"
        if "digest" in line:
            return self._progress(line)
        told = status if status not in ("", "success", self._status) else ""
        self._status = status
        return f"pulling {self.tag}: {told}" if told else ""

    def _progress(self, line: Mapping[str, object]) -> str:
        total, completed = _bytes(line.get("total")), _bytes(line.get("completed"))
        if total:
            self._layers[str(line["digest"])] = (min(completed, total), total)
        whole = sum(total for _, total in self._layers.values())
        got = sum(completed for completed, _ in self._layers.values())
        tenth = got * _STEPS // whole if whole else 0
        if tenth <= self._tenth:
            return ""
        self._tenth = tenth
        return f"pulling {self.tag}: {tenth * _STEPS} % of {whole / _GIGABYTE:.1f} GB"


def _bytes(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
