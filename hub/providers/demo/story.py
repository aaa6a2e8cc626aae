"""What a demo agent does when nobody gives it a script: a small task that takes two agents.

Owns: the task, its plan, the files it makes, and how a receiver reads from the contract what is left to do.
Must not: import anything but the standard library (the child runs it before site-packages exist), or act.

The handoff matters: the first agent stops at its limit with most of the plan undone; the second does what the
contract says is left, and nothing that the contract says is done. Without a contract it does the whole plan.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

TASK = "Write a temperature converter in Python: the module, its tests and a short README."
VERIFY = "python3 -B -m unittest -q test_convert"
FIRST = "demo-first"

_CONVERT = '''"""Temperatures in Celsius and Fahrenheit."""


def to_fahrenheit(celsius: float) -> float:
    return celsius * 9 / 5 + 32


def to_celsius(fahrenheit: float) -> float:
    return (fahrenheit - 32) * 5 / 9
'''
_TEST = """import unittest

from convert import to_celsius, to_fahrenheit


class ConvertTest(unittest.TestCase):
    def test_water_boils_at_212(self) -> None:
        self.assertEqual(to_fahrenheit(100), 212)

    def test_there_and_back(self) -> None:
        self.assertAlmostEqual(to_celsius(to_fahrenheit(36.6)), 36.6)


if __name__ == "__main__":
    unittest.main()
"""
_README = """# convert

    >>> from convert import to_fahrenheit
    >>> to_fahrenheit(100)
    212.0

Run the tests with `python3 -m unittest`.
"""

PLAN: dict[str, tuple[str, str]] = {
    "Write convert.py with both directions": ("convert.py", _CONVERT),
    "Write test_convert.py with a test of each direction": ("test_convert.py", _TEST),
    "Write README.md with an example": ("README.md", _README),
}
"""Item of the plan -> (file, its text)."""

LIMIT_RESETS_IN = 7200
_HEADING = re.compile(r"^#+\s.*\b(?:left to do|remain|next action)", re.IGNORECASE)
_ITEM = re.compile(r"^(?:\|\s)?\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?(.*\S)")
"""A list item; hub's brief puts a bar before every line that quotes an agent."""

Step = dict[str, object]


def steps(provider: str, envelope: str, worktree: Path, pace: float) -> list[Step]:
    """The steps of this agent for this start.

    Args:
        provider: `demo-first` stops at its limit when it starts from nothing.
        envelope: Text of the contract, "" on a first start.
        worktree: Where the work is.
        pace: Seconds between two steps.
    """
    if envelope:
        return _paced(_finish(_left(envelope, worktree)), pace)
    return _paced(_begin() if provider == FIRST else _finish(list(PLAN)), pace)


def _begin() -> list[Step]:
    """The first item, and then the wall: one quota event only, or the forecast would hand over before it."""
    items = list(PLAN)
    return [
        {"think": "Three small files. The module first, since the tests need it."},
        {"plan": {"plan": items, "tasksRemaining": items}},
        {"say": f"I begin with: {items[0]}"},
        *_make(items[0]),
        {"plan": {"plan": items, "tasksRemaining": items[1:]}},
        {"usage": {"tokensIn": 12_400, "tokensOut": 910}},
        {"quota": {"used": 0.72, "resetsIn": LIMIT_RESETS_IN}},
        {"run": "python3 -B -c 'import convert; print(convert.to_fahrenheit(100))'"},
        {"usage": {"tokensIn": 13_100, "tokensOut": 240}},
        {"say": f"Next: {items[1]}"},
        {"limit": {"resetsIn": LIMIT_RESETS_IN}},
    ]


def _finish(left: list[str]) -> list[Step]:
    """What is left, a check, and the end."""
    items = list(PLAN)
    known = [item for item in left if item in PLAN]
    told: list[Step] = [{"say": f"I do not know how to: {item}"} for item in left if item not in PLAN]
    done = f"{len(items) - len(known)} of {len(items)} tasks are done."
    steps: list[Step] = [
        {"say": f"{done} Left: {'; '.join(known) or 'nothing'}"},
        *told,
        {"plan": {"plan": items, "tasksRemaining": known}},
    ]
    for number, item in enumerate(known, 1):
        steps += _make(item)
        steps.append({"plan": {"plan": items, "tasksRemaining": known[number:]}})
    return [
        *steps,
        {"run": VERIFY},
        {"usage": {"tokensIn": 15_800, "tokensOut": 1_120}},
        {"quota": {"used": 0.12, "resetsIn": LIMIT_RESETS_IN}},
        {"done": "The converter, its tests and its README are written."},
    ]


def _make(item: str) -> list[Step]:
    path, text = PLAN[item]
    return [{"write": {"path": path, "text": text}}]


def _paced(steps: list[Step], pace: float) -> list[Step]:
    pause: Step = {"sleep": pace}
    return [each for step in steps for each in (pause, step)] if pace > 0 else steps


def _left(envelope: str, worktree: Path) -> list[str]:
    """The tasks the contract says remain; where it tells of none, those whose file is not there."""
    return _told(envelope) or [item for item, (path, _) in PLAN.items() if not (worktree / path).exists()]


def _told(envelope: str) -> list[str]:
    """Items of the sections on what comes next and what remains."""
    lines = envelope.splitlines()
    items: dict[str, None] = {}
    for start in (number for number, line in enumerate(lines, 1) if _HEADING.match(line)):
        section = itertools.takewhile(lambda line: not line.startswith("#"), lines[start:])
        items |= {match[1]: None for line in section if (match := _ITEM.match(line))}
    return list(items)
