"""Several sessions in one view: whose each line is, and nothing of one among another's words."""

import pytest

from hub.cli.terminal.clock import Clock
from hub.cli.terminal.items import Heading, Said, ToldItem, ToolItem
from hub.cli.terminal.side_by_side import SideBySide
from hub.domain.event import Tag

NOON = 1_795_435_200


def record(session, tag="text", msg="hello", **meta):
    """What the agent of a session says; both have the same one."""
    meta = {"type": tag, "provider": "claude", "account": "default", "sessionId": session, **meta}
    return {"id": 1, "ts": "12:34:56.789", "tag": tag, "msg": msg, "meta": meta}


def own(msg, tag=Tag.SYSTEM, **meta):
    return {"id": 1, "ts": "12:34:56.789", "tag": tag, "msg": msg, "meta": meta}


def starts(session, node, run="p-1"):
    meta = {"sessionId": session, "role": node, "taskId": "t", "at": "2026-11-23T12:00:00Z"}
    return own("session started: x", **meta, **({"runId": run} if run else {}))


@pytest.fixture
def both():
    """Two nodes at work."""
    made = SideBySide("p-1", Clock(NOON))
    assert take(made, starts("s-1", "api"), starts("s-2", "docs")) == []
    return made


def take(made, *records):
    return [item for entry in records for item in made.take(entry)]


def test_each_line_says_whose_it_is(both):
    """The name of an agent stood above the words of two."""
    said = take(
        both, record("s-1", msg="a"), record("s-1", msg="b"), record("s-2", msg="c"), record("s-1", msg="d")
    )
    api, docs = Heading("api: claude"), Heading("docs: claude")
    assert said == [api, Said("a"), Said("b"), docs, Said("c"), api, Said("d")]
    waits = own("paused", Tag.WAITING, sessionId="s-2")
    assert take(both, waits) == [ToldItem("docs: paused", "warn")]
    ended = own("session completed", sessionId="s-1", ended="completed")
    assert take(both, ended) == [ToldItem("api: session completed", "good")]


def test_the_words_of_the_run_itself_are_nobodys(both):
    node = own(
        "feature: api running on hub/s-1", sessionId="s-1", node="api", nodeState="running", runId="p-1"
    )
    assert take(
        both, node, own("pipeline feature completed: 2 executed", runId="p-1", runEnded="completed")
    ) == [
        ToldItem("feature: api running on hub/s-1"),
        ToldItem("pipeline feature completed: 2 executed"),
    ]


def test_a_session_of_another_run_or_of_none_is_left_out(both):
    assert (
        take(both, starts("s-3", "api", "p-2"), record("s-3"), starts("s-4", "primary", ""), record("s-4"))
        == []
    )


def test_the_end_of_one_keeps_what_the_other_has_under_way(both):
    """A call without a result was told as over when another session ended."""
    take(both, record("s-2", "tool_use", "Read a.py", toolId="t1"))
    ended = own("session completed", sessionId="s-1", ended="completed")
    assert take(both, ended) == [ToldItem("api: session completed", "good")]
    done = record("s-2", "tool_result", "one", toolId="t1")
    assert take(both, done) == [Heading("docs: claude"), ToolItem("Read a.py", "one")]
    take(both, record("s-2", "tool_use", "Read b.py", toolId="t2"))
    assert both.rest() == [ToolItem("Read b.py")]
    assert take(both, record("s-2", "tool_use", "Read c.py", toolId="t3"), record("s-1", msg="late")) == [
        Heading("api: claude"),
        Said("late"),
    ]
    assert both.rest() == [Heading("docs: claude"), ToolItem("Read c.py")], "not below the other's heading"


def test_a_start_that_is_told_again_changes_nothing(both):
    take(both, record("s-1", msg="It ", delta=True), starts("s-1", "api"))
    assert both.standing == "api: starting, docs: starting"
    take(both, own("session completed", sessionId="s-1", ended="completed"))
    assert both.standing == "docs: starting"


def test_what_stands_at_the_moment(both):
    """Streamed words of two would stand as one text."""
    take(both, record("s-1", msg="It ", delta=True), record("s-2", msg="They ", delta=True))
    take(both, record("s-1", "quota", "1,000 tokens", tokensIn=10, tokensOut=2, used=720, window="5h"))
    take(both, record("s-2", "quota", "1,000 tokens", tokensIn=1, tokensOut=1))
    assert (both.partial, both.tasks, both.quota) == ("", (), "")
    assert (both.standing, both.tokens, both.since) == (
        "api: writing, docs: writing",
        14,
        "2026-11-23T12:00:00Z",
    )
    asked = own(
        "Bash rm", Tag.WAITING, sessionId="s-2", needsApproval=True, approvalId="a-1", action="Bash rm"
    )
    take(both, asked)
    assert both.standing == "api: writing, docs: waiting for your approval"
    assert [(ask.approval, ask.session_id) for ask in both.asks] == [("a-1", "s-2")]
    take(both, own("session failed", sessionId="s-2", ended="failed"))
    assert (both.standing, both.partial, both.quota) == ("api: writing", "It ", "5h 72 %")
    take(both, own("session completed", sessionId="s-1", ended="completed"))
    assert (both.standing, both.partial, both.asks) == ("between two nodes", "", [])
