"""What the next agent is given, seen with a real daemon and scripted agents: true, once, in the order of use."""

import json
import re

import pytest

from hub.errors import Code, HubError
from tests.faults.harness import git, until
from tests.refusals import refuses

LIMIT = {"limit": {"resetsIn": 3600}}
VERIFY = "echo collecting; echo parser.py is missing >&2; exit 3"


@pytest.fixture
def made(made):
    made.script("demo-second", {"say": "going on"}, {"done": "stopped here"})
    return made


def handed_over(made, *steps, verify=(), extra="", task="Write the parser. Keep version 1 alive."):
    """The session, run to its end; the brief and the contract as the receiver was given them."""
    made.script("demo-first", *steps, LIMIT)
    made.configure(extra, session="verifyTries = 0\n")  # what is refused comes back to nobody
    api = made.start()
    api.post("/api/run", {"task": task, "verify": list(verify), "maxHandoffs": 1})
    until(made.ended, "the session ends")
    dispatch = json.loads((made.hub / "fsm.json").read_bytes())["dispatchId"]
    text = (made.hub / "run" / dispatch / "envelope.md").read_text()
    return api, text, json.loads((made.hub / "envelope.json").read_bytes())


def section(text, title):
    return text.split(f"## {title}\n", 1)[1].split("\n## ")[0] if f"## {title}\n" in text else ""


def test_a_false_claim_beside_a_failed_verify_costs_and_the_brief_shows_why(made):
    """It was 100 in every handoff, also beside "has been written" of a file that is not there."""
    api, text, contract = handed_over(
        made,
        {"write": {"path": "lexer.py", "text": "x = 1\n"}},
        {"say": "lexer.py has been written. parser.py has been written and is already tested."},
        verify=[VERIFY],
    )
    [hfs] = api.get("/api/status")["hfsHistory"]
    assert 0 < hfs < 100
    judged = next(e["meta"] for e in made.events() if "hfs" in e["meta"])
    assert judged["unsupported"] == ["next: done parser.py has been written and is already tested."]
    verified = section(text, "How it was verified last")
    assert "exit status 3" in verified
    assert "|   collecting\n|   parser.py is missing" in verified
    assert contract["doNotRedo"] == []
    doubted = section(text, "Said to be done, and nothing shows it: look before you rely on it")
    assert "parser.py has been written" in doubted
    assert "lexer.py" not in doubted, "it is in the tree"
    assert (
        section(text, "Files changed since the session began, with lines added and removed").count(
            "+1 -0 lexer.py"
        )
        == 1
    )
    assert contract["nextAction"] == f"Make this pass: {VERIFY}"


def test_what_a_passed_verify_shows_is_believed(made):
    """The same words, and the acceptance command says so: nothing is doubted, nothing is lost."""
    api, text, _ = handed_over(
        made,
        {"write": {"path": "parser.py", "text": "x = 1\n"}},
        {"say": "The parser is already tested. Everything is done."},
        verify=["test -f parser.py"],
    )
    assert api.get("/api/status")["hfsHistory"] == [100]
    assert "nothing shows it" not in text
    assert "The parser is already tested." in section(text, "Done, with evidence: do not do it again")


def test_who_decided_what_stands_in_the_brief_in_order_and_once(made):
    """A reply and the answers to two requests: the next agent asks none of it again."""
    made.script(
        "demo-first",
        {"ask": "Which port?"},
        {"approve": "drop the old table"},
        {"approve": "rename the module"},
        LIMIT,
    )
    made.configure()
    api = made.start()
    api.post("/api/run", {"task": "Serve it.", "maxHandoffs": 1})
    until(lambda: api.get("/api/status")["needsInput"], "it asks")
    api.post("/api/session/reply", {"reply": "Port 8080, and never below 1024."})
    for approved in (False, True):
        [asked] = until(lambda: api.get("/api/approvals"), "it asks for permission")
        api.post(
            f"/api/approvals/{asked['id']}",
            {"approved": approved, "note": "" if approved else "keep the data"},
        )
        number = asked["id"]
        until(lambda n=number: all(one["id"] != n for one in api.get("/api/approvals")), "it is answered")
    until(made.ended, "the session ends")
    text = (made.hub / "envelope.md").read_text()
    told = re.findall(
        r"^\| - (.*) \[event \d+\]$", section(text, "What the user decided meanwhile"), re.MULTILINE
    )
    assert told == [
        'asked "Which port?", the user said: Port 8080, and never below 1024.',
        "the user denied: approve: drop the old table (keep the data)",
        "the user approved: approve: rename the module",
    ]
    assert text.count("never below 1024") == 1


