"""Supervision: restart latency, call round trips, restart of an operating-system process.

Peer: bare Trio doing the same without supervision, and Erlang/OTP's own supervisor and gen_server, its logger off,
where `escript` is on PATH.

Of 0.7 to 2.6 ms from the kill of a process to the next one 0.2 to 0.5 are hub's: the exception of the watching task ends
the actor, its cleanup runs, its supervisor counts and starts the next. The rest is the kernel's and Trio's, and each wake
of a sleeping core takes as long as the host lets it: on a busy one Trio alone had a p95 of 2.6 ms in single rounds. The
kept figures are of Erlang/OTP 25. A cancel scope for each call is a third of what a call costs; one timer for all of a tree's
was a hundred lines.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import trio

from supervisors import Actor, Exit, Root, Slot, SupervisorSpec, actor_spec, run_root
from tests.bench.table import Row, at_least, percentile, run
from tests.trees import ROOMY, Recorder, restarted

ROUNDS = 5
PEER = """\
%%! -noinput
-module(bench_peer).
-mode(compile).
-export([main/1, init/1, start_link/1, handle_call/3, handle_cast/2]).

main([Count]) ->
    N = list_to_integer(Count),
    logger:set_primary_config(level, none),
    {ok, Sup} = supervisor:start_link(?MODULE, {sup, self()}),
    First = started(),
    {Last, Times} = kills(N, element(1, First), []),
    Begin = erlang:monotonic_time(),
    calls(N, Last),
    Seconds = (erlang:monotonic_time() - Begin) / erlang:convert_time_unit(1, second, native),
    Micro = [erlang:convert_time_unit(T * 10, native, microsecond) / 10 || T <- Times],
    io:format("{\\"calls\\": ~w, \\"restarts\\": ~w}~n", [N / Seconds, Micro]),
    unlink(Sup),
    exit(Sup, shutdown),
    halt(0).

kills(0, Pid, Times) -> {Pid, Times};
kills(N, Pid, Times) ->
    Begin = erlang:monotonic_time(),
    exit(Pid, kill),
    {Next, Then} = started(),
    kills(N - 1, Next, [Then - Begin | Times]).

started() -> receive {started, Pid, Then} -> {Pid, Then} end.

calls(0, _) -> ok;
calls(N, Pid) -> N = gen_server:call(Pid, N), calls(N - 1, Pid).

start_link(Parent) -> gen_server:start_link(?MODULE, {child, Parent}, []).

