"""What the tree tells the terminal: what nobody else would be told."""

import pytest
from trio.testing import wait_all_tasks_blocked

from hub.cli.local.report import report
from supervisors import AdminError, DynamicHandle, Restart, SupervisorSpec, dynamic_spec
from tests.trees import Scripted, running


async def test_a_start_that_fails_is_told_to_whoever_asked_for_it_alone(capsys):
    """An agent that could not be started, and was tried again each two seconds, was a line of the daemon's each time."""
    handle = DynamicHandle("agents")
    tree = SupervisorSpec(children=[dynamic_spec("agents", handle, intensity=5, restart=Restart.PERMANENT)])
    never = Scripted("never", *[ValueError("another hub")] * 2)
    once = Scripted("once", None, ValueError("at its restart"))
    async with running(tree, on_event=report):
        for _ in range(2):
            with pytest.raises(AdminError):
                await handle.start_child(never.spec())
        assert capsys.readouterr().err == ""
        await handle.start_child(once.spec())
        once.end(OSError("in the middle"))
        await wait_all_tasks_blocked()
    said = capsys.readouterr().err
    assert "root/agents/once exited" in said
    assert "in the middle" in said
    assert "root/agents/once start failed" in said
    assert "at its restart" in said
