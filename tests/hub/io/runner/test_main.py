"""One agent's life under its runner, with real processes."""

import json
import os
import signal
import stat
import sys
from pathlib import Path

import pytest
import trio

from hub.errors import Code
from hub.io.runner import launcher
from hub.io.runner.client import spawn_runner
from hub.io.runner.launch import AgentLaunch
from hub.io.runner.launcher import make_ready
from hub.io.runner.view import NeverClaimed, RunEnded, inspect
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
    told_at_the_end,
)
from tests.refusals import refuses
from tests.waiting import ends, eventually


async def test_a_run_to_its_end_gives_every_byte_and_the_verdict_last(run_dir):
    """Output, exit code and times come whole, and the files say the same."""
    text = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"
    heard = await run_to_end(run_dir, script(text))
    assert (heard.stdout, heard.stderr) == (b"out\n", b"err\n")
    assert heard.messages[-1] is heard.verdict
    assert (heard.verdict.code, heard.verdict.signal, heard.verdict.reason) == (7, None, "exited")
    assert heard.verdict.asked is False
    told = told_at_the_end(run_dir)
    assert (told["stdoutBytes"], told["stderrBytes"]) == (4, 4)
    assert heard.verdict.stderr_tail == "err\n"
    assert told["startedAt"] <= told["endedAt"]
    assert inspect(run_dir) == RunEnded(heard.verdict)


async def test_the_runner_and_its_guardian_leave_once_the_verdict_is_collected(run_dir):
    """I6: no runner past its use."""
    await run_to_end(run_dir, script("pass", linger=1000.0))
    claim = claim_of(run_dir)
    await ends(claim["pid"], claim["guardianPid"])
    assert not (run_dir / "control.sock").exists()


async def test_an_ended_runner_that_nobody_visits_leaves_by_itself(run_dir):
    await spawn_runner(run_dir, script("pass", linger=0.0))
    claim = claim_of(run_dir)
    await ends(claim["pid"], claim["guardianPid"])
    state = inspect(run_dir)
    assert isinstance(state, RunEnded)
    assert state.verdict.code == 0


def test_an_ended_runner_does_not_stay_for_a_daemon_that_reads_its_files():
    """I6: two seconds after a daemon's end no process of a run is left; it was ten after the agent's."""
    assert AgentLaunch(argv=["true"], env={}, cwd=Path("/")).linger < 2


async def test_an_agent_killed_from_outside_is_told_by_its_signal(run_dir):
    async with attached(run_dir, script("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")) as client:
        verdict = (await listen(client)).verdict
    assert (verdict.code, verdict.signal, verdict.asked) == (None, signal.SIGKILL, False)


@pytest.mark.parametrize(
    ("argv", "cwd", "errno_name"),
    [
        (["/nowhere/agent"], "/", "ENOENT"),
        (["no-such-agent-on-path"], "/", "ENOENT"),
        (["/etc/passwd"], "/", "EACCES"),
        (["/bin/true"], "/nowhere", "ENOENT"),
    ],
)
async def test_a_failed_exec_is_told_with_its_errno(run_dir, argv, cwd, errno_name):
    """Never a bare exit 127: the daemon says which program is missing, and nothing was executed."""
    import errno

    heard = await run_to_end(run_dir, AgentLaunch(argv, {"PATH": os.defpath}, Path(cwd)))
    assert heard.verdict.reason == "exec_failed"
    assert told_at_the_end(run_dir)["execErrno"] == getattr(errno, errno_name)
    assert heard.stdout == b""


async def test_the_agent_gets_exactly_its_environment_and_three_descriptors(run_dir, leak):
    """Nothing of the daemon's environment or open files reaches the agent."""
    only = {"ONLY": "this", "LC_ALL": "C.UTF-8"}  # without a locale the agent's own Python would add one
    # listdir opens one descriptor itself: it is the highest, and gone when the names are read.
    text = "import os, json; print(json.dumps([dict(os.environ), sorted(map(int, os.listdir('/proc/self/fd')))[:-1]]))"
    heard = await run_to_end(run_dir, script(text, env=only))
    environment, descriptors = json.loads(heard.stdout)
    assert environment == {**only, "HUB_RUN_ID": run_dir.name}
    assert descriptors == [0, 1, 2]


async def test_the_agent_starts_in_its_own_session_with_default_signals_and_the_usual_umask(run_dir):
    """SIGPIPE ignored, as Python leaves it, would be handed on to every program the agent starts."""
    # Read by programs that change nothing of it themselves; the masks by the shell, which blocks all signals for a
    # moment whenever it starts another program.
    masks_of = (
        "while read -r name mask; do case $name in Sig[IB]*) echo $name $mask;; esac; done < /proc/$$/status"
    )
    text = f"umask; pwd; readlink /proc/self/fd/0; cut -d' ' -f1,5,6 /proc/$$/stat; {masks_of}"
    heard = await run_to_end(run_dir, script("", argv=["/bin/sh", "-c", text], cwd=run_dir.parent))
    umask, cwd, stdin, ids, *masks = heard.stdout.decode().splitlines()
    assert (umask, cwd, stdin) == ("0022", str(run_dir.parent), "/dev/null")
    assert len(set(ids.split())) == 1, "process, group and session are one"
    assert [int(mask.split()[1], 16) for mask in masks] == [0, 0], "nothing is blocked or ignored"


