"""What the log and the acceptance commands prove: results on record, over the tree they were judged on."""

from pathlib import Path

import trio

from hub.actors.session.context import PendingCommand
from hub.errors import Code
from hub.io.events.store import NewEvent
from hub.io.git.worktree import add_worktree
from hub.messages.events import EventAppend
from tests.faults.harness import git
from tests.hub.actors.session.parts import parts_of
from tests.refusals import refuses
from tests.waiting import Gate

PAGE = 5000


async def test_a_gate_runs_every_command_in_the_worktree_and_records_each(two, monkeypatch):
    """One failure does not hide the next one's result, and a status that is not 0 is no pass."""
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(verify=("test -f README.md", "echo no; exit 3", "true"))
        gate = await parts.gate(record, "final:d-1")
        assert [(c.command, c.exit_code, c.passed) for c in gate.checks] == [
            ("test -f README.md", 0, True),
            ("echo no; exit 3", 3, False),
            ("true", 0, True),
        ]
        assert not gate.passed
        assert gate.text() == "$ echo no; exit 3\n(exit 3)\nno"
        noted = [
            (e["data"]["command"], e["data"]["exitCode"], e["data"]["tree"]) for e in parts.audited("verify")
        ]
        assert noted == [(c.command, c.exit_code, gate.tree) for c in gate.checks]
        sources = {r.id: r.msg for r in await parts.live.events()}
        assert sources[gate.checks[1].source] == "verify failed (exit 3): echo no; exit 3"
        assert [e.exit_code for e in gate.evidence()] == [0, 3, 0]


async def test_what_a_command_changes_is_part_of_what_is_judged(two, monkeypatch):
    """The tree is hashed after the commands: one that changes a file cannot vouch for a tree without that.

    A file that it makes besides is nobody's work.
    """
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(verify=("true",))
        before = (await parts.gate(record, "a")).tree
        assert (await parts.gate(record, "b")).tree == before
        after = await parts.gate(parts.record(verify=("echo x > README.md",)), "c")
        assert after.tree != before
        again = await parts.gate(parts.record(verify=("echo x > made.txt",)), "d")
        assert again.tree == after.tree
        assert (Path(record.worktree) / "made.txt").exists()


async def test_the_same_result_over_the_same_tree_is_audited_once(two, monkeypatch):
    """A daemon that died behind the gate judges again; the log does not fill with repeats."""
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(verify=("true",))
        for _ in range(2):
            await parts.gate(record, "final:d-1")
        assert len(parts.audited("verify")) == 1


async def test_a_secret_in_a_commands_output_is_hidden(two, monkeypatch):
    """Nothing leaves unredacted: not into the event log, not into the result that goes to the next agent."""
    secret = "sk-ant-api03-" + "Zq9" * 30
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(verify=(f"printf %s {secret[:30]}; echo {secret[30:]}; exit 1",))
        gate = await parts.gate(record, "final:d-1")
        assert secret not in gate.text()
        assert "[REDACTED:" in gate.checks[0].output
        assert all(secret not in str(e.meta.get("output", "")) for e in await parts.live.events())


async def test_a_stop_cuts_a_command_short_and_its_result_is_on_no_record(two, monkeypatch, tmp_path):
    async with parts_of(two, monkeypatch) as parts:
        with Gate(tmp_path / "gate") as gate:
            record = await parts.begin(verify=(gate.command,))

            async def stop():
                await parts.live.until_event("verify: ")
                parts.context.shared.ask(PendingCommand.STOP)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(stop)
                with refuses(Code.INTERRUPTED):
                    await parts.gate(record, "final:d-1")
        assert parts.audited("verify") == []


async def test_a_command_that_takes_too_long_has_failed(two, monkeypatch):
    two.configure(session="verifyTimeout = 1\n")
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(verify=("tail -f /dev/null",))
        [check] = (await parts.gate(record, "final:d-1")).checks
        assert (check.timed_out, check.passed) == (True, False)
        assert "verify failed (took longer than 1 s): tail -f /dev/null" in await parts.told()


