"""`hub init` and `hub doctor`: from a bare repository to one that is ready, each finding with its next step."""

import json
import os
import subprocess
import sys
import tomllib

import pytest
from click.testing import CliRunner

from hub import __version__ as hub_version
from hub import owners
from hub.cli import checks as looked
from hub.cli.group import cli
from hub.client.place import told_by
from hub.io.audit.journal import AuditJournal
from hub.io.project.places import Places, load_or_create_key
from tests.faults.harness import git
from tests.hub.cli.command import environ, hub, typed
from tests.settings import lay_out
from tests.waiting import ended


def findings(repo, **more):
    """What the doctor says, by check, and its exit status."""
    done = hub("doctor", "--json", cwd=repo, env=environ(repo.parent, **more))
    return {found["check"]: found for found in json.loads(done.stdout)}, done.returncode


def logged_in_home(folder):
    """A home directory in which Claude Code has a login."""
    login = folder / "home/.claude/.credentials.json"
    login.parent.mkdir(parents=True)
    login.write_text('{"claudeAiOauth": {"accessToken": "a", "refreshToken": "r"}}')
    return str(folder / "home")


def agent(folder, name="claude", says="2.0.0 (Claude Code)"):
    """A program of that name on a PATH of its own."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho '{says}'\n")
    (folder / name).chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def test_init_writes_what_hub_reads(repo):
    """The text is valid, every value in it is the default, and git does not see .hub."""
    told = hub("init", "--json", cwd=repo)
    assert json.loads(told.stdout)["path"] == str(repo / "hub.toml")
    text = (repo / "hub.toml").read_text()
    assert tomllib.loads(text)["session"]["threshold"] == 0.9
    assert git(repo, "status", "--porcelain") == "?? hub.toml"
    assert (repo / ".hub").stat().st_mode & 0o777 == 0o700
    checks, _ = findings(repo)
    assert checks["hub.toml"]["ok"] is True


def test_init_with_all_comments_taken_away_is_valid_too(repo):
    """What a user may uncomment is right."""
    hub("init", cwd=repo)
    path = repo / "hub.toml"
    lines = path.read_text().splitlines()
    keys = [
        line[2:] if line.startswith(("# [", "# chain", "# model", "# baseUrl")) else line for line in lines
    ]
    path.write_text("\n".join(keys))
    assert "claude" in tomllib.loads(path.read_text())["providers"]
    assert findings(repo)[0]["hub.toml"]["ok"] is True


def test_init_proposes_what_the_projects_files_say(repo):
    """Nobody is asked where nobody is: then it is there as comments, and runs nothing."""
    (repo / "Makefile").write_text("test:\n\ttrue\n")
    (repo / "package.json").write_text('{"dependencies": {"x": "1"}}')
    (repo / ".env").write_text("KEY=1")
    told = json.loads(hub("init", "--json", cwd=repo).stdout)
    assert (told["verify"], told["setup"], told["copy"]) == (["make test"], ["npm install"], [".env"])
    assert told["taken"] is False
    text = (repo / "hub.toml").read_text()
    assert '# verify = ["make test"]' in text
    assert "verify" not in tomllib.loads(text)["session"]
    (repo / "hub.toml").unlink()
    said = hub("init", "--yes", cwd=repo, env=environ(repo.parent, HUB_TRUST="")).stdout
    assert "wrote" in said
    tables = tomllib.loads((repo / "hub.toml").read_text())
    assert (tables["session"]["verify"], tables["worktree"]) == (
        ["make test"], {"setup": ["npm install"], "copy": [".env"]},
    )  # fmt: skip
    status = hub("trust", "--status", "--json", cwd=repo, env=environ(repo.parent, HUB_TRUST="")).stdout
    assert json.loads(status)["state"] == "untrusted", "a flag in a script is nobody's word"


def test_a_fresh_hub_toml_is_in_no_sessions_diff(work):
    """It is uncommitted, so it comes along; it is the user's, so it is no part of what the agent did."""
    work.script("demo-first", {"write": {"path": "made.txt", "text": "x"}}, {"done": "x"})
    work.configure()
    assert "?? hub.toml" in git(work.root, "status", "--porcelain")
    assert hub("run", "-q", "make it", cwd=work.root, env=work.environ()).returncode == 0
    assert "hub.toml" not in hub("diff", "--stat", cwd=work.root, env=work.environ()).stdout
    assert hub("take", cwd=work.root, env=work.environ()).returncode == 0
    assert git(work.root, "show", "--format=", "--name-only", "HEAD") == "made.txt"
    assert "?? hub.toml" in git(work.root, "status", "--porcelain")


