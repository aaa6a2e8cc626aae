"""An agent that leaves hub.toml while hub is away: its process is ended, its work goes on or is told, nothing is lost."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from pathlib import Path

import pytest

from hub.errors import HubError
from tests.faults.harness import Project, until
from tests.faults.invariants import check_invariants, ends
from tests.faults.test_agent_faults import errors, process

OWN = """
import json, pathlib, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("method"):
        case "initialize":
            send(id=asked["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
        case "session/new":
            send(id=asked["id"], result={"sessionId": "own-1"})
        case "session/prompt":
            pathlib.Path("a.txt").write_text("one\\n")
"""


def own_agent(made: Project, *chain: str) -> str:
    """`hub.toml` with an agent of the user's own, at the places of the chain that say `own`; what it was without it."""
    made.script("demo-first", {"say": "ready"}, {"hang": {}})
    made.script("demo-second", {"write": {"path": "b.txt", "text": "two\n"}}, {"done": "finished"})
    made.configure()
    toml = made.root / "hub.toml"
    without = re.sub(r"chain = .*", f"chain = {json.dumps(chain)}", toml.read_text())
    program = made.root.parent / "own.py"
    program.write_text(OWN)
    command = json.dumps([sys.executable, str(program)])
    toml.write_text(f'{without}[providers.own]\nkind = "acp"\ncommand = {command}\n')
    return without


@pytest.mark.parametrize("others", [("demo-second",), ()], ids=["another", "nobody"])
def test_an_agent_that_left_the_configuration_is_succeeded_or_told(made, oracle, others):
    """Its process is ended and its bytes are kept: the next of the chain goes on, or `agent_missing` is said."""
    without = own_agent(made, "own", *others)
    made.start("--detach").post("/api/run", {"task": "write", "verify": ["test -f b.txt"]})
    until((Path(made.fsm()["worktree"]) / "a.txt").is_file, "the agent works")
    agent = process(made, "agent.json", "pid")
    assert made.stop() == 0
    (made.root / "hub.toml").write_text(without)
    made.start()
    record = until(made.ended, "the session ends by itself", patience=60)
    assert "agent_missing" in errors(made)
    made.stop()
    until(lambda: not Path(f"/proc/{agent}").exists(), "the agent's process is gone")
    assert made.show(f"{record['snapshotSha']}:a.txt") == b"one\n"
    if others:
        assert (record["sessionState"], record["provider"], record["verified"]) == (
            "completed",
            "demo-second",
            True,
        )
    else:
        assert (record["sessionState"], record["error"]["code"]) == ("failed", "agent_missing")
        assert "[providers.own]" in record["error"]["hint"]
    check_invariants(made, oracle)


@pytest.mark.parametrize("state", ["DISPATCHED", "RESUMING"])
def test_a_receiver_that_left_the_configuration_is_passed_by(made, oracle, state):
    """The same for one that was being given the work: the contract stays, the next one gets it."""
    without = own_agent(made, "demo-first", "own", "demo-second")
    api = made.start(HUB_FAILPOINTS=f"fsm.{state}.post_rename=kill9")
    api.post("/api/run", {"task": "write", "verify": ["test -f b.txt"]})
    made.says("ready")
    with contextlib.suppress(HubError):
        api.post("/api/handoff")
    until(lambda: made.daemon.poll() is not None, "the daemon is killed")
    (made.root / "hub.toml").write_text(without)
    made.start()
    until(made.ended, "the session ends by itself")
    assert "agent_missing" in errors(made)
    ends(made, oracle, provider="demo-second", verified=True)
