"""Who is next among the real programs: nobody that is used up, and nobody without a login while another has one.

Which failure a program tells has its adapter's test; what each leads to is played by scripted agents (`tests/faults/test_routing.py`).
"""

import json
import tomllib

import pytest
import tomli_w

from tests.agents import PROGRAMS
from tests.e2e.conftest import key_of
from tests.faults.agreement import agree
from tests.model_server import Turn

pytestmark = pytest.mark.agents

VERIFY = ["test -f done.txt"]


def test_who_is_used_up_is_not_touched_by_the_next_session(team):
    """Claude Code meets its limit; Codex goes on, and the next task begins with Codex: Claude Code gets no request."""
    team.hire("claude", "codex")
    team.script("claude", Turn.write("begun.txt", "by claude\n"), Turn.limit(resets_in=7200))
    team.script("codex", Turn.write("done.txt", "by codex\n"), Turn.text("Done."))
    api = team.start()
    api.post("/api/run", {"task": "Write the files.", "verify": VERIFY})
    record = team.ended()
    assert (record["provider"], record["handoffsDone"]) == ("codex", 1)
    found = agree(api)["claude/default"]
    assert (found["status"], found["state"], found["used"]) == ("exhausted", "open", 1.0)
    assert found["wallet"]["resetsAt"]
    asked = len(team.mains("claude"))
    team.script("codex", Turn.write("done.txt", "by codex again\n"), Turn.text("Done."))
    number = api.post("/api/run", {"task": "Write it again.", "verify": VERIFY})["sessionId"]
    record = team.ended_of(number)
    assert (record["provider"], record["handoffsDone"], record["sessionState"]) == ("codex", 0, "completed")
    assert len(team.mains("claude")) == asked, "not one request more"
    agree(api)


def test_of_two_accounts_the_one_with_a_login_is_chosen(team):
    """The active account has none: it went first, said `Not logged in`, and that was a handoff."""
    team.hire("claude:out", "claude:in")
    config, own = team.made.root / "hub.toml", team.made.own / "config.toml"
    tables, accounts = tomllib.loads(config.read_text()), tomllib.loads(own.read_text())
    # As users have it: logins in the accounts' own directories, and no variable that could stand for one.
    claude = tables["providers"]["claude"]
    del claude["env"], claude["baseUrl"]
    for account in accounts["providers"]["claude"]["accounts"]:
        del account["env"]
    own.write_text(tomli_w.dumps(accounts))
    pairs = {
        **team.models.proxy_env(),
        **PROGRAMS["claude"].env,
        "ANTHROPIC_BASE_URL": team.models.anthropic_url,
    }
    program = team.tmp / "claude"
    lines = "".join(f"export {name}='{value}'\n" for name, value in pairs.items() if name.isupper())
    program.write_text(f'#!/bin/sh\n{lines}exec "{claude["program"]}" "$@"\n')
    program.chmod(0o755)
    claude["program"] = str(program)
    config.write_text(tomli_w.dumps(tables))
    login = {
        "accessToken": key_of("claude:in"),
        "refreshToken": "r",
        "expiresAt": 4_102_444_800_000,
        "scopes": ["user:inference"],
    }
    (team.tmp / "claude-in" / ".credentials.json").write_text(json.dumps({"claudeAiOauth": login}))
    team.script("claude:in", Turn.write("done.txt", "by claude\n"), Turn.text("Done."))
    api = team.start(IS_SANDBOX="1")
    listed = next(row for row in api.get("/api/config/providers") if row["name"] == "claude")["accounts"]
    assert [(row["label"], row["active"], row["loggedIn"]) for row in listed] == [
        ("out", True, False),
        ("in", False, True),
    ]
    api.post("/api/run", {"task": "Write the file.", "verify": VERIFY})
    record = team.ended()
    assert (record["account"], record["handoffsDone"], record["sessionState"]) == ("in", 0, "completed")
    assert [(out["account"], out["reason"]) for out in record["leftOut"]] in ([], [("out", "not logged in")])
    agree(api)
