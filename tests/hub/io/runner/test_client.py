"""Attaching to a runner: replay, exactly-once input, displacement, orphans, pause and stop."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import trio
import trio.testing

from hub.errors import Code
from hub.io.runner import client as child
from hub.io.runner import proc
from hub.io.runner import wire as runner_wire
from hub.io.runner.client import RunnerClient, RunnerLost, spawn_runner
from hub.io.runner.launch import StopGraces
from hub.io.runner.view import Dead, Output, RunEnd, RunEnded, RunnerStatus, Running, inspect
from tests.hub.io.runner.kit import (
    DAEMON,
    attached,
    claim_of,
    gone,
    lines,
    listen,
    run_to_end,
    script,
    verdict_written,
)
from tests.memory import resident
from tests.refusals import refuses
from tests.waiting import answered, changed, ends, eventually

ECHO = "import sys\nprint('up')\nfor line in sys.stdin: print('got ' + line, end='')"
"""Answers every line; leaves at the end of its input."""

COUNT = "import os, time\nn = 0\nwhile True:\n    os.write(1, b'%08d\\n' % n); n += 1; time.sleep(0.0005)"
"""Writes nine bytes, again and again."""


def pipe(text: str, **fields: object):
    return script(text, stdin="pipe", **fields)


# --- replay -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [0, 1, 1000, 4096])
async def test_a_daemon_that_comes_back_gets_every_byte_once(run_dir, taken):
    """From the offset it has taken, byte-exact, into the live stream."""
    async with attached(run_dir, script(COUNT)) as client:
        first = (await listen(client, lambda heard: len(heard.stdout) >= 4096)).stdout
    async with RunnerClient(run_dir) as client:
        hello = await client.attach(from_offset=taken)
        assert hello.stdout_bytes >= len(first)
        await client.stop()
        heard = await listen(client)
    assert heard.of(Output)[0].offset == taken
    whole = first[:taken] + heard.stdout
    assert whole == (run_dir / "stdout.spool").read_bytes()
    assert whole.startswith(first)


async def test_a_daemon_killed_in_the_middle_costs_the_agent_nothing(run_dir):
    """kill -9 of a real daemon process; the next one re-attaches to the same agent."""
    await spawn_runner(run_dir, pipe(ECHO))
    daemon = (
        "import sys, trio\nfrom pathlib import Path\nfrom hub.io.runner.client import RunnerClient\n"
        "async def main():\n"
        "    async with RunnerClient(Path(sys.argv[1])) as client:\n"
        "        await client.attach(); await client.write('a', b'one\\n')\n"
        "        async for message in client: print(message, flush=True)\n"
        "trio.run(main)\n"
    )
    process = await trio.lowlevel.open_process(
        [sys.executable, "-c", daemon, str(run_dir)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[4]
    )
    seen = b""
    while b"got one" not in seen:
        seen += await process.stdout.receive_some()
    process.kill()
    await process.wait()
    await process.stdout.aclose()
    async with RunnerClient(run_dir) as client:
        await client.attach()
        await client.write("a", b"one\n")
        await client.write("b", b"two\n")
        await client.close_stdin()
        heard = await listen(client)
    assert heard.stdout == b"up\ngot one\ngot two\n"
    assert heard.verdict.code == 0


async def test_stderr_is_replayed_from_its_own_offset(run_dir):
    text = "import os\nos.write(1, b'12345'); os.write(2, b'abcde')"
    await spawn_runner(run_dir, script(text, linger=30.0))
    await verdict_written(run_dir)
    async with RunnerClient(run_dir) as client:
        hello = await client.attach(from_offset=3, from_stderr=4)
        heard = await listen(client)
        await client.detach()
    assert (hello.stdout_bytes, hello.status.state) == (5, "ended")
    assert (heard.stdout, heard.stderr) == (b"45", b"e")


async def test_a_verdict_that_was_not_collected_waits_for_the_next_daemon(run_dir):
    """A daemon that dies behind the last byte loses nothing."""
    await spawn_runner(run_dir, script("print('x')", linger=30.0))
    await verdict_written(run_dir)
    async with attached(run_dir) as client:
        assert (await listen(client)).stdout == b"x\n"
    claim = claim_of(run_dir)
    await ends(claim["pid"])


async def test_a_slow_daemon_costs_the_runner_no_memory(run_dir):
    """Back-pressure is the spool, not a buffer."""
    text = "import os\nchunk = b'x' * (1 << 20)\nfor _ in range(100): os.write(1, chunk)\n"
    await spawn_runner(run_dir, script(text + "os.write(2, b'done'); import time; time.sleep(1000)"))
    pid = claim_of(run_dir)["pid"]
    before = resident(pid)
    async with attached(run_dir) as client:
        await changed(run_dir, lambda: (run_dir / "stderr.spool").read_bytes() == b"done")
        assert resident(pid) - before < 20 * 1024 * 1024
        await client.stop()
        heard = await listen(client)
    assert len(heard.stdout) == 100 << 20
    assert set(heard.stdout) == {ord("x")}


# --- who may talk -------------------------------------------------------------------------------------


async def test_a_second_daemon_displaces_the_first(run_dir):
    await spawn_runner(run_dir, pipe(ECHO))
    async with RunnerClient(run_dir) as first, RunnerClient(run_dir) as second:
        await first.attach()
        await lines(first, 1)
        await second.attach()
        with pytest.raises(RunnerLost) as caught:
            await listen(first)
        assert caught.value.displaced
        await second.write("k", b"hi\n")
        assert await lines(second, 2) == ["up", "got hi"]


async def test_a_connection_that_does_not_attach_disturbs_nobody(run_dir):
    """Only ATTACH displaces; orders without it end the connection."""
    async with attached(run_dir, pipe(ECHO)) as client:
        for message in (
            runner_wire.encode(runner_wire.STOP),
            b"\xff" * 64,
            runner_wire.encode(runner_wire.ATTACH, b"["),
        ):
            async with RunnerClient(run_dir) as other:
                await other._send(message)
                with pytest.raises(RunnerLost):
                    await other._receive()
        await client.write("k", b"hi\n")
        assert await lines(client, 2) == ["up", "got hi"]


async def test_many_idle_connections_do_not_shut_the_daemon_out(run_dir):
    await spawn_runner(run_dir, pipe(ECHO))
    idle: list[socket.socket] = []
    for _ in range(40):
        assert _joins(run_dir, idle)
    async with attached(run_dir) as client:
        assert await lines(client, 1) == ["up"]
    for one in idle:
        one.close()


def _joins(run_dir: Path, queue: list[socket.socket]) -> bool:
    """One more connection that says nothing; False when the runner's queue is full."""
    connection = socket.socket(socket.AF_UNIX)
    queue.append(connection)
    connection.setblocking(False)
    with contextlib.chdir(run_dir), contextlib.suppress(BlockingIOError):
        connection.connect("control.sock")
        return True
    return False


