"""A user's own recording: its form is read, and what is malformed is named."""

import json
import sqlite3
from contextlib import closing

import pytest

from hub.errors import Code, HubError
from hub.evals import measure, recording
from hub.evals.labels import Class
from hub.evals.measure import Way

LABELS = """
[recording]
task = "Write a.txt"
worktree = "/home/dev/repo"
env = { CLAUDE_CONFIG_DIR = "." }
[[facts]]
class = "objective"
text = "Write a.txt"
[[facts]]
class = "constraints"
text = "never touch b.txt"
"""
SESSION = "projects/-home-dev-repo/5d1b7f0c-0000-4000-8000-000000000001.jsonl"


def record(name, words):
    message = {"role": name, "content": [{"type": "text", "text": words}], "id": f"m-{words}"}
    return json.dumps({"type": name, "uuid": words, "cwd": "/home/dev/repo", "message": message})


@pytest.fixture
def made(tmp_path):
    """A suite with one recording: a store of twelve messages and no more."""
    folder = tmp_path / "claude" / "mine"
    (folder / "store" / SESSION).parent.mkdir(parents=True)
    lines = [record("user", "Write a.txt and never touch b.txt.")]
    lines += [record("assistant", f"Step {number}.") for number in range(11)]
    (folder / "store" / SESSION).write_text("\n".join(lines) + "\n")
    (folder / "facts.toml").write_text(LABELS)
    return folder


def test_a_session_without_moments_is_cut_in_twelve(made):
    """A user copies a session of their own and writes labels: no more is needed."""
    [found] = recording.suite(made.parent.parent)
    assert [moment.files[SESSION] for moment in found.moments] == [(0, end) for end in range(1, 13)]
    [measured] = measure.measure(found)
    assert measured.way is Way.STORE
    assert measured.tallies[Class.OBJECTIVE].recall == 1
    assert measured.tallies[Class.CONSTRAINTS].recall == 1


def test_a_moment_is_a_window_of_each_file(made, tmp_path):
    """A file that was written anew has its versions one after the other."""
    (made / "moments.json").write_text(json.dumps([{"store": {SESSION: [1, 3]}}]))
    [found] = recording.suite(made.parent.parent)
    found.lay_out(found.moments[0], tmp_path / "home")
    text = (tmp_path / "home" / SESSION).read_text()
    assert [json.loads(line)["uuid"] for line in text.splitlines()] == ["Step 0.", "Step 1."]


def test_a_database_is_made_of_its_statements(made, tmp_path):
    (made / "store" / "own.db.sql").write_text(
        "CREATE TABLE t (x);\nINSERT INTO t VALUES (1);\nDELETE FROM t;\n"
    )
    (made / "moments.json").write_text(json.dumps([{"store": {"own.db.sql": [0, 2]}}]))
    [found] = recording.suite(made.parent.parent)
    found.lay_out(found.moments[0], tmp_path / "home")
    with closing(sqlite3.connect(tmp_path / "home" / "own.db")) as database:
        assert database.execute("SELECT x FROM t").fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("facts.toml", "[recording", "facts.toml"),
        ("facts.toml", "", "it lacks 'recording'"),
        ("facts.toml", '[recording]\ntask = ""\n', "it lacks 'worktree'"),
        ("facts.toml", LABELS.replace("objective", "mood"), "no class 'mood'"),
        ("moments.json", "[1]", "facts.toml"),
        ("moments.json", '[{"store": {"other": [0, 1]}}]', "lines 0 to 1 of other"),
        ("moments.json", f'[{{"store": {{"{SESSION}": [0, 13]}}}}]', "lines 0 to 13"),
    ],
)
def test_a_malformed_recording_is_refused_by_its_name(made, file, text, why):
    (made / file).write_text(text)
    with pytest.raises(HubError, match=why) as refused:
        list(recording.suite(made.parent.parent))
    assert refused.value.code is Code.INVALID


def test_a_recording_of_nothing_is_refused(made):
    (made / "store" / SESSION).unlink()
    with pytest.raises(HubError, match="neither"):
        list(recording.suite(made.parent.parent))


def test_an_agent_whose_store_nobody_reads_is_named(made):
    made.parent.rename(made.parent.parent / "unheard")
    with pytest.raises(HubError, match="store of unheard"):
        [list(measure.measure(found)) for found in recording.suite(made.parent.parent)]
