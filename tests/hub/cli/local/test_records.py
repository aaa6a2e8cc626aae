"""Looking back when no daemon runs: what `hub run` has done is told by the files it left."""

import json
import re
from contextlib import ExitStack

import pytest
from click.testing import CliRunner

from hub.cli.group import cli
from hub.cli.local.records import UNATTENDED
from hub.io.project.lock import project_lock
from tests.faults.harness import git, until
from tests.hub.cli.command import hub


def test_a_run_that_has_ended_is_looked_back_at(work):
    """`hub run` is its own daemon; after its end `hub logs`, which its last line names, found none."""
    work.script(
        "demo-first", {"write": {"path": "made.txt", "text": "made"}}, {"done": "made it\nin two lines"}
    )
    work.configure()

    def said(*args):
        done = hub(*args, cwd=work.root, env=work.environ())
        assert done.returncode == 0, done.stderr
        return done.stdout

    ran = json.loads(said("run", "--json", "make it"))
    records = json.loads(said("logs", "--json"))
    assert [record["id"] for record in records] == list(range(1, len(records) + 1))
    assert "write made.txt" in said("logs")
    assert "made it\n" + " " * 24 + "in two lines\n" in said("logs", "--full")
    assert "made.txt" in json.loads(said("diff", "--json"))["diff"]
    commits = json.loads(said("history", "--commits", "--json"))
    assert commits[0]["sha"] == git(work.root, "rev-parse", ran["branch"])
    assert json.loads(said("history", "--commits", "--limit", "1", "--json")) == commits[:1], "the newest"
    assert "made.txt" in said("history", "--diff", commits[0]["short"])
    timeline = json.loads(said("history", "--json"))
    assert timeline[-1]["event"] == "session_ended"
    assert len(said("history").splitlines()) == len(timeline), "one line a record, whatever an agent said"
    assert said("audit", "verify").startswith(
        f"intact: {len(timeline)} records\nhead:    {timeline[-1]['seq']}:"
    )

    other = hub("logs", "--json", cwd=work.root, env=work.environ(HUB_PORT="1"))
    assert other.returncode == 69, "a daemon that was named is the one that is meant"
    for named in (
        hub("diff", cwd=work.root, env=work.environ(HUB_PORT="0")),
        hub("--port", "0", "diff", cwd=work.root, env=work.environ()),
    ):
        assert "made.txt" in named.stdout, "0 is for who starts a daemon"


def test_how_the_last_session_ended_is_told_without_a_daemon(work):
    """`hub run` was over, and `hub status` said that nothing runs here. As a daemon tells it, and with the next step."""
    usage = {"usage": {"tokensIn": 1000, "tokensOut": 200}}
    work.script("demo-first", {"write": {"path": "made.txt", "text": "made"}}, usage, {"done": "made it"})
    work.configure()

    def said(*args, status=0):
        done = hub("status", *args, cwd=work.root, env=work.environ())
        assert done.returncode == status, done.stderr
        return done.stdout

    first, last = (
        json.loads(hub("run", "--json", task, cwd=work.root, env=work.environ()).stdout)["sessionId"]
        for task in ("one", "two")
    )
    alone, told = said(), json.loads(said("--json"))
    for line in (
        "completed  demo-first\n",
        "task      two\n",
        "tokens    1,200\n",
        "verified  no - no acceptance command said so\n",
        f"see it    hub diff {last}\n",
        f"take it   hub take {last}\n",
        'another   hub run "task"\n',
    ):
        assert line in alone
    assert "task      one\n" in said(first[:-2])
    said("s-none", status=3)
    assert hub("status", cwd=work.root, env=work.environ(HUB_PORT="1")).returncode == 69, "one that was named"
    work.start()
    assert (said(), json.loads(said("--json")) | {"graphNodes": 0}) == (alone, told)
    work.kill()

    def orders(*args):
        done = hub(*args, cwd=work.root, env=work.environ())
        assert done.returncode == 0, done.stderr

    # `hub take` was advised again of what was taken, and says itself that it was.
    orders("take", "--patch", "x.patch")
    assert said() == alone, "who made a patch may take the work still"
    orders("take")
    taken = git(work.root, "rev-parse", "--short=12", "HEAD")
    assert f"taken     as {taken} on main\nsee it    hub diff {last}\nanother" in said()
    assert "take it   hub take" in said(first), "the other one's work waits still"
    # What the log tells for ever may be undone since, by git alone; and `hub take` works again.
    git(work.root, "branch", "hub/s-after")  # hub's own branches are not in the user's hands
    git(work.root, "branch", "mine/kept")
    git(work.root, "reset", "-q", "--hard", "HEAD~1")
    assert f"taken     as {taken} on mine/kept\n" in said()
    git(work.root, "branch", "-q", "-D", "mine/kept")
    assert said() == alone
    orders("take", "--branch", "work/x")
    assert " on work/x\n" in said()
    work.start()
    assert " on work/x\n" in said()
    git(work.root, "branch", "-q", "-D", "work/x")
    assert said() == alone
    work.kill()
    orders("take")
    git(work.root, "branch", "-q", "-D", "hub/s-after")
    assert f"session   {last}  on hub/{last}\n" in said()
    orders("discard", last)
    assert f"session   {last}\n" in said(), "the branch is gone"
    assert re.search(
        r"^discarded .*; its snapshots: hub history --commits\nsee it    hub diff", said(), re.MULTILINE
    )
    assert "taken  " not in said()


