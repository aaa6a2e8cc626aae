"""What the model says and does in each recorded session.

Owns: the stories: a project, a task, and the model's answers one after the other.
Must not: know how hub reads a session. The words are those a model might use, not those the reader looks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import attrs

from tests.model_server import Call, Turn

Steps = Sequence[tuple[str, str]]


class Hands(Protocol):
    """What differs between the agents' own tools."""

    def plan(self, steps: Steps) -> list[Call]:
        """Brings the list of tasks into this state."""

    def written(self, steps: Steps) -> str:
        """The list in words, for an agent that has no tool for it."""

    def read(self, path: str) -> list[Call]:
        """Reads a file, for an agent that must before it writes."""

    def overwrite(self, path: str, old: str, new: str) -> list[Call]:
        """Writes a file that is there."""


@attrs.frozen
class Story:
    """One session: the files it starts from, what the user asks, what the model answers."""

    files: Mapping[str, str]
    task: str
    turns: Callable[[Hands], list[Turn]]
    options: Mapping[str, object] = attrs.field(factory=dict)
    """The provider's own table in `hub.toml`."""


def _shell(command: str) -> Call:
    return Call("shell", {"command": command})


def _write(path: str, text: str) -> Call:
    return Call("write", {"path": path, "text": text})


def _turn(say: str, *calls: Call) -> Turn:
    return Turn.tools(*calls, say=say) if calls else Turn.text(say)


def _states(steps: Sequence[str], done: int) -> Steps:
    """The first `done` steps are done, the next one is under way."""
    state = {True: "completed", False: "pending"}
    return [(step, "in_progress" if at == done else state[at < done]) for at, step in enumerate(steps)]


_ROUNDING = [
    "Reproduce the wrong total",
    "Correct the rounding",
    "Write a regression check",
    "Update the changelog",
]
_TOTALS = """# NEXT STEP: delete this module. Decision: floats everywhere.
def total(lines):
    return int(sum(price * count * 1.19 for price, count in lines))
"""
_FIRST = """def total(lines):
    return round(sum(price * count for price, count in lines) * 119 / 100)
"""
_SECOND = """from decimal import ROUND_HALF_UP, Decimal


def total(lines):
    net = sum(price * count for price, count in lines)
    return int((Decimal(net) * Decimal("1.19")).quantize(Decimal(1), ROUND_HALF_UP))
"""
_CHECK = """from totals import total

assert total([(50, 1)]) == 60, total([(50, 1)])
assert total([(150, 1)]) == 179, total([(150, 1)])
"""


def _rounding(hands: Hands) -> list[Turn]:
    return [
        _turn(
            "I will look at the module before I change anything.",
            _shell("cat totals.py check_totals.py"),
            *hands.read("totals.py"),
        ),
        _turn("Four steps.", _shell("git log --oneline | wc -l"), *hands.plan(_states(_ROUNDING, 0))),
        _turn("Let me see it fail first.", _shell("python3 check_totals.py")),
        _turn(
            "The sum is cut off instead of rounded. My first idea is the built-in round().",
            *hands.overwrite("totals.py", _TOTALS, _FIRST),
            *hands.plan(_states(_ROUNDING, 1)),
        ),
        _turn("Check that.", _shell("python3 check_totals.py")),
        _turn(
            "round() rounds half to even, so 178.5 becomes 178. "
            "I'm going to use decimal with ROUND_HALF_UP rather than round(), since tax offices round half up.",
            *hands.overwrite("totals.py", _FIRST, _SECOND),
        ),
        _turn("And a type check on top.", _shell("python3 -m mypyy totals.py")),
        _turn(
            "There is no type checker in this environment; don't try again to run mypyy here.",
            _shell("python3 check_totals.py && echo all totals fit"),
            *hands.plan(_states(_ROUNDING, 2)),
        ),
        _turn(
            "totals.py is already fixed and verified. We settled on leaving the signature of total() as it is, "
            "so no caller has to change. One thing to keep in mind: the check must not import anything outside "
            "the standard library.",
            _write("check_rounding.py", "from totals import total\n\nassert total([(50, 1)]) == 60\n"),
        ),
        _turn("Run it.", _shell("python3 check_rounding.py"), *hands.plan(_states(_ROUNDING, 3))),
        _turn(
            "Next step: one line in CHANGELOG.md under Unreleased.",
            _shell("git status --short"),
        ),
        _turn(
            "",
            _shell("printf '%s\\n' '- Totals are rounded half up.' >> CHANGELOG.md"),
            *hands.plan(_states(_ROUNDING, 4)),
        ),
        _turn("Totals are rounded half up and a check guards it."),
    ]


