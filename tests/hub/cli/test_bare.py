"""`hub` alone: it fits on a small screen, and says how it stands here. It was the list of all commands, four screens long."""

from tests.faults.harness import until
from tests.hub.cli.command import hub


def test_where_nothing_has_run_it_says_what_one_begins_with(repo, tmp_path):
    """In a project, and in a folder that is none; nothing is made."""
    for folder, told in ((repo, "Nothing has run in this project yet."), (tmp_path, "no git repository")):
        done = hub(cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert len(done.stdout.splitlines()) < 24
        for words in (told, "  init ", "  demo ", "  run ", "All commands: hub --help"):
            assert words in done.stdout
    assert not (repo / ".hub").exists()


def test_where_sessions_are_they_come_first_and_who_needs_somebody_can_be_answered(work):
    """The newest that have ended are few enough for one screen."""
    work.script("demo-first", {"done": "made it"})
    work.configure()
    api = work.start()
    for number in range(7):
        api.post("/api/run", {"task": f"task {number}"})
        until(work.ended, "it is over")
    shown = hub(cwd=work.root, env=work.environ()).stdout
    assert "task 6" in shown
    assert "task 0" not in shown
    assert "2 more: hub ls" in shown
    assert "hub attach" not in shown
    work.script("demo-first", {"ask": "go on?"})
    asking = api.post("/api/run", {"task": "last"})["sessionId"]
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    shown = hub(cwd=work.root, env=work.environ()).stdout
    assert f"answer:        hub attach {asking}\n" in shown
    assert "hub --help" in shown
    api.post("/api/session/stop")