def test_what_a_dead_daemon_left_is_told_as_it_is_on_record(work):
    """Nobody goes on with it before the next daemon, and that is said; nobody is there to be answered."""
    work.script("demo-first", {"ask": "Which colour?"})
    work.configure()
    api = work.start()
    api.post("/api/run", {"task": "paint it"})
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    work.kill()
    done = hub("status", cwd=work.root, env=work.environ())
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "running  demo-first"
    assert done.stdout.splitlines()[-1] == UNATTENDED
    assert "hub reply" not in done.stdout
    assert json.loads(hub("status", "--json", cwd=work.root, env=work.environ()).stdout)["unattended"] is True


def test_a_daemon_that_has_just_begun_is_waited_for(work, monkeypatch):
    """It was told with "Use that one, or stop it first: kill 1234" before it could be used."""
    work.script("demo-first", {"done": "made it"})
    work.configure()
    assert hub("run", "-q", "make it", cwd=work.root, env=work.environ()).returncode == 0
    starting = ExitStack()
    starting.enter_context(project_lock(work.hub / "lock"))
    monkeypatch.setattr("hub.cli.local.records.time.sleep", lambda _: starting.close())
    for name, value in work.environ().items():
        monkeypatch.setenv(name, value)
    told = CliRunner().invoke(cli, ["-C", str(work.root), "logs", "--json"], obj={})
    assert [record["msg"] for record in json.loads(told.stdout)][-1].startswith("session completed")


def test_a_damaged_log_is_told_of_by_whoever_finds_it(work):
    """It was put aside without a word, and the log was said to be empty."""
    work.script("demo-first", {"done": "made it"})
    work.configure()
    assert hub("run", "-q", "make it", cwd=work.root, env=work.environ()).returncode == 0
    (work.hub / "events.db").write_bytes(b"xx")
    for _ in range(2):
        error = json.loads(hub("logs", "--json", cwd=work.root, env=work.environ()).stdout)["error"]
        assert (error["code"], "events.db" in error["detail"]) == ("state_corrupt", True)
        assert "hub daemon" in error["hint"], "a look mends nothing"
    assert (work.hub / "events.db").read_bytes() == b"xx"
    assert hub("run", "-q", "make it", cwd=work.root, env=work.environ()).returncode == 0
    record = json.loads(hub("logs", "--json", cwd=work.root, env=work.environ()).stdout)[0]
    assert record["meta"]["code"] == "state_corrupt"
    assert "events.db.corrupt-" in record["msg"]


def test_a_key_that_hub_holds_is_hidden_as_with_a_daemon(work):
    """Nothing about it looks like a secret; that it stands in `.hub/.env` is what makes it one."""
    plain = "correct-horse-battery"
    env = work.environ()
    work.hub.mkdir(mode=0o700)
    (work.hub / ".env").write_text(f"ANTHROPIC_API_KEY={plain}\n")
    coloured = plain.replace(
        "-", "\x1b[31m-\x1b[m"
    )  # a terminal shows it whole, and so does who takes the colours away
    text = f"{plain}\n{coloured}\nkept\n"
    work.script("demo-first", {"write": {"path": "made.txt", "text": text}}, {"done": "x"})
    work.configure()
    assert hub("run", "--json", "make it", cwd=work.root, env=env).returncode == 0
    said = hub("diff", cwd=work.root, env=env).stdout
    assert "kept" in said
    assert plain not in said
    assert said.count("[REDACTED:anthropic-api-key") == 2


@pytest.mark.parametrize("command", ["logs", "history", "diff"])
def test_where_nothing_was_run_that_is_said(repo, command):
    """They said to start the daemon, which would have had nothing to tell either. Nothing is made."""
    done = hub(command, cwd=repo)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        'hub: Nothing has run in this project yet.\n     Start something: hub run "task"'
    )
    assert json.loads(hub(command, "--json", cwd=repo).stdout)["error"]["code"] == "no_active_session"
    assert hub("--port", "1", command, cwd=repo).returncode == 69, "a daemon that was named is meant"
    assert not (repo / ".hub").exists()


def test_a_sessions_part_of_the_log_is_told_alone(work):
    """By the beginning of its id, with a daemon and without; of several side by side nothing said which line was whose."""
    work.script("demo-first", {"say": "made it"}, {"done": "made it"})
    work.configure()
    ids = [
        json.loads(hub("run", "--json", task, cwd=work.root, env=work.environ()).stdout)["sessionId"]
        for task in ("one", "two")
    ]

    def told(*args):
        done = hub("logs", *args, cwd=work.root, env=work.environ())
        return done.returncode, done.stdout

    def whose():
        _, found = told(ids[1][:-2], "--json")
        return {record["meta"]["sessionId"] for record in json.loads(found)}

    assert whose() == {ids[1]}
    assert "session started: one" not in told(ids[1])[1]
    assert "session started: two" in told(ids[1])[1]
    assert told("s-none")[0] == 3
    work.start()
    assert whose() == {ids[1]}
