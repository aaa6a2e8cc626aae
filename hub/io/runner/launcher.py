"""The daemon's child that starts a runner: started when it is needed, or a little before.

Owns: the launcher's process from its start to its end, and the one that is kept ready.
Must not: know what is in a run directory, or wait for an agent.

Nearly all of a start is an interpreter that imports. Where it is known that an agent is about to be started, its launcher
begins beside what is still to be done, and waits for a word. Until then it has claimed and executed nothing. One that
is not wanted leaves by itself within seconds, and at once when its daemon dies, for the word then comes as an end of file.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import attrs
import trio

_PROGRAM = Path(__file__).with_name("main.py")
_PATH = "/usr/local/bin:/usr/bin:/bin"
_GO = b"g"
_UNUSED = 76


@attrs.define
class _Ready:
    """A launcher that waits for its word; of each owner there is one at most."""

    run_dir: Path
    process: trio.Process


_ready: dict[str, _Ready] = {}
"""By their owners."""


async def make_ready(run_dir: Path, owner: str) -> None:
    """Start the launcher of a run that is about to be started; `launch` then takes it. The owner's earlier one is ended.

    Costs nothing but time where it does not work.
    """
    await drop(owner)
    with contextlib.suppress(OSError):
        _ready[owner] = _Ready(run_dir, await _begun(run_dir))


async def launch(run_dir: Path) -> tuple[int, bytes]:
    """Start the runner of a prepared run directory: the launcher's exit status, and what it said.

    A cancelled call ends the launcher. The guardian it may have forked goes on by itself.

    Raises:
        OSError: It could not be started.
    """
    for owner in [owner for owner, ready in _ready.items() if ready.run_dir == run_dir]:
        status, said = await _go(_ready.pop(owner).process)
        if status != _UNUSED:
            return status, said
    return await _go(await _begun(run_dir))


async def _begun(run_dir: Path) -> trio.Process:
    return await trio.lowlevel.open_process(
        [sys.executable, "-I", "-S", "-X", "utf8", str(_PROGRAM), str(run_dir)],
        env={"HUB_RUN_ID": run_dir.name, "PATH": os.environ.get("PATH", _PATH)},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


async def _go(process: trio.Process) -> tuple[int, bytes]:
    """Give a launcher its word; `_UNUSED` where it had left before, with nothing begun."""
    assert process.stdin and process.stderr  # noqa: PT018, S101  # PIPE was asked for
    said, heard = bytearray(), False
    try:
        with contextlib.suppress(trio.BrokenResourceError):
            await process.stdin.send_all(_GO)
            heard = True
        async for part in process.stderr:
            said += part
        status = await process.wait()
    finally:
        await _end(process)
    return status if heard else _UNUSED, bytes(said)


async def drop(owner: str) -> None:
    """End the owner's launcher that is ready, if there is one: no agent is to be started after all."""
    if owner in _ready:
        await _end(_ready.pop(owner).process)


async def _end(process: trio.Process) -> None:
    with trio.CancelScope(shield=True):
        if process.returncode is None:
            process.kill()
        await process.wait()
        for stream in (process.stdin, process.stderr):
            if stream is not None:
                await stream.aclose()
