"""A new worktree is made ready before an agent works in it, or no agent starts."""

import json
import os

import pytest

from tests.faults.harness import git, try_post, until

SETUP = """
[worktree]
setup = [{setup}]
copy = [".env", "missing.txt", "README.md"]
link = ["cache"]
"""


@pytest.fixture
def made(made):
    (made.root / ".env").write_text("KEY=value-of-mine\n")
    (made.root / "cache").mkdir()
    made.script("demo-first", {"write": {"path": "made.txt", "text": "made\n"}}, {"done": "x"})
    return made


def configure(made, *setup):
    made.configure(SETUP.format(setup=", ".join(json.dumps(command) for command in setup)))


def ran(made, **env):
    api = made.start(**env)
    api.post("/api/run", {"task": "write"})
    return until(made.ended, "the session ends")


def said(made):
    return [event["msg"] for event in made.events()]


def test_files_come_along_setup_runs_and_none_of_it_is_the_agents_work(made):
    configure(
        made,
        "echo one; echo two; mkdir dist; echo x > dist/lib.js; echo y > gen.txt",
        "test -f .env && test -d cache",
    )
    record = ran(made)
    assert record["sessionState"] == "completed"
    told = said(made)
    assert "copied from your folder: .env" in told
    assert "linked to your folder: cache" in told
    assert "not in your folder, and not brought: missing.txt" in told
    assert "in the worktree already, and not brought: README.md" in told
    assert "one\ntwo" in told
    assert told.index("one\ntwo") < told.index("The demo agent starts")
    changed = git(made.root, "show", "--format=", "--name-only", f"hub/{record['sessionId']}").split()
    assert changed == ["made.txt"]
    audited = [json.loads(line) for line in (made.hub / "audit.jsonl").read_text().splitlines()]
    assert [entry["data"]["exitCode"] for entry in audited if entry["event"] == "setup"] == [0, 0]


def test_a_setup_that_fails_starts_no_agent_and_says_which_and_why(made):
    configure(made, "true", "echo no such module: $(cat .env); exit 7", "touch never")
    record = ran(made)
    assert (record["sessionState"], record["error"]["code"]) == ("failed", "setup_failed")
    assert "exit 7" in record["error"]["detail"]
    assert "ended with exit status 7" in record["error"]["detail"]
    assert "no such module" in record["error"]["detail"]
    assert made.starts() == []


def test_a_stop_does_not_wait_for_the_setup(made):
    configure(made, "echo begun; tail -f /dev/null")
    api = made.start()
    api.post("/api/run", {"task": "write"})
    until(lambda: "begun" in said(made), "its output is told while it runs")
    api.post("/api/session/stop")
    assert until(made.ended, "the session ends")["sessionState"] == "stopped"
    assert made.starts() == []


def test_killed_in_the_middle_it_is_done_again(made):
    """Only a worktree that was made ready counts as one."""
    configure(made, "echo x >> ../../../../count")
    api = made.start(HUB_FAILPOINTS="setup.command=kill9")
    try_post(api, "/api/run", {"task": "write"})
    assert made.wait_dead() == -9
    made.start()
    record = until(made.ended, "the session ends by itself")
    assert record["sessionState"] == "completed"
    assert len(made.starts()) == 1
    assert said(made).count("copied from your folder: .env") == 1


def test_what_the_user_has_not_is_the_agents_when_it_makes_it(made):
    """A name in `copy` of which there is nothing yet hides no work."""
    made.script("demo-first", {"write": {"path": "config/local.toml", "text": "agent\n"}}, {"done": "x"})
    made.configure('\n[worktree]\ncopy = ["config"]\n')
    record = ran(made)
    assert made.show(f"hub/{record['sessionId']}:config/local.toml") == b"agent\n"


def test_what_a_setup_made_before_a_crash_is_its_own_still(made):
    """Killed between the commands and the note of what they made: the next start finds it there."""
    configure(made, "mkdir -p venv; echo x > venv/cfg", "true")
    api = made.start(HUB_FAILPOINTS="setup.command=kill9@2")
    try_post(api, "/api/run", {"task": "write"})
    assert made.wait_dead() == -9
    made.start()
    record = until(made.ended, "the session ends")
    tree = git(made.root, "ls-tree", "-r", "--name-only", f"hub/{record['sessionId']}").split()
    assert "made.txt" in tree
    assert not [path for path in tree if path.startswith("venv")]


def test_a_setup_command_has_the_time_its_user_gives_it(made):
    made.configure('[worktree]\nsetup = ["sleep 60"]\nsetupTimeout = 0.3\n')
    record = ran(made)
    assert record["error"]["code"] == "setup_failed"
    assert "took longer than 0.3 s" in record["error"]["detail"]


def test_a_program_that_acceptance_wants_and_is_not_here_is_named_before_an_agent_works(made):
    """Else one is paid to repair what it seldom can. A path may be the agent's to make, and nothing is said of it."""
    verify = ["no-such-tool --check", "A=1 no-such-tool", "test -f made.txt", "./later.sh"]
    made.configure(session=f"verify = {json.dumps(verify)}\nverifyTries = 0\n")
    record = ran(made)
    told = said(made)
    named = [msg for msg in told if "is not on PATH" in msg]
    assert named == [
        "no-such-tool is not on PATH, and an acceptance command begins with it: no-such-tool --check"
    ]
    assert told.index(named[0]) < told.index("The demo agent starts")
    assert (record["sessionState"], record["error"]["code"]) == ("failed", "verify_failed")


def test_where_what_is_told_of_a_setup_ends_no_half_of_a_secret_is_told(made):
    """Half a key is no key to any rule: what is over the limit is cut off after the search."""
    key = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"
    first, rest, go = (made.root.parent / name for name in ("first", "rest", "go"))
    first.write_text(("x" * 1023 + "\n") * 255)
    rest.write_text("y" * 1000 + f" {key}\n" + "z" * 2000 + "\n")
    os.mkfifo(go)
    configure(made, f"cat {first}; read -r line < {go}; cat {rest}")
    api = made.start()
    api.post("/api/run", {"task": "write"})
    until(lambda: sum(msg.count("x" * 1023) for msg in said(made)) == 255, "nearly all that may be told is")
    go.write_text("on\n")
    assert until(made.ended, "the session ends")["sessionState"] == "completed"
    told = "".join(said(made))
    assert "y" * 1000 in told
    assert key[:8] not in told
    assert "z" * 2000 not in told