async def test_a_path_longer_than_a_socket_address_works(run_dir, tmp_path):
    """sun_path holds 107 bytes; projects live deeper."""
    deep = tmp_path.joinpath(*["d" * 60] * 4)
    deep.mkdir(parents=True)
    assert len(str(deep)) > 200
    assert (await run_to_end(deep / run_dir.name, script("print('x')"))).stdout == b"x\n"


async def test_a_full_queue_is_waited_for_and_not_taken_for_a_connection(run_dir):
    """Trio's own connect takes the EAGAIN of a unix socket for a connection in the making, and fails later."""
    await spawn_runner(run_dir, pipe(ECHO))
    runner = claim_of(run_dir)["pid"]
    queue: list[socket.socket] = []
    os.kill(runner, signal.SIGSTOP)
    try:
        while _joins(run_dir, queue):
            assert len(queue) < 1000
        with trio.move_on_after(0.1) as patience:
            await RunnerClient(run_dir).__aenter__()
        assert patience.cancelled_caught
    finally:
        os.kill(runner, signal.SIGCONT)
        for one in queue:
            one.close()
    async with attached(run_dir) as client:
        assert await lines(client, 1) == ["up"]


async def test_connecting_where_no_runner_is_says_so(run_dir):
    with pytest.raises(RunnerLost):
        await RunnerClient(run_dir).__aenter__()


# --- input --------------------------------------------------------------------------------------------