def test_init_leaves_nothing_half_written(repo):
    """On a full disk an empty hub.toml stayed behind, which the next `hub init` then refused to overwrite."""
    hub("init", cwd=repo)
    size = (repo / "hub.toml").stat().st_size
    (repo / "hub.toml").unlink()
    done = subprocess.run(
        ["prlimit", f"--fsize={size - 1}", sys.executable, "-B", "-m", "hub", "init"],
        cwd=repo,
        env=environ(repo.parent),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert not (repo / "hub.toml").exists()


def test_init_overwrites_nothing(repo):
    """A second one is refused, and the file is as it was."""
    (repo / "hub.toml").write_text("# mine\n")
    done = hub("init", cwd=repo)
    assert done.returncode == 2
    assert (repo / "hub.toml").read_text() == "# mine\n"


def test_init_writes_through_no_link(repo, tmp_path):
    """A clone may bring one that leads out of it, to a place where nothing is yet."""
    (repo / "hub.toml").symlink_to(tmp_path / "planted")
    done = hub("init", "--yes", cwd=repo)
    assert (done.returncode, "already exists" in done.stderr) == (2, True)
    assert not (tmp_path / "planted").exists()


def test_the_doctor_finds_what_keeps_hub_from_working(repo, tmp_path):
    """Every fault in one run: exit 1, and each with the command that mends it."""
    (repo / "hub.toml").write_text("[session]\nthreshold = 7\n")
    hidden = repo / ".hub"
    hidden.mkdir(mode=0o700)
    (hidden / ".env").write_text("ANTHROPIC_API_KEY=x\n")
    (hidden / ".env").chmod(0o644)
    empty = tmp_path / "none"
    empty.mkdir()
    checks, status = findings(repo, PATH=f"{empty}:/usr/bin:/bin")
    assert status == 1
    faults = {name for name, found in checks.items() if not found["ok"] and not found["warning"]}
    assert {"hub.toml", "keys"} <= faults
    assert "hub.toml:2:" in checks["hub.toml"]["detail"]
    assert checks["keys"]["hint"].splitlines() == [
        f"Run: chmod 600 {hidden / '.env'}",
        "Run: echo /.hub/ >> .git/info/exclude",
    ]
    assert all(found["hint"] for found in checks.values() if not found["ok"])


def test_a_read_only_file_system_is_told_as_such(repo):
    """`Correct the owner or mode.` was said of it, which mends nothing."""
    if subprocess.run(["mount", "--bind", str(repo), str(repo)], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(repo)], check=True)
        checks, status = findings(repo)
    finally:
        subprocess.run(["umount", "-l", str(repo)], check=True)
    assert status == 1
    assert checks["permissions"]["detail"] == "the file system is read-only"
    assert checks["permissions"]["hint"] == "Remount it writable."


