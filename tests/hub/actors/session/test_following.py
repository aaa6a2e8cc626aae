"""`hub run --continue`: a session that begins with the work of an ended one, and with a contract made of it."""

import json

from hub.errors import Code
from tests.faults.harness import git, until
from tests.refusals import refuses


def ended(api, session_id):
    return until(
        lambda: status if (status := api.get("/api/status", {"sessionId": session_id}))["endedAt"] else None,
        "the session has ended",
    )


def test_the_work_and_what_was_known_go_along(made):
    """A new session on that branch's work, with that contract; the first one stays as it was."""
    made.script(
        "demo-first",
        {"say": "I use UTC everywhere, because the server does."},
        {"write": {"path": "a.txt", "text": "one"}},
        {"done": "finished"},
    )
    made.configure()
    api = made.start()
    first = api.post("/api/run", {"task": "Write the module."})["sessionId"]
    assert ended(api, first)["sessionState"] == "completed"
    made.script("demo-first", {"append": {"path": "a.txt", "text": " two"}}, {"done": "finished"})
    order = {"task": "Now the docs.", "continues": first[:-2], "verify": ["grep -q 'one two' a.txt"]}
    second = api.post("/api/run", order)["sessionId"]
    status = ended(api, second)
    assert (status["sessionState"], status["verified"]) == ("completed", True), status["error"]
    assert git(made.root, "show", f"hub/{second}:a.txt") == "one two"
    assert git(made.root, "show", f"hub/{first}:a.txt") == "one"
    adopted = made.hub / "adopted"
    contract = json.loads((adopted / f"{second}.json").read_bytes())
    assert contract["taskGoal"] == "Now the docs."
    assert contract["acceptanceAssertions"] == order["verify"]
    brief = (adopted / f"{second}.md").read_text()
    assert "The task before this one: Write the module." in brief
    assert "a.txt" in brief
    assert "hub did not start that agent" not in brief


def test_only_what_has_ended_is_gone_on_with(made):
    """What works is replied to; what is not there is named."""
    made.script("demo-first", {"ask": "Which colour?"}, {"done": "finished"})
    made.configure(session="concurrent = 2\n")
    api = made.start()
    first = api.post("/api/run", {"task": "Write it."})["sessionId"]
    with refuses(Code.SESSION_ALREADY_RUNNING):
        api.post("/api/run", {"task": "On.", "continues": first})
    with refuses(Code.NOT_FOUND):
        api.post("/api/run", {"task": "On.", "continues": "s-9"})
    api.post("/api/session/stop", {"sessionId": first})
