"""`hub detect` and `hub adopt`: with and without a daemon, for people and for programs, and as a watch."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import attrs
import click
import pytest

from hub.api.convert import unstructure
from hub.api.detect import Adopted, Detected, Intel
from hub.cli.commands.detect import adopted, table
from tests.faults.harness import git
from tests.hub.cli.command import environ, hub
from tests.hub.io.agents import new_session, register, running, transcript
from tests.sample import sample
from tests.waiting import ended

SESSION = new_session()


@pytest.fixture
def made(made):
    made.script("demo-first", {"done": "x"})
    made.configure()
    return made


@pytest.fixture
def env(tmp_path):
    (tmp_path / "home").mkdir()
    return environ(tmp_path, HOME=str(tmp_path / "home"))


def agents(done, base):
    assert done.returncode == 0, done.stderr
    return [one for one in json.loads(done.stdout) if one["workDir"].startswith(str(base))]


def test_it_needs_no_daemon_and_tells_the_same_with_one(made, env, tmp_path):
    home = tmp_path / "home" / ".claude"
    with running(tmp_path, cwd=made.root) as pid:
        register(home, pid, SESSION)
        transcript(home, SESSION, made.root, "Write a.py")
        alone = agents(hub("detect", "--json", cwd=made.root, env=env), tmp_path)
        again = agents(hub("detect", "--json", cwd=made.root, env=env), tmp_path)
        elsewhere = agents(hub("detect", "--json", cwd=tmp_path / "home", env=env), tmp_path)
        people = hub("detect", "--since-hours", "2", cwd=made.root, env=env).stdout
        made.start(HOME=env["HOME"])
        served = agents(hub("detect", "--json", cwd=made.root, env=env), tmp_path)
        brief = hub("adopt", f"claude:{SESSION}", "--for", "demo-first", cwd=made.root, env=env)
        running_on = hub(
            "adopt", f"claude:{SESSION}", "--for", "demo-first", "--start", cwd=made.root, env=env
        )
        both = hub("adopt", "x", "--for", "y", "--start", "--interactive", cwd=made.root, env=env)
    assert brief.stdout.startswith(f"brief: {made.hub}/adopted/s-")
    assert (running_on.returncode, both.returncode) == (1, 2)
    assert f"It is still running, as process {pid}." in running_on.stderr
    assert [one["id"] for one in alone] == [f"claude:{SESSION}"]
    assert alone == again == served
    assert elsewhere == [{**alone[0], "adoptable": False}], "agents run outside of every project, too"
    shown = people.splitlines()
    mine = shown[shown.index(f"Claude Code  runs, pid {pid}") :]
    assert mine[1:7] == [
        f"  folder    {made.root}",
        "  account   default",
        "  task      Write a.py",
        "  model     claude-sonnet-5-5",
        "  work      1 file, 2 messages, 100 tokens in, 20 out",
        f"  go on     hub adopt claude:{SESSION} --for PROVIDER",
    ]
    assert " running, " in shown[-1]


def test_settings_that_cannot_be_read_end_it_as_any_command(made, env):
    """Also where it looks by itself."""
    (made.root / "hub.toml").write_text("[server")
    done = hub("detect", "--json", cwd=made.root, env=env)
    assert done.returncode == 2
    assert "hub.toml" in done.stdout + done.stderr


def test_a_watch_tells_what_is_new_a_line_each(made, env, tmp_path):
    """An agent when it comes, and once more when it is asked something."""
    argv = [sys.executable, "-m", "hub", "detect", "--watch", "--json", "--since-hours", "0"]
    with subprocess.Popen(argv, cwd=made.root, env=env, stdout=subprocess.PIPE, text=True) as watch:
        try:
            with running(tmp_path, cwd=made.root) as pid:
                assert watch.stdout is not None
                told = next(one for line in watch.stdout if (one := json.loads(line))["pid"] == pid)
                assert (told["workDir"], told["session"]["sessionId"]) == (str(made.root), "")
                home = tmp_path / "home" / ".claude"
                register(home, pid, SESSION)
                transcript(home, SESSION, made.root, "Write a.py")
                asked = next(one for line in watch.stdout if (one := json.loads(line))["pid"] == pid)
            assert asked["session"]["initialPrompt"] == "Write a.py"
            watch.send_signal(2)
            assert ended(watch.pid)
        finally:
            watch.kill()


def test_an_agent_of_another_repository_is_adopted_by_naming_that(made, env, tmp_path):
    """Its files are in the brief; a session begins with the daemon of its own project, which is started for it."""
    other = tmp_path / "other"
    other.mkdir()
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "start")):
        git(other, *words)
    (other / "tool.py").write_text("x\n")
    transcript(tmp_path / "home" / ".claude", SESSION, other, "Write tool.py")
    made.start(HOME=env["HOME"])
    ask = ("adopt", f"claude:{SESSION}", "--for", "demo-first", "--repository", str(other))
    brief = hub(*ask, cwd=made.root, env=env)
    begun = hub(*ask, "--start", cwd=made.root, env=env)
    wrong = hub(*ask[:-1], str(made.root), cwd=made.root, env=env)
    assert "+1 -0 tool.py" in Path(brief.stdout.splitlines()[0].removeprefix("brief: ")).read_text()
    os.kill(json.loads((other / ".hub" / "daemon.json").read_text())["pid"], signal.SIGTERM)
    assert f"started a daemon for {other}" in begun.stderr
    assert "demo-first is turned off" in begun.stderr, "there it is"
    assert wrong.returncode == 1
    assert f"It works in {other}, which is not in {made.root}." in wrong.stderr


def test_an_adoption_tells_who_goes_on_and_with_what():
    answer = {
        "target": "codex", "brief": "/b.md", "mode": "start", "resumed": False, "stopped": [7, 8], "sessionId": "s-1",
        "branch": "hub/s-1", "command": "", "terminal": "",
    }  # fmt: skip
    answer |= {"ok": True, "worktree": "", "id": "claude:x"}
    started = adopted(sample(Adopted, **answer))
    assert started.splitlines()[:2] == ["ended: 7, 8", "brief: /b.md"]
    assert "codex goes on with the brief: session s-1 on hub/s-1\nwatch it: hub attach s-1" in started
    written = adopted(sample(Adopted, **{**answer, "mode": "brief", "stopped": []}))
    assert written.splitlines()[1].endswith("go on with it: hub adopt claude:x --for codex --start")
    runs = adopted(sample(Adopted, **{**answer, "mode": "brief", "stopped": [], "running": True}))
    assert runs.endswith("end it and go on: hub adopt claude:x --for codex --start --stop"), (
        "Claude goes on by itself after its limit"
    )
    opened = adopted(
        sample(
            Adopted,
            **{
                **answer,
                "mode": "interactive",
                "resumed": True,
                "terminal": "tmux",
                "command": "codex resume x",
            },
        )
    )
    assert "codex goes on with the agent's own session, in a terminal (tmux): codex resume x" in opened


def test_what_nobody_can_tell_is_said_to_people():
    base = {
        "id": "codex:pid:7", "displayName": "Codex", "pid": 7, "running": True, "workDir": "", "account": "",
        "owner": "hub", "candidates": ["a", "b"], "lastActive": 0,
        "alarm": "", "adoptable": False,
    }  # fmt: skip
    session = unstructure(sample(Intel, sessionId="x", alarm="the format may have changed"))

    def one(**given):
        return sample(Detected, **{**base, **given})

    text = click.unstyle(table([one(), one(running=False, session=session, candidates=[])]))
    assert text.startswith("Codex  runs, pid 7, hub's own\n  folder    not told\n  account   not told\n")
    assert "hub adopt" not in text, "it is not this project's, or hub's own"
    mine = {"owner": "user", "session": session}
    assert "\n  id        codex:pid:7" in click.unstyle(table([one(**mine)])), "outside of this project"
    assert "hub adopt codex:pid:7 --for PROVIDER" in table([one(**mine, adoptable=True)])
    assert "  session   which one it works on cannot be told: a, b\n" in text
    assert text.endswith("\n\n1 agent running, 0 sessions left behind\n1 session of hub's own: hub ls -A")
    assert "(no prompt yet)" in text
    assert "not to be trusted: the format may have changed" in text
    gap = table([one(running=False, alarm="/h/sessions took too long.", account="work")])
    assert click.unstyle(gap).splitlines()[:3] == [
        "Codex",
        "  account   work",
        "  alarm     sessions may be missing: /h/sessions took too long.",
    ]
    assert "hub adopt" not in gap
    assert table([]).startswith("no agent runs")


def test_a_busy_day_is_told_in_brief():
    """Thousands of sessions filled the screen, and one agent's line had the ids of hundreds that may be its own."""
    one = sample(
        Detected, id="claude:pid:7", displayName="Claude Code", running=True, pid=7, workDir="/w", account="",
        owner="user", candidates=list("abcdef"), lastActive=9, alarm="", adoptable=False,
    )  # fmt: skip
    left = [attrs.evolve(one, id=f"claude:{n}", running=False, candidates=[]) for n in range(2000)]
    left[-1] = attrs.evolve(left[-1], adoptable=True, session=sample(Intel, sessionId="x"))
    brief = click.unstyle(table([one, *left], everything=False))
    assert "cannot be told: a, b, c and 3 more\n" in brief
    assert brief.endswith("\n\n1 agent running, 2,000 sessions left behind\n1,980 more: hub detect --all")
    assert "hub adopt claude:1999 --for PROVIDER" in brief, "this project's own come before others"
    assert len(brief.splitlines()) < 120
    assert "more: hub detect" not in table([one, *left], everything=True)
    week = table([one, *left], everything=False, hours=168)
    assert week.endswith("more: hub detect --all --since-hours 168"), "a day would not show them"


