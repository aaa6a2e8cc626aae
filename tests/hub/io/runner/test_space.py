"""A full disk holds the agent back and loses nothing (F6)."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.errors import Code
from hub.io.runner.client import spawn_runner
from hub.io.runner.view import NeverClaimed, RunEnded, inspect
from tests.hub.io.runner.kit import attached, lines, listen, script, verdict_written
from tests.refusals import refuses


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one MiB; skipped, loudly, where none can be mounted."""
    mount = tmp_path / "disk"
    mount.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(mount)],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"NOT TESTED: a full disk; no tmpfs can be mounted: {done.stderr.decode().strip()}")
    yield mount
    # Lazily: the runner's last process may still be leaving it.
    subprocess.run(["umount", "-l", str(mount)], check=True)


@pytest.fixture
def full(small_disk: Path) -> tuple[Path, Path]:
    """A run directory on it, and a ballast that leaves some 300 KiB."""
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"\0" * 700 * 1024)
    return small_disk / f"t-{uuid.uuid4().hex[:12]}", ballast


def fill(ballast: Path) -> None:
    with ballast.open("ab") as file, contextlib.suppress(OSError):
        while True:
            os.write(file.fileno(), b"\0" * 4096)
    assert shutil.disk_usage(ballast.parent).free == 0


FLOOD = "import os\nfor n in range(3000): os.write(1, b'%099d\\n' % n)\nfor n in range(3000): os.write(1, b'%099d\\n' % n)\n"


async def test_a_full_disk_holds_the_agent_back_until_there_is_space(full):
    run_dir, ballast = full
    async with attached(run_dir, script(FLOOD)) as client:
        before = await listen(client, lambda heard: any(one.no_space for one in heard.statuses))
        # A quick agent has ended by now, and what it wrote waits in its pipe: no verdict before that is on record.
        assert not (run_dir / "verdict.json").exists()
        ballast.unlink()
        after = await listen(client)
        await client.detach()
    assert before.stdout + after.stdout == b"".join(b"%099d\n" % n for n in range(3000)) * 2
    assert [one.no_space for one in after.statuses][-1] is False
    assert (after.verdict.code, after.verdict.reason) == (0, "exited")


async def test_a_verdict_waits_for_space_rather_than_being_lost(full):
    """The agent ends while the disk is full to the last page: nobody is told before it is on record."""
    run_dir, ballast = full
    async with attached(run_dir, script("print('up')\ninput()", stdin="pipe")) as client:
        await lines(client, 1)
        fill(ballast)
        await client.close_stdin()
        await listen(client, lambda heard: any(one.state == "final" for one in heard.statuses))
        assert not (run_dir / "verdict.json").exists()
        ballast.unlink()
        heard = await listen(client)
        await client.detach()
    assert heard.verdict.code == 1
    assert inspect(run_dir) == RunEnded(heard.verdict)


async def test_a_write_that_cannot_be_recorded_is_refused_and_may_be_sent_again(full):
    """A key is taken only when it is on record: the agent has not seen the bytes."""
    run_dir, ballast = full
    async with attached(run_dir, script("print('up')\nprint(input())", stdin="pipe")) as client:
        await lines(client, 1)
        fill(ballast)
        await client.write("k", b"hello\n")
        assert (await listen(client, lambda heard: heard.taken)).taken == [("k", "no_space")]
        ballast.unlink()
        await client.write("k", b"hello\n")
        heard = await listen(client)
        await client.detach()
    assert heard.taken == [("k", "accepted")]
    assert heard.stdout == b"hello\n"
    assert heard.verdict.code == 0


async def test_without_space_for_the_claim_nothing_is_started(small_disk):
    """F6: `no_space`, no claim left, and the same dispatch can be tried again."""
    run_dir = small_disk / "t-full"
    run_dir.mkdir(0o700)
    ballast = small_disk / "ballast"
    fill(ballast)
    with refuses(Code.NO_SPACE) as caught:
        await spawn_runner(run_dir, script("pass"))
    assert "the disk is full" in caught.value.detail
    assert inspect(run_dir) == NeverClaimed()
    assert list(run_dir.iterdir()) == []
    ballast.unlink()
    assert await spawn_runner(run_dir, script("pass", linger=0.0))
    await verdict_written(run_dir)
