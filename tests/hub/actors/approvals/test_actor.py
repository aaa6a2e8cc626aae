"""The approvals in a real daemon with a scripted agent: each request once, each answer once, whatever is killed."""

import json
import sys

import pytest

from hub.api.convert import unstructure
from hub.domain.approval import request_id
from hub.errors import Code, HubError
from hub.messages.approvals import AskApproval, GetApprovals, ResolveApproval, WithdrawApprovals
from hub.messages.session import GetProviders, RequestHandoff, RequestReply, RequestStop, StartRun
from supervisors import ActorDied
from tests.hub.actors.daemon import daemon_of
from tests.hub.domain.permission.test_rules import shell
from tests.refusals import refuses
from tests.trees import kill
from tests.waiting import answered

ALLOWED = '\n[[approvals]]\ncommand = "deploy*"\n'


@pytest.fixture
def made(made):
    """An agent that asks before it deploys, and tells the answer it got."""
    made.script("demo-first", {"say": "working"}, {"approve": "deploy it"}, {"done": "finished"})
    made.script("demo-second", {"say": "going on"}, {"done": "finished"})
    made.configure()
    return made


async def pending(live, count=1):
    """What waits, once so many do; an actor that is just restarting is asked again."""

    async def ask():
        try:
            return unstructure(await live.ask("approvals", GetApprovals()))
        except ActorDied:
            return None

    return await answered(ask, lambda found: found is not None and len(found) == count)


async def started(live):
    """The one request of a session whose agent waits for permission."""
    await live.ask("sessions", StartRun("ship it"))
    [found] = await pending(live)
    return found


async def resolve(live, number, *, approved=True, note=""):
    return unstructure(await live.ask("approvals", ResolveApproval(number, approved, note)))


def audited(made, event):
    """The records of one kind of the audit log."""
    lines = (made.hub / "audit.jsonl").read_bytes().split(b"\n")[:-1]
    return [entry["data"] for entry in map(json.loads, lines) if entry["event"] == event]


def said(records, text):
    return [record for record in records if text in record.msg]


@pytest.mark.parametrize(("approved", "word"), [(True, "Approved: with care"), (False, "Denied: with care")])
async def test_an_answer_reaches_the_agent_with_its_note(made, monkeypatch, approved, word):
    """Specification: pending, then resolved with an approved flag; the agent waits meanwhile, and that is no silence."""
    made.configure("\n[[approvals]]\n")
    async with daemon_of(made, monkeypatch) as live:
        found = await started(live)
        assert (found["action"], found["severity"], found["kind"]) == ("approve: deploy it", "warn", "tool")
        status = await live.until(lambda s: s["needsApproval"], "it is shown")
        assert (status["needsInput"], status["sessionState"]) == (True, "running")
        answer = await resolve(live, found["id"], approved=approved, note="with care")
        assert answer == {"ok": True, "id": found["id"], "approved": approved}
        assert (await live.until_ended())["sessionState"] == "completed"
        records = await live.events()
        [told] = said(records, word)
        [resolved] = [record for record in records if record.meta.get("by") == "user"]
        assert resolved.id < told.id
        assert (await live.status())["needsInput"] is False
    [entry] = audited(made, "approval_resolved")
    assert (entry["approvalId"], entry["note"]) == (found["id"], "with care")
    assert entry["state"] == ("approved" if approved else "denied")


async def test_a_second_answer_is_refused(made, monkeypatch):
    """409 however the first one was; an id that is not known is 404."""
    made.configure("\n[[approvals]]\n")
    async with daemon_of(made, monkeypatch) as live:
        found = await started(live)
        await resolve(live, found["id"], approved=False)
        for approved in (True, False):
            with refuses(Code.APPROVAL_RESOLVED, "denied already"):
                await resolve(live, found["id"], approved=approved)
        with refuses(Code.NOT_FOUND):
            await resolve(live, "a-000000000000")
        await live.until_ended()


@pytest.mark.parametrize("actor", ["approvals", "session", "audit", "events", "settings"])
async def test_killing_an_actor_loses_no_request_and_answers_none_twice(made, monkeypatch, actor):
    """Killed while the request waits, and once more after its answer: one request, one answer, one entry of each."""
    made.configure("\n[[approvals]]\n")
    async with daemon_of(made, monkeypatch) as live:
        found = await started(live)
        live.kill(actor)
        assert (await pending(live))[0] == found
        await resolve(live, found["id"])
        live.kill(actor)
        assert (await live.until_ended())["sessionState"] == "completed"
        records = await live.events()
        assert len(said(records, "Approved")) == 1
        assert len(said(records, "approval needed: ")) == 1
        assert len(made.starts()) == 1
    assert len(audited(made, "approval_requested")) == 1
    assert len(audited(made, "approval_resolved")) == 1