init({sup, Parent}) ->
    Child = #{id => child, start => {?MODULE, start_link, [Parent]}},
    {ok, {#{strategy => one_for_one, intensity => 1000000, period => 1}, [Child]}};
init({child, Parent}) ->
    Parent ! {started, self(), erlang:monotonic_time()},
    {ok, Parent}.

handle_call(Message, _, State) -> {reply, Message, State}.
handle_cast(_, State) -> {noreply, State}.
"""


class Echo(Actor[Any]):
    """Answers with the message; says when it was started."""

    def __init__(self, came: list[float]) -> None:
        self.came = came

    async def started(self) -> None:
        self.came.append(time.perf_counter())

    async def handle(self, message: Any) -> Any:
        return message


class Process(Actor[Any]):
    """Owns one process of the operating system, and dies with it."""

    def __init__(self, came: list[tuple[float, int]]) -> None:
        self.came = came
        self.process: trio.Process

    async def started(self) -> None:
        self.process = await trio.lowlevel.open_process(["sleep", "600"], start_new_session=True)
        self.came.append((time.perf_counter(), self.process.pid))
        self.ctx.nursery.start_soon(self.watch)

    async def watch(self) -> None:
        raise ChildProcessError(await self.process.wait())

    async def stopped(self, exit: Exit) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


async def tree(spec: SupervisorSpec, recorder: Recorder, nursery: trio.Nursery) -> Root:
    root: Root = await nursery.start(partial(run_root, spec, on_event=recorder))
    return root


async def restarts(slot: Slot[Any], came: list[float], count: int) -> list[float]:
    """Seconds from the kill of an idle actor to the `started` of the next one, with every event recorded."""
    times = []
    for _ in range(count):
        life = slot.life
        assert life is not None
        before = time.perf_counter()
        life.kill()
        await slot.ref.wait_alive()
        times.append(came[-1] - before)
    return times


async def calls(slot: Slot[Any], count: int) -> float:
    """Round trips a second, one after the other, each with a timeout."""
    before = time.perf_counter()
    for number in range(count):
        await slot.ref.call(number, 5)
    return count / (time.perf_counter() - before)


async def casts(slot: Slot[Any], count: int) -> float:
    """Messages a second through a full mailbox."""
    before = time.perf_counter()
    for number in range(count):
        await slot.ref.cast(number)
    await slot.ref.call("all there", 60)
    return count / (time.perf_counter() - before)


async def process_restarts(slot: Slot[Any], came: list[tuple[float, int]], count: int) -> list[float]:
    """Seconds from SIGKILL to a replacement that was started."""
    times = []
    for _ in range(count):
        before = time.perf_counter()
        await restarted(slot.ref, partial(os.kill, came[-1][1], signal.SIGKILL))
        times.append(came[-1][0] - before)
    return times


async def raw_process(count: int) -> list[float]:
    """The floor: kill a process, notice, start another one, with Trio alone."""
    times = []
    process = await trio.lowlevel.open_process(["sleep", "600"], start_new_session=True)
    for _ in range(count):
        before = time.perf_counter()
        process.kill()
        await process.wait()
        process = await trio.lowlevel.open_process(["sleep", "600"], start_new_session=True)
        times.append(time.perf_counter() - before)
    process.kill()
    await process.wait()
    return times


async def raw_trio(count: int) -> list[float]:
    """The floor: cancel a bare task that has a scope and a nursery, start another one, no supervision at all."""
    times = []
    async with trio.open_nursery() as nursery:

        async def child(scope: trio.CancelScope, ready: trio.Event, gone: trio.Event) -> None:
            with scope:
                async with trio.open_nursery():
                    ready.set()
                    await trio.sleep_forever()
            gone.set()

        async def start() -> tuple[trio.CancelScope, trio.Event]:
            scope, ready, gone = trio.CancelScope(), trio.Event(), trio.Event()
            nursery.start_soon(child, scope, ready, gone)
            await ready.wait()
            return scope, gone

        scope, gone = await start()
        for _ in range(count):
            before = time.perf_counter()
            scope.cancel()
            await gone.wait()
            scope, gone = await start()
            times.append(time.perf_counter() - before)
        scope.cancel()
    return times


def erlang(folder: Path, count: int) -> dict[str, Any] | None:
    """The same measured on OTP's own supervisor and gen_server, with its logger off."""
    escript = shutil.which("escript")
    if escript is None:
        return None
    path = folder / "bench_peer.escript"
    path.write_text("#!/usr/bin/env escript\n" + PEER)
    done = subprocess.run([escript, path, str(count)], capture_output=True, check=True, timeout=120)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


async def measure(count: int) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Seconds of each kind of restart and messages a second: the best of some rounds in turns."""
    recorder, came, processes = Recorder(), [], []
    echo: Slot[Any] = Slot("echo", ROOMY)
    process: Slot[Any] = Slot("process", ROOMY)
    specs = [
        actor_spec("echo", lambda: Echo(came), echo),
        actor_spec("process", lambda: Process(processes), process),
    ]
    spec = SupervisorSpec(intensity=10**9, period=1.0, children=specs)
    best: dict[str, list[float]] = {}
    rates: dict[str, float] = {"calls": 0.0, "casts": 0.0}
    killed = at_least(5, count // 30, 1.0)
    async with trio.open_nursery() as nursery:
        root = await tree(spec, recorder, nursery)
        for _ in range(ROUNDS):  # the machine may have other work
            for name, measured in (
                ("actor", await restarts(echo, came, count)),
                ("task", await raw_trio(count)),
                ("process", await process_restarts(process, processes, killed)),
                ("bare process", await raw_process(killed)),
            ):
                if name not in best or percentile(measured, 0.95) < percentile(best[name], 0.95):
                    best[name] = measured
            rates["calls"] = max(rates["calls"], await calls(echo, count))
            rates["casts"] = max(rates["casts"], await casts(echo, count))
            recorder.events.clear()
            gc.collect()
        await root.stop()
    return best, rates


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """Restarts, calls and casts; Erlang's where it is here."""
    count = at_least(100, 3000, scale)
    best, rates = trio.run(measure, count)
    peer = erlang(folder, count)
    for part, target in ((0.5, "<= 80"), (0.99, "")):
        ours, floor = (percentile(best[name], part) * 1e6 for name in ("actor", "task"))
        label = f"actor killed to the next one started: p{part * 100:.0f}"
        yield Row(label, ours, "us", target, "a bare Trio task", floor)
        if peer is not None:
            yield Row(label, ours, "us", target, "Erlang/OTP", percentile(peer["restarts"], part))
    ours, floor = (percentile(best[name], 0.95) * 1e3 for name in ("process", "bare process"))
    yield Row("process killed to the next one started: p95", ours, "ms", "<= 2", "Trio alone", floor)
    theirs = ("Erlang/OTP", peer["calls"]) if peer is not None else ("", 0.0)
    yield Row("call round trips", rates["calls"], "/s", "", *theirs)
    yield Row("casts through a bounded mailbox", rates["casts"], "/s")


if __name__ == "__main__":
    run(rows)