async def test_each_key_is_written_once(run_dir):
    """The daemon sends everything again after a crash; the agent sees it once."""
    async with attached(run_dir, pipe(ECHO)) as client:
        for key in ("a", "b", "a"):
            await client.write(key, key.encode() + b"\n")
        await listen(client, lambda heard: len(heard.taken) == 3)
    async with attached(run_dir) as client:
        for key in ("a", "b", "c"):
            await client.write(key, key.encode() + b"\n")
        await client.close_stdin()
        heard = await listen(client)
    assert heard.taken == [("a", "duplicate"), ("b", "duplicate"), ("c", "accepted")]
    assert heard.stdout == b"up\ngot a\ngot b\ngot c\n"
    keys = [json.loads(line) for line in (run_dir / "stdin.keys").read_text().splitlines()]
    assert [(one["key"], one["bytes"]) for one in keys] == [("a", 2), ("b", 2), ("c", 2)]


async def test_a_write_to_an_agent_without_input_is_refused_and_not_taken(run_dir):
    async with attached(run_dir, script("print('up'); import time; time.sleep(1000)")) as client:
        await client.write("k", b"x")
        heard = await listen(client, lambda heard: heard.taken)
    assert heard.taken == [("k", "closed")]
    assert (run_dir / "stdin.keys").read_bytes() == b""


async def test_an_agent_that_does_not_read_blocks_nothing_else(run_dir):
    """64 MiB wait for it at most, and the stop goes through."""
    async with attached(run_dir, pipe("print('up'); import time; time.sleep(1000)")) as client:
        for n in range(9):
            await client.write(f"k{n}", b"x" * (8 << 20))
        heard = await listen(client, lambda heard: len(heard.taken) == 9)
        assert [result for _, result in heard.taken] == ["accepted"] * 8 + ["full"]
        await client.stop()
        assert (await listen(client)).verdict.signal == signal.SIGINT


async def test_a_large_write_arrives_whole(run_dir):
    text = "import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    data = os.urandom(3_000_000)
    async with attached(run_dir, pipe(text)) as client:
        await client.write("k", data)
        await client.close_stdin()
        heard = await listen(client)
    import hashlib

    assert heard.stdout.decode().strip() == hashlib.sha256(data).hexdigest()


async def test_an_agent_that_closed_its_input_refuses_later_writes(run_dir):
    async with attached(
        run_dir, pipe("import os, time; os.close(0); print('up'); time.sleep(1000)")
    ) as client:
        await lines(client, 1)
        await client.write("a", b"x")
        await listen(client, lambda heard: heard.taken)
        await client.write("b", b"x")
        assert (await listen(client, lambda heard: heard.taken)).taken == [("b", "closed")]


# --- stop and pause -----------------------------------------------------------------------------------

RECORDER = (
    "import os, signal, sys, time\n"
    "def note(number, _): os.write(1, signal.Signals(number).name.encode() + b'\\n')\n"
    "for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1): signal.signal(n, note)\n"
    "print('up')\n"
    "while True: time.sleep(1000)\n"
)
"""Survives everything but SIGKILL, and tells what it got."""


async def stopped(run_dir: Path, graces: StopGraces | None, text: str = RECORDER):
    async with attached(run_dir, script(text)) as client:
        first = await lines(client, 1)
        await client.stop(graces, "handoff")
        heard = await listen(client)
    return first, heard


async def test_the_ladder_is_interrupt_terminate_kill(run_dir):
    """The stop ladder: interrupt, terminate, kill."""
    _, heard = await stopped(run_dir, StopGraces(0.1, 0.1, 0.1))
    assert heard.stdout.split() == [b"SIGINT", b"SIGTERM"]
    assert (heard.verdict.signal, heard.verdict.reason, heard.verdict.asked) == (
        signal.SIGKILL,
        "handoff",
        True,
    )


@pytest.mark.parametrize(
    ("graces", "seen"),
    [
        (StopGraces(0, 0.1, 0.1), [b"SIGTERM"]),
        (StopGraces(0.1, 0, 0), [b"SIGINT"]),
        (StopGraces(0, 0, 0), []),
    ],
)
async def test_a_grace_of_zero_skips_its_step(run_dir, graces, seen):
    _, heard = await stopped(run_dir, graces)
    assert heard.stdout.split() == seen
    assert heard.verdict.signal == signal.SIGKILL


