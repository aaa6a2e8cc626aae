"""A command's output is told in whole lines while it runs, each byte once, and the rest at its end."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hub.actors.common.live_output import _MOST, LiveOutput
from hub.errors import Code, HubError


async def looked(output: LiveOutput, *pieces: bytes) -> None:
    """One look after each piece."""
    clock = trio.lowlevel.current_clock()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(output.follow)
        for piece in pieces:
            await wait_all_tasks_blocked()
            output.hold(piece)
            clock.jump(output.pace)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()


async def test_lines_are_whole_and_the_rest_comes_at_the_end(mock_clock):
    """The background's version told half a line, and half a letter of two bytes."""
    told: list[str] = []
    output = LiveOutput(collect(told), 2.0)
    await looked(output, b"one\ntw", b"o \xc3", b"\xa9\n\n", b"three")
    assert told == ["one", "two \u00e9"]
    await output.finish()
    await output.finish()
    assert told == ["one", "two \u00e9", "three"]


async def test_what_is_asked_for_is_told_to_its_end(mock_clock):
    """What a terminal's command printed after the last look was told by nobody."""
    told: list[str] = []
    come = [b"one\n", b"two"]
    output = LiveOutput(collect(told), 2.0, lambda: come.pop(0) if come else b"")
    await looked(output, b"")
    assert told == ["one"]
    await output.finish()
    assert told == ["one", "two"]


async def test_a_line_without_an_end_holds_nothing_up(mock_clock):
    """One of more than 64 KiB kept a terminal's version from ever telling anything again."""
    told: list[str] = []
    output = LiveOutput(collect(told), 2.0)
    await looked(output, b"first\n" + b"x" * _MOST, b"xxx", b"x\nnext\n")
    assert told == ["[...]", "next"], "nor is a piece of it told, in which nobody could tell what is secret"


async def test_of_too_much_whole_lines_are_let_go(mock_clock):
    told: list[str] = []
    output = LiveOutput(collect(told), 2.0)
    await looked(output, b"0123456\n" * (_MOST // 8 + 100))
    assert told[0].startswith("[...]\n0123456\n")
    assert set(told[0].splitlines()[1:]) == {"0123456"}


async def test_a_log_that_takes_nothing_now_stops_no_command_and_at_the_end_it_is_said(mock_clock):
    async def refuses(_: str) -> None:
        raise HubError(Code.NO_SPACE, "full")

    output = LiveOutput(refuses, 2.0)
    await looked(output, b"one\n", b"two\nthr")
    with pytest.raises(HubError):
        await output.finish()


async def test_what_is_being_told_when_the_command_is_stopped_is_told(mock_clock):
    told: list[str] = []
    go = trio.Event()

    async def slow(lines: str) -> None:
        await go.wait()
        told.append(lines)

    output = LiveOutput(slow, 2.0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(output.follow)
        await wait_all_tasks_blocked()
        output.hold(b"one\n")
        mock_clock.jump(2.0)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
        go.set()
    assert told == ["one"]


def collect(told: list[str]):
    async def say(lines: str) -> None:
        told.append(lines)

    return say