def test_a_folder_of_the_users_that_may_not_be_written_is_a_fault(repo, tmp_path):
    """Keys are made there: without it nothing runs, and the doctor found all in order."""
    home = tmp_path / "locked"
    home.mkdir(mode=0o555)
    weak = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-all"] if os.geteuid() == 0 else []
    env = environ(repo.parent, HUB_STATE_DIR=str(home / "state"))

    def said(*words):
        argv = [*weak, sys.executable, "-m", "hub", *words]
        return subprocess.run(
            argv, cwd=repo, env=env, capture_output=True, text=True, check=False, timeout=60
        )

    found = {check["check"]: check for check in json.loads(said("doctor", "--json").stdout)}["state"]
    assert (found["ok"], found["detail"]) == (False, f"{home} is not writable")
    assert "HUB_STATE_DIR" in found["hint"]
    (repo / ".hub").mkdir(mode=0o555)
    found = {check["check"]: check for check in json.loads(said("doctor", "--json").stdout)}["permissions"]
    assert (found["ok"], found["detail"]) == (False, f"{repo / '.hub'} is not writable")
    (repo / ".hub").rmdir()
    for place in (
        repo / ".git/refs/heads",
        repo / ".git/objects",
    ):  # the run ended as `git_failed`: run hub doctor
        mode = place.stat().st_mode
        place.chmod(0o555)
        found = {check["check"]: check for check in json.loads(said("doctor", "--json").stdout)}[
            "permissions"
        ]
        assert (found["ok"], found["detail"]) == (False, f"{place} is not writable")
        place.chmod(mode)
    started = said("daemon", "--port", "0")
    assert started.returncode == 1
    assert "Correct its owner or mode." in started.stderr


def test_a_missing_agent_is_a_note_and_none_at_all_a_fault(repo, tmp_path):
    """One agent is enough to work with; its version is told."""
    checks, _ = findings(repo, PATH=agent(tmp_path / "one"), HOME=logged_in_home(tmp_path))
    assert checks["claude"]["ok"] is True
    assert "2.0.0" in checks["claude"]["detail"]
    assert (checks["codex"]["ok"], checks["codex"]["warning"]) == (False, True)
    assert "npm install" in checks["codex"]["hint"]
    assert "agents" not in checks


@pytest.mark.parametrize("command", ["doctor", "providers"])
def test_an_agent_that_hangs_is_not_waited_for(repo, tmp_path, command):
    """It is named, the others are told, and neither it nor what it began goes on."""
    path = agent(tmp_path / "one")
    pids = tmp_path / "pids"
    agent(tmp_path / "one", "gemini")
    (tmp_path / "one/gemini").write_text(f"#!/bin/sh\nsleep 300 &\necho $$ $! > {pids}\nwait\n")
    done = hub(command, cwd=repo, env=environ(repo.parent, PATH=path, HOME=logged_in_home(tmp_path)))
    assert "gemini did not answer within" in done.stdout
    assert "2.0.0" in done.stdout
    assert all(ended(int(pid)) for pid in pids.read_text().split())


def test_an_agent_without_a_login_is_told_with_the_way_to_one(repo, tmp_path):
    """It is left out of the default chain: a note while another can work, a fault where none can."""
    (tmp_path / "home").mkdir()
    path = agent(tmp_path / "one")
    checks, status = findings(repo, PATH=path, HOME=str(tmp_path / "home"))
    assert checks["claude"]["detail"] == "2.0.0 (Claude Code), not logged in: left out of the default chain"
    assert checks["claude"]["hint"].startswith("Log in: claude auth login; or")
    assert (checks["claude"]["warning"], checks["agents"]["detail"], status) == (True, "none is logged in", 1)
    (repo / "hub.toml").write_text('[session]\nchain = ["claude"]\n')
    checks, status = findings(repo, PATH=path, HOME=str(tmp_path / "home"))
    assert ("agents" in checks, status) == (False, 0)


def test_the_login_of_an_account_that_was_added_is_seen(repo, tmp_path):
    """The doctor read no accounts but those of `hub.toml`, and said "none is logged in"; `hub providers` had it."""
    (tmp_path / "home").mkdir()
    folder = logged_in_home(tmp_path / "work") + "/.claude"
    env = {"PATH": agent(tmp_path / "one"), "HOME": str(tmp_path / "home")}
    add = ("account", "add", "claude", "work", "--config-dir", folder)
    done = hub(*add, cwd=repo, env=environ(repo.parent, **env))
    assert done.returncode == 0, done.stderr
    checks, _ = findings(repo, **env)
    assert "agents" not in checks


