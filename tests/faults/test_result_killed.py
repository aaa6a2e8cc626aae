"""kill -9 of the daemon while it brings a result, or lets one go: the next call ends it, and both are on record once."""

import json

import pytest

from hub.errors import Code
from tests.faults.harness import git, try_post, until, write
from tests.refusals import refuses


@pytest.fixture
def over(made, oracle):
    """A session that has ended; whoever takes its result has a name."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"done": ""})
    made.configure()
    git(made.root, "config", "user.name", "Ada")
    git(made.root, "config", "user.email", "ada@example.com")
    made.start().post("/api/run", {"task": "write"})
    until(made.ended, "the session ends by itself")
    assert made.stop() == 0
    return made


def events(made, *kinds):
    """What the audit log has of these kinds."""
    told = map(json.loads, (made.hub / "audit.jsonl").read_bytes().split(b"\n")[:-1])
    return [(one["event"], one["data"]) for one in told if one["event"] in kinds]


def dies(made, point, path):
    """A daemon is asked for this and kills itself on the way; the next one."""
    try_post(made.start(HUB_FAILPOINTS=f"{point}=kill9"), path, {})
    assert made.wait_dead() == -9
    return made.start()


def test_a_result_is_brought_once_and_is_on_record(over):
    """Killed behind its effect, a take was on record as begun alone: nobody was told in which commit the work is."""
    for point in ("take.intended", "take.files", "take.index"):
        api = dies(over, point, "/api/session/take")
        assert over.stop() == 0
    assert not events(over, "taken")
    api = dies(over, "take.moved", "/api/session/take")
    assert not events(over, "taken")
    for _ in range(2):
        with refuses(Code.NOTHING_TO_TAKE):
            api.post("/api/session/take", {})
    ((_, told),) = events(over, "taken")
    assert (told["commit"], told["branch"]) == (git(over.root, "rev-parse", "main"), "main")
    assert git(over.root, "log", "--format=%s", "main").splitlines()[1:] == ["start"]
    assert git(over.root, "status", "--porcelain", "--untracked-files=no") == ""
    assert over.stop() == 0


def test_what_is_let_go_is_gone_and_is_on_record(over):
    api = over.start()
    api.post("/api/session/take", {})
    assert over.stop() == 0
    session = over.fsm()["sessionId"]
    for point in ("discard.intended", "discard.renamed", "discard.worktree"):
        api = dies(over, point, "/api/session/discard")
        assert over.stop() == 0
    api = over.start()
    api.post("/api/session/discard", {})
    assert over.stop() == 0
    assert [kind for kind, _ in events(over, "discard_begun", "discarded")] == ["discard_begun"] * 4 + [
        "discarded"
    ]
    assert not list((over.hub / "worktrees").iterdir())
    assert not git(over.root, "branch", "--list", f"hub/{session}")
    assert git(over.root, "show", f"refs/hub/{session}/discarded:a.txt") == "one"
