"""Whatever happens to a tree in whatever order: never two incarnations of one child, no hang, nothing left over."""

from __future__ import annotations

from typing import Any

import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from supervisors import (
    BRUTAL_KILL,
    ActorDied,
    AdminError,
    Backoff,
    DynamicHandle,
    Life,
    Restart,
    Shutdown,
    Strategy,
    SupervisorHandle,
    SupervisorSpec,
    dynamic_spec,
    supervisor_spec,
)
from tests.trees import Recorder, Scripted, running

NAMES = "abc"


class Counted(Scripted):
    """A scripted child that notices a second incarnation of itself."""

    here = most = 0
    slow = 0.0

    def __init__(self, name: str, *inits: Any, **character: Any) -> None:
        super().__init__(name, *inits, **character)
        self.lives: list[Life] = []

    async def start(self, life: Life) -> None:
        self.here += 1
        self.lives.append(life)
        self.most = max(self.most, self.here)
        try:
            await trio.sleep(self.slow if self.starts else 0)
            await super().start(life)
        finally:
            self.here -= 1


children = st.fixed_dictionaries(
    {
        "inits": st.lists(st.sampled_from([None, ValueError("init")]), max_size=3),
        "slow": st.sampled_from([0.0, 0.0, 4.0]),
        "character": st.sampled_from([{}, {"deaf": True}, {"stubborn": True}, {"stubborn": True}]),
        "restart": st.sampled_from(
            [Restart.PERMANENT, Restart.PERMANENT, Restart.TRANSIENT, Restart.TEMPORARY]
        ),
        "shutdown": st.sampled_from([1.0, 3.0, BRUTAL_KILL]),
        "backoff": st.sampled_from([None, None, None, Backoff(first=1)]),
    }
)
names = st.sampled_from(NAMES)
sleeps = st.tuples(st.just("sleep"), st.sampled_from([0.5, 2.0, 4.0, 10.0]))
ends = st.tuples(st.sampled_from(["crash", "crash", "return", "shutdown", "kill", "release", "stop"]), names)
requests = st.tuples(st.sampled_from(["terminate", "restart", "delete", "start"]), names)
settles = st.tuples(st.just("settle"), st.none())
events = st.one_of(ends, ends, sleeps, sleeps, requests, settles)
ENDS = {"crash": ValueError("crash"), "return": None, "shutdown": Shutdown()}


class Storm:
    """One run."""

    def __init__(self, cast: dict[str, dict[str, Any]], *, dynamic: bool, strategy: Strategy) -> None:
        self.cast = {
            name: Counted(name, None, *fields["inits"], **fields["character"])
            for name, fields in cast.items()
        }
        for name, child in self.cast.items():
            child.slow = cast[name]["slow"]
        self.specs = {
            name: child.spec(**{key: cast[name][key] for key in ("restart", "shutdown", "backoff")})
            for name, child in self.cast.items()
        }
        self.recorder = Recorder()
        self.handle: Any
        if dynamic:
            self.handle = DynamicHandle("sup")
            spec = dynamic_spec("sup", self.handle, intensity=6, stuck_after=2)
        else:
            self.handle = SupervisorHandle("sup")
            inner = SupervisorSpec(strategy, intensity=6, children=self.specs.values(), stuck_after=2)
            spec = supervisor_spec("sup", inner, handle=self.handle)
        self.spec = SupervisorSpec(intensity=100, children=[spec])

    async def ask(self, request: str, name: str) -> None:
        """Any answer will do, as long as there is one."""
        try:
            if request == "start":
                await self.handle.start_child(self.specs[name])
            elif hasattr(self.handle, f"{request}_child"):
                await getattr(self.handle, f"{request}_child")(name)
        except (AdminError, ActorDied):
            pass

    async def run(self, script: list[tuple[str, Any]]) -> None:
        with trio.fail_after(100_000):  # of virtual time: a hang ends here
            async with trio.open_nursery() as requests, running(self.spec, on_event=self.recorder) as root:
                for event, about in script:
                    match event:
                        case "sleep":
                            await trio.sleep(about)
                        case "settle":
                            await wait_all_tasks_blocked()
                        case "crash" | "return" | "shutdown":
                            self.cast[about].end(ENDS[event])
                        case "release":
                            self.cast[about].release()
                        case "kill" | "stop":
                            try:
                                life = root.life_at(f"root/sup/{about}")
                            except KeyError:
                                continue
                            _ = life.kill() if event == "kill" else life.request_stop()
                        case request:
                            requests.start_soon(self.ask, request, about)
                for child in self.cast.values():
                    child.release()
                await trio.sleep(1000)
                self.check()
        assert all(child.here == 0 for child in self.cast.values())
        assert not self.handle.alive

    def check(self) -> None:
        """In quiet, what the supervisor says of a child is what is so, and it never was there twice."""
        states = {info.id: info.state for info in self.handle.which_children()}
        said = {name: states.get(name) == "running" for name in self.cast}
        found = {name: child.here == 1 for name, child in self.cast.items()}
        most = max(child.most for child in self.cast.values())
        if found != said or most > 1:
            for (
                child
            ) in self.cast.values():  # one that nobody supervises would hold the nursery open for ever
                for life in child.lives:
                    life.kill()
        assert (found, most <= 1) == (said, True)


CALM: dict[str, Any] = {
    "inits": [],
    "slow": 0.0,
    "character": {},
    "restart": Restart.PERMANENT,
    "shutdown": 1.0,
    "backoff": None,
}
REVIVED = {"a": CALM | {"slow": 4.0}, "b": CALM | {"character": {"stubborn": True}}, "c": CALM}
REVIVED_BY = [
    ("crash", "a"),
    ("sleep", 8.0),
    ("crash", "a"),
    ("sleep", 0.5),
    ("release", "b"),
    ("sleep", 10.0),
]


@settings(deadline=None, max_examples=60)
@example(
    REVIVED, Strategy.ONE_FOR_ALL, False, REVIVED_BY
)  # once started twice: a stuck child, revived meanwhile
@given(
    st.fixed_dictionaries(dict.fromkeys(NAMES, children)),
    st.sampled_from(Strategy),
    st.booleans(),
    st.lists(events, max_size=25),
)
def test_storm(
    cast: dict[str, dict[str, Any]], strategy: Strategy, dynamic: bool, script: list[tuple[str, Any]]
) -> None:
    storm = Storm(cast, dynamic=dynamic, strategy=strategy)
    trio.run(storm.run, script, clock=MockClock(autojump_threshold=0))