async def test_an_agent_that_stops_in_order_keeps_its_exit_code_and_last_words(run_dir):
    text = "import time\nprint('up')\ntry: time.sleep(1000)\nexcept KeyboardInterrupt: print('saved'); raise SystemExit(5)"
    _, heard = await stopped(run_dir, StopGraces(30, 30, 30), text)
    assert heard.stdout == b"saved\n"
    assert (heard.verdict.code, heard.verdict.asked) == (5, True)


async def test_a_shorter_stop_overtakes_a_longer_one(run_dir):
    async with attached(run_dir, script(RECORDER)) as client:
        await lines(client, 1)
        await client.stop(StopGraces(600, 600, 600), "handoff")
        assert await lines(client, 1) == ["SIGINT"]
        await client.stop(StopGraces(0, 0, 1), "again")
        heard = await listen(client)
    assert heard.stdout == b""
    assert (heard.verdict.signal, heard.verdict.reason) == (signal.SIGKILL, "handoff")


async def test_the_last_step_reaches_descendants_in_other_sessions(run_dir):
    text = RECORDER.replace("print('up')", DAEMON + "daemon(False)")
    first, heard = await stopped(run_dir, StopGraces(0, 0, 1), text)
    assert gone(int(first[0]))
    assert heard.verdict.signal == signal.SIGKILL


async def test_pause_really_stops_everything_and_resume_goes_on(run_dir):
    """Pause is real, also for a child in its own session, and nothing is lost over it."""
    text = "import os\npid = os.fork()\nif pid == 0: os.setsid()\n" + COUNT
    await spawn_runner(run_dir, script(text))

    async def grown() -> int:
        """Bytes that the spool takes within the time of two hundred writes."""
        before = (run_dir / "stdout.spool").stat().st_size
        with trio.move_on_after(0.1):
            await listen(client)
        return (run_dir / "stdout.spool").stat().st_size - before

    async with RunnerClient(run_dir) as client:
        await client.attach()
        await listen(client, lambda heard: len(heard.stdout) > 1000)
        await client.pause()
        await listen(client, lambda heard: any(one.paused for one in heard.statuses))
        pids = [one for one, _ in proc.descendants(claim_of(run_dir)["pid"])]
        assert len(pids) == 2
        await eventually(lambda: [_state(pid) for pid in pids] == ["T", "T"])
        await answered(grown, lambda size: size == 0)  # what was in the pipe already comes first
        await client.resume()
        heard = await listen(client, lambda heard: len(heard.stdout) > 1000)
        assert RunnerStatus("running") in heard.statuses


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


async def test_a_paused_agent_is_continued_to_be_stopped_in_order(run_dir):
    """A stopped process cannot act on SIGINT: the ladder would always end in SIGKILL."""
    text = "import time\nprint('up')\ntry: time.sleep(1000)\nexcept KeyboardInterrupt: print('saved')"
    async with attached(run_dir, script(text)) as client:
        await lines(client, 1)
        await client.pause()
        await listen(client, lambda heard: any(one.paused for one in heard.statuses))
        await client.stop(StopGraces(30, 30, 30))
        heard = await listen(client)
    assert heard.stdout == b"saved\n"
    assert heard.verdict.code == 0


# --- orphans ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grace", [0.0, 0.3])
@pytest.mark.parametrize("way", ["detach", "drop"])
async def test_without_a_daemon_the_agent_is_stopped_in_order_after_the_grace(run_dir, grace, way):
    """`orphanGrace`, 0 = at once; the verdict is left in the spool and the runner leaves."""
    text = "import time\nprint('up')\ntry: time.sleep(1000)\nexcept KeyboardInterrupt: print('in order')"
    async with attached(run_dir, script(text, orphan_grace=grace, linger=1000.0)) as client:
        await lines(client, 1)
        before = trio.current_time()
        if way == "detach":
            await client.detach()
    claim = claim_of(run_dir)
    await ends(claim["pid"], claim["guardianPid"])
    assert trio.current_time() - before >= grace
    state = inspect(run_dir)
    assert isinstance(state, RunEnded)
    assert (state.verdict.reason, state.verdict.asked) == ("orphaned", True)
    assert (run_dir / "stdout.spool").read_bytes() == b"up\nin order\n"


