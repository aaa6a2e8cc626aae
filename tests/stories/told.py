"""The stories: scripted agents, what the user does, and when everybody is asked.

Owns: what happens. Each story ends with all at rest, so that its answers hang on no clock.
Must not: know what is compared (`said` does).
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from hub.client.quick import Api
from tests.faults.harness import HUB, Project, reply, until

Ask = Callable[[str], None]
Tell = Callable[[Project, Api, Ask], None]

TWO = """
[[providers.demo-first.accounts]]
label = "work"
[[providers.demo-first.accounts]]
label = "home"
"""
RULE = '\n[[approvals]]\ncommand = "deploy*"\n'
VERIFIED = "test -f a.txt"
PIPELINE = {
    "name": "two",
    "nodes": [
        {"id": "one", "provider": "demo-first", "task": "write"},
        {"id": "two", "provider": "demo-second", "task": "write", "dependsOn": ["one"]},
    ],
}


def write(path: str, text: str) -> Mapping[str, Any]:
    """A step that writes a file."""
    return {"write": {"path": path, "text": text}}


def run(api: Api, **more: Any) -> None:
    """A session begins."""
    api.post("/api/run", {"task": "write the files", **more})


def command(made: Project, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of hub's in the project."""
    return subprocess.run(
        [*HUB, *words], cwd=made.root, env=made.environ(COLUMNS="100"), capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def state(api: Api, *wanted: str) -> None:
    """Wait until the session is in one of these states."""
    until(lambda: api.get("/api/status")["sessionState"] in wanted, f"the session is {' or '.join(wanted)}")


def ended(api: Api) -> None:
    """Wait until the session is over."""
    state(api, "completed", "failed", "stopped")


def scored(made: Project, many: int) -> None:
    """Wait until so many handoffs have their score."""
    until(lambda: len(made.fsm().get("hfsHistory", ())) == many, "the handoffs are scored")


def idle(made: Project, api: Api, ask: Ask) -> None:
    """Nothing has ever run here."""
    ask("before anything has run")


def done(made: Project, api: Api, ask: Ask) -> None:
    """One agent does it all, and the acceptance command says so."""
    run(api, verify=[VERIFIED])
    ended(api)
    ask("after one session")


def handed(made: Project, api: Api, ask: Ask) -> None:
    """The first meets its limit, the second goes on."""
    run(api, verify=[VERIFIED])
    ended(api)
    scored(made, 1)
    ask("after a handoff")


def unverified(made: Project, api: Api, ask: Ask) -> None:
    """The agent says it is done, and it is not."""
    run(api, verify=["echo no; exit 3"])
    ended(api)
    ask("after a failed verify")


def asked(made: Project, api: Api, ask: Ask) -> None:
    """The agent has a question."""
    run(api)
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    ask("while it asks")
    api.post("/api/session/reply", {"reply": "blue"})
    ended(api)
    ask("after the answer")


def allowed(made: Project, api: Api, ask: Ask) -> None:
    """The first step is allowed, the second refused."""
    run(api)
    for step, approved in (("one", True), ("two", False)):
        until(
            lambda step=step: [a["action"] for a in api.get("/api/approvals")] == [f"approve: deploy {step}"],
            "it waits",
        )
        ask(f"before the word to step {step}")
        (waiting,) = api.get("/api/approvals")
        api.post(f"/api/approvals/{waiting['id']}", {"approved": approved, "note": "the user's reason"})
    ended(api)
    ask("after both words")


def waited(made: Project, api: Api, ask: Ask) -> None:
    """Nobody has quota left: it waits, and is stopped."""
    run(api)
    state(api, "waiting")
    ask("while it waits")
    api.post("/api/session/stop")
    ended(api)
    ask("after the stop")


def steered(made: Project, api: Api, ask: Ask) -> None:
    """Held, let go on, handed over by hand."""
    run(api)
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    api.post("/api/session/pause", {"pause": True})
    ask("while it is held")
    api.post("/api/session/pause", {"pause": False})
    api.post("/api/handoff")
    ended(api)
    scored(made, 1)
    ask("after a handoff by hand")


def piped(made: Project, api: Api, ask: Ask) -> None:
    """Two tasks, one on the work of the other."""
    api.post("/api/pipelines", [PIPELINE])
    api.post("/api/pipelines/run", {"name": "two"})
    until(lambda: api.get("/api/pipelines/run")["state"] in ("completed", "failed"), "the pipeline is over")
    ask("after a pipeline")


def audited(made: Project, many: int) -> bool:
    """Whether the audit log has so many records, and its head is that of the last."""
    first, second, *_ = command(made, "audit", "verify").stdout.splitlines()
    return first == f"intact: {many} records" and second.startswith("head:")


def killed(made: Project, api: Api, ask: Ask) -> None:
    """The daemon is killed in the middle, and the next one goes on."""
    run(api)
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    until(lambda: audited(made, 5), "what was said so far is in the audit log, under its seal")
    until(lambda: api.get("/api/graph")["state"] == "ready", "the code is indexed")
    made.kill()
    ask("without a daemon")
    api = made.start()
    until(lambda: api.get("/api/status")["needsInput"], "the agent still asks")
    reply(api, "go on")
    ended(api)
    ask("after the next daemon went on")


ASKS = ({"ask": "Which colour?"}, write("a.txt", "a\n"), {"done": "written"})
WRITES = (write("a.txt", "a\n"), {"done": "written"})

STORIES: dict[str, tuple[Tell, dict[str, tuple[Mapping[str, Any], ...]], str]] = {
    "idle": (idle, {"demo-first": WRITES, "demo-second": WRITES}, ""),
    "done": (done, {"demo-first": ({"say": "I write."}, *WRITES), "demo-second": WRITES}, TWO),
    "handed": (
        handed,
        {
            "demo-first": ({"say": "I begin."}, write("b.txt", "b\n"), {"limit": {"resetsIn": 3600}}),
            "demo-second": WRITES,
        },
        "",
    ),
    "unverified": (unverified, {"demo-first": WRITES, "demo-second": WRITES}, ""),
    "asked": (asked, {"demo-first": ASKS, "demo-second": WRITES}, ""),
    "allowed": (
        allowed,
        {
            "demo-first": ({"approve": "deploy one"}, {"approve": "deploy two"}, *WRITES),
            "demo-second": WRITES,
        },
        RULE,
    ),
    "waited": (
        waited,
        {
            "demo-first": (write("a.txt", "a\n"), {"limit": {"resetsIn": 3600}}),
            "demo-second": (write("b.txt", "b\n"), {"limit": {"resetsIn": 7200}}),
        },
        "",
    ),
    "steered": (steered, {"demo-first": ASKS, "demo-second": WRITES}, ""),
    "piped": (piped, {"demo-first": WRITES, "demo-second": (write("b.txt", "b\n"), {"done": "ok"})}, ""),
    "killed": (killed, {"demo-first": ASKS, "demo-second": WRITES}, ""),
}
"""By name: what happens, what each agent does, and what else is configured."""