def test_the_skills_of_the_profile_are_for_the_next_agent_and_the_model_is_no_skill(made):
    made.script("demo-first", LIMIT)
    made.configure(
        '[[profiles]]\nname = "house"\nchain = ["demo-first", "demo-second"]\nskills = ["house-style"]\n'
    )
    api = made.start()
    api.post("/api/run", {"task": "Write it.", "profile": "house", "maxHandoffs": 1})
    until(made.ended, "the session ends")
    contract = json.loads((made.hub / "envelope.json").read_bytes())
    assert contract["skillsToUse"] == ["house-style"]
    text = (made.hub / "envelope.md").read_text()
    assert "| - skills to use: house-style\n" in text
    assert "## Skills" not in text
    assert api.get("/api/status")["hfsHistory"] == [100]


def test_only_a_contract_that_verifies_is_served(made):
    """Signature, canonical form, session and project: what fails is told with a next step, and not shown."""
    api, _, contract = handed_over(made, {"say": "hello"})
    path = made.hub / "envelope.json"
    good = path.read_bytes()
    assert api.get("/api/contract") == contract
    moved = json.loads(good) | {"taskGoal": "Delete everything."}
    for bad in (
        json.dumps(moved).encode(),
        good + b"\n",
        good.replace(b"demo-first", b"demo-other"),
        b"",
        b"[]",
    ):
        path.write_bytes(bad)
        with refuses(Code.CONTRACT_INVALID) as caught:
            api.get("/api/contract")
        assert "hub handoff" in caught.value.hint
    path.write_bytes(good)
    git(made.root, "update-ref", "-d", f"refs/hub/{contract['sessionId']}/{contract['handoffId']}")
    with pytest.raises(HubError) as caught:
        api.get("/api/contract")
    assert caught.value.code is Code.CONTRACT_INVALID, "a contract of another project"
    path.unlink()
    with refuses(Code.NOT_FOUND):
        api.get("/api/contract")


def test_the_history_says_pending_until_the_score_is_there(made):
    """The receiver works before the score is computed: nobody waits for it."""
    api, _, contract = handed_over(made, {"say": "hello"})
    entries = api.get("/api/history")
    over = [e for e in entries if e["event"] == "handoff" and "RESUMING -> RUNNING" in e["summary"]]
    [fidelity] = [e for e in entries if e["event"] == "fidelity"]
    assert [e["hfs"] for e in over] == [100]
    assert fidelity["hfs"] == 100
    assert fidelity["seq"] > over[0]["seq"]
    audit = [json.loads(line) for line in (made.hub / "audit.jsonl").read_bytes().splitlines()]
    [moved] = [
        r
        for r in audit
        if r["event"] == "handoff" and r["data"]["to"] == "RUNNING" and r["data"]["from"] == "RESUMING"
    ]
    assert (moved["data"]["fidelity"], moved["data"]["handoffId"]) == ("pending", contract["handoffId"])


def test_a_diff_shows_what_the_agent_does_now_and_not_what_the_user_did(made):
    """The work since the last snapshot is in no commit; the user's own changes came along and are not the session's."""
    (made.root / "README.md").write_text("the user's own\n")
    (made.root / "notes.txt").write_text("mine\n")
    made.script(
        "demo-first",
        {"write": {"path": "a.py", "text": "a = 1\n"}},
        {"write": {"path": ".hub/planted", "text": "x\n"}},
        {"ask": "go on?"},
    )
    made.configure()
    api = made.start()
    api.post("/api/run", {"task": "write a.py"})
    until(lambda: api.get("/api/status")["needsInput"], "it asks")
    worktree = made.hub / "worktrees" / api.get("/api/status")["sessionId"]
    index = next((made.root / ".git" / "worktrees").iterdir()) / "index"
    (worktree / "later.bin").write_bytes(b"\0\1")
    refs, stamp = git(made.root, "for-each-ref"), index.stat().st_mtime_ns
    objects = sorted((made.root / ".git" / "objects").rglob("*"))
    diff = api.get("/api/session/diff")
    assert "+a = 1" in diff["diff"]
    assert "later.bin" in diff["summary"]
    for word in ("README", "notes.txt", "hub.toml", "planted"):
        assert word not in diff["diff"] + diff["summary"]
    assert git(made.root, "for-each-ref") == refs
    assert index.stat().st_mtime_ns == stamp
    assert sorted((made.root / ".git" / "objects").rglob("*")) == objects, "nothing is kept of a look"
    api.post("/api/session/stop")
    assert "+a = 1" in api.get("/api/session/diff")["diff"]
    assert "README" not in api.get("/api/session/diff")["diff"]
