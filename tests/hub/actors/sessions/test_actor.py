"""Several sessions in one daemon: the guard, the queue, whom a message means, and what is kept of those that ended."""

from __future__ import annotations

import json
from functools import partial

import pytest
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.secrets import Secrets
from hub.actors.session import views
from hub.actors.session.routing import Routing
from hub.actors.sessions.admission import Admission
from hub.actors.sessions.queue import Queue, Queued
from hub.domain.routing import Target
from hub.errors import Code, HubError
from hub.io.project.places import Places
from hub.messages.claims import ClaimAccount, GetClaims
from hub.messages.session import (
    GetSessionFacts,
    GetStatus,
    ReleaseRun,
    RequestPause,
    RequestReply,
    RequestStop,
    StartRun,
)
from tests.faults import harness
from tests.hub.actors.daemon import daemon_of
from tests.refusals import refuses
from tests.waiting import answered

ASKS = ({"write": {"path": "a.txt", "text": "one\n"}}, {"ask": "go on?"}, {"done": "finished"})


@pytest.fixture
def three(made):
    """A project with places for three sessions, and three accounts of the agent that asks."""
    made.script("demo-first", *ASKS)
    made.configure(session="concurrent = 3\n", extra=_accounts("demo-first", 3))
    return made


def _accounts(name: str, many: int) -> str:
    return "".join(f'\n[[providers.{name}.accounts]]\nlabel = "a{n}"\n' for n in range(many))


async def states(live) -> dict[str, str]:
    answer = await live.get("/api/sessions")
    return {row["sessionId"]: row["sessionState"] for row in answer["sessions"]}


async def asking(live, session: str) -> None:
    """Until its agent asks."""
    ask = partial(live.get, "/api/status", {"sessionId": session})
    await answered(ask, lambda status: status["needsInput"])


async def _of(live, session: str, tag: str) -> list:
    """What the log has of a session under a tag."""
    return [e for e in await live.events() if e.tag == tag and e.meta.get("sessionId") == session]


async def test_three_run_side_by_side_and_a_fourth_does_not(three, monkeypatch):
    """Each has its record, worktree and branch; what is meant for one does not reach another."""
    async with daemon_of(three, monkeypatch) as live:
        begun = [(await live.post("/api/run", {"task": f"task {n}"}))["sessionId"] for n in range(3)]
        with refuses(Code.SESSION_ALREADY_RUNNING):
            await live.post("/api/run", {"task": "one too many"})
        for session in begun:
            await asking(live, session)
        assert await states(live) == dict.fromkeys(begun, "running")
        rows = (await live.get("/api/sessions"))["sessions"]
        assert [row["needs"] for row in rows] == ["input"] * 3
        assert len({row["account"] for row in rows}) == 3, "one login is not used twice at once"
        assert len({row["worktree"] for row in rows}) == 3
        await live.post("/api/session/reply", {"reply": "yes", "sessionId": begun[1]})
        await answered(partial(states, live), lambda found: found[begun[1]] == "completed")
        assert await states(live) == {begun[0]: "running", begun[1]: "completed", begun[2]: "running"}
    for session in begun:
        assert harness.git(three.root, "show", f"hub/{session}:a.txt") == "one"


async def test_a_list_without_an_old_session_waits_for_no_engine(three, monkeypatch):
    """Its rules are compiled for many seconds once on a machine."""
    arm, ready = Secrets.arm, trio.Event()

    async def slow(self):
        await ready.wait()
        await arm(self)

    async with daemon_of(three, monkeypatch) as live:
        monkeypatch.setattr(Secrets, "arm", slow)
        assert await states(live) == {}
        session = (await live.post("/api/run", {"task": "write it"}))["sessionId"]
        assert list(await states(live)) == [session]
        ready.set()
        await asking(live, session)


