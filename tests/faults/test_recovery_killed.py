"""I9: killed again while it recovers, and at any of the durable steps of a handoff: the same end state."""

from __future__ import annotations

import contextlib
import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hub.client.quick import Api
from hub.errors import Code, HubError
from hub.io.runner.proc import OWN_END, own
from tests.faults.harness import project, try_post, until, write
from tests.faults.invariants import ends
from tests.faults.test_daemon_killed import STATES, TASK, dies_while_it_goes_on, finish, run_with_fault

RECOVERY = ("recover.lock", "recover.sweep", "recover.record", "recover.told")
STEPS = 60
"""How many failpoints one session with one handoff passes, at least."""
SAMPLE = int(os.environ.get("HUB_TEST_STEPS", "5"))


def test_killed_while_it_recovers(work):
    """In each state a daemon dies, and the next one at a point of its recovery; the one after that goes on to the next."""
    made, oracle = work
    run_with_fault(made, f"fsm.{STATES[0]}.post_rename=kill9")
    for state, point in zip([*STATES[1:], ""], [*RECOVERY, *RECOVERY[2:]], strict=True):
        dies_while_it_goes_on(made, point)
        if state:
            dies_while_it_goes_on(made, f"fsm.{state}.post_rename")
    finish(made, oracle)


def test_what_a_killed_daemon_had_for_a_while_goes_at_the_next_start(made, oracle, gate):
    """A folder with the objects of a look stayed for ever, and so did the record of a session that was half written.

    A named pipe in the place of a `.gitignore` holds git, and the daemon with it, until the daemon is killed.
    """
    pipe = "mkdir folder && touch folder/new.txt && mkfifo folder/.gitignore"
    made.script(
        "demo-first", write(oracle, "a.txt", "one"), {"run": pipe}, {"run": gate.command}, {"done": ""}
    )
    made.configure()
    api = made.start()
    api.post("/api/run", {"task": "write"})
    held = until(lambda: list(made.hub.glob("worktrees/*/folder/.gitignore")), "the agent has made the pipe")
    with ThreadPoolExecutor() as threads:
        look = threads.submit(try_get, api, "/api/session/diff")
        writer = until(lambda: opened(held[0]), "the daemon's git is at the pipe")
        made.kill()
        look.result()
    assert list(made.hub.glob("git/*/*/.live.*.tmp"))
    held[0].unlink()
    os.close(writer)  # its git goes on, and ends
    of_a_record = made.hub / "sessions" / "s-1" / f".fsm.json.{made.daemon.pid}-1.0{OWN_END}"
    of_a_record.parent.mkdir(mode=0o700)
    of_a_record.touch(mode=0o600)
    of_an_agent = held[0].with_name(of_a_record.name)
    of_an_agent.touch()
    of_the_living = made.hub / "git" / f"{own('take')}0{OWN_END}"
    of_the_living.mkdir(mode=0o700)
    made.start()
    assert {*made.hub.rglob(f".*{OWN_END}")} == {of_the_living, of_an_agent}
    of_the_living.rmdir()
    of_an_agent.unlink()
    gate.open()
    ends(made, oracle, starts=1)


def opened(pipe: Path) -> int:
    """The end at which one writes; 0 while nobody reads."""
    with contextlib.suppress(OSError):
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    return 0


def try_get(api: Api, path: str) -> None:
    """The daemon may die while it answers."""
    with contextlib.suppress(HubError):
        api.get(path)


def chosen(kind: str) -> list[int]:
    """Another sample for each kind of fault, the same in every run."""
    return sorted(random.Random(kind).sample(range(1, STEPS), SAMPLE))


@pytest.mark.parametrize("step", chosen("kill9"))
def test_killed_at_the_nth_durable_step(work, step):
    """Whatever step of the session it is, the next daemon ends it in the one right way."""
    made, oracle = work
    with contextlib.suppress(AssertionError):  # the first steps are those of the start itself
        try_post(made.start(HUB_FAILPOINTS=f"*=kill9@{step}"), "/api/run", TASK)
    assert made.wait_dead() == -9
    finish(made, oracle)


@pytest.mark.parametrize("step", chosen("enospc"))
def test_a_full_disk_at_the_nth_durable_step(work, step):
    """One failed step, wherever it is, delays the session and changes nothing else."""
    made, oracle = work
    api = made.start(HUB_FAILPOINTS=f"*=enospc@{step}")
    until(lambda: try_run(api), "the session is started")
    ends(made, oracle, starts=2, verified=True, handoffsDone=1)


def try_run(api: Api) -> bool:
    """Whether the session was started; a full disk may refuse it, or restart the actor that was to answer."""
    try:
        api.post("/api/run", TASK)
    except HubError as error:
        if error.code not in (Code.NO_SPACE, Code.UNAVAILABLE, Code.SESSION_ALREADY_RUNNING):
            raise
        return error.code is Code.SESSION_ALREADY_RUNNING
    return True


def test_a_session_passes_enough_durable_steps(tmp_path):
    """The samples above lie within what one session really does: its last step can be killed too."""
    with project(tmp_path) as made:
        made.script("demo-first", {"limit": {"resetsIn": 3600}})
        made.script("demo-second", {"done": ""})
        made.configure()
        api = made.start(HUB_FAILPOINTS=f"*=kill9@{STEPS - 1}")
        try_post(api, "/api/run", {"task": "count"})
        assert made.wait_dead() == -9
