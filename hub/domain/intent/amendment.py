"""What an agent's own store tells of a run, and its stream did not.

Owns: which of that is told late, and of which event.
Must not: read a store or a log, or tell what the stream has told.

Some agents' protocols leave out what their own sessions on disk have: the list of tasks that the agent keeps, how its
commands ended. Both stand there under the id that the call of the tool has in the stream too. So what is told late is
told as an amendment of the event that the call's end was: it fills in, and is nothing that happened since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum

from hub.domain.detection.intel import CallEnd
from hub.domain.event import Event, EventType, Record, Tag
from hub.domain.intent.activity import Activity, read
from hub.domain.meta import EventMeta

MAX_COMMANDS = 200
"""The newest are told, each as it ended last: an intent has no room for more."""


class Untold(StrEnum):
    """What an agent's stream leaves out."""

    PLAN = "plan"
    """The list of tasks that it keeps with a tool of its own."""
    STATUS = "status"
    """The exit status of its commands."""


def amendments(
    log: Iterable[Record], ends: Iterable[CallEnd], untold: Collection[Untold]
) -> tuple[Event, ...]:
    """What is to be told late, in the order of the events that are amended.

    Args:
        log: The results of tools that the run's stream told, in their order.
        ends: How the calls ended by the agent's own store.
        untold: What its stream leaves out.
    """
    told = [
        seen for record in log if (seen := read(record.id, record)).tag == Tag.TOOL_RESULT and seen.tool_id
    ]
    known = {end.key: end for end in ends}
    found = {
        **(_plans(told, known) if Untold.PLAN in untold else {}),
        **(_statuses(told, known) if Untold.STATUS in untold else {}),
    }
    return tuple(found[number] for number in sorted(found))


def _statuses(told: Iterable[Activity], known: Mapping[str, CallEnd]) -> dict[int, Event]:
    newest = {seen.command: seen for seen in told if seen.command}
    runs = sorted(newest.values(), key=lambda seen: seen.id)
    return dict(_ended(runs[-MAX_COMMANDS:], known))


def _ended(runs: Iterable[Activity], known: Mapping[str, CallEnd]) -> Iterator[tuple[int, Event]]:
    for seen in runs:
        end = known.get(seen.tool_id)
        if end is None or end.exit_code is None or seen.exit_code is not None:
            continue
        meta: EventMeta = {
            "tool": seen.tool,
            "toolId": seen.tool_id,
            "command": seen.command,
            "exitCode": end.exit_code,
            "isError": end.exit_code != 0,
            "amends": seen.id,
        }
        yield seen.id, Event(EventType.TOOL_RESULT, end.text, meta)


def _plans(told: Iterable[Activity], known: Mapping[str, CallEnd]) -> dict[int, Event]:
    """The list in force; and before it, what earlier ones had finished and this one no longer lists."""
    lists = [(seen, end.plan) for seen in told if (end := known.get(seen.tool_id)) and end.plan is not None]
    if not lists:
        return {}
    done: dict[str, None] = {}
    for _, plan in lists:
        for step, over in plan:
            done.pop(step, None)
            if over:
                done[step] = None
    (*earlier, (last, steps)) = lists
    listed = dict(steps)
    dropped = [(step, True) for step in done if step not in listed]
    found = {last.id: _plan(last, steps)}
    if earlier and dropped:
        seen = earlier[-1][0]
        found[seen.id] = _plan(seen, dropped)
    return found


def _plan(seen: Activity, steps: Collection[tuple[str, bool]]) -> Event:
    left = [step for step, over in steps if not over]
    meta: EventMeta = {
        "plan": [step for step, _ in steps],
        "tasksRemaining": left,
        "toolId": seen.tool_id,
        "amends": seen.id,
    }
    return Event(EventType.SYSTEM, f"Plan: {len(steps) - len(left)} of {len(steps)} done", meta)


def summed(found: Collection[Event]) -> str:
    """What amendments tell, in a few words."""
    ended = sum(event.tag == Tag.TOOL_RESULT for event in found)
    told = [f"how {ended} commands ended" if ended > 1 else "how a command ended"] if ended else []
    return " and ".join([*told, *(["its list of tasks"] if ended < len(found) else [])])
