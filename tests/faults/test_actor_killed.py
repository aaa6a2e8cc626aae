"""Killing each actor in each state of a handoff: no agent ends, no event is lost, none is doubled.

The daemon runs in the test's own process, on a real repository, with the scripted agents as real processes. A session
loses an actor in each of its states, each time another one; over all sessions that is each actor in each state.
"""

import contextlib

import attrs
import pytest
import trio

import hub.daemon
from hub.actors.session.store import SessionStore
from hub.app import App
from hub.cli.local.serve import order_for
from hub.client.quick import Api
from hub.daemon import run_daemon
from hub.errors import Code, HubError
from hub.message_map import Slots
from tests.faults.invariants import check_invariants
from tests.faults.test_daemon_killed import STATES, TASK
from tests.hub.actors.daemon import kill
from tests.left import users_umask
from tests.waiting import eventually

ACTORS = (
    *(
        "audit",
        "events",
        "settings",
        "knowledge",
        "breakers",
        "claims",
        "quota",
        "outcomes",
        "detector",
        "approvals",
        "notices",
    ),
    *("sessions", "session", "pipelines", "models", "front"),
)
SESSIONS = [
    {state: ACTORS[(first + step) % len(ACTORS)] for step, state in enumerate(STATES)}
    for first in range(len(ACTORS))
]
"""Which actor each session loses in which state."""


class Watched(SessionStore):
    """A ledger that tells in which state the record is, with each write of it."""

    entered = None

    def _store(self, record, failpoint):
        super()._store(record, failpoint)
        self.entered(record.state)


@pytest.fixture
def killing(monkeypatch):
    """A daemon that kills an actor when the session first enters a state."""

    def arm(victims):
        done = []

        class Trap(App):
            def _session_store(self, places):
                plain = super()._session_store(places)
                watched = Watched(plain.places, plain.outbox, plain.events)
                watched.entered = self._entered
                return watched

            def _entered(self, now):
                if now not in done:
                    with contextlib.suppress(KeyError):  # a session's actor comes after its first record
                        kill(self.picture.__self__, victims[now])
                        done.append(now)

        monkeypatch.setattr(hub.daemon, "App", Trap)
        return done

    return arm


async def ask(port, path, body=None):
    api = Api(port)
    if body is None:
        return await trio.to_thread.run_sync(api.get, path)
    return await trio.to_thread.run_sync(api.post, path, body)


async def start(port):
    """A session; the answer may be cut off by the fault, the session may not."""
    try:
        await ask(port, "/api/run", TASK)
    except HubError as error:
        if error.code not in (Code.UNAVAILABLE, Code.DAEMON_NOT_RUNNING):
            raise


async def until_ended(made):
    await eventually(made.ended)


def test_every_named_actor_is_in_the_matrix():
    """Quota and detector once were not; and each meets each state."""
    assert set(ACTORS) == {*(field.name for field in attrs.fields(Slots)), "session"}
    cells = {(actor, state) for session in SESSIONS for state, actor in session.items()}
    assert len(cells) == len(ACTORS) * len(STATES)


@pytest.mark.parametrize("victims", SESSIONS, ids=lambda victims: f"{victims['RUNNING']}-first")
async def test_session_goes_on_when_an_actor_is_killed(work, killing, monkeypatch, victims):
    made, oracle = work
    monkeypatch.chdir(made.root)
    for name, value in made.environ().items():
        monkeypatch.setenv(name, value)
    killed = killing(victims)
    with users_umask():
        async with trio.open_nursery() as nursery:
            daemon = await nursery.start(run_daemon, order_for(made.root, flags={"port": 0}))
            made.port = daemon.port
            await start(daemon.port)
            await until_ended(made)
            tree = await ask(daemon.port, "/api/system/tree")
            daemon.request_stop()
    assert set(killed) == set(STATES)
    assert {actor: _find(tree, actor)["restarts"] for actor in ACTORS} == {
        actor: int(actor in victims.values()) for actor in ACTORS
    }
    record = made.fsm()
    assert (record["sessionState"], record["verified"], record["handoffsDone"]) == ("completed", True, 1)
    assert len(made.starts()) == 2
    monkeypatch.undo()
    check_invariants(made, oracle)


def _find(node, name):
    if name == "session":
        return _find(node, "running")["children"][-1]
    if node["name"] == name:
        return node
    return next((found for child in node["children"] if (found := _find(child, name))), None)
