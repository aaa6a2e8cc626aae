"""Old run folders go when nobody needs them; anything that is not certainly hub's own stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from hub.domain.session import SessionState
from hub.io.project.places import Places
from hub.io.records.sessions import session_store
from hub.io.runner.sweep import sweep_runs
from tests.faults.harness import Project, project, until


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    with project(tmp_path) as found:
        monkeypatch.setenv("HUB_STATE_DIR", str(found.state))
        found.script("demo-first", {"write": {"path": "a.txt", "text": "a"}}, {"done": "ok"})
        found.configure()
        yield found


def session(made: Project) -> str:
    """One whole session under a daemon of its own; its run's folder."""
    before = made.ended().get("sessionId")
    made.start().post("/api/run", {"task": "write"})
    record = until(lambda: (r := made.ended()) and r["sessionId"] != before and r, "the session ends")
    assert made.stop() == 0
    return str(record["dispatchId"])


def runs(made: Project) -> set[str]:
    return {run.name for run in (made.hub / "run").glob("d-*")}


def test_an_earlier_sessions_runs_are_gone_at_the_next_start_and_what_they_said_is_not(made):
    """They were kept for ever, with every task and every word in them."""
    first = session(made)
    second = session(made)
    assert runs(made) == {first, second}, "the last session's is still there when the next one begins"
    made.start()
    assert runs(made) == {second}
    assert made.stop() == 0
    made.start()
    told = [event["msg"] for event in made.events() if event["meta"].get("dispatchId") == first]
    assert made.stop() == 0
    assert "write a.txt" in told


def test_a_run_that_never_began_goes_as_the_others_do(made):
    """Bug: it was kept for ever, with its task, and the agent's keys where its daemon was killed on the way."""
    first, _ = session(made), session(made)
    for name in ("claim", "agent.json", "verdict.json"):
        (made.hub / "run" / first / name).unlink()
    assert sweep_runs(Places(made.root)) == [first]


def test_what_is_not_certain_stays(made, tmp_path):
    """Each by itself, of the same two sessions; without it the run goes."""
    first, second = session(made), session(made)
    places, run, away = Places(made.root), made.hub / "run" / first, tmp_path / "elsewhere"
    files = (run / "assignment.json", run / "verdict.json", made.hub / "fsm.json")
    given = {file: file.read_bytes() for file in files}

    def stays(why):
        assert sweep_runs(places) == [], why
        assert runs(made) == {first, second}, why
        for file, before in given.items():
            file.write_bytes(before)

    (run / "verdict.json").write_text(json.dumps({"code": 0}))
    stays("a verdict hub did not see")
    (run / "notes").mkdir()
    stays("a folder in it")
    (run / "notes").rmdir()
    (run / "assignment.json").write_text('{"session_id": "s-0"}')
    stays("an assignment not its own")
    (made.hub / "fsm.json").write_bytes(b"{}")
    stays("no record")
    run.rename(away)
    run.symlink_to(away)
    stays("a link")
    run.unlink()
    away.rename(run)
    assert sweep_runs(places) == [first]


def test_what_a_session_beside_the_last_one_has_said_stays_while_it_goes_on(made):
    """Bug: its agent had ended while no daemon ran, and what it had said in the meantime was removed unread."""
    first = session(made)
    places = Places(made.root)
    record = session_store(places).look()
    session(made)
    own = places.of(record.session_id)
    assert own.fsm.is_file(), "it was put there when the second one took its place"
    session_store(own).save(attrs.evolve(record, session_state=SessionState.RUNNING))
    assert sweep_runs(places) == []
    own.fsm.write_bytes(b"{}")
    assert sweep_runs(places) == [], "damaged"
    own.fsm.unlink()
    session_store(own).save(attrs.evolve(record, session_state=SessionState.COMPLETED))
    assert sweep_runs(places) == [first]
