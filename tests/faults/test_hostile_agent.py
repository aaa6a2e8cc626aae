"""An agent may write anything: nothing it writes ends the daemon, fills its memory or keeps the API from answering."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import time
from pathlib import Path

from tests.faults.harness import Project, until
from tests.faults.invariants import ends
from tests.memory import resident

LINE_MIB = int(os.environ.get("HUB_TEST_LINE_MIB", "200"))
FLOOD = int(os.environ.get("HUB_TEST_FLOOD_LINES", "40000"))
MOST = 50 * 1024 * 1024
LETTERS = "ghijklmnop"
"""For digits: hub's own keys are random hex, and of so many numbers some are eight letters of one, and hidden."""
DIGITS = str.maketrans(LETTERS, "0123456789")

FRAME = """\
#!{python} -IS
import json, os, sys
out = sys.stdout.buffer
def line(data):
    out.write(data + b"\\n")
def emit(**members):
    line(json.dumps(members).encode())
emit(type="start", session="hostile", model="none")
emit(type="text", text="ready")
out.flush()
open(os.environ["HUB_DEMO_LOG"], "a").write(os.environ["HUB_RUN_ID"] + "\\n")
{body}
emit(type="text", text="still here")
emit(type="done", text="finished")
out.flush()
"""


def hostile(made: Project, body: str) -> None:
    """The first agent is a program that does this between its first and its last words."""
    text = FRAME.format(python=sys.executable, body=textwrap.dedent(body))
    made.script("demo-first", {"done": ""})
    made.configure(programs={"demo-first": made.program("hostile", text)})


def survived(made: Project, oracle: Path) -> list[dict]:
    """The session completed, the words after the attack were heard; answers all events."""
    until(made.ended, "the session ends by itself", patience=120)
    events = made.events()
    assert "still here" in [e["msg"] for e in events]
    ends(made, oracle, starts=1)
    return events


def test_a_line_without_an_end(made, oracle):
    """The line is cut and counted; the daemon's memory does not grow with it."""
    size = LINE_MIB * 1024 * 1024
    hostile(made, f"for _ in range({LINE_MIB}): out.write(b'x' * 1048576)\nline(b'')")
    api = made.start()
    before = resident(made.daemon.pid)
    api.post("/api/run", {"task": "flood"})
    until(made.ended, "the session ends by itself", patience=300)
    assert resident(made.daemon.pid, peak=True) - before < MOST
    events = survived(made, oracle)
    assert [e["msg"] for e in events if f"a line of {size} bytes was cut" in e["msg"]]


LINES = {
    "deep": b"[" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "bad utf-8": b'{"type":"text","text":"\xff\xfe\xc3("}',
    "nul": b'{"type":"text","text":"a\\u0000b"}',
    "raw nul": b"\x00\x00\x00",
    "line separator": '{"type":"text","text":"one\u2028two\u0085three"}'.encode(),
    "terminal": b'{"type":"text","text":"\\u001b]0;owned\\u0007\\u001b[31mred\\u001b[0m\\u009b31m"}',
    "raw terminal": b"\x1b]52;c;ZXZpbA==\x07",
    "huge integers": b'{"type":"usage","tokensIn":1' + b"0" * 400 + b',"tokensOut":-9007199254740993}',
    "infinite": b'{"type":"quota","used":1e999}',
    "not a number": b'{"type":"quota","used":NaN}',
    "duplicate keys": b'{"type":"text","text":"first","text":"second","type":"nothing"}',
    "unknown type": b'{"type":"from the future","text":"hello"}',
    "wrong types": b'{"type":"tool","id":{"a":[1]},"tool":7,"path":null}',
    "wrong result": b'{"type":"tool_result","id":[],"error":"yes","exitCode":"0"}',
    "lone surrogate": b'{"type":"text","text":"\\ud800"}',
    "not an object": b'"just words"',
    "empty": b"",
    "html": b'{"type":"text","text":"<script>alert(1)</script>"}',
    "long key": b'{"type":"text","' + b"k" * 500_000 + b'":1}',
}


def test_lines_of_every_bad_kind(made, oracle):
    """None is fatal, what cannot be read is kept and marked, and what comes out is clean text."""
    hostile(made, f"for data in {list(LINES.values())!r}: line(data)")
    made.start().post("/api/run", {"task": "write badly"})
    events = survived(made, oracle)
    unknown = [e for e in events if e["meta"].get("unknown")]
    assert len(unknown) == 7, "and an empty line says nothing"
    for event in events:
        text = json.dumps(event, ensure_ascii=False)
        assert not any(bad in text for bad in ("\x1b", "\x00", "\x9b", "\x07")), event["msg"][:80]
        event["msg"].encode()  # no lone surrogate either


def test_bad_lines_one_by_one_are_counted(made, oracle):
    """A thousand lines of an unknown type are a thousand marked events, in order."""
    hostile(made, "for n in range(1000): emit(type='from the future', n=n)")
    made.start().post("/api/run", {"task": "write badly"})
    events = survived(made, oracle)
    assert [json.loads(e["msg"])["n"] for e in events if e["meta"].get("unknown")] == list(range(1000))


def test_a_flood_of_lines(made, oracle):
    """The API answers all the while (a second, and more where the machine has other work), memory is bounded, and not one event is missing."""
    body = f"""
        letters = bytes.maketrans(b"0123456789", b"{LETTERS}")
        for n in range({FLOOD}): line((b'{{"type":"text","text":"%d"}}' % n).translate(letters))
    """
    hostile(made, body)
    api = made.start()
    before = resident(made.daemon.pid)
    api.post("/api/run", {"task": "flood"})
    slowest = 0.0

    def ended():
        nonlocal slowest
        begun = time.monotonic()
        api.get("/api/status")
        slowest = max(slowest, time.monotonic() - begun)
        return made.ended()

    until(ended, "the session ends by itself", patience=180)
    assert slowest < 3
    assert resident(made.daemon.pid, peak=True) - before < MOST
    events = survived(made, oracle)
    numbers = [e["msg"].translate(DIGITS) for e in events if set(e["msg"]) <= set(LETTERS)]
    assert [int(number) for number in numbers if number] == list(range(FLOOD))