@pytest.mark.skipif(os.geteuid() != 0, reason="it refuses root alone")
def test_an_agent_whose_server_may_need_no_login_is_no_agent_with_one(repo, tmp_path):
    """With an address of the user's own nobody can tell: `hub providers` says that none was seen, the doctor said just ok."""
    (tmp_path / "home").mkdir()
    own = tmp_path / "own"
    lay_out('[providers.claude]\nbaseUrl = "http://127.0.0.1:9"\n', repo, own)
    checks, _ = findings(
        repo, PATH=agent(tmp_path / "one"), HOME=str(tmp_path / "home"), HUB_CONFIG_DIR=str(own)
    )
    assert checks["claude"]["ok"] is True
    assert checks["claude"]["detail"].endswith("no login seen")


def test_the_doctor_foresees_that_claude_code_refuses_root(repo, tmp_path):
    """It ended at once, in the middle of a session, and `hub doctor` had found all in order."""
    given = {"PATH": agent(tmp_path / "one"), "HOME": logged_in_home(tmp_path)}
    checks, status = findings(repo, **given, IS_SANDBOX="")
    found = checks["claude as root"]
    assert (found["ok"], found["warning"], status) == (False, True, 0)
    assert "--dangerously-skip-permissions" in found["detail"]
    assert "IS_SANDBOX=1" in found["hint"]
    assert "claude as root" not in findings(repo, **given, IS_SANDBOX="1")[0]
    (repo / "hub.toml").write_text('[providers.claude.options]\npermission_mode = "acceptEdits"\n')
    assert "claude as root" not in findings(repo, **given, IS_SANDBOX="")[0]


def test_keys_that_git_would_take_along_are_a_fault(repo, tmp_path):
    """Security row 18: whether `.hub/` is not ignored or the file is tracked, the next commit must not hold the keys."""
    hub("init", cwd=repo)
    keys = repo / ".hub/.env"
    keys.write_text("ANTHROPIC_API_KEY=x\n")
    keys.chmod(0o600)
    path = agent(tmp_path / "one")
    checks, status = findings(repo, PATH=path)
    assert (checks["keys"]["ok"], status) == (True, 0)
    exclude = repo / ".git/info/exclude"
    kept = exclude.read_text()
    exclude.write_text("")
    checks, status = findings(repo, PATH=path)
    assert (checks["keys"]["detail"], status) == (".hub/.env is not ignored by git", 1)
    exclude.write_text(kept)
    git(repo, "add", "-f", ".hub/.env")
    checks, status = findings(repo, PATH=path)
    assert checks["keys"]["hint"].startswith("Run: git rm --cached .hub/.env; and replace every key")
    assert status == 1


def test_outside_a_repository_the_doctor_says_what_to_do(tmp_path):
    """No project is a finding, not an error."""
    where = tmp_path / "empty"
    where.mkdir()
    done = hub("doctor", cwd=where)
    assert done.returncode == 1
    assert "git init" in done.stdout


def test_a_repository_without_a_commit_is_a_finding(tmp_path):
    """It would stop the first run."""
    bare = tmp_path / "bare"
    bare.mkdir()
    git(bare, "init", "-q")
    checks, status = findings(bare)
    assert status == 1
    assert checks["commit"]["ok"] is False
    assert "git commit" in checks["commit"]["hint"]


def test_no_subject_of_a_commit_is_told(repo):
    """Security R4 and row 42: one with a token in it was shown, and no other command shows one unredacted."""
    git(repo, "commit", "-q", "--allow-empty", "-m", "use ghp_Zq8Lk2Vn6Xw0Rt4Yb7Mc1Pd5Hs9Jf3Ga6Ke2")
    checks, _ = findings(repo)
    assert checks["commit"]["detail"] == git(repo, "rev-parse", "--short", "HEAD")


@pytest.mark.parametrize("known", [True, False])
def test_the_doctor_tells_whether_callers_are_known(repo, monkeypatch, known):
    """G16: nothing to do where the kernel tells whose a connection is, a note where it does not."""
    monkeypatch.setattr(owners, "_shared", lambda _: not known)
    told = CliRunner().invoke(cli, ["-C", str(repo), "doctor", "--json"], obj={})
    found = {check["check"]: check for check in json.loads(told.output)}["callers"]
    assert (found["ok"], found["warning"], "daemon.json" in found["hint"]) == (known, not known, not known)


