"""An agent's plan: what it told of it last, what is left of it, and what is done for good.

Owns: how a told plan and a told rest make up what is finished, and when a plan in prose counts: where the agent has kept no
list with a tool of its own, or has come to the end of that.
Must not: read an event (`activity` does).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from hub.domain.intent.listed import finished, listed
from hub.domain.intent.statements import alike

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
    kept: bool = False
    """Whether it was told by a tool for it."""

    @property
    def remaining(self) -> dict[str, int]:
        """What is still to be done: all of it, where nothing was told of the rest."""
        return self.steps if self.rest is None else self.rest

    def take(self, id: int, plan: Sequence[str] | None, remaining: Sequence[str] | None) -> None:
        """Take in what one event tells of the list that the agent keeps; None is "nothing".

        Told late, it gives way to what was told since: another list that is kept, or one in words that followed the end
        of this one. What it says is done stays so.
        """
        if self.told > id and (self.kept or not remaining):
            self._finish(id, [step for step in plan or () if step not in (remaining or ())])
            return
        self.kept = True
        self._take(id, plan, remaining)

    def read(self, id: int, text: str) -> None:
        """Take in what the agent says of its plan; nothing while a list that it keeps is not done."""
        if self.kept and self.remaining:
            return
        if (found := listed(text)) is not None:
            self.kept = False
            self._take(id, found.steps if found.whole else None, found.open)
        numbers, rest = finished(text), self.remaining
        over = {step for number, step in enumerate(self.steps, 1) if number in numbers and step in rest}
        if over:
            self._take(id, None, [step for step in self.remaining if step not in over])

    def said_done(self, id: int, text: str) -> None:
        """The agent said in words of a step that it is done; a list that it keeps says so itself."""
        rest = [step for step in self.remaining if alike(step) != alike(text)]
        if not self.kept and len(rest) < len(self.remaining):
            self._take(id, None, rest)

    def _take(self, id: int, plan: Sequence[str] | None, remaining: Sequence[str] | None) -> None:
        if plan is not None:
            self.steps = dict.fromkeys(plan[:MAX_ITEMS], id)
        if remaining is None:
            return
        self.rest, self.told = dict.fromkeys(remaining[:MAX_ITEMS], id), id
        if plan is None:  # an agent that only tells what is left has its plan in all it ever told
            for task in self.rest:
                keep(self.steps, task, self.steps.get(task, id))
        for step in self.rest:
            self.done.pop(step, None)
        self._finish(id, self.steps)

    def _finish(self, id: int, steps: Iterable[str]) -> None:
        """For good: a later plan no longer lists what is finished."""
        for step in steps:
            if step not in self.remaining and step not in self.done:
                keep(self.done, step, id)


def keep(items: dict[str, int], key: str, value: int) -> None:
    """The item, and as many of those before it as there is room for."""
    items[key] = value
    if len(items) > MAX_ITEMS:
        del items[next(iter(items))]
