"""`hub pipeline` as a process: what is wrong is told at once, a run is watched to its end, a graph is drawn."""

import json
import signal
import subprocess
from pathlib import Path

import attrs
import click
import pytest

from hub.api.pipelines import NodeStatus, RunStatus
from hub.cli.commands.pipeline import picture, summary
from tests.faults.harness import HUB, git
from tests.hub.cli.command import hub
from tests.sample import sample
from tests.waiting import until

CHAIN = """
[[pipelines]]
name = "feature"

[[pipelines.nodes]]
id = "api"
provider = "demo-first"
task = "make one"

[[pipelines.nodes]]
id = "docs"
provider = "demo-second"
task = "make two"
dependsOn = ["api"]
verify = ["test -f one.txt && test -f two.txt"]
"""
BAD = [
    {
        "name": "x",
        "nodes": [
            {"id": "a", "provider": "nobody", "task": "t", "dependsOn": ["b"]},
            {"id": "b", "provider": "claude", "task": "t", "dependsOn": ["a", "z"]},
        ],
    }
]


@pytest.fixture
def ready(work):
    """A project with a chain of two nodes in hub.toml."""
    work.script("demo-first", {"write": {"path": "one.txt", "text": "one\n"}}, {"done": "x"})
    work.script("demo-second", {"write": {"path": "two.txt", "text": "two\n"}}, {"done": "x"})
    work.configure(CHAIN)
    return work


def call(work, *args, status=0, **options):
    done = hub("pipeline", *args, cwd=work.root, env=work.environ(), **options)
    assert done.returncode == status, (done.stdout, done.stderr)
    return done


def test_validate_needs_no_daemon(ready):
    assert call(ready, "validate").stdout == "feature: 2 nodes, valid\n"
    told = json.loads(call(ready, "validate", "--json").stdout)
    assert told == {"ok": True, "pipelines": [{"name": "feature", "nodes": 2}]}


def test_validate_tells_every_problem_with_its_place(ready, tmp_path):
    """All at once, exit status 2, in text and as a document."""
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(BAD))
    said = call(ready, "validate", str(file), status=2).stderr
    for part in (
        "$[0].nodes[0].provider: there is no provider 'nobody'; known are claude, codex",
        "$[0].nodes[1].dependsOn[1]: there is no node 'z'; the pipeline's nodes are a, b",
        "$[0].nodes[0].dependsOn: is a cycle: a -> b -> a",
    ):
        assert part in said
    error = json.loads(call(ready, "validate", str(file), "--json", status=2).stdout)["error"]
    assert (error["code"], len(error["errors"])) == ("invalid", 3)


def test_validate_reads_one_pipeline_from_stdin_outside_of_any_project(work, tmp_path):
    place = tmp_path / "nowhere"
    place.mkdir()
    node = {"id": "a", "provider": "claude", "task": "t"}
    text = json.dumps({"name": "x", "nodes": [node]})
    done = subprocess.run(
        [*HUB, "pipeline", "validate", "-"],
        cwd=place, env=work.environ(), input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "x: 1 node, valid\n"), done.stderr


@pytest.mark.parametrize(
    ("text", "status", "part"),
    [("{", 2, "is not JSON"), ("5", 2, "$[0]: must be a table"), (None, 3, "cannot be read")],
)
def test_validate_says_why_a_file_is_none(ready, tmp_path, text, status, part):
    file = tmp_path / "file.json"
    if text is not None:
        file.write_text(text)
    assert part in call(ready, "validate", str(file), status=status).stderr


def test_run_with_a_daemon_of_its_own(ready):
    """Progress goes to stderr, the picture and the next step to stdout."""
    done = call(ready, "run", "feature")
    named = ("\napi: demo-first", "\ndocs: demo-second", "\ndocs: session completed, verified")
    for part in ("feature: api running", "feature: docs completed, verified", "write two.txt", *named):
        assert part in done.stderr
    rows = done.stdout.splitlines()
    assert rows[1] == "pipeline feature completed"
    assert rows[2].startswith("●  api   completed  demo-first, not verified  hub/s-")
    assert rows[3].startswith("●  docs  completed  demo-second, verified     hub/s-")
    branch = rows[3].split()[-1]
    assert rows[-1] == f"take it:  hub take {branch.removeprefix('hub/')}", (
        "the last node's work has all of it"
    )
    assert git(ready.root, "show", f"{branch}:one.txt") == "one"
    assert not (ready.hub / "daemon.json").exists(), "its daemon has ended"