def test_the_doctor_sees_a_daemon_of_another_version(work, monkeypatch):
    """After an upgrade all was in order, while the old hub went on serving the project."""
    work.start()
    monkeypatch.setattr(looked, "__version__", "9.9.9")
    [found] = [each for each in looked.project(Places(work.root)) if each.check == "daemon"]
    assert (found.ok, found.warning) == (False, True)
    assert found.detail.endswith(f" is of hub {hub_version}, not 9.9.9")
    assert (
        found.hint
        == f"End that daemon in order: kill {told_by(work.root).pid}   Then start this one: hub daemon"
    )


def test_the_doctor_sees_a_daemon(work):
    """Running or not, with the address, and the process that a user ends: no command of hub's does."""
    work.script("demo-first", {"done": "x"})
    work.configure()
    work.start()
    done = hub("doctor", "--json", cwd=work.root, env=work.environ())
    checks = {found["check"]: found for found in json.loads(done.stdout)}
    assert checks["daemon"]["ok"] is True
    told = f"http://127.0.0.1:{work.port}, process {told_by(work.root).pid}"
    assert checks["daemon"]["detail"] == told


def test_an_audit_log_of_one_record_is_told_as_one(repo):
    """It was "1 records, intact"."""
    key = load_or_create_key("audit", repo.parent / "state")
    (repo / ".hub").mkdir(mode=0o700)
    journal = AuditJournal.open(Places(repo), key)
    draft = journal.draft()
    draft.add("daemon_started", {})
    journal.commit(draft)
    journal.close()
    checks, _ = findings(repo)
    assert checks["audit log"]["detail"] == "1 record, intact"


def test_a_missing_detection_engine_is_a_note(monkeypatch):
    """Rules go on alone: something to know, nothing that keeps hub from working; never silent."""
    monkeypatch.setattr("hub.io.secrets.kingfisher.installed", lambda: False)
    found = looked._detection()
    assert (found.ok, found.warning) == (False, True)
    assert "pip install kingfisher-secret-scanner" in found.hint
    monkeypatch.setattr("hub.io.secrets.kingfisher.installed", lambda: True)
    assert looked._detection().ok


@pytest.fixture
def loose_keys(repo, tmp_path):
    """A project whose keys git would take along; an environment in which that is the only fault."""
    hub("init", cwd=repo)
    keys = repo / ".hub/.env"
    keys.write_text("ANTHROPIC_API_KEY=x\n")
    keys.chmod(0o600)
    (repo / ".git/info/exclude").write_text("mine\n")
    return environ(repo.parent, PATH=agent(tmp_path / "one"), HOME=logged_in_home(tmp_path))


def ignored(repo):
    """What git is told to ignore."""
    return (repo / ".git/info/exclude").read_text()


def test_fix_mends_what_takes_nothing_away_and_nothing_else(repo, loose_keys):
    """Without it nothing changes, and what could be mended is marked."""
    told = hub("doctor", cwd=repo, env=loose_keys)
    assert (told.returncode, "no  +keys" in told.stdout, "hub doctor --fix" in told.stdout) == (1, True, True)
    assert ignored(repo) == "mine\n"
    done = hub("doctor", "--fix", "--yes", cwd=repo, env=loose_keys)
    assert (done.returncode, "not ignored by git: mended" in done.stdout) == (0, True)
    assert ignored(repo).startswith("mine\n")
    assert hub("doctor", cwd=repo, env=loose_keys).returncode == 0
    assert (repo / ".hub/.env").read_text() == "ANTHROPIC_API_KEY=x\n"


def test_fix_mends_both_faults_of_the_keys(repo, loose_keys):
    """Only the first was mended, and all was said to be well. With settings that can be read, hub corrects the mode itself."""
    (repo / "hub.toml").write_text("[session]\nthreshold = 7\n")
    keys = repo / ".hub/.env"
    keys.chmod(0o644)
    done = hub("doctor", "--fix", "--yes", cwd=repo, env=loose_keys)
    assert "has mode 644 and is not ignored by git: mended" in done.stdout
    assert (keys.stat().st_mode & 0o777, "/.hub/" in ignored(repo)) == (0o600, True)


