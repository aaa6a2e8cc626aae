"""Who is next among the real programs: nobody that is used up, and nobody without a login while another has one."""

import json
import tomllib

import pytest
import tomli_w

from tests.agents import PROGRAMS
from tests.e2e.conftest import PATIENCE, key_of
from tests.faults.agreement import agree
from tests.faults.harness import until
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


FINISH = (Turn.write("done.txt", "done\n"), Turn.text("Done."))
BEGIN = Turn.write("begun.txt", "begun\n")
STORIES = {
    "claude does it": (("claude", "codex"), (BEGIN, *FINISH), "claude", "standby"),
    "claude is told to wait a moment": (
        ("claude", "codex"),
        (BEGIN, Turn.minute(1), *FINISH),
        "claude",
        "standby",
    ),
    "claude has no login": (("claude", "codex"), (Turn.auth(),), "codex", ""),
    "claude is refused": (("claude", "codex"), (BEGIN, Turn.refusal()), "codex", ""),
    "claude's limit has a date": (
        ("claude", "codex"),
        (BEGIN, Turn.limit(90_000, dated=True)),
        "codex",
        "exhausted",
    ),
    "codex does it": (("codex", "claude"), (BEGIN, *FINISH), "codex", "standby"),
    "codex is at its limit": (("codex", "claude"), (BEGIN, Turn.limit(7200)), "claude", "exhausted"),
    "codex has no login": (("codex", "claude"), (Turn.auth(),), "claude", ""),
    "codex is refused": (("codex", "claude"), (BEGIN, Turn.refusal()), "claude", ""),
}
"""The chain, what the first one's model says, who ends the work, and how the first one then stands, where one word says it."""


@pytest.mark.parametrize("story", STORIES)
def test_wallet_providers_circuit_and_history_agree_after(team, story):
    """What scripted agents play in `tests/faults/test_routing.py`, as far as a vendor can tell it."""
    chain, turns, who, status = STORIES[story]
    team.hire(*chain)
    team.script(chain[0], *turns)
    team.script(chain[1], *FINISH)
    api = team.start()
    api.post("/api/run", {"task": "Write the files.", "verify": VERIFY})
    record = team.ended()
    assert (record["provider"], record["sessionState"]) == (who, "completed"), record["error"]
    assert record["refusedBy"] == ([chain[0]] if "is refused" in story else [])
    if "no login" in story:
        assert record["tried"][0]["failure"] == "auth"
    # Who never began has handed nothing over.
    assert record["handoffsDone"] == (who != chain[0] and turns[0] is BEGIN)
    found = agree(api)[f"{chain[0]}/default"]
    assert status in ("", found["status"])


def test_the_four_agree_while_nobody_can_work(team):
    """Both are used up: the session waits for the first reset."""
    team.hire("claude", "codex")
    team.script("claude", BEGIN, Turn.limit(7200))
    team.script("codex", Turn.limit(3600))
    api = team.start()
    api.post("/api/run", {"task": "Write the files.", "verify": VERIFY})
    until(lambda: api.get("/api/status")["sessionState"] == "waiting", "it waits", PATIENCE)
    found = agree(api)
    assert {found[name]["status"] for name in ("claude/default", "codex/default")} == {"exhausted"}
