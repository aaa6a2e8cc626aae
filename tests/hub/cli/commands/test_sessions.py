"""`hub ls`: who needs somebody comes first."""

import json
from datetime import UTC, datetime

import attrs
import click

from hub.cli.commands.sessions import SessionRow, listed, short
from hub.cli.commands.status import WholeStatus, beside, picture
from tests.faults.harness import project, until
from tests.hub.cli.command import hub
from tests.sample import sample

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def row(session_id, state, **more):
    given = {
        "sessionId": session_id, "title": "a task", "sessionState": state, "needs": "none", "activeProvider": "claude",
        "account": "default", "startedAt": "2026-01-01T11:00:00Z", "branch": f"hub/{session_id}",
    }  # fmt: skip
    return sample(SessionRow, **{**given, **more})


def test_the_order_is_by_need_and_then_by_age():
    """Needs you, working, waiting, done; of each the newest first."""
    rows = [
        row("s-1", "completed", endedAt="2026-01-01T11:30:00Z"),
        row("s-2", "waiting", waitUntil="2026-01-01T15:00:00Z"),
        row("s-3", "running"),
        row("s-4", "running", needs="approval", account="work"),
        row("s-5", "failed", endedAt="2026-01-01T11:59:00Z"),
        row("s-6", "queued", position=1, startedAt=None, activeProvider=""),
    ]
    lines = click.unstyle(listed(rows, now=NOW, width=0)).splitlines()
    assert [line.split()[0] for line in lines[1:] if line.startswith("s-")] == [
        "s-4", "s-3", "s-2", "s-6", "s-5", "s-1"
    ]  # fmt: skip
    groups = [line for line in lines[1:] if not line.startswith("s-")]
    assert groups == ["Needs you", "Working", "Waiting for a reset", "Waiting for its turn", "Done"]
    assert "needs approval" in lines[2]
    assert "claude/work" in lines[2]
    assert "number 1" in lines[8]
    assert "60 s ago" in lines[10]


def test_what_is_known_of_one_that_works():
    """Its quota, what it did last, its branch where that is not its own, and its project where several are listed."""
    one = row(
        "s-1", "running", lastAction="Bash npm test", quotaUsed=0.724, project="/home/me/app", branch="topic"
    )
    text = click.unstyle(listed([one], now=NOW, width=0))
    for words in ("72%", "Bash npm test", "topic", "app"):
        assert words in text
    assert "BRANCH" not in listed([row("s-1", "running")], now=NOW, width=0)


def test_why_one_failed_or_waits_is_seen_in_the_list():
    """A list said "failed", and one had to ask for the status of each to know why."""
    error = {"code": "verify_failed", "detail": "make test: exit 2\nand its output", "hint": ""}
    rows = [
        row("s-1", "failed", error=error, endedAt="2026-11-24T11:00:00Z"),
        row("s-2", "waiting", waitReason="claude: five_hour at 100 %", lastAction="Bash npm test"),
        row("s-3", "waiting", waitReason="a wait", needs="approval", lastAction="Deploy?"),
    ]
    text = click.unstyle(listed(rows, now=NOW, width=0))
    assert [one.last for one in rows] == ["make test: exit 2", "claude: five_hour at 100 %", "Deploy?"]
    assert "make test: exit 2" in text
    assert "5-hour quota at 100 %" in text


def test_an_id_is_as_short_as_it_can_be():
    """Every command takes the beginning of one."""
    names = ["s-6b01-aa", "s-6b02-bb", "s-6b02-cc"]
    assert [short(name, names) for name in names] == ["s-6b01", "s-6b02-bb", "s-6b02-cc"]


def test_a_long_task_gives_way_before_the_table_does():
    rows = [row("s-1", "running", title="word " * 30, lastAction="Read " * 30)]
    drawn = click.unstyle(listed(rows, now=NOW, width=80))
    assert max(map(len, drawn.splitlines())) <= 80
    assert "\n\n" not in drawn
    assert "word word" in drawn.splitlines()[3], "on a line of its own"
    assert "Read" in drawn.splitlines()[3]
    rows[0] = attrs.evolve(rows[0], session_id="s-6b052684-5d15bab9", account="the-account-of-work")
    assert "task" in click.unstyle(listed(rows, now=NOW, width=40)), (
        "one below the other where even that is too wide"
    )