@pytest.mark.parametrize("words", [["--fix"], ["--fix", "--json"]])
def test_where_nobody_can_be_asked_fix_changes_nothing(repo, loose_keys, words):
    """It mended without a question; a script says `--yes`."""
    done = hub("doctor", *words, cwd=repo, env=loose_keys)
    assert (done.returncode, "hub doctor --fix --yes" in done.stdout + done.stderr) == (2, True)
    assert ignored(repo) == "mine\n"


@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("n", 1)])
def test_fix_says_what_it_would_do_and_asks(repo, loose_keys, answer, status):
    """Each change stands there as a command before the question; a no changes nothing."""
    code, said = typed("doctor", "--fix", answer=answer, cwd=repo, env=loose_keys)
    assert "echo /.hub/ >> .git/info/exclude" in said[said.index("hub would do") :]
    assert (code, "/.hub/" in ignored(repo)) == (status, answer == "y")


def test_agents_that_are_not_installed_take_one_line(repo, tmp_path):
    """It was two lines for each of six; a program still reads one entry for each."""
    env = environ(repo.parent, PATH=agent(tmp_path / "one"), HOME=logged_in_home(tmp_path))
    shown = hub("doctor", cwd=repo, env=env).stdout
    rest = "codex, gemini, opencode, qwen, copilot, aider"
    assert f"note not installed    {rest}\n" in shown
    assert shown.count("hub install") == 1
    assert [
        name
        for name, found in findings(repo, PATH=env["PATH"])[0].items()
        if found["detail"] == "not installed"
    ] == rest.split(", ")
    none = hub("doctor", cwd=repo, env={**env, "PATH": "/usr/bin:/bin"}).stdout
    assert f"no   agents           none is installed: claude, {rest}\n" in none
    assert none.count("hub install") == 1


def test_what_cannot_be_mended_is_said_and_stays_a_fault(repo, tmp_path):
    """`.git/info/exclude` is a folder here."""
    hub("init", cwd=repo)
    (repo / ".hub/.env").write_text("ANTHROPIC_API_KEY=x\n")
    (repo / ".hub/.env").chmod(0o600)
    exclude = repo / ".git/info/exclude"
    exclude.unlink()
    exclude.mkdir()
    told = hub("doctor", "--fix", "--yes", cwd=repo)
    assert (told.returncode, "could not be mended" in told.stdout) == (1, True)


def test_a_git_that_does_not_know_its_user_is_a_note(repo, tmp_path):
    """What is taken is committed by the user; without a name it would be hub's."""
    assert findings(repo)[0]["identity"]["detail"] == "t <t@example.com>"
    nobody = {name: "" for name in os.environ if name.startswith("GIT_")}
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "EMAIL"):
        nobody[name] = ""
    found = findings(repo, **nobody, HOME=str(tmp_path / "empty"))[0]["identity"]
    assert (found["ok"], found["warning"], "git config --global user.name" in found["hint"]) == (
        False,
        True,
        True,
    )


def test_root_in_a_container_is_told_what_agents_want_to_hear(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(looked, "_CONTAINER", ("/",))
    monkeypatch.setenv("IS_SANDBOX", "")
    found = looked._user()
    assert (found.ok, found.warning, "IS_SANDBOX=1" in found.hint) == (False, True, True)
    monkeypatch.setenv("IS_SANDBOX", "1")
    assert looked._user().ok
    monkeypatch.setattr(looked, "_CONTAINER", ("/nowhere",))
    assert not looked._user().ok
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert looked._user().ok


def test_few_open_files_and_little_room_are_notes(repo, monkeypatch):
    monkeypatch.setattr(looked.resource, "getrlimit", lambda _: (256, 4096))
    found = looked._open_files()
    assert (found.ok, found.warning, found.hint) == (False, True, "ulimit -n 1024")
    for free, ok, warning in ((10**12, True, True), (10**9, False, True), (10**6, False, False)):
        monkeypatch.setattr(looked.shutil, "disk_usage", lambda _, free=free: type("U", (), {"free": free}))
        found = looked._space(looked.Places(repo))
        assert (found.ok, found.warning) == (ok, warning)
