"""`hub take`, `discard` and `clean`, with a daemon and without one: the same words and the same end."""

import json

import pytest

from hub.errors import Code, HubError
from tests.faults.harness import git, until
from tests.hub.cli.command import hub


@pytest.fixture
def ran(work):
    """A project in which a session has written a file; says what a command of hub's answers."""
    work.script("demo-first", {"write": {"path": "made.txt", "text": "made\n"}}, {"done": "made it"})
    work.configure()
    done = hub("run", "--json", "make it", cwd=work.root, env=work.environ())
    assert done.returncode == 0, done.stderr

    def say(*args, status=0, **env):
        done = hub(*args, cwd=work.root, env=work.environ(**env))
        assert done.returncode == status, done.stderr + done.stdout
        return done

    say.project, say.session = work, json.loads(done.stdout)["sessionId"]
    return say


@pytest.mark.parametrize("with_daemon", [False, True])
def test_a_day_with_results(ran, with_daemon):
    root = ran.project.root
    if with_daemon:
        ran.project.start()
    refused = json.loads(ran("discard", ran.session, "--json", status=1).stdout)
    assert refused["error"]["code"] == "not_taken"
    assert json.loads(ran("clean", "--json").stdout)["kept"][0]["why"] == "not_taken"

    assert json.loads(ran("take", "--patch", "-", "--json").stdout)["verified"] is None, "none was run"
    patch = ran("take", "--patch", "-").stdout
    assert "+made\n" in patch
    assert not (root / "made.txt").exists()
    (root / "made.txt").write_text("mine")
    blocked = json.loads(ran("take", "--json", status=1).stdout)["error"]
    assert (blocked["code"], blocked["files"]) == ("uncommitted_work", ["made.txt"])
    (root / "made.txt").unlink()

    taken = ran("take", ran.session[:8]).stdout
    assert "made.txt | 1 +" in taken
    assert f"hub discard {ran.session}" in taken
    assert git(root, "log", "-1", "--format=%an %s") == "t make it"
    assert f"Hub-Session: {ran.session}" in git(root, "log", "-1", "--format=%B")
    assert json.loads(ran("take", "--json", status=1).stdout)["error"]["code"] == "nothing_to_take"

    assert "would be removed" in ran("clean", "--dry-run").stdout
    assert json.loads(ran("clean", "--older", "1d", "--json").stdout)["kept"][0]["why"] == "too_new"
    assert "removed" in ran("clean", "--merged").stdout
    assert git(root, "branch", "--list", "hub/*") == ""
    assert ran("clean").stdout == "nothing to clean\n"
    told = [row["event"] for row in json.loads(ran("history", "--json").stdout)]
    refused, done = ["take_begun"], ["take_begun", "taken"]
    asked = [event for event in told if event.startswith(("take", "discard"))]
    assert asked == [
        "discard_begun",
        *done,
        *done,
        *refused,
        *done,
        *refused,
        *("discard_begun", "discarded"),
    ]
    assert ran("audit", "verify").stdout.startswith("intact")


@pytest.mark.parametrize("with_daemon", [False, True])
def test_what_was_discarded_comes_back_by_the_command_it_named(ran, with_daemon):
    """`hub discard` ran without a daemon and named `hub rewind`, which then asked for one."""
    if with_daemon:
        ran.project.start()
    gone = ran("discard", "--force", ran.session).stdout
    command = gone.partition("get it back: hub ")[2].split()
    branch = json.loads(ran(*command, "--json").stdout)["branch"]
    assert git(ran.project.root, "show", f"{branch}:made.txt") == "made"
    assert json.loads(ran("history", "--json", "--limit", "1").stdout)[0]["event"] == "rewind"
    assert ran("audit", "verify").stdout.startswith("intact")
    assert json.loads(ran("rewind", "abcdef1", "--json", status=3).stdout)["error"]["code"] == "not_found"


def test_where_the_audit_log_is_damaged_no_branch_is_made(ran):
    """Bug: the record of a rewind was written after its branch, of which there was then one more with each call."""
    command = ran("discard", "--force", ran.session).stdout.partition("get it back: hub ")[2].split()
    log = ran.project.root / ".hub" / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b"session", b"SESSION", 1))
    ran(*command, "--json", status=1)
    assert git(ran.project.root, "branch", "--list", "hub/rewind/*") == ""


def test_who_takes_what_was_not_accepted_is_told_so(work):
    """It was taken, and pushed, as any other: "done" is said by the acceptance commands."""
    work.script("demo-first", {"write": {"path": "made.txt", "text": "made\n"}}, {"done": "made it"})
    work.configure(session='verify = ["test -f other.txt"]\nverifyTries = 0\n')
    failed = hub("run", "--json", "make it", cwd=work.root, env=work.environ())
    assert failed.returncode == 1, failed.stderr
    session = json.loads(failed.stdout)["sessionId"]
    said = hub("take", "--patch", "-", "--json", cwd=work.root, env=work.environ())
    assert json.loads(said.stdout)["verified"] is False
    told = hub("take", cwd=work.root, env=work.environ()).stdout
    assert f"not verified: its acceptance commands failed. See: hub logs --full {session}" in told
    assert "Not verified: test -f other.txt" in git(work.root, "log", "-1", "--format=%B")


def test_what_only_the_worktree_has_is_told_before_it_goes(ran):
    """`hub take` advised `hub discard`, which refused with "take it", which said that it was taken already."""
    worktree = f".hub/worktrees/{ran.session}"
    (ran.project.root / worktree / "later.txt").write_text("somebody went on in it\n")
    taken = ran("take")
    assert f"its worktree has more, which is in no snapshot: {worktree}\n" in taken.stdout
    assert "hub discard" not in taken.stdout
    refused = ran("discard", ran.session, status=1).stderr
    assert "has more than its snapshots" in refused
    assert worktree in refused
    assert "hub take" not in refused
    kept = json.loads(ran("clean", "--json").stdout)["kept"]
    assert [(row["why"], row["detail"]) for row in kept] == [
        ("not_taken", "its worktree has more than its snapshots")
    ]
    (ran.project.root / worktree / "later.txt").unlink()
    assert "gone" in ran("discard", ran.session).stdout


