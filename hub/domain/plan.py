"""An agent's plan: what it told of it last, what is left of it, and what is done for good.

Owns: how a told plan and a told rest make up what is finished.
Must not: read an event (`activity` does).
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

MAX_ITEMS = 200


@attrs.define
class Plan:
    """A plan as of the last event. Each step is kept with the id of the event it was read from."""

    steps: dict[str, int] = attrs.field(factory=dict)
    rest: dict[str, int] | None = None
    """None when nothing was told of what is left."""
    done: dict[str, int] = attrs.field(factory=dict)
    told: int = 0
    """The event that told last what is left; 0 for none."""

    @property
    def remaining(self) -> dict[str, int]:
        """What is still to be done: all of it, where nothing was told of the rest."""
        return self.steps if self.rest is None else self.rest

    def take(self, id: int, plan: Sequence[str] | None, remaining: Sequence[str] | None) -> None:  # noqa: A002 - it is the event's id
        """Take in what one event tells; None is "nothing"."""
        if plan is not None:
            self.steps = dict.fromkeys(plan[:MAX_ITEMS], id)
        if remaining is None:
            return
        self.rest, self.told = dict.fromkeys(remaining[:MAX_ITEMS], id), id
        if plan is None:  # an agent that only tells what is left has its plan in all it ever told
            for task in self.rest:
                _keep(self.steps, task, self.steps.get(task, id))
        for step in self.rest:
            self.done.pop(step, None)
        for step in self.steps:
            if step not in self.rest and step not in self.done:
                _keep(self.done, step, id)  # for good: a later plan no longer lists what is finished


def _keep(items: dict[str, int], key: str, value: int) -> None:
    items[key] = value
    if len(items) > MAX_ITEMS:
        del items[next(iter(items))]
