"""At its budget a session stands still until its user has said yes or no; a yes gives as much again."""

import pytest

from tests.faults.harness import reply, until


@pytest.fixture
def made(made):
    steps = [
        {"usage": {"tokensIn": 900, "tokensOut": 200}},
        {"ask": "shall I go on?"},
        {"usage": {"tokensIn": 900, "tokensOut": 200}},
        {"ask": "is that all?"},
        {"done": "x"},
    ]
    made.script("demo-first", *steps)
    made.configure(session="maxTokens = 1000\n")
    return made


def asked(api):
    return until(lambda: api.get("/api/approvals"), "it waits for the user's word")[0]


def answer(api):
    """The agent's own question, which it may have asked before it stood still."""
    until(lambda: api.get("/api/status")["needsInput"] and not api.get("/api/approvals"), "the agent goes on")
    reply(api, "yes")


def test_a_yes_gives_as_much_again(made):
    api = made.start()
    api.post("/api/run", {"task": "write"})
    first = asked(api)
    assert first["kind"] == "budget"
    assert "1,100 of 1,000 tokens are used up (maxTokens)" in first["action"]
    until(
        lambda: api.get("/api/sessions")["sessions"][0]["needs"] == "approval",
        "its row says what it waits for",
    )
    api.post(f"/api/approvals/{first['id']}", {"approved": True})
    answer(api)
    second = until(lambda: [a for a in api.get("/api/approvals") if a["id"] != first["id"]], "it asks again")[
        0
    ]
    assert "2,200 of 2,000" in second["action"]
    made.kill()
    api = made.start()
    assert asked(api)["id"] == second["id"], "the yes of before holds, and the question too"
    api.post(f"/api/approvals/{second['id']}", {"approved": True})
    answer(api)
    record = until(made.ended, "the session ends")
    assert (record["sessionState"], record["extended"]) == ("completed", 2)
    assert len(made.starts()) == 1


def test_a_no_ends_it_in_order(made):
    api = made.start()
    api.post("/api/run", {"task": "write"})
    api.post(f"/api/approvals/{asked(api)['id']}", {"approved": False})
    assert until(made.ended, "the session ends")["sessionState"] == "stopped"


def test_a_stop_does_not_wait_for_the_word(made):
    api = made.start()
    api.post("/api/run", {"task": "write"})
    asked(api)
    api.post("/api/session/stop")
    assert until(made.ended, "the session ends")["sessionState"] == "stopped"
    assert api.get("/api/approvals") == []