def test_what_hub_s_own_sessions_left_is_no_work_to_go_on_with():
    """Each handoff of hub's own sessions left one more "session left behind" before those that may be adopted."""
    mine = sample(Detected, id="codex:1", running=False, workDir="/w", owner="user", alarm="")
    hubs = [attrs.evolve(mine, id=f"codex:h{n}", owner="hub", work_dir="/p/.hub/worktrees/s") for n in (1, 2)]
    brief = click.unstyle(table([*hubs, mine], everything=False))
    assert brief.endswith("\n\n0 agents running, 1 session left behind\n2 sessions of hub's own: hub ls -A")
    assert "hub's own\n" not in brief
    assert click.unstyle(table([*hubs, mine], everything=True)).count("hub's own\n") == len(hubs)


@pytest.mark.parametrize("project", ["here", "a project"])
def test_an_agent_of_hub_s_own_is_handed_over_where_its_session_is(tmp_path, monkeypatch, project):
    """`hub handoff` was advised of every one, and hands over nothing where another project's agent is shown."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    folder = tmp_path / project / ".hub" / "worktrees" / "s-12" / "deep"
    shown = click.unstyle(table([sample(Detected, owner="hub", running=True, workDir=str(folder), alarm="")]))
    where = "hub" if project == "here" else f"hub -C '{tmp_path / project}'"
    assert f"  go on     {where} handoff s-12\n" in shown