async def test_the_keys_in_the_launch_file_are_gone_before_the_agent_runs(run_dir):
    """Another agent of the same user must not read this one's keys from its run directory."""
    text = "import os; print(sorted(os.listdir(os.environ['RUN'])))"
    heard = await run_to_end(run_dir, script(text, env={"RUN": str(run_dir), "KEY": "sk-secret"}))
    assert "launch.json" not in heard.stdout.decode()
    for file in run_dir.iterdir():
        if file.is_file():
            assert b"sk-secret" not in file.read_bytes()


async def test_all_files_are_private_even_under_umask_000(run_dir, open_umask):
    """Prompts and keys are in them: 0600, whatever mask the daemon was started with."""
    async with attached(run_dir, script("input()", stdin="pipe", files={"prompt.md": b"x"})) as client:
        await client.write("k", b"\n")
        assert stat.S_IMODE((run_dir / "control.sock").stat().st_mode) == 0o600
        await listen(client)
    assert stat.S_IMODE(run_dir.stat().st_mode) == 0o700
    # The socket goes when the runner does, which may be now.
    modes = {
        file.name: stat.S_IMODE(file.stat().st_mode)
        for file in run_dir.iterdir()
        if file.name != "control.sock"
    }
    assert {"stdout.spool", "spool.index", "verdict.json", "claim", "stdin.keys", "prompt.md"} <= modes.keys()
    assert set(modes.values()) == {0o600}


async def test_bytes_that_are_no_text_pass_untouched(run_dir):
    """NUL, invalid UTF-8, CRLF and U+2028 are the stream's business, not the runner's."""
    data = bytes(range(256)) * 300 + b"\r\n\xe2\x80\xa8\xff\xfe"
    text = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 300 + b'\\r\\n\\xe2\\x80\\xa8\\xff\\xfe')"
    heard = await run_to_end(run_dir, script(text))
    assert heard.stdout == data
    assert (run_dir / "stdout.spool").read_bytes() == data


async def test_stderr_is_capped_in_the_spool_but_its_tail_is_kept(run_dir):
    text = "import sys; sys.stderr.write('a' * 5000 + 'b' * 100_000 + 'the end')"
    verdict = (await run_to_end(run_dir, script(text, stderr_limit=5000))).verdict
    assert (run_dir / "stderr.spool").read_bytes() == b"a" * 5000
    told = told_at_the_end(run_dir)
    assert (told["stderrBytes"], told["stderrDropped"]) == (5000, 100_007)
    assert verdict.stderr_tail.endswith("bthe end")
    assert len(verdict.stderr_tail) == 65536


async def test_a_grandchild_that_holds_stdout_does_not_keep_the_run_open(run_dir):
    """T10: end of file never came; now it is given a drain, ended, and named in the verdict."""
    heard = await run_to_end(run_dir, script(DAEMON + "daemon(True)\nprint('bye')", drain=0.1))
    pid = int(heard.stdout.split()[0])
    assert heard.stdout.endswith(b"bye\n")
    assert heard.verdict.code == 0
    assert told_at_the_end(run_dir)["strays"] == [{"pid": pid, "name": sys.executable}]
    assert gone(pid)


async def test_what_a_grandchild_writes_within_the_drain_is_not_lost(run_dir):
    text = "(sleep 0.1; echo late) & echo early"
    heard = await run_to_end(run_dir, script("", argv=["/bin/sh", "-c", text], drain=5.0))
    assert heard.stdout == b"early\nlate\n"
    assert told_at_the_end(run_dir)["strays"] == []


async def test_a_silent_daemon_of_the_agent_does_not_outlive_it_either(run_dir):
    """I6: a dev server started in the background, with its output elsewhere."""
    heard = await run_to_end(run_dir, script(DAEMON + "daemon(False)", drain=60.0))
    assert gone(int(heard.stdout))
    assert len(told_at_the_end(run_dir)["strays"]) == 1


async def test_a_full_spool_stops_the_agent_in_order(run_dir):
    """A flood meets a quota, and what was read is kept."""
    text = (
        "import os, signal, sys\n"
        "def stop(*_): os.write(1, b'last words'); os._exit(3)\n"
        "signal.signal(signal.SIGINT, stop)\n"
        "while True: sys.stdout.write('x' * 65536)\n"
    )
    launch = script(text, spool_limit=1_000_000)
    heard = await run_to_end(run_dir, launch)
    assert heard.verdict.reason == "spool_full"
    assert heard.verdict.asked
    assert told_at_the_end(run_dir)["stdoutBytes"] >= 1_000_000
    assert heard.stdout == (run_dir / "stdout.spool").read_bytes()
    assert heard.stdout.endswith(b"last words")
    assert heard.verdict.code == 3


