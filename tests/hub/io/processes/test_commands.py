"""Acceptance commands: their result, their environment, and that nothing of them is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import trio
from hypothesis import given
from hypothesis import strategies as st

from hub.errors import Code
from hub.io.processes.commands import MIB, Excerpt, base_env, command_env, run_command
from hub.io.runner.command import TERM_SECONDS
from tests.hub.io.runner.kit import DAEMON, gone
from tests.refusals import refuses
from tests.waiting import changed, ends


async def run(command: str, cwd: Path = Path("/"), **options):
    with trio.fail_after(30):
        return await run_command(command, cwd=cwd, **options)


def python(text: str) -> str:
    """A shell command that runs these lines."""
    import shlex

    return f"{shlex.quote(sys.executable)} -I -S -u -c {shlex.quote(text)}"


async def test_a_command_gives_its_exit_code_and_both_streams_in_order(tmp_path):
    result = await run("pwd; echo two >&2; exit 3", tmp_path)
    assert result.output == f"{tmp_path}\ntwo\n"
    assert (result.exit_code, result.signal, result.timed_out) == (3, None, False)
    assert result.duration_ms >= 1


async def test_a_command_ended_by_a_signal_has_no_exit_code():
    """`exit_code == 0` is the only pass, and None is no 0."""
    result = await run("kill -SEGV $$")
    assert (result.exit_code, result.signal) == (None, signal.SIGSEGV)


async def test_a_command_sees_no_key_and_no_open_file(monkeypatch, leak):
    """An allow-list, not a list of what to hide."""
    monkeypatch.setenv("LC_TIME", "C")
    result = await run("env -0 | sort -z | tr '\\0' '\\n'; exec ls /proc/self/fd")
    *environment, zero, one, two, _ls = result.output.split("\n")[:-1]
    names = {line.partition("=")[0] for line in environment}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == set(command_env())
    assert "leak" not in result.output
    assert [zero, one, two] == ["0", "1", "2"]


def test_agents_get_the_way_to_the_network_and_nothing_else(monkeypatch):
    for name in list(os.environ):
        monkeypatch.delenv(name)
    allowed = {
        "PATH",
        "HOME",
        "LC_ALL",
        "HTTPS_PROXY",
        "no_proxy",
        "SSL_CERT_FILE",
        "NODE_EXTRA_CA_CERTS",
        "TZ",
    }
    for name in (
        *allowed,
        "OPENAI_API_KEY",
        "HUB_RUN_ID",
        "NODE_OPTIONS",
        "PYTHONPATH",
        "LD_PRELOAD",
        "XLC_A",
    ):
        monkeypatch.setenv(name, "x")
    assert set(base_env()) == allowed
    assert set(command_env()) == {"PATH", "HOME", "LC_ALL"}


async def test_a_given_environment_is_the_whole_environment():
    result = await run("echo $A-$HOME", env={"A": "1"})
    assert result.output == "1-\n"


async def test_a_command_has_no_input():
    assert (await run("cat; read x; echo $?")).output == "1\n"


async def test_a_long_output_keeps_head_and_tail():
    result = await run(python("print('first'); print('x' * 2_000_000); print('last')"))
    assert result.output.startswith("first\nxxx")
    assert result.output.endswith("xxx\nlast\n")
    assert "\n[... 951436 bytes left out ...]\n" in result.output
    assert len(result.output) < MIB + 100


@given(st.lists(st.binary(max_size=30), max_size=20), st.integers(2, 60))
def test_an_excerpt_is_head_and_tail_however_the_bytes_come(chunks, cap):
    excerpt = Excerpt(cap)
    for chunk in chunks:
        excerpt.add(chunk)
    data, half = b"".join(chunks), cap // 2
    if len(data) <= 2 * half:
        assert excerpt.text() == data.decode("utf-8", "replace")
    else:
        middle = f"\n[... {len(data) - 2 * half} bytes left out ...]\n".encode()
        assert excerpt.text() == (data[:half] + middle + data[-half:]).decode("utf-8", "replace")


async def test_bytes_that_are_no_text_do_not_break_the_result():
    assert (await run("printf 'a\\377\\000b'")).output == "a\ufffd\x00b"


async def test_a_command_that_takes_too_long_is_ended_with_all_it_started(mock_clock):
    """Also what ignores SIGTERM and left the group; and leaving with 0 on SIGTERM is no pass.

    Its time is over once it has started all of that, however long this takes.
    """
    mock_clock.rate, heard = 1, bytearray()

    def started(data):
        heard.extend(data)
        if heard.count(b"\n") == 2:
            mock_clock.jump(600)

    text = (
        DAEMON
        + "daemon(False); daemon(True)\nsignal.signal(signal.SIGTERM, lambda *_: os._exit(0)); time.sleep(1000)"
    )
    command = f"trap 'exit 0' TERM; {python(text)} & wait; exit 0"
    result = await run_command(command, cwd=Path("/"), timeout=600.0, on_output=started)
    assert result.timed_out
    assert result.exit_code is None
    pids = [int(line) for line in result.output.split()]
    assert len(pids) == 2
    assert gone(*pids)


async def test_what_a_command_leaves_running_is_ended():
    result = await run(python(DAEMON + "daemon(True); daemon(False)"))
    pids = [int(line) for line in result.output.split()]
    assert (result.exit_code, len(pids)) == (0, 2)
    assert gone(*pids)


async def test_a_background_job_that_holds_the_output_does_not_hold_the_result():
    result = await run("sleep 1000 & echo done")
    assert (result.output, result.exit_code) == ("done\n", 0)
    assert result.duration_ms < 10_000


def stays(file):
    """A command that leaves a process behind, whose id it writes to the file."""
    opened = f"fd = os.open({str(file)!r}, os.O_WRONLY | os.O_CREAT); os.dup2(fd, 1)"
    return python(f"{DAEMON}{opened}; daemon(False); time.sleep(1000)")


async def test_a_cancelled_command_is_gone_when_the_cancel_is_through(tmp_path):
    """T10: Trio's own open_process leaves its child running."""
    file, command = tmp_path / "pids", stays(tmp_path / "pids")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run, command)
        await changed(file.parent, lambda: file.exists() and file.read_text().endswith("\n"))
        nursery.cancel_scope.cancel()
    assert gone(int(file.read_text()))


