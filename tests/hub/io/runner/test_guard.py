"""Runner and guardian guard each other: whichever is killed, nothing of the agent is left (P2, I6, X11)."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from hub.errors import Code
from hub.io.files import seal
from hub.io.files.sealed import NotSealed, run_key
from hub.io.processes import control
from hub.io.runner.client import RunnerLost, spawn_runner
from hub.io.runner.launch import StopGraces
from hub.io.runner.view import ClaimedNotStarted, Dead, NeverClaimed, RunEnded, Running, inspect
from tests.hub.io.runner.kit import (
    DAEMON,
    attached,
    claim_of,
    gone,
    lines,
    listen,
    run_to_end,
    script,
    spooled,
    verdict_written,
)
from tests.refusals import refuses
from tests.waiting import ends

FAMILY = DAEMON + (
    "for n in (signal.SIGTERM, signal.SIGINT): signal.signal(n, signal.SIG_IGN)\n"
    "daemon(True); daemon(False)\n"
    "if os.fork() == 0:\n"
    "    os.setsid(); daemon(False)\n"
    "    os.write(1, b'%d\\n' % os.getpid())\n"
    "    time.sleep(1000)\n"
    "os.write(1, b'%d\\n' % os.getpid())\n"
    "time.sleep(1000)\n"
)
"""An agent, a child in a session of its own, and three double-forked daemons, which all ignore what asks them to end."""


async def family(run_dir: Path, **fields: object) -> list[int]:
    async with attached(run_dir, script(FAMILY, **fields)) as client:
        pids = [int(line) for line in await lines(client, 5)]
    assert not gone(*pids)
    return pids


@pytest.mark.parametrize("victim", ["pid", "guardianPid"])
async def test_when_either_guard_is_killed_every_descendant_is_gone_at_once(run_dir, victim):
    """Every process of the run is ended, also one that called setsid; the graces of a stop are not waited for."""
    pids = await family(run_dir, graces=StopGraces(600, 600, 600))
    claim = claim_of(run_dir)
    os.kill(claim[victim], signal.SIGKILL)
    await ends(*pids, patience=10.0)  # a second, and what else a busy machine does
    await ends(claim["pid"], claim["guardianPid"])


async def test_a_killed_runner_leaves_a_dead_run_with_its_spool(run_dir):
    pids = await family(run_dir)
    claim = claim_of(run_dir)
    os.kill(claim["pid"], signal.SIGKILL)
    await ends(claim["pid"], claim["guardianPid"])
    size = sum(len(f"{pid}\n") for pid in pids)
    assert inspect(run_dir) == Dead(spool_bytes=size, settled=True)
    data = b"".join(chunk.data for chunk in spooled(run_dir))
    assert sorted(map(int, data.split())) == sorted(pids)
    assert "killed by signal 9" in (run_dir / "runner.log").read_text()


async def test_a_runner_without_its_guardian_leaves_a_verdict(run_dir):
    pids = await family(run_dir)
    os.kill(claim_of(run_dir)["guardianPid"], signal.SIGKILL)
    state = await verdict_written(run_dir)
    assert state.verdict.reason == "guardian_killed"
    assert state.verdict.asked
    assert gone(*pids)


async def test_when_both_guards_are_killed_the_sweep_finds_the_rest(run_dir):
    """P2: the agent has its death signal; orphans fell to init and are found by their run id."""
    pids = await family(run_dir)
    claim = claim_of(run_dir)
    for name in ("guardianPid", "pid"):
        os.kill(claim[name], signal.SIGSTOP)
    for name in ("guardianPid", "pid"):
        os.kill(claim[name], signal.SIGKILL)
    agent = json.loads((run_dir / "agent.json").read_text())["pid"]
    assert agent in pids
    await ends(claim["pid"], claim["guardianPid"], agent)
    assert {one.pid for one in control.find_by_env({run_dir.name})} <= set(pids)
    await control.sweep({run_dir.name})
    assert gone(*pids)


async def test_a_connected_daemon_learns_that_the_runner_was_killed(run_dir):
    async with attached(run_dir, script("import time; time.sleep(1000)")) as client:
        os.kill(claim_of(run_dir)["pid"], signal.SIGKILL)
        with pytest.raises(RunnerLost) as caught:
            await listen(client)
    assert not caught.value.displaced


@pytest.mark.parametrize("whom", ["pid", "guardianPid"])
async def test_a_terminated_guard_stops_the_agent_in_order(run_dir, whom):
    """A service manager's SIGTERM is an orderly stop, whichever of the two it hits."""
    text = "import time\ntry: print('up'); time.sleep(1000)\nexcept KeyboardInterrupt: print('in order')"
    async with attached(run_dir, script(text)) as client:
        await lines(client, 1)
        os.kill(claim_of(run_dir)[whom], signal.SIGTERM)
        heard = await listen(client)
    assert heard.stdout == b"in order\n"
    assert (heard.verdict.code, heard.verdict.reason) == (0, "terminated")