@pytest.mark.parametrize(("decision", "word"), [("allow", "Approved"), ("deny", "Denied: not on a Friday")])
async def test_a_rule_answers_by_itself(made, monkeypatch, decision, word):
    """The first rule that matches decides; what it decides is on the audit log, with nobody asked."""
    reason = "" if decision == "allow" else 'reason = "not on a Friday"\n'
    made.configure(f'\n[[approvals]]\ncommand = "deploy*"\ndecision = "{decision}"\n{reason}')
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("ship it"))
        assert (await live.until_ended())["sessionState"] == "completed"
        records = await live.events()
        assert len(said(records, word)) == 1
        assert said(records, "approval needed") == []
    [entry] = audited(made, "approval_resolved")
    assert entry["by"] == "policy"


@pytest.mark.parametrize(("command", "approved"), [("npm run clean", False), ("./build.sh", True)])
async def test_a_rule_holds_for_the_lines_of_a_script_that_a_command_runs(
    made, monkeypatch, command, approved
):
    """What is not plain in them is not asked about: most scripts are the user's own."""
    made.configure('\n[[approvals]]\ncommand = "rm *"\ndecision = "deny"\n')
    (made.root / "clean.sh").write_text("#!/bin/sh\nset -e\nrm -rf out\n")
    (made.root / "build.sh").write_text("#!/bin/sh\npython3 -c 'print(1)'\n$CC x.c\n")
    (made.root / "package.json").write_text('{"scripts": {"clean": "./clean.sh"}}')
    request = shell(command, folder=str(made.root))
    async with daemon_of(made, monkeypatch) as live:
        assert (await live.ask("approvals", AskApproval(request))).approved == approved


async def test_nobodys_answer_in_time_is_a_no(made, monkeypatch):
    made.configure('\n[[approvals]]\ncommand = "deploy*"\ntimeout = 0.2\n')
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("ship it"))
        assert (await live.until_ended())["sessionState"] == "completed"
        assert len(said(await live.events(), "Denied: Nobody answered in 0.2 s.")) == 1
    assert audited(made, "approval_resolved")[0]["by"] == "timeout"


async def test_a_stop_withdraws_what_waits(made, monkeypatch):
    """Nobody is asked for what nobody waits for; an answer that comes later is refused and says why."""
    made.configure("\n[[approvals]]\n")
    async with daemon_of(made, monkeypatch) as live:
        found = await started(live)
        await live.ask("sessions", RequestStop())
        assert await pending(live, 0) == []
        with refuses(Code.APPROVAL_RESOLVED, "Nobody waits"):
            await resolve(live, found["id"])


async def test_what_another_run_of_the_agent_asked_is_left_alone(made, monkeypatch):
    """A run that ends takes its own requests along, and no other's."""
    made.configure("\n[[approvals]]\n")
    async with daemon_of(made, monkeypatch) as live:
        found = await started(live)
        for session, dispatch, native in (
            ("s-other", "", ""),
            (found["sessionId"], "d-other", ""),
            (found["sessionId"], "", "n-other"),
        ):
            await live.ask("approvals", WithdrawApprovals(session, dispatch, native))
            assert len(await pending(live, 1)) == 1
        await live.ask("approvals", WithdrawApprovals(found["sessionId"]))
        assert await pending(live, 0) == []


async def test_a_secret_in_a_note_reaches_the_agent_alone(made, monkeypatch):
    """Redaction before anything leaves: neither the audit log nor an event shows it."""
    made.configure("\n[[approvals]]\n")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    async with daemon_of(made, monkeypatch) as live:
        found = await started(live)
        await resolve(live, found["id"], note=f"use {secret}")
        await live.until_ended()
        assert not said(await live.events(), secret)
        assert said(await live.events(), "Approved: use [REDACTED")
    assert secret.encode() not in (made.hub / "audit.jsonl").read_bytes()


async def test_a_full_disk_changes_nothing_and_is_told(made, monkeypatch, arm):
    """The answer that could not be kept was not given: it is asked for again, and then given once."""
    made.configure("\n[[approvals]]\n")
    async with daemon_of(made, monkeypatch) as live:
        found = await started(live)
        arm("approvals.pre_write=enospc")
        with refuses(Code.NO_SPACE):
            await resolve(live, found["id"])
        assert await pending(live) == [found]
        arm("")
        await resolve(live, found["id"])
        assert (await live.until_ended())["sessionState"] == "completed"


async def test_a_damaged_record_is_kept_aside_and_the_agent_is_asked_about_again(made, monkeypatch):
    made.configure("\n[[approvals]]\n")
    async with daemon_of(made, monkeypatch) as live:
        found = await started(live)
        (made.hub / "approvals.json").write_bytes(b"{")
        kill(live.daemon.app.picture.__self__, "approvals")
        assert (await pending(live))[0]["id"] == found["id"]
        await live.until_event("the file was kept as approvals.json.corrupt-")
        await resolve(live, found["id"])
        assert (await live.until_ended())["sessionState"] == "completed"


