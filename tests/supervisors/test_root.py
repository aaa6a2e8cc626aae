"""The root of a tree: its handle, its ends, and the watchdog of trap T4."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    AutoShutdown,
    IntensityReached,
    Restart,
    Root,
    SupervisorSpec,
    run_root,
    supervisor_spec,
)
from supervisors.root import EXIT_STUCK
from tests.trees import Scripted, running


async def test_stop_waits_until_all_is_gone() -> None:
    child = Scripted("child")
    async with trio.open_nursery() as nursery:
        root: Root = await nursery.start(run_root, SupervisorSpec(children=[child.spec()]))
        await root.stop()
        assert root.tree().state == "stopped"
        await root.wait()
        root.request_stop()


async def test_it_returns_after_an_auto_shutdown() -> None:
    child = Scripted("child")
    spec = SupervisorSpec(
        auto_shutdown=AutoShutdown.ANY_SIGNIFICANT,
        children=[child.spec(restart=Restart.TRANSIENT, significant=True)],
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(run_root, spec)
        child.end()


async def gives_up(**options: float) -> None:
    """A root whose only child dies, and may not."""
    child = Scripted("child")

    async def drive() -> None:
        await wait_all_tasks_blocked()
        child.end(ValueError("boom"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(drive)
        with pytest.raises(
            IntensityReached, match="more than 0 restarts within 5 s, the last one of 'child'"
        ):
            await run_root(SupervisorSpec(intensity=0, children=[child.spec()]), **options)


async def test_it_raises_when_it_gives_up() -> None:
    await gives_up()


async def test_top_level_children_can_be_administered() -> None:
    async with running(SupervisorSpec(children=[Scripted("a").spec()])) as root:
        await root.admin.terminate_child("a")
        await root.admin.start_child(Scripted("b").spec())
        assert [info.state for info in root.admin.which_children()] == ["stopped", "running"]
        with pytest.raises(KeyError, match="'a' is down"):
            root.life_at("a")
        assert root.life_at("root/b").path == "root/b"
        assert root.life_at("root").path == "root"


async def test_the_path_of_a_root_is_its_name() -> None:
    spec = SupervisorSpec(children=[supervisor_spec("sup", SupervisorSpec())])
    async with running(spec, name="hub") as root:
        assert root.tree().children[0].path == "hub/sup"


STUCK = """
    import sys, time, trio
    from supervisors import ChildSpec, SupervisorSpec, run_root

    async def start(life):
        life.ready()
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                {how}

    async def main():
        async with trio.open_nursery() as nursery:
            spec = SupervisorSpec(children=[ChildSpec(id="child", start=start, shutdown=0)])
            root = await nursery.start(lambda *, task_status: run_root(spec, watchdog=0.05, task_status=task_status))
            root.request_stop()
            root.request_stop()

    trio.run(main)
    print("stopped in order")
"""


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("await trio.sleep_forever()", EXIT_STUCK),
        ("await trio.to_thread.run_sync(time.sleep, 60)", EXIT_STUCK),
        ("time.sleep(60)", EXIT_STUCK),
        ("await trio.sleep(0)", 0),
    ],
)
def test_the_watchdog_ends_a_process_that_cannot_stop(how: str, status: int) -> None:
    """Trap T4: shields, threads and a blocked event loop; a tree that does stop disarms it."""
    script = textwrap.dedent(STUCK).format(how=how)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == status, done.stderr
    assert ("not stopped after 0.05 s" in done.stderr) is (status == EXIT_STUCK)
    assert ("stopped in order" in done.stdout) is (status == 0)


async def test_the_watchdog_is_armed_by_a_give_up_too(monkeypatch) -> None:
    """Every beginning of a stop counts; a stop in time disarms it."""
    ended: list[int] = []
    monkeypatch.setattr("supervisors.root.os._exit", ended.append)
    await gives_up(watchdog=60)
    assert ended == []


def test_the_watchdog_says_why(monkeypatch, capfd) -> None:
    """In this process, with the exit itself held back."""
    from supervisors.root import _end_process

    ended: list[int] = []
    monkeypatch.setattr("supervisors.root.os._exit", ended.append)
    _end_process(0.001)
    assert ended == [EXIT_STUCK]
    assert "not stopped after 0.001 s" in capfd.readouterr().err
