"""What a machine is short of for a while: told as that, by whatever meets it."""

import errno
import json

from hub.errors import Code
from hub.io.shortage import shortage
from tests.other_user import by_nobody, only_root

# Root has no limit of processes.
STARTS = """
import json, os, resource, tempfile
from pathlib import Path
import trio
from hub.cli.ending import coded
from hub.errors import HubError
from hub.io.git.env import git
from hub.io.processes.commands import run_command
from hub.io.runner.client import spawn_runner
from hub.io.runner.launch import AgentLaunch
from hub.web.problem import as_hub_error

folder = Path(tempfile.mkdtemp())
os.environ["HOME"] = str(folder)
launch = AgentLaunch(argv=["true"], env={}, cwd=folder)
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))

async def no_thread():
    await trio.to_thread.run_sync(print)

async def tried(start):
    try:
        await start()
    except Exception as error:
        return error

async def main():
    starts = (
        lambda: run_command("true", cwd=folder, timeout=9.0),
        lambda: git("status", cwd=folder),
        lambda: spawn_runner(folder / "run-1", launch),
        no_thread,
    )
    for found in [await tried(start) for start in starts]:
        told = coded(found), as_hub_error(found)
        print(json.dumps([[str(one.code), one.detail] for one in told]))

trio.run(main)
"""


@only_root
def test_where_no_process_can_be_started_that_is_told():
    """Bug: a small `ulimit -u` ended as "hub made a mistake", and what it kept from being checked as not accepted."""
    command, git, runner, thread = (json.loads(line) for line in by_nobody(STARTS).splitlines())
    said = ["unavailable", "No more processes can be started."]
    assert command == git == runner == thread == [said, said]


def test_a_group_of_them_is_one_and_anything_else_is_none():
    files, other = OSError(errno.EMFILE, "Too many open files"), OSError(errno.EACCES, "Permission denied")
    found = shortage(ExceptionGroup("", [files, ExceptionGroup("", [files])]))
    assert found is not None
    assert found.code is Code.UNAVAILABLE
    assert shortage(ExceptionGroup("", [files, other])) is None
    assert shortage(ValueError("no")) is None


def test_a_reader_that_is_slow_is_no_want_of_processes():
    """The same number: a standard output that somebody else has set not to wait."""
    slow = BlockingIOError(errno.EAGAIN, "write could not complete without blocking", 9)
    assert shortage(slow) is None
