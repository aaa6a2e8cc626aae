"""`hub history`: what a snapshot is of, in the words that the other faces have."""

import click

from hub.api.history import Commit
from hub.cli.commands.history import listed
from tests.sample import sample


def test_a_snapshot_is_told_by_its_session_and_its_occasion():
    """The subjects of the commits were listed, which are ids: nobody knew which session a snapshot was of."""
    at = "2026-01-01T12:00:00Z"
    made = {"sha": "a" * 40, "short": "aaaaaaaaaaaa", "subject": "hub: snapshot x", "when": at}
    rows = [
        sample(Commit, **made, sessionId="s-1-aa", handoffId="end-t-1"),
        sample(Commit, **made, sessionId="s-1-aa", handoffId="h-1"),
        sample(Commit, **made, sessionId="s-2", handoffId=""),
    ]
    told = [line.split("  ")[2:] for line in click.unstyle(listed(rows, {"s-1-aa": "Paint it"})).splitlines()]
    assert [[part.strip() for part in line if part.strip()] for line in told] == [
        ["at the end", "s-1", "Paint it"],
        ["at a handoff", "s-1", "Paint it"],
        ["hub: snapshot x", "s-2"],
    ]
    assert listed([], {}) == "no snapshot yet"