@pytest.mark.parametrize(
    ("how", "where"),
    [
        (("--branch", "mine"), "stdout"),
        (("--patch", "../my.patch"), "stdout"),
        (("--patch", "-"), "stderr"),
        (("--merge",), "stdout"),
    ],
)
def test_what_only_the_worktree_has_is_told_however_it_is_taken(ran, how, where):
    """Of a branch and a patch nothing was said, and `hub discard` refused then."""
    worktree = f".hub/worktrees/{ran.session}"
    (ran.project.root / worktree / "later.txt").write_text("somebody went on in it\n")
    said = getattr(ran("take", *how), where)
    assert f"its worktree has more, which is in no snapshot: {worktree}\n" in said
    assert "hub discard" not in said


def test_forms_exclude_each_other_and_an_age_is_understood(ran):
    assert "exclude each other" in ran("take", "--merge", "--branch", "x", status=2).stderr
    assert "14d" in ran("clean", "--older", "soon", status=2).stderr


def test_a_patch_goes_where_its_user_says(ran, tmp_path):
    ran("take", "--patch", str(tmp_path / "my.patch"))
    git(ran.project.root, "apply", str(tmp_path / "my.patch"))
    assert (ran.project.root / "made.txt").read_text() == "made\n"
    assert "cannot be written" in ran("take", "--patch", "/proc/x/y", status=1).stderr


def test_where_nothing_was_run_that_is_said(repo):
    done = hub("take", cwd=repo)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Nothing has run in this project yet" in done.stderr


def test_who_still_works_keeps_his_work(work):
    work.script(
        "demo-first", {"write": {"path": "made.txt", "text": "made\n"}}, {"ask": "may I?"}, {"done": "x"}
    )
    work.configure()
    api = work.start()
    started = api.post("/api/run", {"task": "make it"})
    done = hub("take", "--json", cwd=work.root, env=work.environ())
    assert json.loads(done.stdout)["error"]["code"] == "session_already_running"
    gone = hub("discard", started["sessionId"], "--force", "--json", cwd=work.root, env=work.environ())
    assert json.loads(gone.stdout)["error"]["code"] == "session_already_running"
    kept = json.loads(hub("clean", "--force", "--json", cwd=work.root, env=work.environ()).stdout)["kept"]
    assert [row["why"] for row in kept] == ["active"]


def test_a_key_in_a_files_name_is_not_told(work):
    """The file is taken as it is; what is said of it is not."""
    key = "ghp_" + "q7Zx4Lm2Vt9Rz1Bn8Wc3Ky5Hd6Jf0Gs2Pa4T"
    work.script("demo-first", {"write": {"path": f"{key}.txt", "text": "made\n"}}, {"done": "made it"})
    work.configure()
    assert hub("run", "--json", "make it", cwd=work.root, env=work.environ()).returncode == 0
    work.start()
    done = hub("take", "--json", cwd=work.root, env=work.environ())
    assert done.returncode == 0, done.stderr
    assert key not in done.stdout
    assert "[REDACTED:github:" in json.loads(done.stdout)["summary"]
    assert (work.root / f"{key}.txt").read_text() == "made\n"


def test_while_several_work_a_result_is_named(work):
    """ "s-3 cannot be taken, it still runs", said `hub take`, and meant the newest one."""
    work.script("demo-first", {"write": {"path": "made.txt", "text": "made\n"}}, {"done": "made it"})
    accounts = "".join(f'\n[[providers.demo-first.accounts]]\nlabel = "{label}"\n' for label in "ab")
    work.configure(accounts, session="concurrent = 2\n")
    api = work.start()
    over = api.post("/api/run", {"task": "make it"})["sessionId"]
    until(lambda: api.get("/api/sessions")["sessions"][0]["endedAt"], "the first one ends")
    work.script("demo-first", {"ask": "go on?"}, {"done": "made it"})
    working = [api.post("/api/run", {"task": "ask"})["sessionId"] for _ in range(2)]
    for path, body in (("take", {"how": "patch"}), ("discard", {"force": True})):
        with pytest.raises(HubError) as caught:
            api.post(f"/api/session/{path}", body)
        assert (caught.value.code, caught.value.extra["sessions"]) == (Code.WHICH_SESSION, [over])
    api.post("/api/session/stop", {"sessionId": working[0]})
    assert api.post("/api/session/take", {"how": "patch", "sessionId": over[:-1]})["sessionId"] == over


@pytest.mark.parametrize(
    ("args", "status", "words"),
    [
        (("take", "--branch", "a name"), 2, "'a name' is no name for a branch"),
        (("pr", "--branch", "-x"), 2, "'-x' is no name for a branch"),
        (("take", "S!"), 3, "Session S! is not known here."),
        (("discard", "S!"), 3, "Session S! is not known here."),
        (("run", "--continue", "S!", "go on"), 3, "Session S! is not known here."),
        (("reply", "--session", "S!", "yes"), 3, "Session S! is not known here."),
    ],
)
def test_a_name_that_can_be_none_is_told_in_words(repo, args, status, words):
    """It was told as the pattern that a field of the API has to match, and as a field that does not validate."""
    done = hub(*args, cwd=repo)
    assert (done.returncode, words in done.stderr) == (status, True), done.stderr
    assert "regex" not in done.stderr
