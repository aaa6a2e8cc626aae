"""A conversation as plain lines, for a pipe, a file, or a terminal that can do no more.

Owns: the words and the line breaks of each item.
Must not: write a control character or a colour, or know the log.
"""

from __future__ import annotations

from collections.abc import Iterator

from hub.cli.terminal.items import Heading, Item, PlanItem, Said, ToldItem, ToolItem
from hub.domain.text.safe import clip

_RESULT = 100
_THOUGHT = 160
_HANG = "  "


def lines(item: Item) -> Iterator[str]:
    """The lines of one item; a heading and an agent's words stand apart from what is before them."""
    match item:
        case Heading():
            yield ""
            yield item.agent + (f" ({item.model})" if item.model else "")
        case Said():
            yield from _said(item)
        case ToolItem():
            yield _HANG + tool(item)
        case PlanItem():
            yield from plan(item)
        case ToldItem():
            yield item.text.rstrip()
            yield from (f"{_HANG}{line}".rstrip() for line in item.below)


def _said(item: Said) -> Iterator[str]:
    if item.thinking:
        yield _HANG + "(" + clip(" ".join(item.text.split()), _THOUGHT) + ")"
        return
    yield from (f"{_HANG}{line}".rstrip() for line in item.text.strip().splitlines())


def tool(item: ToolItem) -> str:
    """The call, and beside it the line of its result that tells most."""
    result = clip(item.result, _RESULT)
    if item.failed:
        result = f"failed, {result}" if result else "failed"
    more = f" (+{item.folded} line{'s' if item.folded > 1 else ''})" if item.folded else ""
    return f"{item.what}  ->  {result}{more}" if result else item.what


def plan(item: PlanItem) -> Iterator[str]:
    """The whole list where it is another one, else what was done since."""
    done = sum(finished for _, finished in item.tasks)
    if item.changed:
        yield f"{_HANG}plan: {done} of {len(item.tasks)} done"
        yield from (f"{_HANG}[{'x' if finished else ' '}] {task}" for task, finished in item.tasks)
    else:
        yield from (f"{_HANG}[x] {task}" for task in item.fresh)