async def test_the_guards_hold_nothing_of_the_daemon(run_dir, leak):
    """A pipe or a lock that the daemon had open would live on in them: stdio is /dev/null and the log."""
    await spawn_runner(run_dir, script("import time; time.sleep(1000)"))
    claim = claim_of(run_dir)
    for name in ("pid", "guardianPid"):
        opened = _opened(claim[name])
        assert [str(opened[fd]) for fd in (0, 1, 2)] == [
            "/dev/null",
            "/dev/null",
            str(run_dir / "runner.log"),
        ]
        assert Path("/etc/passwd") not in opened.values()
        assert os.getsid(claim[name]) == claim[name]


def _opened(pid: int) -> dict[int, Path]:
    found = {}
    for one in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found[int(one.name)] = one.readlink()
    return found


async def test_eight_spawns_at_once_start_the_agent_once(run_dir, tmp_path):
    """I2: the claim is exclusive; a run directory starts one agent ever."""
    log = tmp_path / "starts"
    launch = script(f"open({str(log)!r}, 'a').write('started\\n')", linger=0.0)
    won: list[bool] = []

    async def spawn() -> None:
        won.append(await spawn_runner(run_dir, launch))

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(spawn)
    await verdict_written(run_dir)
    assert sorted(won) == [False] * 7 + [True]
    assert log.read_text() == "started\n"
    assert await spawn_runner(run_dir, launch) is False
    assert log.read_text() == "started\n"
    assert not (run_dir / "launch.json").exists()


async def test_nothing_runs_when_the_start_cannot_be_recorded(run_dir, tmp_path):
    """P4: no agent.json means that certainly nothing was executed."""
    log = tmp_path / "starts"
    run_dir.mkdir(0o700)
    (run_dir / "agent.json").mkdir()
    with refuses(Code.DISPATCH_FAILED) as caught:
        await spawn_runner(run_dir, script(f"open({str(log)!r}, 'a')"))
    assert "agent.json" in caught.value.detail
    (run_dir / "agent.json").rmdir()
    assert inspect(run_dir) == ClaimedNotStarted()
    assert not log.exists()


async def test_a_run_is_told_by_its_files_and_the_process_table(run_dir):
    assert inspect(run_dir) == NeverClaimed()
    await spawn_runner(run_dir, script("import time; time.sleep(1000)"))
    assert inspect(run_dir) == Running()
    async with attached(run_dir) as client:
        await client.stop()
        heard = await listen(client)
    assert inspect(run_dir) == RunEnded(heard.verdict)


@pytest.mark.parametrize(("field", "value"), [("starttime", 1), ("bootId", "another boot")])
async def test_a_reused_process_number_is_not_taken_for_the_runner(run_dir, field, value):
    """X7, X8: a number alone proves nothing."""
    await spawn_runner(run_dir, script("import time; time.sleep(1000)"))
    claim = claim_of(run_dir)
    del claim["seal"]
    body = json.dumps({**claim, field: value}).encode()
    (run_dir / "claim").write_bytes(seal.closed(run_key(run_dir), b"claim", body))
    state = inspect(run_dir)
    assert isinstance(state, Dead)
    assert state.settled is (field == "bootId")


@pytest.mark.parametrize("name", ["claim", "verdict.json"])
async def test_what_the_runner_did_not_write_is_not_believed(run_dir, name):
    """A forged verdict would end a session that runs; a forged claim would name somebody else's process."""
    await spawn_runner(run_dir, script("import time; time.sleep(1000)"))
    true = claim_of(run_dir)
    (run_dir / name).unlink(missing_ok=True)
    (run_dir / name).write_text(json.dumps({**true, "pid": os.getpid(), "code": 0, "reason": "exited"}))
    with pytest.raises(NotSealed):
        inspect(run_dir)


async def test_the_agent_may_not_talk_to_its_own_runner(run_dir):
    """It could stop itself, answer its own questions, or drive the daemon out."""
    text = (
        "import os, socket\n"
        "s = socket.socket(socket.AF_UNIX); os.chdir(os.environ['RUN']); s.connect('control.sock')\n"
        "try: s.sendall(b'\\x01\\0\\0\\0\\0'); print(repr(s.recv(1)))\n"
        "except (BrokenPipeError, ConnectionResetError): print(repr(b''))\n"
    )
    heard = await run_to_end(run_dir, script(text, env={"RUN": str(run_dir)}))
    assert heard.stdout == b"b''\n"