async def test_who_is_meant(three, monkeypatch):
    """An id, or the beginning of one that fits one session alone; without one, the only one that is active."""
    async with daemon_of(three, monkeypatch) as live:
        first = await live.ask("sessions", StartRun("one", session_id="s-aa-1"))
        await asking(live, "s-aa-1")
        assert (await live.ask("sessions", GetSessionFacts())).session_id == first.session_id
        await live.ask("sessions", StartRun("two", session_id="s-ab-1"))
        for order in (RequestReply("yes"), RequestStop(), RequestStop(session_id="s-a")):
            with pytest.raises(HubError) as caught:
                await live.ask("sessions", order)
            assert (caught.value.code, caught.value.extra["sessions"]) == (
                Code.WHICH_SESSION,
                ["s-aa-1", "s-ab-1"],
            )
        assert (await live.status())["sessionId"] == "s-ab-1", "a question means the newest"
        with refuses(Code.NOT_FOUND):
            await live.ask("sessions", RequestStop(session_id="s-b"))
        assert (await live.ask("sessions", RequestStop(session_id="s-ab"))).session_id == "s-ab-1"
        assert (await live.ask("sessions", RequestStop())).session_id == "s-aa-1"


async def test_the_queue_survives_the_daemon_and_keeps_its_order(three, monkeypatch):
    """First in, first out; an order that waits can be taken back; whose turn it is begins when a place comes free."""
    three.configure()
    async with daemon_of(three, monkeypatch) as live:
        await live.post("/api/run", {"task": "first"})
        waiting = [await live.post("/api/run", {"task": f"later {n}", "queue": True}) for n in range(3)]
        assert [answer["position"] for answer in waiting] == [1, 2, 3]
        ids, tasks = zip(*((answer["sessionId"], answer["taskId"]) for answer in waiting), strict=True)
        await live.post("/api/session/stop", {"sessionId": ids[1]})
        await live.until(lambda s: s["needsInput"], "the first one asks")
        live.daemon.detach = True
    assert ids[0] in (three.hub / "queue.json").read_text()
    async with daemon_of(three, monkeypatch) as live:
        rows = (await live.get("/api/sessions"))["sessions"]
        assert [(r["sessionId"], r["position"]) for r in rows if r["position"]] == [(ids[0], 1), (ids[2], 2)]
        await live.post("/api/session/reply", {"reply": "yes"})
        await live.until(lambda s: s["sessionId"] == ids[0] and s["needsInput"], "the next one's turn")
        assert (await live.status())["taskId"] == tasks[0] != "", "the task of the answer is the session's"
        await live.post("/api/session/reply", {"reply": "yes"})
        await live.until(lambda s: s["sessionId"] == ids[2] and s["needsInput"], "the last one's turn")
    assert json.loads((three.hub / "queue.json").read_text())["waiting"] == []


async def test_what_has_ended_can_still_be_asked(three, monkeypatch):
    """Its record and its contract are kept when another session takes the project's place."""
    three.configure()
    three.script("demo-first", {"write": {"path": "a.txt", "text": "one\n"}}, {"done": "finished"})
    async with daemon_of(three, monkeypatch) as live:
        ended = []
        for number in range(3):
            ended.append((await live.post("/api/run", {"task": f"task {number}"}))["sessionId"])
            await live.until_ended()
        for number, session in enumerate(ended):
            status = await live.get("/api/status", {"sessionId": session})
            assert (status["taskGoal"], status["sessionState"]) == (f"task {number}", "completed")
        assert list(await states(live)) == ended
        assert "a.txt" in (await live.get("/api/session/diff", {"sessionId": ended[0]}))["diff"]
    async with daemon_of(three, monkeypatch) as live:
        assert list(await states(live)) == ended
        assert (await live.status())["sessionId"] == ended[2]


async def test_an_order_whose_session_began_is_not_begun_again(three, monkeypatch):
    """The daemon dies between the session's first record and the queue's: the id is on record, so the order is done."""
    three.configure()
    three.script("demo-first", {"done": "finished"})
    async with daemon_of(three, monkeypatch) as live:
        begun = await live.post("/api/run", {"task": "first"})
        await live.until_ended()
    order = StartRun("first", session_id=begun["sessionId"])
    monkeypatch.setenv("HUB_STATE_DIR", str(three.state))
    queue = Queue(Places(three.root))
    queue.add(Queued(order, 0.0))
    queue.add(Queued(StartRun("second", session_id="s-second"), 0.0))
    async with daemon_of(three, monkeypatch) as live:
        await live.until(
            lambda s: s["sessionId"] == "s-second", "the next one's turn, with no end to wait for"
        )
        await live.until_ended()
    assert len(three.starts()) == 2


