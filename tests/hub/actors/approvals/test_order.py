"""An answer is on the audit log before anybody hears it: whoever gave it, and whether the log is slow or takes nothing.

Traps: the one who decided, the one who waits and the agent are told by different ways, and each must wait.
"""

from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from hub.domain.approval import Action, PermissionRequest
from hub.errors import HubError
from hub.messages.approvals import AskApproval, GetApprovals, ResolveApproval
from tests.hub.actors.daemon import daemon_of

SLOW = "audit.append=sleep:0.3"


@pytest.fixture
def made(made):
    """No agent is needed: the test asks."""
    made.script("demo-first", {"done": "finished"})
    return made


def ask(command="deploy"):
    return PermissionRequest(
        "a-000000000001",
        Action.TOOL,
        "s-1",
        "demo-first",
        tool="run",
        subject=command,
        context={"command": command},
    )


def on_the_log(made):
    """What the audit log says of how the request ended, at this moment."""
    return [
        line for line in (made.hub / "audit.jsonl").read_bytes().splitlines() if b"approval_resolved" in line
    ]


@asynccontextmanager
async def listening(live, made, request):
    """Somebody waits for the answer; what the log had by then is noted when it comes."""
    heard = []

    async def wait():
        decision = await live.ask("approvals", AskApproval(request, patient=True))
        heard.append((decision.approved, len(on_the_log(made))))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await live.ask("approvals", AskApproval(request))
        yield heard


@pytest.mark.parametrize("approved", [True, False])
async def test_a_persons_answer_is_on_the_log_before_it_is_heard(made, monkeypatch, arm, approved):
    made.configure("\n[[approvals]]\n")
    async with daemon_of(made, monkeypatch) as live:
        async with listening(live, made, ask()) as heard:
            arm(SLOW)
            await live.ask("approvals", ResolveApproval("a-000000000001", approved, ""))
            assert len(on_the_log(made)) == 1
        assert heard == [(approved, 1)]


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_what_a_rule_decides_is_on_the_log_before_it_is_heard(made, monkeypatch, arm, decision):
    made.configure(f'\n[[approvals]]\ndecision = "{decision}"\n')
    async with daemon_of(made, monkeypatch) as live:
        arm(SLOW)
        found = await live.ask("approvals", AskApproval(ask()))
        assert (found.pending, found.approved, len(on_the_log(made))) == (False, decision == "allow", 1)


async def test_that_nobody_answered_is_on_the_log_before_it_is_heard(made, monkeypatch, arm):
    made.configure("\n[[approvals]]\ntimeout = 0.1\n")
    async with daemon_of(made, monkeypatch) as live:
        arm(SLOW)
        async with listening(live, made, ask()) as heard:
            pass
        assert heard == [(False, 1)]


async def test_nobody_hears_what_the_log_does_not_take(made, monkeypatch, arm):
    """The answer is kept; it is heard once the log has taken it, and not before."""
    made.configure("\n[[approvals]]\n")
    async with daemon_of(made, monkeypatch) as live:
        async with listening(live, made, ask()) as heard:
            arm("audit.append=enospc")
            with pytest.raises(HubError, match="The answer is kept"):
                await live.ask("approvals", ResolveApproval("a-000000000001", True, ""))
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert (heard, on_the_log(made)) == ([], [])
            arm("")
        assert heard == [(True, 1)]
        assert await live.ask("approvals", GetApprovals()) == []


@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_a_rules_answer_that_the_log_does_not_take_is_none(made, monkeypatch, arm, decision):
    made.configure(f'\n[[approvals]]\ndecision = "{decision}"\n')
    async with daemon_of(made, monkeypatch) as live:
        arm("audit.append=enospc")
        with pytest.raises(HubError):
            await live.ask("approvals", AskApproval(ask()))
        arm("")
