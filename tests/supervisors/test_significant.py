"""Significant children and auto_shutdown (row 18)."""

from __future__ import annotations

import pytest
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    AutoShutdown,
    EventKind,
    Restart,
    Shutdown,
    Strategy,
    SupervisorSpec,
    supervisor_spec,
)
from tests.trees import Scripted

ANY, ALL, NEVER = AutoShutdown.ANY_SIGNIFICANT, AutoShutdown.ALL_SIGNIFICANT, AutoShutdown.NEVER
TRANSIENT, TEMPORARY = Restart.TRANSIENT, Restart.TEMPORARY
ENDINGS = {"normal": None, "shutdown": Shutdown(), "boom": ValueError("boom")}


async def survives(supervise, auto: AutoShutdown, how: str, restart: Restart, *, significant: bool) -> bool:
    """Whether the supervisor is still there after its child ended."""
    child, other = Scripted("child"), Scripted("other")
    async with supervise(
        child.spec(restart=restart, significant=significant), other.spec(), auto_shutdown=auto
    ) as sup:
        child.end(ENDINGS[how])
        await wait_all_tasks_blocked()
        return not sup.recorder.of(EventKind.EXITED, name="sup")


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("auto", [NEVER, ANY, ALL])
@pytest.mark.parametrize("restart", [TEMPORARY, TRANSIENT])
async def test_nonsignificant(supervise, restart: Restart, auto: AutoShutdown, how: str) -> None:
    """nonsignificant_{temporary,transient}: its end never matters."""
    assert await survives(supervise, auto, how, restart, significant=False)


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("auto", [ANY, ALL])
@pytest.mark.parametrize("restart", [TEMPORARY, TRANSIENT])
async def test_significant(supervise, restart: Restart, auto: AutoShutdown, how: str) -> None:
    """significant_{temporary,transient}: any end of it ends the supervisor, but for one that is restarted."""
    restarted = restart is TRANSIENT and how == "boom"
    assert await survives(supervise, auto, how, restart, significant=True) is restarted


async def test_significant_transient_all_of_several(supervise) -> None:
    """significant_transient: with all_significant the last active one decides; one being restarted is active."""
    one, two = Scripted("one"), Scripted("two")
    specs = [child.spec(restart=TRANSIENT, significant=True) for child in (one, two)]
    async with supervise(*specs, Scripted("other").spec(), auto_shutdown=ALL) as sup:
        one.end()
        await wait_all_tasks_blocked()
        assert sup.states() == {"one": "stopped", "two": "running", "other": "running"}
        two.end()
        end = await sup.exit()
        assert (str(end), len(sup.recorder.of(EventKind.AUTO_SHUTDOWN))) == ("auto_shutdown", 1)


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("restart", [TRANSIENT, TEMPORARY])
async def test_significant_simple(supervise_dynamic, how: str, restart: Restart) -> None:
    """significant_simple: the same for dynamic children."""
    for auto in (ANY, ALL):
        one, two = Scripted("one"), Scripted("two")
        async with supervise_dynamic(auto_shutdown=auto) as sup:
            for child in (one, two):
                await sup.handle.start_child(child.spec(restart=restart, significant=True))
            one.end(ENDINGS[how])
            await wait_all_tasks_blocked()
            restarted = restart is TRANSIENT and how == "boom"
            assert sup.handle.alive is (restarted or auto is ALL)


@pytest.mark.parametrize("strategy", [Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE])
async def test_significant_bystander(supervise, strategy: Strategy) -> None:
    """significant_bystander: stopped because of a sibling, or by hand, is no end of its own."""
    dying, transient, temporary = Scripted("dying"), Scripted("transient"), Scripted("temporary")
    specs = [
        dying.spec(),
        transient.spec(restart=TRANSIENT, significant=True),
        temporary.spec(restart=TEMPORARY, significant=True),
    ]
    async with supervise(*specs, strategy=strategy, auto_shutdown=ANY) as sup:
        dying.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert sup.states() == {"dying": "running", "transient": "running"}
        await sup.handle.terminate_child("transient")
        await wait_all_tasks_blocked()
        assert sup.states() == {"dying": "running", "transient": "stopped"}


async def test_significant_escalation(supervise) -> None:
    """significant_escalation: a significant supervisor that shuts down by itself takes its parent along."""
    worker = Scripted("worker")
    inner = SupervisorSpec(
        auto_shutdown=ANY,
        children=[worker.spec(restart=TRANSIENT, significant=True), Scripted("peer").spec()],
    )
    middle = supervisor_spec("middle", inner, restart=TRANSIENT, significant=True)
    async with supervise(Scripted("first").spec(), middle, auto_shutdown=ANY) as sup:
        worker.end()
        await sup.exit()
    assert sup.trace()[-5:] == [
        ("exit", "worker", "normal"),
        ("exit", "peer", "shutdown"),
        ("exit", "middle", "shutdown"),
        ("exit", "first", "shutdown"),
        ("exit", "sup", "shutdown"),
    ]