async def test_rules_that_cannot_be_read_leave_it_to_a_person(made, monkeypatch):
    """Fail closed: a mistake in hub.toml allows nothing."""
    made.script("demo-first", {"ask": "ready?"}, {"approve": "deploy it"}, {"done": "finished"})
    made.configure('\n[[approvals]]\ndecision = "allow"\n')
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("ship it"))
        await live.until(lambda s: s["needsInput"], "it asks")
        (made.root / "hub.toml").write_text("[[approvals]]\ndecision = 7\n")
        await live.ask("sessions", RequestReply("yes"))
        [found] = await pending(live)
        assert found["reason"].startswith("the rules cannot be read")
        await resolve(live, found["id"])
        assert (await live.until_ended())["sessionState"] == "completed"


async def test_an_agent_that_cannot_ask_is_not_started_where_a_rule_wants_it_to(made, monkeypatch):
    """Permissions never widen: it is refused by name, and shown as unfit."""
    made.configure(f'\n[providers.aider]\nenabled = true\nprogram = "{sys.executable}"\n\n[[approvals]]\n')
    async with daemon_of(made, monkeypatch) as live:
        with pytest.raises(HubError, match="aider cannot work here: it cannot ask"):
            await live.ask("sessions", StartRun("ship it", provider="aider"))
        shown = {one.name: one for one in await live.ask("sessions", GetProviders())}
        assert (shown["aider"].status, "cannot ask" in shown["aider"].reason) == ("error", True)
        assert shown["demo-first"].status == "standby"


_ASKS_ABOUT_SECOND = '\n[[approvals]]\naction = "handoff"\nprovider = "demo-second"\n'


# --- hub's own actions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("approved", [True, False])
async def test_a_start_waits_for_a_word_where_a_rule_says_so(made, monkeypatch, approved):
    """No agent is started before; a no ends the session with its own code."""
    made.script("demo-first", {"done": "finished"})
    made.configure('\n[[approvals]]\naction = "start"\nprovider = "demo-*"\nseverity = "danger"\n')
    async with daemon_of(made, monkeypatch) as live:
        found = await started(live)
        assert (found["action"], found["severity"]) == ("start demo-first/default", "danger")
        status = await live.until(lambda s: s["sessionState"] == "waiting", "it waits")
        assert (status["needsApproval"], made.starts()) == (True, [])
        live.kill("session")
        assert [one["id"] for one in await pending(live)] == [found["id"]]
        await resolve(live, found["id"], approved=approved)
        status = await live.until_ended()
        if approved:
            assert (status["sessionState"], len(made.starts())) == ("completed", 1)
        else:
            assert (status["error"]["code"], made.starts()) == ("approval_denied", [])


async def test_a_stop_ends_the_wait_before_a_start(made, monkeypatch):
    made.configure('\n[[approvals]]\naction = "start"\n')
    async with daemon_of(made, monkeypatch) as live:
        await started(live)
        await live.until(lambda s: s["needsApproval"], "it waits")
        await live.ask("sessions", RequestStop())
        status = await live.status()
        assert (status["sessionState"], status["needsApproval"]) == ("stopped", False)
        assert await pending(live, 0) == []


@pytest.mark.parametrize("approved", [True, False])
async def test_a_handoff_waits_for_a_word_where_a_rule_says_so(made, monkeypatch, approved):
    """The next agent is started once somebody said so; after a no, who had the work goes on with it."""
    made.script("demo-first", {"say": "working"}, {"ask": "go on?"}, {"done": "finished"})
    made.configure(_ASKS_ABOUT_SECOND)
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("ship it"))
        await live.until(lambda s: s["needsInput"], "it asks")
        await live.ask("sessions", RequestHandoff())
        [found] = await pending(live)
        assert found["action"] == "hand the work to demo-second/default"
        assert len(made.starts()) == 1
        await resolve(live, found["id"], approved=approved)
        if not approved:
            await live.until_event("Nobody else can take over; demo-first goes on.")
            await live.until(lambda s: s["needsInput"] and len(made.starts()) == 2, "it asks again")
            await live.ask("sessions", RequestReply("yes"))
        status = await live.until_ended()
        who = ("demo-second", 1) if approved else ("demo-first", 0)
        assert (status["sessionState"], status["activeProvider"], status["handoffsDone"]) == (
            "completed",
            *who,
        )


async def test_after_a_no_a_session_whose_agent_cannot_go_on_fails(made, monkeypatch):
    """Its login is gone, the other one may not start: `no_fallback` at once, and nothing is lost."""
    made.script("demo-first", {"write": {"path": "a.txt", "text": "one"}}, {"auth": {}})
    made.configure(_ASKS_ABOUT_SECOND)
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("ship it"))
        [found] = await pending(live)
        await resolve(live, found["id"], approved=False)
        status = await live.until_ended()
        assert (status["sessionState"], status["error"]["code"]) == ("failed", "no_fallback")
        assert "demo-second/default: it was not allowed to start" in status["error"]["detail"]
        assert len(made.starts()) == 1
        assert made.show(f"{status['branch']}:a.txt") == b"one"


def test_the_id_is_the_same_every_time():
    """A request that is told again after a crash is the same request."""
    assert request_id("d-1", "x") == request_id("d-1", "x") != request_id("d-1", "y")
    assert len(request_id("d-1", "x")) == 14