async def test_a_command_that_a_signal_ended_says_which(two, monkeypatch):
    """It was "exit None", and the agent was told that it took too long: a test that crashed was made faster."""
    async with parts_of(two, monkeypatch) as parts:
        gate = await parts.gate(await parts.begin(verify=("kill -11 $$",)), "final:d-1")
        assert gate.text() == "$ kill -11 $$\n(signal 11)\nIt ended with no output."
        [failed] = gate.failed
        assert (failed.command, failed.how, failed.output) == ("kill -11 $$", "signal 11", "")


async def test_nothing_the_gate_does_moves_the_users_head(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        before = git(two.root, "rev-parse", "HEAD")
        await parts.gate(await parts.begin(verify=("true",)), "a")
        assert git(two.root, "rev-parse", "HEAD") == before
        assert git(two.root, "status", "--porcelain", "-uno") == ""


async def test_a_long_log_is_read_in_pages(two, monkeypatch):
    """A session of days has more events than fit in memory; the contract's intent is a fold over pages of them."""
    count = 2 * PAGE + 10
    async with parts_of(two, monkeypatch) as parts:
        record = parts.record(session_id="s-long")
        meta = {"sessionId": "s-long"}
        for first in range(0, count, PAGE):
            texts = range(first, min(first + PAGE, count))
            await parts.live.ask("events", EventAppend([NewEvent("text", str(n), meta, 1) for n in texts]))
        pages = []
        await parts.context.each(record.session_id, pages.append)
    assert [len(page) for page in pages] == [PAGE, PAGE, 10]
    assert [item.msg for page in pages for item in page] == [str(n) for n in range(count)]


async def test_the_commands_are_those_of_the_start_whatever_the_agent_writes(two, monkeypatch):
    """An agent cannot choose its own judge: the worktree's hub.toml is a file like any other."""
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(verify=("false",))
        (Path(record.worktree) / "hub.toml").write_text('[session]\nverify = ["true"]\n')
        gate = await parts.gate(parts.store.now, "final:d-1")
        assert [(check.command, check.passed) for check in gate.checks] == [("false", False)]


async def test_a_command_the_session_has_changed_is_said_to_be(two, monkeypatch):
    """It judges all the same; whoever relies on it sees what of it is the agent's, in the log and on the audit log."""
    (two.root / "check.sh").write_text("exit 1\n")
    git(two.root, "add", ".")
    git(two.root, "commit", "-q", "-m", "a check")
    (two.root / "package.json").write_text("{}")
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(verify=("sh check.sh", "true # npm test", "true"))
        worktree = Path(record.worktree)
        (worktree / "check.sh").unlink()
        (worktree / "check.sh").symlink_to("/bin/true")
        gate = await parts.gate(record, "final:d-1")
        assert [check.changed for check in gate.checks] == [("check.sh",), (), ()]
        assert any("sh check.sh (changed since the start: check.sh)" in msg for msg in await parts.told())
        (worktree / "package.json").write_text('{"scripts": {"test": "true"}}')
        gate = await parts.gate(record, "final:d-2")
        assert [check.changed for check in gate.checks] == [("check.sh",), ("package.json",), ()]
        noted = [entry["data"]["changed"] for entry in parts.audited("verify")]
        assert noted[-3:] == [["check.sh"], ["package.json"], []]


async def test_the_users_uncommitted_check_is_the_users(two, monkeypatch):
    """What the session began with counts, not what was last committed."""
    (two.root / "check.sh").write_text("exit 0\n")
    async with parts_of(two, monkeypatch) as parts:
        places = parts.context.places
        record = parts.record(verify=("sh check.sh",), base=git(two.root, "rev-parse", "HEAD"))
        await add_worktree(places.root, Path(record.worktree), record.branch, record.base, carry_dirty=True)
        await parts.store.begin(record)
        gate = await parts.gate(parts.store.now, "final:d-1")
        assert [(check.passed, check.changed) for check in gate.checks] == [(True, ())]
