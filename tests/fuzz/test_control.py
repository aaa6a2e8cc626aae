"""Orders to a session in any order, over HTTP: each is done or refused with a code that is described.

A machine of Hypothesis' against a real daemon with the scripted agents. Whatever is asked: the user's branch does not
move, one session runs at a time, a request for permission is decided once and waits no longer than its session, the
event log and the audit log have no gap, and nothing is a mistake of hub's.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from hub.client.quick import Api
from hub.errors import Code, HubError
from tests.faults.harness import HUB, Project, git, project

EXAMPLES = max(6, int(os.environ.get("HUB_TEST_FUZZ_EXAMPLES", "0")))
STEPS = (
    {"write": {"path": "a.txt", "text": "x\n"}}, {"usage": {"tokensIn": 5, "tokensOut": 6}},
    {"approve": "rm a.txt"}, {"ask": "go on?"}, {"append": {"path": "a.txt", "text": "y\n"}}, {"done": "ok"},
)  # fmt: skip
RULES = """
[[approvals]]
action = "handoff"
severity = "danger"

[[approvals]]
action = "start"
provider = "demo-second"

[[approvals]]
action = "tool"
"""
"""What the agents want to do and each handoff wait for the user's word."""
MAY = {
    "/api/run": {Code.SESSION_ALREADY_RUNNING, Code.NO_FALLBACK},
    "/api/session/pause": {Code.NO_ACTIVE_SESSION, Code.HANDOFF_IN_PROGRESS},
    "/api/handoff": {Code.NO_ACTIVE_SESSION, Code.HANDOFF_IN_PROGRESS, Code.NO_FALLBACK},
    "/api/session/reply": {Code.NO_ACTIVE_SESSION, Code.REPLY_UNSUPPORTED, Code.HANDOFF_IN_PROGRESS},
    "/api/session/stop": {Code.NO_ACTIVE_SESSION},
    "/api/history/rewind": {Code.NOT_FOUND},
    "/api/approvals": {Code.NOT_FOUND, Code.APPROVAL_RESOLVED},
}
"""What may be refused, and how."""
PATIENCE = 310
"""Seconds: as the command has it, for a stop is in order and may take its time."""
ENDED = ("completed", "failed", "stopped")


class Control(RuleBasedStateMachine):
    """The user, who presses everything."""

    made: Project
    api: Api
    head: str

    def __init__(self) -> None:
        super().__init__()
        self.answered: dict[str, bool] = {}

    def ask(self, path: str, **body: Any) -> Any:
        """One order; None when it was refused as it may be."""
        answer, refusal = self.tried(lambda: self.api.post(path, body))
        may = MAY["/api/approvals" if path.startswith("/api/approvals/") else path]
        assert refusal is None or refusal.code in may, (path, refusal)
        assert refusal is not None or answer["ok"] is True
        return answer

    def tried(self, call: Callable[[], Any]) -> tuple[Any, HubError | None]:
        """What it answers, and how it was refused."""
        try:
            return call(), None
        except HubError as error:
            return None, error

    @rule(verify=st.sampled_from([[], ["true"], ["false"]]), provider=st.sampled_from(["", "demo-second"]))
    def run(self, verify: list[str], provider: str) -> None:
        before = self.api.get("/api/status")
        started = self.ask("/api/run", task="write", verify=verify, maxHandoffs=50, provider=provider)
        if started is not None:
            assert before["sessionState"] in ("idle", *ENDED)
            assert started["sessionId"] != before["sessionId"]
            assert started["branch"] == f"hub/{started['sessionId']}"

    @rule(on=st.booleans())
    def pause(self, on: bool) -> None:
        self.ask("/api/session/pause", pause=on)

    @rule()
    def handoff(self) -> None:
        self.ask("/api/handoff")

    @rule(text=st.sampled_from(["yes", "\u0000no", "x" * 1000]))
    def reply(self, text: str) -> None:
        self.ask("/api/session/reply", reply=text)

    @rule(approved=st.booleans(), which=st.integers(0, 2))
    def decide(self, approved: bool, which: int) -> None:
        """A pending one, one that was answered before, or one that never was."""
        pending = [one["id"] for one in self.api.get("/api/approvals")]
        number = ([*pending[:1], *self.answered, "a-never"] * 3)[which]
        answer = self.ask(f"/api/approvals/{number}", approved=approved, note="no" * (not approved))
        assert answer is None or number not in self.answered, "a request is decided once"
        if answer is not None:
            assert (answer["id"], answer["approved"]) == (number, approved)
            self.answered[number] = approved

    @rule()
    def stop(self) -> None:
        self.ask("/api/session/stop")
        assert self.api.get("/api/status")["sessionState"] in ("idle", *ENDED)
        assert self.api.get("/api/approvals") == [], "nobody waits any more"

    @rule(which=st.integers(0, 3))
    def rewind(self, which: int) -> None:
        """One of three snapshots, or one that never was. What is drawn may not depend on what the daemon holds."""
        known = [commit["sha"] for commit in self.api.get("/api/history/commits")]
        sha = dict(enumerate(sorted(known)[:3])).get(which, "0" * 40)
        made = self.ask("/api/history/rewind", sha=sha)
        assert (made is not None) == (sha in known)
        if made is not None:
            assert git(self.made.root, "rev-parse", made["branch"]) == sha

    @invariant()
    def nothing_of_the_users_moves(self) -> None:
        assert git(self.made.root, "rev-parse", "HEAD") == self.head
        assert git(self.made.root, "status", "--porcelain", "--", "README.md") == ""

    @invariant()
    def what_was_decided_waits_no_more(self) -> None:
        pending = self.api.get("/api/approvals")
        assert not {one["id"] for one in pending} & set(self.answered)
        assert all(one["severity"] in ("info", "warn", "danger") for one in pending)

    @invariant()
    def the_views_answer(self) -> None:
        status = self.api.get("/api/status")
        for path in ("/api/providers", "/api/session/cost", "/api/quota/wallet", "/api/circuit"):
            _, refusal = self.tried(lambda path=path: self.api.get(path))
            assert refusal is None or refusal.code is Code.NO_ACTIVE_SESSION
        if status["sessionId"]:
            assert self.api.get("/api/session/diff")["diff"] is not None

    def teardown(self) -> None:
        self.ask("/api/session/stop")
        ids = [event["id"] for event in self.made.events()]
        assert ids == list(range(1, len(ids) + 1))


@pytest.fixture(scope="module")
def made() -> Iterator[Project]:
    with tempfile.TemporaryDirectory() as folder, project(Path(folder)) as found:
        for name in ("demo-first", "demo-second"):
            found.script(name, *STEPS)
        found.configure(RULES)
        found.start()
        yield found
        found.stop()
        checked = subprocess.run(
            [*HUB, "audit", "verify"], cwd=found.root, env=found.environ(), capture_output=True, check=False
        )
        assert checked.returncode == 0, checked
        log = (Path(folder) / "daemon.log").read_text()
        assert "Traceback" not in log, log[-3000:]


def test_orders_in_any_order(made: Project):
    Control.made, Control.api, Control.head = (
        made,
        Api(made.port, PATIENCE),
        git(made.root, "rev-parse", "HEAD"),
    )
    run_state_machine_as_test(
        Control,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=10,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