async def test_a_node_of_a_run_that_is_over_holds_no_place(three, monkeypatch):
    """Its record names the run for good; who looks at it later must not keep everybody out."""
    three.configure()
    three.script("demo-first", {"done": "finished"})
    async with daemon_of(three, monkeypatch) as live:
        for number in range(2):
            await live.ask("sessions", StartRun("node", session_id=f"s-node-{number}", run_id="p-1"))
            await live.until_ended()
        with pytest.raises(HubError) as caught:
            await live.ask("sessions", StartRun("mine"))
        assert "between two nodes" in caught.value.detail
        await live.ask("sessions", ReleaseRun("p-1"))
        for number in range(2):  # also of a node whose actor had ended long before
            which = {"sessionId": f"s-node-{number}"}
            assert (await live.get("/api/status", which))["runId"] == ""
        await live.ask("sessions", StartRun("mine"))
        await live.until_ended()


async def test_a_claim_of_a_session_that_is_over_is_free_after_a_start(three, monkeypatch):
    """The daemon died between the end's record and the claim's."""
    three.configure()
    async with daemon_of(three, monkeypatch) as live:
        target = Target("demo-first", "default")
        await live.ask("claims", ClaimAccount("s-gone", "d-1", target, 1))
        assert await live.ask("claims", GetClaims()) == {target: 1}
    async with daemon_of(three, monkeypatch) as live:
        await answered(partial(live.ask, "claims", GetClaims()), lambda found: not found)


async def test_what_runs_has_its_account_also_where_no_claim_is_on_record(three, monkeypatch):
    """An older hub started it, or the record of the claims could not be read: nobody else gets the login meanwhile."""
    three.configure()
    async with daemon_of(three, monkeypatch) as live:
        await live.ask("sessions", StartRun("one"))
        await live.until(lambda s: s["needsInput"], "the agent asks")
        (target,) = await live.ask("claims", GetClaims())
        Places(three.root).claims.unlink()
        claims = partial(call_until_answered, live.daemon.app.slots.claims.ref, GetClaims())
        live.kill("claims")
        await answered(claims, lambda found: not found)
        live.kill("session")
        await answered(claims, lambda found: found == {target: 1})
        assert len(three.starts()) == 1


async def test_the_beginning_of_an_id_may_mean_an_order_that_waits_or_a_session(three, monkeypatch):
    """What fits both is asked back; an order that is taken out of the queue is said to be, and never begins."""
    three.configure()
    async with daemon_of(three, monkeypatch) as live:
        await live.ask("sessions", StartRun("one", session_id="s-a1"))
        await live.ask("sessions", StartRun("two", session_id="s-a2", queue=True))
        with pytest.raises(HubError) as caught:
            await live.ask("sessions", RequestStop(session_id="s-a"))
        assert caught.value.extra["sessions"] == ["s-a1", "s-a2"]
        for asked in (GetStatus("s-a2"), RequestPause(pause=True, session_id="s-a2")):
            with pytest.raises(HubError, match="waits for its turn") as caught:
                await live.ask("sessions", asked)
            assert "hub stop s-a2" in caught.value.hint, "it is in the list: it was said to be unknown"
        stopped = await live.ask("sessions", RequestStop(session_id="s-a2"))
        assert (stopped.state, stopped.begun) == ("stopped", False)
        said = await live.until_event("taken out of the queue")
        assert (said.meta["sessionId"], said.meta["ended"]) == ("s-a2", "stopped")
        assert list(await states(live)) == ["s-a1"]


async def test_an_order_in_the_queue_waits_for_an_account_that_another_session_has(three, monkeypatch):
    """There is a place for it, and nobody to do it; "on a limit, stop" is not meant for that."""
    three.configure(session="concurrent = 2\n")
    async with daemon_of(three, monkeypatch) as live:
        first = (await live.post("/api/run", {"task": "first"}))["sessionId"]
        await asking(live, first)
        order = {"task": "second", "onLimit": "stop"}
        with refuses(Code.ACCOUNT_IN_USE):
            await live.post("/api/run", order)
        second = await live.post("/api/run", {**order, "queue": True})
        assert second["position"] == 1
        await live.post("/api/session/reply", {"reply": "yes", "sessionId": first})
        await live.until(lambda s: s["sessionId"] == second["sessionId"] and s["needsInput"], "its turn")