async def test_a_runner_whose_directory_was_deleted_does_not_stay_for_ever(run_dir):
    """Nobody can find it any more: it ends its agent after the grace, and leaves."""
    await spawn_runner(run_dir, script("print('up')\nimport time; time.sleep(1000)", orphan_grace=0.0))
    async with RunnerClient(run_dir) as client:
        await client.attach()
        await lines(client, 1)
        claim, agent = claim_of(run_dir), json.loads((run_dir / "agent.json").read_text())
        shutil.rmtree(run_dir)
    await ends(claim["pid"], agent["pid"], claim["guardianPid"])


async def test_a_verdict_that_cannot_be_written_is_told_and_ends_the_runner(run_dir):
    """Waiting for space is right; waiting for a deleted directory is not."""
    await spawn_runner(run_dir, pipe("input()", linger=0.0))
    async with RunnerClient(run_dir) as client:
        await client.attach()
        runner = claim_of(run_dir)["pid"]
        shutil.rmtree(run_dir)
        await client.close_stdin()
        assert (await listen(client)).verdict.code == 1
    await ends(runner)


async def test_a_daemon_that_comes_back_in_time_ends_the_grace(run_dir):
    grace = 5.0  # the way back takes milliseconds, or a second where others have the processors
    async with attached(run_dir, pipe(ECHO, orphan_grace=grace)) as client:
        await lines(client, 1)
    async with attached(run_dir) as client:
        with trio.move_on_after(grace + 0.1):
            await listen(client)
        await client.write("k", b"x\n")
        assert (await listen(client, lambda heard: heard.taken)).taken
    assert isinstance(inspect(run_dir), Running)


async def test_a_cancelled_read_loses_nothing(run_dir):
    """T1: a message is either in the hand of the caller or still in the client."""
    await spawn_runner(run_dir, script(COUNT))
    got = b""
    async with attached(run_dir) as client:
        while len(got) < 3000:
            with trio.move_on_after(0.001):
                async for message in client:
                    if isinstance(message, Output):
                        assert message.offset == len(got)
                        got += message.data
        await client.stop()
        with trio.fail_after(10):
            async for message in client:
                if isinstance(message, Output):
                    got += message.data
    assert isinstance(client.verdict, RunEnd)
    assert got == (run_dir / "stdout.spool").read_bytes()


async def test_a_write_that_was_cut_off_spoils_the_connection_and_not_the_agent(run_dir):
    """Half a message would be completed by the next one: the daemon must attach anew instead."""
    await spawn_runner(run_dir, pipe(ECHO))
    runner = claim_of(run_dir)["pid"]
    async with attached(run_dir) as client:
        os.kill(runner, signal.SIGSTOP)
        try:
            with trio.move_on_after(0.1):
                await client.write("cut", b"x" * (8 << 20))
        finally:
            os.kill(runner, signal.SIGCONT)
        with pytest.raises(RunnerLost):
            await client.write("after", b"x\n")
    async with attached(run_dir) as client:
        await client.write("after", b"hi\n")
        assert await lines(client, 2) == ["up", "got hi"]


async def test_a_runner_that_dies_before_it_could_tell_has_started_its_agent(run_dir, monkeypatch):
    """X11: it was told as an agent that never ran, and the next one was started beside what this one had done."""
    real = child.launch_runner

    async def killed(folder: Path) -> tuple[int, bytes]:
        assert (await real(folder))[0] == 0
        os.kill(claim_of(folder)["pid"], signal.SIGKILL)
        return 1, b""

    monkeypatch.setattr(child, "launch_runner", killed)
    assert await spawn_runner(run_dir, script("import time; time.sleep(600)"))
    await eventually(lambda: isinstance(inspect(run_dir), Dead))


async def test_where_no_process_is_to_be_had_the_agent_is_started_later(run_dir, monkeypatch):
    """Bug: the launcher's last words were told, "BlockingIOError: [Errno 11]...", and that hub doctor is to be run."""

    async def refused(_: Path) -> tuple[int, bytes]:
        return 1, b"Traceback...\nBlockingIOError: [Errno 11] Resource temporarily unavailable\n"

    monkeypatch.setattr(child, "launch_runner", refused)
    with refuses(Code.DISPATCH_FAILED, "could not be started: No more processes can be started.") as caught:
        await spawn_runner(run_dir, script("print('up')"))
    assert caught.value.extra["retry"]
    assert "ulimit -u" in caught.value.hint
    assert not (run_dir / "launch.json").exists(), "with the agent's keys in it"