async def test_a_flood_that_ignores_the_stop_stays_within_the_quota_and_its_headroom(run_dir):
    text = (
        "import signal, sys\n"
        "for n in (signal.SIGINT, signal.SIGTERM): signal.signal(n, signal.SIG_IGN)\n"
        "while True: sys.stdout.write('x' * 65536)\n"
    )
    heard = await run_to_end(run_dir, script(text, spool_limit=100_000))
    assert heard.verdict.signal == signal.SIGKILL
    assert told_at_the_end(run_dir)["stdoutBytes"] < 100_000 + 7 * 1024 * 1024


@pytest.mark.parametrize("name", ["Upper", "", "-x", "a" * 65])
async def test_a_run_directory_must_be_named_like_an_id(tmp_path, name):
    with refuses(Code.INVALID):
        await spawn_runner(tmp_path / name if name else Path("/"), script("pass"))


@pytest.mark.parametrize("name", ["claim", "../x", ".hidden", "verdict.json"])
async def test_a_file_of_the_agent_cannot_pose_as_one_of_the_runner(run_dir, name):
    with refuses(Code.INVALID):
        await spawn_runner(run_dir, script("pass", files={name: b""}))
    assert not run_dir.exists()


async def test_a_run_directory_others_can_enter_is_refused(run_dir):
    run_dir.mkdir(0o755)
    run_dir.chmod(0o755)
    with refuses(Code.DISPATCH_FAILED) as caught:
        await spawn_runner(run_dir, script("pass"))
    assert "0700" in caught.value.detail


async def test_a_second_replay_equals_the_first(run_dir):
    """Order of the two streams, offsets and times are those of the first play."""
    text = "import os\nfor n in range(40): os.write(1 + n % 2, b'%d\\n' % n)"
    first = await run_to_end(run_dir, script(text))
    again = spooled(run_dir)
    flat = [(type(one), one.offset, one.data, one.at) for one in first.messages if hasattr(one, "offset")]
    assert [(type(one), one.offset, one.data, one.at) for one in again] == flat


async def test_lines_helper_sees_output_while_the_agent_lives(run_dir):
    """Output is forwarded when it comes, not at the end."""
    async with attached(run_dir, script("print('up'); input()", stdin="pipe")) as client:
        assert await lines(client, 1) == ["up"]
        await client.close_stdin()
        assert (await listen(client)).verdict.code == 1


async def test_a_launcher_that_was_ready_starts_the_agent_like_any_other(run_dir):
    """It began before the run directory was there: it has the mark, claims when it is told to, and reads no word of it."""
    await make_ready(run_dir, "s-1")
    assert not run_dir.exists()
    heard = await run_to_end(
        run_dir, script("import os, sys; print(os.environ['HUB_RUN_ID'], repr(sys.stdin.read()))")
    )
    assert heard.stdout.decode().split() == [run_dir.name, "''"]


async def test_a_launcher_that_waits_has_imported_all_that_the_start_needs(run_dir):
    """The guardian imported `ctypes` when the word had come, with the handoff waiting for it."""
    await make_ready(run_dir, "s-1")
    (ready,) = launcher._ready.values()
    process = Path(f"/proc/{ready.process.pid}")
    await eventually(lambda: (process / "comm").read_text() == "hub-launcher\n")
    assert "_ctypes" in (process / "maps").read_text()
    assert not run_dir.exists()


async def test_a_launcher_that_left_is_replaced(run_dir):
    """Killed, or gone because nobody wanted it in time: nothing had begun, so the agent is started after all, once."""
    await make_ready(run_dir, "s-1")
    (ready,) = launcher._ready.values()
    ready.process.kill()
    await ready.process.wait()
    assert (await run_to_end(run_dir, script("print('ran')"))).stdout == b"ran\n"


async def test_only_the_last_launcher_waits_and_it_leaves_with_its_daemon(run_dir):
    """A daemon that is killed closes its side: what waited for a word of it is gone, and has claimed nothing."""
    await make_ready(run_dir.with_name("other"), "s-1")
    (other,) = launcher._ready.values()
    await make_ready(run_dir, "s-1")
    (ready,) = launcher._ready.values()
    assert other.process.returncode is not None
    await ready.process.stdin.aclose()
    assert await ready.process.wait() == launcher._UNUSED
    assert not run_dir.exists()


async def test_a_cancelled_start_ends_the_launcher_that_was_ready(run_dir):
    await make_ready(run_dir, "s-1")
    (ready,) = launcher._ready.values()
    with trio.move_on_after(0):
        await spawn_runner(run_dir, script("pass"))
    assert ready.process.returncode is not None
    assert isinstance(inspect(run_dir), NeverClaimed)