def test_a_long_list_is_cut_and_says_so():
    rows = [row(f"s-{n}", "completed", endedAt="2026-01-01T11:30:00Z") for n in range(25)]
    assert listed(rows, now=NOW, width=0).endswith("5 more: hub ls --all")
    assert len(listed(rows, now=NOW, width=0, everything=True).splitlines()) == 27
    assert "hub run" in listed([])


def test_it_is_asked_of_the_daemon_and_without_one_of_the_records(tmp_path):
    """Also from outside of every project, with -A; a daemon that was killed is none."""
    with project(tmp_path) as work:
        work.script("demo-first", {"say": "I begin."}, {"ask": "Which colour?"})
        work.configure()
        api = work.start()
        begun = api.post("/api/run", {"task": "write it"})["sessionId"]
        until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
        env = work.environ()
        here = hub("ls", cwd=work.root, env=env).stdout
        assert "Needs you" in here
        assert "write it" in here
        assert "no daemon" not in here
        (row,) = json.loads(hub("ls", "--json", cwd=work.root, env=env).stdout)["sessions"]
        assert (row["sessionId"], row["needs"], row["lastAction"]) == (begun, "input", "Which colour?")
        (far,) = json.loads(hub("ls", "-A", "--json", cwd=tmp_path, env=env).stdout)["sessions"]
        assert (far["sessionId"], far["project"]) == (begun, str(work.root))
        shown = hub("status", begun[:-2], "--json", cwd=work.root, env=env)
        assert begun in shown.stdout
        wrong = hub("status", begun[:-1] + "zz", cwd=work.root, env=env)
        assert f"Did you mean {begun}?" in wrong.stderr
        work.kill()
        left = hub("ls", cwd=work.root, env=env).stdout
        assert "write it" in left
        assert left.endswith("the next one goes on with what is not done: hub daemon\n"), (
            "it was shown as at work"
        )
        assert json.loads(hub("ls", "--json", cwd=work.root, env=env).stdout)["unattended"] is True
        assert json.loads(hub("ls", "-A", "--json", cwd=tmp_path, env=env).stdout) == {"sessions": []}
        work.start().post("/api/session/stop")


def test_a_project_where_nothing_has_run(repo):
    done = hub("ls", cwd=repo)
    assert (done.returncode, "hub run" in done.stdout) == (0, True)


def test_how_many_may_run_is_told_without_a_daemon_too(work):
    """Before anything has run and after it; it was 0, as if nothing might."""
    work.script("demo-first", {"done": "made it"})
    work.configure(session="concurrent = 2\n")

    def places():
        return json.loads(hub("ls", "--json", cwd=work.root, env=work.environ()).stdout)["concurrent"]

    assert places() == 2
    assert hub("run", "-q", "make it", cwd=work.root, env=work.environ()).returncode == 0
    assert places() == 2


def test_the_status_of_one_says_that_others_need_somebody():
    """Of several at work the newest was shown, and nothing said that another waited for approval."""
    rows = [
        row("s-1", "completed", endedAt="2026-01-01T11:30:00Z"),
        row("s-2", "running"),
        row("s-3", "running", needs="approval"),
        row("s-4", "running"),
    ]
    assert beside(rows, "s-4") == "others    needs you: 1, working: 1  (hub ls)\n"
    assert beside(rows[:2], "s-2") == ""
    assert beside(rows[:1], "s-1") == ""


def test_status_names_the_others_where_none_is_meant(work):
    work.script("demo-first", {"ask": "Which colour?"})
    work.script("demo-second", {"ask": "Which glue?"})
    work.configure(session="concurrent = 2\n")
    api = work.start()
    begun = [api.post("/api/run", {"task": task})["sessionId"] for task in ("paint it", "glue it")]
    until(lambda: [one["needs"] for one in api.get("/api/sessions")["sessions"]] == ["input"] * 2, "both ask")

    def told(*words):
        return hub("status", *words, cwd=work.root, env=work.environ()).stdout

    assert "others    needs you: 1  (hub ls)\n" in told()
    assert "others" not in told(begun[0]), "who names one is told of that"


def test_a_status_has_the_words_of_the_list():
    """`hub ls` said "handing off", `hub status` "handing_off"."""
    known = sample(
        WholeStatus,
        taskGoal="x",
        sessionId="s-1",
        sessionState="handing_off",
        pipeline=None,
        cost=None,
        audit=None,
    )
    assert picture(known).startswith("handing off  ")