def test_status_tells_of_the_run_and_what_it_costs(ready):
    """The node it is at and how far it is, while the session is a part of it; with its cost, as far as it is known."""
    usage = {"usage": {"tokensIn": 1000, "tokensOut": 200}}
    ready.script(
        "demo-first", {"write": {"path": "one.txt", "text": "one\n"}}, usage, {"ask": "go on?"}, {"done": "x"}
    )
    api = ready.start()
    api.post("/api/pipelines/run", {"name": "feature"})
    until(lambda: api.get("/api/status")["needsInput"], "the first node asks")
    whole = json.loads(hub("status", "--json", cwd=ready.root, env=ready.environ()).stdout)
    assert (whole["pipeline"]["name"], whole["pipeline"]["runId"]) == ("feature", whole["runId"])
    assert [node["state"] for node in whole["pipeline"]["nodes"]] == ["running", "pending"]
    assert (whole["cost"]["tokensIn"], whole["cost"]["tokensOut"]) == (1000, 200)
    said = hub("status", cwd=ready.root, env=ready.environ()).stdout
    assert "pipeline  feature: 0 of 2 nodes done, at api" in said
    assert "cost      $0\n" in said


def test_run_tells_what_failed_and_how_to_go_on(ready):
    """The exit status is the failed node's; what is done is not done again."""
    ready.script("demo-second", {"say": "nothing"}, {"done": "x"})
    done = call(ready, "run", "feature", "--quiet", status=1)
    assert "docs: verify_failed" in done.stdout
    assert "go on:    hub pipeline run feature --resume" in done.stdout
    assert done.stderr == ""
    ready.script("demo-second", {"write": {"path": "two.txt", "text": "two\n"}}, {"done": "x"})
    told = json.loads(call(ready, "run", "feature", "--resume", "--json").stdout)
    assert [(n["id"], n["how"]) for n in told["nodes"]] == [("api", "replayed"), ("docs", "executed")]


def test_the_last_lines_of_a_run_show_and_take_all_of_its_work(ready):
    """They were lines of git for each end, and another way than a session's."""
    said = call(ready, "run", "feature", "--quiet").stdout.splitlines()
    (see,) = [line.removeprefix("see it:   ") for line in said if line.startswith("see it:")]
    (take,) = [line.removeprefix("take it:  ") for line in said if line.startswith("take it:")]
    assert see == f"{take} --patch -"
    patch = hub(*see.split()[1:], cwd=ready.root, env=ready.environ()).stdout
    assert hub(*take.split()[1:], cwd=ready.root, env=ready.environ()).returncode == 0
    assert patch.count("diff --git ") == len(git(ready.root, "show", "--format=", "--name-only").split())


def test_show_needs_no_daemon(ready):
    """`hub pipeline run` had shown the graph and ended with its daemon; `show` could not show it again."""
    assert "○  api" in call(ready, "show", "feature").stdout
    assert not ready.hub.exists(), "it only looks"
    call(ready, "run", "feature", "--quiet")
    rows = call(ready, "show", "feature").stdout.splitlines()
    assert rows[0] == "feature  completed"
    assert rows[2].startswith("●  docs  completed  demo-second, verified")
    (ready.hub / "pipeline-run.json").write_text("{")
    assert "○  api" in call(ready, "show", "feature").stdout, "what cannot be read is no last run"


def test_every_row_of_a_graph_has_the_same_columns():
    """`demo-second, not verified` is longer than most, and pushed its branch out of line."""
    node = {"state": "completed", "dependsOn": [], "branch": "hub/s-1"}
    drawn = picture([
        sample(NodeStatus, **node, id="a", provider="demo-second", verified=False),
        sample(NodeStatus, **node, id="b", provider="claude", verified=True),
    ])  # fmt: skip
    rows = [text for row in drawn.splitlines() if "hub/s-1" in (text := click.unstyle(row))]
    assert len(rows) == 2
    assert len({row.index("hub/s-1") for row in rows}) == 1
    assert [click.style("x", fg=colour)[:5] in drawn for colour in ("yellow", "green")] == [True, True]