async def test_who_waits_for_another_sessions_account_is_promised_no_time(three, monkeypatch):
    """It said `Waiting for a reset, until` ten minutes from then, which is when it is looked at again."""
    three.configure(session="concurrent = 2\n")
    async with daemon_of(three, monkeypatch) as live:
        first = (await live.post("/api/run", {"task": "first"}))["sessionId"]
        await asking(live, first)
        second = (await live.post("/api/run", {"task": "second"}))["sessionId"]
        ask = partial(live.get, "/api/status", {"sessionId": second})
        status = await answered(ask, lambda status: status["waitReason"])
        assert (status["sessionState"], status["waitUntil"]) == ("waiting", None)
        assert "another session works with it" in status["waitReason"]
        (row,) = (r for r in (await live.get("/api/sessions"))["sessions"] if r["sessionId"] == second)
        assert row["waitUntil"] is None
        waits = partial(_of, live, second, "waiting")
        said = (await answered(waits, bool))[0]
        assert "until" not in said.meta
        assert "; waiting" not in said.msg
        await live.post("/api/session/reply", {"reply": "yes", "sessionId": first})
        await asking(live, second)


async def test_who_waits_in_its_place_has_a_freed_account_before_the_queue(three, monkeypatch):
    """An order whose turn came as the account did began with it, and the session that had waited for it went on waiting."""
    three.configure(session="concurrent = 2\n")
    looked, claim, turn = trio.Event(), Routing.claim, Admission._next
    async with daemon_of(three, monkeypatch) as live:
        first = (await live.post("/api/run", {"task": "first"}))["sessionId"]
        await asking(live, first)
        second = (await live.post("/api/run", {"task": "second"}))["sessionId"]
        third = await live.post("/api/run", {"task": "third", "onLimit": "stop", "queue": True})
        taken = partial(live.daemon.app.slots.claims.ref.call, GetClaims(), timeout=10)
        await answered(taken, lambda found: sum(found.values()) == 2)

        async def slow(self, record, **how):
            await looked.wait()
            return await claim(self, record, **how)

        async def watched(self):
            found = await turn(self)
            if first not in self.roster.active:
                looked.set()
            return found

        monkeypatch.setattr(Routing, "claim", slow)
        monkeypatch.setattr(Admission, "_next", watched)
        await live.post("/api/session/reply", {"reply": "yes", "sessionId": first})
        await asking(live, second)
        assert (await states(live))[third["sessionId"]] == "queued"
        await live.post("/api/session/reply", {"reply": "yes", "sessionId": second})
        await live.until(lambda s: s["sessionId"] == third["sessionId"] and s["needsInput"], "its turn")


async def test_room_that_the_settings_make_is_seen_by_who_waits(three, monkeypatch):
    """No session has to end first."""
    monkeypatch.setattr("hub.actors.sessions.admission._LOOK", 0.05)
    accounts = _accounts("demo-first", 3)
    three.configure(extra=accounts)
    async with daemon_of(three, monkeypatch) as live:
        first = (await live.post("/api/run", {"task": "first"}))["sessionId"]
        await asking(live, first)
        second = (await live.post("/api/run", {"task": "second", "queue": True}))["sessionId"]
        three.configure(session="concurrent = 2\n", extra=accounts)
        await answered(partial(states, live), lambda found: found.get(second) in ("starting", "running"))
        assert (await states(live))[first] == "running"


async def test_a_session_that_answers_nobody_holds_up_no_list(three, monkeypatch):
    """It is shown as its record has it."""
    monkeypatch.setattr("hub.actors.sessions.roster.PATIENCE", 0.2)
    async with daemon_of(three, monkeypatch) as live:
        begun = [(await live.post("/api/run", {"task": f"task {n}"}))["sessionId"] for n in range(2)]
        for session in begun:
            await asking(live, session)
        monkeypatch.setattr("hub.actors.session.views.status", _stuck(begun[0], views.status))
        assert await states(live) == dict.fromkeys(begun, "running")


def _stuck(session_id: str, status):
    """The answer of a session, but that one's."""

    def answer(context):
        if context.store.now.session_id == session_id:
            raise HubError(Code.UNAVAILABLE, "busy")
        return status(context)

    return answer
