"""Whoever is started is started under the rules: as the first, as a receiver, as a pipeline's node; and who cannot be held
to them is passed by."""

import sys

import pytest

from hub.errors import HubError
from hub.messages.approvals import GetApprovals, ResolveApproval
from hub.messages.session import GetProviders, RequestHandoff, StartRun
from hub.messages.settings import GetConfig
from tests.faults.harness import git
from tests.hub.actors.daemon import daemon_of
from tests.waiting import answered

DENY = '\n[[approvals]]\ncommand = "secret.txt"\ndecision = "deny"\nreason = "it stays here"\n'
READS = (
    "cat secret.txt",
    "cd . && cat ./secret.txt | head",
    "sh -c 'cat secret.txt'",
    "cat sec*",
    "grep -r CANARY .",
)


def told(records, text):
    return [record for record in records if text in f"{record.msg} {record.meta}"]


async def test_what_is_denied_is_not_run_by_the_first_agent_nor_by_the_one_that_takes_over(made, monkeypatch):
    """Permissions never widen at a handoff."""
    steps = [{"write": {"path": "secret.txt", "text": "CANARY"}}, *({"run": command} for command in READS)]
    made.script("demo-first", {"run": "echo CANARY > other.txt"}, *steps, {"limit": {"resetsIn": 3600}})
    made.script("demo-second", *steps, {"run": "cat other.txt"}, {"done": "finished"})
    made.configure(DENY)
    (made.root / "secret.txt").write_text("CANARY\n")
    git(made.root, "add", "secret.txt")
    git(made.root, "commit", "-qm", "what must not be read")
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("look"))
        status = await live.until_ended()
        assert (status["sessionState"], status["handoffsDone"]) == ("completed", 1)
        records = await live.events()
    assert len(told(records, "Denied: it stays here")) == 2 * len(steps)
    uses = [record.meta["command"] for record in records if record.tag == "tool_use"]
    assert uses == ["echo CANARY > other.txt", "cat other.txt"]


@pytest.mark.parametrize("approved", [True, False])
async def test_what_is_asked_for_waits(made, monkeypatch, approved):
    made.script(
        "demo-first",
        {"run": "echo x > made.txt"},
        {"write": {"path": "free.txt", "text": "y"}},
        {"done": "-"},
    )
    made.configure('\n[[approvals]]\ncommand = "made.txt"\n')
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("make it"))
        [found] = await answered(
            lambda: live.ask("approvals", GetApprovals()), lambda waiting: len(waiting) == 1
        )
        folder = made.hub / "worktrees" / (await live.status())["sessionId"]
        assert (found.action, list(folder.glob("*.txt"))) == ("run: echo x > made.txt", [])
        await live.ask("approvals", ResolveApproval(found.id, approved, ""))
        assert (await live.until_ended())["sessionState"] == "completed"
        assert (folder / "made.txt").exists() is approved
        assert (folder / "free.txt").exists()


async def test_a_link_to_a_denied_file_is_that_file(made, monkeypatch):
    """No rule is about a link's name, but one is about where it leads; nor may the agent lay a link of its own there."""
    made.script(
        "demo-first",
        {"run": "ln -s ../../../keys there"},
        {"run": "cat here/secret.pem"},
        {"write": {"path": "here/secret.pem", "text": "x"}},
        {"done": "-"},
    )
    (made.root / "keys").mkdir()
    (made.root / "keys" / "secret.pem").write_text("CANARY")
    (made.root / "here").symlink_to("../../../keys")  # as the worktree sees it
    made.configure(f'\n[[approvals]]\ncommand = "{made.root}/keys/*.pem"\ndecision = "deny"\n')
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("look"))
        assert (await live.until_ended())["sessionState"] == "completed"
        records = await live.events()
    assert [record.msg for record in records if record.tag == "tool_use"] == []
    assert (made.root / "keys" / "secret.pem").read_text() == "CANARY"
    assert told(records, "CANARY") == []


async def test_who_cannot_be_held_to_a_rule_is_passed_by_and_says_why(made, monkeypatch):
    """Refused by name; left out where nobody named it; shown with its reason."""
    made.script("demo-first", {"done": "finished"})
    mine = f'\n[providers.mine]\nkind = "acp"\nenabled = true\ncommand = ["{sys.executable}"]\n'
    made.configure(mine + DENY)
    text = (
        (made.root / "hub.toml").read_text().replace('chain = ["demo-first"', 'chain = ["mine", "demo-first"')
    )
    (made.root / "hub.toml").write_text(text)
    async with daemon_of(made, monkeypatch) as live:
        with pytest.raises(HubError, match="it may act without asking"):
            await live.ask("sessions", StartRun("look", provider="mine"))
        shown = {one.name: one for one in await live.ask("sessions", GetProviders())}
        assert (shown["mine"].status, "ask = true" in shown["mine"].reason) == ("error", True)
        await live.ask("sessions", StartRun("look"))
        assert (await live.until_ended())["sessionState"] == "completed"
    assert made.fsm()["provider"] == "demo-first"


async def test_a_rule_that_comes_while_an_agent_works_is_told_and_holds_who_takes_over(made, monkeypatch):
    """The session kept the rules it began with: not even a receiver asked. Of the running agent the user knew nothing."""
    made.script("demo-first", {"write": {"path": "a.txt", "text": "a"}}, {"hang": {}})
    made.script("demo-second", {"run": "cat secret.txt"}, {"done": "finished"})
    made.configure()
    (made.root / "secret.txt").write_text("CANARY\n")
    git(made.root, "add", "secret.txt")
    git(made.root, "commit", "-qm", "what must not be read")
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("look"))
        await live.until_event("a.txt")
        made.configure(DENY)
        await live.ask("settings", GetConfig())
        said = await live.until_event("[[approvals]] has changed")
        assert "hub handoff" in said.msg
        await live.ask("sessions", RequestHandoff())
        assert (await live.until_ended())["sessionState"] == "completed"
        records = await live.events()
    assert told(records, "CANARY") == []
    assert len(told(records, "Denied: it stays here")) == 1