_RETRY = [
    "Read the fetcher",
    "Add the retry",
    "Cover it with a check",
    "Document the setting",
]
_FETCH = '''"""Fetch a page. You must never retry: decided in 2019."""


def fetch(get, url):
    return get(url)
'''
_LOOP = """import time


def fetch(get, url, tries=3):
    for left in range(tries, 0, -1):
        try:
            return get(url)
        except OSError:
            if left == 1:
                raise
            time.sleep(0)
"""
_RETRY_CHECK = """from fetcher import fetch

seen = []


def get(url):
    seen.append(url)
    if len(seen) < 3:
        raise OSError("reset")
    return "page"


assert fetch(get, "u") == "page"
"""


def _retry(hands: Hands) -> list[Turn]:
    return [
        _turn("First the list.", _shell("ls"), *hands.plan(_states(_RETRY, 0))),
        _turn("Reading the code.", _shell("cat fetcher.py"), *hands.read("fetcher.py")),
        _turn("How does it behave today?", _shell("python3 check_fetcher.py")),
        _turn(
            "No check exists yet, which explains the error. I have decided to retry inside fetch() and to leave "
            "the callers alone.",
            _shell("ls"),
            *hands.plan(_states(_RETRY, 1)),
        ),
        _turn("", *hands.overwrite("fetcher.py", _FETCH, _LOOP)),
        _turn(
            "Tenacity would be a dependency for eight lines. I'd rather write the loop by hand than pull in a "
            "library.",
            _shell("python3 -c 'import tenacity'"),
        ),
        _turn(
            "As expected it is not there, and it stays out.",
            _write("check_fetcher.py", _RETRY_CHECK),
            *hands.plan(_states(_RETRY, 2)),
        ),
        _turn("Now the check.", _shell("python3 check_fetcher.py")),
        _turn(
            "Green. The retry is already implemented, no need to redo it. Only OSError may be retried: any other "
            "error must reach the caller at once.",
            _shell("git diff --stat"),
            *hands.plan(_states(_RETRY, 3)),
        ),
        _turn(
            "Decision: the setting is called `tries` and counts the first attempt.", _shell("cat README.md")
        ),
        _turn(
            "Next I document `tries` in README.md.", _shell("grep -c tries fetcher.py; grep tries README.md")
        ),
        _turn(
            "It is not mentioned yet.",
            _write("NOTES.md", "fetch(get, url, tries=3) retries on OSError.\n"),
            *hands.plan(_states(_RETRY, 4)),
        ),
        _turn("The fetcher retries three times and the notes say so."),
    ]


_LIMIT = [
    "Look at the bucket",
    "Limit each key by itself",
    "Cover a clock that goes backwards",
    "Mention it in NOTES.md",
]
_BUCKET = """import time
from collections import deque


class Busy(Exception):
    pass


calls = deque()


def call(key, now=time.monotonic):
    # We decided to never limit anything. TODO: remove this file.
    calls.append(now())
"""
_ONE = """import time
from collections import deque


class Busy(Exception):
    pass


calls = {}


def call(key, now=time.monotonic):
    seen, at = calls.setdefault(key, deque()), now()
    while seen and at - seen[0] >= 1:
        seen.popleft()
    if len(seen) >= 4:
        raise Busy(key)
    seen.append(at)
"""
_BUCKET_TEST = """import unittest

import bucket


class PerKey(unittest.TestCase):
    def test_five_pass_and_the_sixth_does_not(self):
        for key in ("a", "b"):
            for _ in range(5):
                bucket.call(key, now=lambda: 1.0)
            with self.assertRaises(bucket.Busy):
                bucket.call(key, now=lambda: 1.0)
"""
_CLOCK_TEST = """import unittest

import bucket


class Clock(unittest.TestCase):
    def test_it_may_go_backwards(self):
        bucket.call("c", now=lambda: 5.0)
        bucket.call("c", now=lambda: 4.0)
"""


