"""`hub ls`: who needs somebody comes first."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from hub.cli.sessions import listed
from tests.faults.harness import project
from tests.hub.cli.kit import hub

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def row(session_id, state, **more):
    return {
        "sessionId": session_id, "title": "a task", "sessionState": state, "needs": "none", "activeProvider": "claude",
        "account": "default", "waitUntil": None, "position": 0, "startedAt": "2026-01-01T11:00:00Z", "endedAt": None,
        **more,
    }  # fmt: skip


def test_the_order_is_by_need_and_then_by_age():
    """Needs you, working, waiting, done; of each the newest first."""
    rows = [
        row("s-1", "completed", endedAt="2026-01-01T11:30:00Z"),
        row("s-2", "waiting", waitUntil="2026-01-01T15:00:00Z"),
        row("s-3", "running"),
        row("s-4", "running", needs="approval", account="work"),
        row("s-5", "failed", endedAt="2026-01-01T11:59:00Z"),
        row("s-6", "queued", position=1, startedAt=None, activeProvider=""),
    ]
    lines = click.unstyle(listed(rows, now=NOW)).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["s-4", "s-3", "s-6", "s-2", "s-5", "s-1"]
    assert "your word" in lines[1]
    assert "claude/work" in lines[1]
    assert "queued, 1." in lines[3]
    assert "60 s" in lines[5]


def test_a_long_list_is_cut_and_says_so():
    rows = [row(f"s-{n}", "completed", endedAt="2026-01-01T11:30:00Z") for n in range(25)]
    assert listed(rows, now=NOW).endswith("5 more: hub ls --all")
    assert len(listed(rows, now=NOW, everything=True).splitlines()) == 26
    assert "hub run" in listed([])


def test_it_is_asked_of_the_daemon(tmp_path):
    with project(tmp_path) as work:
        work.script("demo-first", {"done": "finished"})
        work.configure()
        api = work.start()
        begun = api.post("/api/run", {"task": "write it"})
        done = hub("ls", cwd=work.root, env=work.environ())
        assert begun["sessionId"] in done.stdout
        assert "write it" in done.stdout
        shown = hub("status", begun["sessionId"][:-2], "--json", cwd=work.root, env=work.environ())
        assert begun["sessionId"] in shown.stdout