def test_a_run_that_nobody_verified_is_not_green():
    """What is done and not verified is no success yet, of a node and of the whole; so it is on the page."""
    for verified, colour in ((True, "green"), (None, "yellow"), (False, "yellow")):
        node = sample(
            NodeStatus, id="a", state="completed", dependsOn=[], provider="claude", verified=verified
        )
        ended = attrs.evolve(sample(RunStatus, name="p", state="completed"), nodes=[node])
        told = summary(ended, Path()).splitlines()[1]
        assert told == click.style("pipeline p completed", fg=colour, bold=True)


def test_run_says_what_there_is(ready):
    """Without having started a daemon for it."""
    error = json.loads(call(ready, "run", "nope", "--json", status=3).stdout)["error"]
    assert (error["code"], error["hint"]) == ("not_found", "There are: feature.")
    said = call(ready, "run", "nope", status=3).stderr
    assert said.startswith("hub: There is no pipeline 'nope'.")
    assert not ready.hub.exists()


def test_show_draws_the_graph_and_the_last_run(ready):
    ready.start()
    assert call(ready, "show").stdout.splitlines() == [
        "feature",
        "○  api              demo-first",
        "○  docs             demo-second",
    ]
    call(ready, "run", "feature", "--quiet")
    rows = call(ready, "show", "feature").stdout.splitlines()
    assert rows[0] == "feature  completed"
    assert rows[2].startswith("●  docs  completed  demo-second, verified")
    told = json.loads(call(ready, "show", "feature", "--json").stdout)
    assert (told["name"], told["run"]["state"]) == ("feature", "completed")
    assert call(ready, "show", "nope", status=3).stderr.startswith("hub: There is no pipeline 'nope'.")


def test_list_tells_every_pipeline_and_which_ran_last(ready):
    """There was only `show`: the names had to be known, or all graphs be read. With a daemon and without."""
    ready.configure(CHAIN + CHAIN.replace("feature", "other"))
    assert call(ready, "list").stdout.splitlines() == [
        "PIPELINE  NODES",
        "feature   api, docs",
        "other     api, docs",
    ]
    assert not ready.hub.exists(), "it only looks"
    call(ready, "run", "feature", "--quiet")
    alone = call(ready, "list").stdout
    assert "  NEWEST RUN\nfeature   api, docs  completed at " in alone
    assert alone.endswith("\nother     api, docs\n")
    told = json.loads(call(ready, "list", "--json").stdout)
    assert [(one["name"], one["run"] and one["run"]["state"]) for one in told] == [
        ("feature", "completed"),
        ("other", None),
    ]
    ready.start()
    assert (call(ready, "list").stdout, json.loads(call(ready, "list", "--json").stdout)) == (alone, told)


def test_list_says_how_one_begins(work):
    work.configure()
    assert call(work, "list").stdout.startswith("there is no pipeline yet: [[pipelines]] in hub.toml")


def test_show_in_a_terminal_without_line_drawing(ready):
    ready.start()
    done = hub("pipeline", "show", cwd=ready.root, env=ready.environ(PYTHONIOENCODING="ascii"))
    assert done.stdout.splitlines()[1] == "o  api              demo-first"


def test_ctrl_c_stops_the_run_in_order(ready):
    """Once: the session's snapshot, no further node, exit status 130."""
    ready.script(
        "demo-first", {"write": {"path": "one.txt", "text": "one\n"}}, {"ask": "go on?"}, {"done": "x"}
    )
    process = subprocess.Popen(
        [*HUB, "pipeline", "run", "feature", "--json"],
        cwd=ready.root, env=ready.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until(lambda: ready.fsm().get("needsInput"), "the first node asks")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    run = json.loads(out)
    assert (run["state"], [n["state"] for n in run["nodes"]]) == ("stopped", ["stopped", "halted"])
    assert git(ready.root, "show", f"{run['nodes'][0]['branch']}:one.txt") == "one"
