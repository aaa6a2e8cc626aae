"""F10, EMFILE: a real daemon that can open no more files accepts again when it can, and passes the work on then."""

import http.client
import json
import resource
from contextlib import contextmanager, suppress
from pathlib import Path

from hub.client.quick import Api
from hub.errors import HubError
from tests.faults.harness import until, write
from tests.faults.invariants import ends


@contextmanager
def no_more_files(made):
    """The process may open nothing more, not even a connection: its limit is the lowest number it does not use."""
    pid = made.daemon.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)

    def refuses():
        """Bug: what the daemon closed after it was looked at was a number that it could use again."""
        used = {int(entry.name) for entry in Path(f"/proc/{pid}/fd").iterdir()}
        lowest = next(number for number in range(len(used) + 1) if number not in used)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (lowest, before[1]))
        with suppress(HubError):  # nobody answers; a slow answer is none either, so the log has to say why
            Api(made.port, timeout=1).get("/api/health")
        return "no connection can be accepted" in (made.root.parent / "daemon.log").read_text()

    try:
        until(refuses, "nobody new is heard")
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


def ask(connection, method, path):
    """A request over a connection that was accepted before."""
    body = "{}" if method == "POST" else None
    connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read())


def test_a_daemon_without_files_accepts_again_and_starts_the_receiver_then(made, oracle):
    """No claim, no second start, the first agent's work kept; `dispatch_failed` or a shortage is said, and it goes on."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"ask": "go on?"}, {"limit": {"resetsIn": 3600}})
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": "finished"})
    made.forked = False  # an import needs a file too
    made.configure()
    api = made.start()
    api.post("/api/run", {"task": "work", "verify": ["test -f b.txt"]})
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    until(lambda: api.get("/api/graph")["state"] == "ready", "nothing else is under way")
    early = http.client.HTTPConnection("127.0.0.1", made.port, timeout=30)
    assert ask(early, "GET", "/api/health")[0] == 200
    with no_more_files(made):
        status, told = ask(early, "POST", "/api/handoff")
        assert (status, told["code"]) == (503, "unavailable")
        status, told = ask(early, "GET", "/api/status")
        assert (status, told["error"]["code"], told["fsmState"]) == (200, "unavailable", "RUNNING")
        assert len(made.starts()) == 1
    early.close()
    assert api.get("/api/health")["ok"] is True
    until(lambda: api.get("/api/status")["error"] is None, "the trouble is over")
    api.post("/api/session/reply", {"reply": "yes"})
    ends(made, oracle, starts=2, verified=True, handoffsDone=1)


def test_a_spawn_without_files_is_told_and_tried_again(made, oracle):
    """`dispatch_failed`, retryable, no claim left; the receiver is the same one, and starts once."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"limit": {"resetsIn": 3600}})
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": "finished"})
    made.forked = False  # an import needs a file too
    made.configure()
    api = made.start(HUB_FAILPOINTS="runner.spawn=emfile@2")
    api.post("/api/run", {"task": "work", "verify": ["test -f b.txt"]})
    until(made.ended, "the session ends by itself")
    errors = [e["meta"]["code"] for e in made.events() if e["tag"] == "error" and "code" in e["meta"]]
    assert errors == ["dispatch_failed"]
    ends(made, oracle, starts=2, provider="demo-second", handoffsDone=1)
    assert len(list((made.hub / "run").glob("*/claim"))) == 2
