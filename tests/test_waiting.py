"""No test waits for a time to pass, and what tests wait with keeps its word."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest
import trio

from tests.waiting import Gate, answered, changed, ended, ends, eventually, until

ROOT = Path(__file__).resolve().parent

ALLOWED = {
    "waiting.py": "the one place that polls",
    "supervisors": "on Trio's virtual clock: no second passes",
    "bench": "measures over a time, or has something happen at a rate",
    "golden/record.py": "no test: records real agents, which do not tell when their store is written",
}
"""Files and folders that may call a sleep, each with its reason."""

POLL = re.compile(r"\b(?:while|until)\b[^\n]*\bsleep\s+0?\.\d")
"""A poll in a program that a test starts; see `Gate`. A sleep for ever, which nobody waits for, is none."""


def slept(source: str) -> list[int]:
    """The lines that wait for a time: a call of a sleep, or a program that polls."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="sleep" | "sleep_until") | ast.Name(id="sleep" | "sleep_until")
            ):
                waits = not (node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0)
                found += [node.lineno] * waits
            case ast.Call(
                args=[*_, ast.Attribute(attr="sleep"), ast.Constant()]
            ):  # run_sync(time.sleep, 0.01)
                found.append(node.lineno)
            case ast.Constant(value=str(text)) if POLL.search(text):
                found.append(node.lineno)
            case ast.JoinedStr(values=parts) if POLL.search(
                "".join(part.value if isinstance(part, ast.Constant) else "x" for part in parts)
            ):
                found.append(node.lineno)
    return found


def test_no_test_sleeps() -> None:
    """A sleep is too long on a quick machine and too short on a slow one: wait for what is to happen."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        inside = path.relative_to(ROOT)
        if not {inside.parts[0], inside.as_posix()} & ALLOWED.keys() and path != Path(__file__):
            found[str(path)] = slept(path.read_text())
    assert {path: lines for path, lines in found.items() if lines} == {}, "wait with tests/waiting.py instead"


def test_each_exception_is_still_needed() -> None:
    for name in ALLOWED:
        paths = [ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py")
        assert any(slept(path.read_text()) for path in paths), name


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("time.sleep(0.1)", 1),
        ("await trio.sleep(TICK)", 1),
        ("from time import sleep\nsleep(1)", 1),
        ("trio.to_thread.run_sync(time.sleep, 0.01)", 1),
        ("x = f'until test -e {gate}; do sleep 0.05; done'", 1),
        ("await trio.sleep(0)", 0),
        ("await trio.sleep_forever()", 0),
        ("x = 'import time; time.sleep(1000)'", 0),
        ("x = {'sleep': 600}", 0),
    ],
)
def test_the_rule_finds_what_it_forbids(source: str, found: int) -> None:
    assert len(slept(source)) == found


def test_until_gives_up_in_words() -> None:
    """A helper that cannot fail would prove nothing."""
    with pytest.raises(AssertionError, match="the moon is blue"):
        until(lambda: False, "the moon is blue", patience=0.01)
    assert until(lambda: "yes", "it is so") == "yes"


async def test_each_wait_is_bounded(tmp_path: Path) -> None:
    for wait in (
        eventually(lambda: False, 0.01),
        changed(tmp_path, lambda: False, 0.01),
        answered(trio.lowlevel.checkpoint, lambda _: False, 0.01),
        ends(os.getpid(), patience=0.01),
    ):
        with pytest.raises(trio.TooSlowError):
            await wait
    assert ended(os.getpid(), 0.01) is False


async def test_a_processes_end_is_heard() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:  # noqa: ASYNC220  # a child that is waited for
        assert child.stdin is not None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends, child.pid)
            await trio.testing.wait_all_tasks_blocked()
            child.stdin.close()
        assert ended(child.pid)
    await ends(child.pid)
    assert ended(child.pid)


async def test_a_change_of_a_file_is_heard(tmp_path: Path) -> None:
    """Made, written to, or moved into place."""
    steps = [
        (tmp_path / "new").touch,
        lambda: (tmp_path / "new").write_text("x"),
        lambda: (tmp_path / "new").rename(tmp_path / "final"),
    ]
    holds = [
        (tmp_path / "new").exists,
        lambda: (tmp_path / "new").read_text() == "x",
        (tmp_path / "final").exists,
    ]
    for step, condition in zip(steps, holds, strict=True):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(changed, tmp_path, condition)
            await trio.testing.wait_all_tasks_blocked()
            step()


def test_a_gate_lets_one_through_whoever_comes_first(tmp_path: Path) -> None:
    with Gate(tmp_path / "gate") as gate:
        gate.open()
        subprocess.run(["sh", "-c", gate.command], check=True, timeout=30)
        with subprocess.Popen(["sh", "-c", gate.command]) as child:
            assert not ended(child.pid, 0.05)
            gate.open()
        assert child.returncode == 0
