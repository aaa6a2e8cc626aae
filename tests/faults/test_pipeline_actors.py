"""Killing each actor at each step of a pipeline run: no node runs twice, none is lost, each move is told once.

The daemon runs in the test's own process, on a real repository, with the scripted agents as real processes. A run loses
an actor at each of its steps, each time another one; over all runs that is each actor at each step.
"""

import contextlib

import pytest

import hub.daemon
from hub.actors.common.calls import call_until_answered
from hub.actors.pipelines.store import PipelineRunStore
from hub.api.convert import unstructure
from hub.app import App
from hub.messages.pipelines import GetPipelineRun, RunPipeline
from supervisors import ActorDied
from tests.faults.test_pipeline_killed import check_run, work
from tests.hub.actors.daemon import daemon_of, kill

__all__ = ["work"]

STEPS = ("begun", "starting", "running", "heard", "ended")
ACTORS = ("audit", "events", "settings", "sessions", "session", "pipelines", "front")
RUNS = [
    {step: ACTORS[(first + number) % len(ACTORS)] for number, step in enumerate(STEPS)}
    for first in range(len(ACTORS))
]
"""Which actor each run loses at which step."""


class Watched(PipelineRunStore):
    """A record that tells when a step has been written."""

    written = None

    def write(self, run, point="run"):
        kept = super().write(run, point)
        self.written(point)
        return kept


@pytest.fixture
def killing(monkeypatch):
    """A daemon that kills an actor when a step of a run is first on record."""

    def arm(victims):
        done, apps = [], []

        class Trap(App):
            def tree(self):
                apps.append(self)
                return super().tree()

            def _conductor(self):
                made = super()._conductor()
                plain = made.run_store
                made.run_store = Watched(plain.store, plain.outbox)
                made.run_store.written = written
                return made

        def written(point):
            if point in victims and point not in done:
                done.append(point)
                with contextlib.suppress(KeyError):  # no session has begun yet
                    kill(apps[-1].picture.__self__, victims[point])

        monkeypatch.setattr(hub.daemon, "App", Trap)
        return done

    return arm


async def ended(live):
    """The run, once its end is told."""
    await live.until_event("pipeline both completed")
    return unstructure(await call_until_answered(live.daemon.app.slots.pipelines.ref, GetPipelineRun()))


@pytest.mark.parametrize("victims", RUNS, ids=lambda victims: f"{victims['begun']}-first")
async def test_a_run_goes_on_when_an_actor_is_killed(work, killing, monkeypatch, victims):
    """Killing any one actor ends no agent, loses no event and doubles none."""
    made, _ = work
    killed = killing(victims)
    async with daemon_of(made, monkeypatch) as live:
        try:
            await live.ask("pipelines", RunPipeline("both"))
        except ActorDied:
            assert "pipelines" in victims.values(), "only its own death cuts the answer off"
        run = await ended(live)
        assert set(killed) == set(STEPS)
        check_run(made, run, [{"meta": dict(r.meta), "msg": r.msg} for r in await live.events()])
