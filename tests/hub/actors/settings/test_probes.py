"""A program is asked for its version once a minute, however often the API is polled."""

from __future__ import annotations

import time

import trio

from hub.actors.settings.probes import FRESH, Probes, VersionQuestion

PATIENCE = 60.0


async def test_a_program_is_asked_again_when_its_answer_is_old(tmp_path):
    """Its answer is good for a minute; a poll of the API starts no process each time."""
    asked = tmp_path / "asked"
    program = tmp_path / "agent"
    program.write_text(f"#!/bin/sh\necho x >> {asked}\necho 1.2.3\n")
    program.chmod(0o700)
    question = {"agent": VersionQuestion(str(program), ())}
    now = [0.0]
    probes = Probes(lambda: now[0])

    async def version() -> str | None:
        async with trio.open_nursery() as nursery:  # whoever is asked beside has answered when it closes
            return (await probes.answers(nursery, question, PATIENCE))["agent"].version

    first = await version()
    told = asked.stat().st_mtime
    for later, times in ((FRESH / 2, 1), (FRESH + 2, 2)):
        now[0] = told + later
        assert await version() == first == "1.2.3"
        assert asked.read_text().count("x") == times


async def test_a_program_that_takes_too_long_is_in_a_later_answer(tmp_path):
    """The first answer does without it; nobody asks it twice meanwhile."""
    asked, gate = tmp_path / "asked", tmp_path / "gate"
    program = tmp_path / "agent"
    program.write_text(f"#!/bin/sh\necho x >> {asked}\nread line < {gate}\necho 1.2.3\n")
    program.chmod(0o700)
    await trio.run_process(["mkfifo", str(gate)])
    question = {"agent": VersionQuestion(str(program), ())}
    probes = Probes(time.time)
    async with trio.open_nursery() as nursery:
        assert await probes.answers(nursery, question, 0.0) == {}
        assert await probes.answers(nursery, question, 0.0) == {}
        await trio.to_thread.run_sync(gate.write_text, "go\n")
        assert (await probes.answers(nursery, question, PATIENCE))["agent"].version == "1.2.3"
    assert asked.read_text().count("x") == 1