async def test_when_the_daemon_is_killed_its_command_is_gone(tmp_path):
    """I6: the lifeline is a pipe, which the kernel closes. A busy machine has three seconds for what takes no time."""
    file, command = tmp_path / "pids", stays(tmp_path / "pids")
    daemon = (
        "import json, sys, trio\nfrom functools import partial\nfrom pathlib import Path\nfrom hub.io.processes.commands import run_command\n"
        "trio.run(partial(run_command, json.loads(sys.argv[1]), cwd=Path('/')))\n"
    )
    process = subprocess.Popen(  # noqa: ASYNC220  # quick
        [sys.executable, "-c", daemon, json.dumps(command)], cwd=Path(__file__).parents[4]
    )
    await changed(file.parent, lambda: file.exists() and file.read_text().endswith("\n"))
    process.kill()
    process.wait()
    await ends(int(file.read_text()), patience=TERM_SECONDS + 1.0 + 3.0)


async def test_a_missing_worktree_and_an_impossible_command_are_coded_errors(tmp_path):
    for command, cwd, code in (
        ("true", tmp_path / "gone", Code.WORKTREE_MISSING),
        ("x" * 3_000_000, tmp_path, Code.VERIFY_FAILED),
        ("echo \0", tmp_path, Code.VERIFY_FAILED),
    ):
        with refuses(code):
            await run(command, cwd)


async def test_commands_do_not_leak_descriptors():
    before = _descriptors()
    for _ in range(3):
        await run("true")
        await run("sleep 1000", timeout=0.01)
    assert _descriptors() == before


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