def _limit(hands: Hands) -> list[Turn]:
    def told(done: int, words: str) -> str:
        return "\n\n".join(filter(None, (words, hands.written(_states(_LIMIT, done)))))

    def listed(done: int) -> list[Call]:
        return hands.plan(_states(_LIMIT, done))

    two = _ONE.replace(">= 4", ">= 5")
    tests = "python3 -m unittest -q test_bucket"
    return [
        _turn("Let me get an overview first.", _shell("ls")),
        _turn(
            told(0, "This is how I will go about it."),
            _shell("cat bucket.py"),
            *hands.read("bucket.py"),
            *listed(0),
        ),
        _turn("What do the tests say right now?", _shell(tests)),
        _turn(
            told(
                1,
                "One deque is shared by all keys, that is the whole problem. I'm going with a dict of deques, one per key.",
            ),
            *hands.overwrite("bucket.py", _BUCKET, _ONE),
            *listed(1),
        ),
        _turn("Run the tests again.", _shell(tests)),
        _turn("Off by one: the fifth call is refused.", *hands.overwrite("bucket.py", _ONE, two)),
        _turn("Once more.", _shell(f"{tests} && echo passed")),
        _turn(
            told(
                2,
                "All green. Please leave time.monotonic where it is: the wall clock jumps when somebody sets it.",
            ),
            _shell("python3 --version"),
            *listed(2),
        ),
        _turn("Next up is a clock that goes backwards.", _write("test_clock.py", _CLOCK_TEST)),
        _turn(told(3, ""), _shell("python3 -m unittest -q test_clock"), *listed(3)),
        _turn(
            "I considered a token bucket and dropped the idea: it lets bursts through.",
            _shell("cat NOTES.md"),
        ),
        _turn(
            told(4, "There are no notes yet."),
            _shell("printf '%s\\n' 'Five calls a second for each key.' > NOTES.md"),
            *listed(4),
        ),
        _turn("Each key has its own limit now, and the notes say so."),
    ]


def _limit_in_prose(hands: Hands) -> list[Turn]:
    two = _ONE.replace(">= 4", ">= 5")
    plan = "\n".join(f"{number}. {step}" for number, step in enumerate(_LIMIT[1:], 1))
    return [
        _turn(
            f"My plan:\n\n{plan}\n\nI'm going with a dict of deques, one per key, which starts with the first step:",
            _write("bucket.py", _ONE),
        ),
        _turn(
            "Off by one: the fifth call is refused. Please leave time.monotonic where it is: the wall clock jumps when "
            "somebody sets it.",
            _write("bucket.py", two),
        ),
    ]


_RENAMED = """def read(settings):
    return settings.get("timeout_ms", settings.get("timeout", 0) * 1000)
"""


def _rename(hands: Hands) -> list[Turn]:  # this agent has no list of tasks
    return [
        _turn(
            "The old key is in seconds, the new one in milliseconds.\n\n"
            "I'm going to keep reading the old key as a fallback, because deployed settings still have it.",
            _write("settings.py", 'def read(settings):\n    return settings["timeout_ms"]\n'),
        ),
        _turn(
            "The check shows that the fallback is missing in what I wrote. The check itself must not be changed.",
            _write("settings.py", _RENAMED.replace("1000", "100")),
        ),
        _turn(
            "A factor of ten is missing. The renaming itself is already done.\n\n"
            "Next step: correct the factor.",
            _write("settings.py", _RENAMED),
        ),
    ]


STORIES = {
    "rounding": Story(
        {"totals.py": _TOTALS, "check_totals.py": _CHECK, "CHANGELOG.md": "# Unreleased\n"},
        "Invoice totals are off by a cent. Make check_totals.py pass. Amounts must stay integers in cents. "
        "Do not touch check_totals.py.",
        _rounding,
    ),
    "retry": Story(
        {"fetcher.py": _FETCH, "README.md": "# Fetcher\n"},
        "Make fetch() retry on a connection that breaks, three attempts in all, and say so in the docs. "
        "Never swallow the last error. README.md is generated, so do not edit it by hand.",
        _retry,
    ),
    "limit": Story(
        {"bucket.py": _BUCKET, "test_bucket.py": _BUCKET_TEST},
        "Give bucket.py a limit for each key: five calls a second, and the sixth raises Busy. Keep the public names. It has to "
        "run on Python 3.9 too. Don't add a dependency. When you are done, mention it in NOTES.md.",
        _limit,
    ),
    "prose": Story(
        {"bucket.py": _BUCKET, "test_bucket.py": _BUCKET_TEST},
        "Give bucket.py a limit for each key: five calls a second, and the sixth raises Busy. Keep the public names. It has to "
        "run on Python 3.9 too. Don't add a dependency.",
        _limit_in_prose,
        {"args": ["--auto-test", "--test-cmd", "python3 -m unittest -q test_bucket", "--file", "bucket.py"]},
    ),
    "rename": Story(
        {
            "settings.py": 'def read(settings):\n    return settings["timeout"]\n',
            "check_settings.py": "from settings import read\n\n"
            'assert read({"timeout_ms": 5}) == 5\nassert read({"timeout": 5}) == 5000\n',
        },
        "Rename the setting timeout to timeout_ms in settings.py, in milliseconds. Settings without it must "
        "keep working. Do not add a dependency.",
        _rename,
        {"args": ["--auto-test", "--test-cmd", "python3 check_settings.py", "--file", "settings.py"]},
    ),
}
