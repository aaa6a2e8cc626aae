"""A detected agent's work goes on with another one: whole daemon, real files, scripted agents that really run."""

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
import trio

from hub.domain.contract import EvidenceKind, verify
from hub.domain.failure import Failure, FailureClass
from hub.errors import Code, HubError
from hub.io.project.places import load_or_create_key
from hub.messages.audit import AuditHistory
from hub.messages.breakers import BreakerFailure
from tests.faults.harness import git, repository
from tests.hub.actors.daemon import daemon_of
from tests.hub.io.agents import PLAIN, new_session, register, running, transcript
from tests.hub.io.agents import program as program_of
from tests.refusals import refusal, refuses
from tests.waiting import answered

SESSION = new_session()
ID = f"claude:{SESSION}"
SECRET = "sk-ant-api03-" + "a1B2c3D4" * 11 + "-AAAA"
PLAN = [
    {"content": "Write a.py", "status": "completed", "activeForm": "x"},
    {"content": "Write b.py", "status": "pending", "activeForm": "x"},
]


@pytest.fixture
def made(made, tmp_path):
    made.script("demo-first", {"append": {"path": "b.py", "text": "b = 2\n"}}, {"done": "x"})
    made.script("demo-second", {"done": "x"})
    made.configure(f'[providers.claude]\nprogram = "{tmp_path}/bin/claude-code"\n')
    return made


@pytest.fixture
def home(tmp_path):
    """Where the user's agents keep their sessions."""
    return tmp_path / "home" / ".claude"


@pytest.fixture
def left(made, home):
    """A session of Claude Code: a plan, a rule of the user's, a secret, and a file that nobody has committed."""
    path = transcript(home, SESSION, made.root, f"Write a.py and b.py. Use {SECRET}.")
    common = {"sessionId": SESSION, "cwd": str(made.root), "timestamp": "2026-11-21T03:00:01.000Z"}
    todo = {"type": "tool_use", "id": "t-2", "name": "TodoWrite", "input": {"todos": PLAN}}
    noted = {"type": "tool_result", "tool_use_id": "t-2", "content": "Todos have been modified successfully."}
    answer = {"id": "m-2", "role": "assistant", "model": "claude-sonnet-5-5", "content": [todo]}
    order = {"role": "user", "content": "Never touch README.md."}
    said = "Decision: b.py imports a.py.\nThe a.py part is already tested.\nNext step: write b.py."
    words = {
        "id": "x-0",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [{"type": "text", "text": said}],
    }
    bash = {
        "type": "tool_use",
        "id": "t-3",
        "name": "Bash",
        "input": {"command": f"make test TOKEN={SECRET}"},
    }
    ran = {"id": "x-1", "role": "assistant", "model": "claude-sonnet-5-5", "content": [bash]}
    end = {"type": "tool_result", "tool_use_id": "t-3", "is_error": True, "content": "Exit code 2\nno b.py"}
    # More turns than are shown: what is told here was said long before them.
    chat = [{"role": "assistant", "content": [{"type": "text", "text": f"Word {n}."}]} for n in range(18)]
    records = (
        {"type": "assistant", "uuid": "u-a", "parentUuid": "u-2", "message": words, **common},
        {"type": "assistant", "uuid": "u-b", "parentUuid": "u-a", "message": ran, **common},
        {
            "type": "user",
            "uuid": "u-c",
            "parentUuid": "u-b",
            "message": {"role": "user", "content": [end]},
            **common,
        },
        *(
            {"type": "assistant", "uuid": f"u-w{n}", "message": {"id": f"w-{n}", **one}, **common}
            for n, one in enumerate(chat)
        ),
        {"type": "user", "uuid": "u-3", "parentUuid": "u-2", "message": order, **common},
        {"type": "assistant", "uuid": "u-4", "parentUuid": "u-3", "message": answer, **common},
        {"type": "user", "uuid": "u-5", "message": {"role": "user", "content": [noted]}, **common},
    )
    with path.open("a") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    (made.root / "a.py").write_text("a = 1\n")
    return path


def daemon(made, monkeypatch, home, **env):
    return daemon_of(made, monkeypatch, HOME=str(home.parent), HUB_AMBIENT="0", **env)


async def adopt(
    live, target="demo-first", number=ID, *, start=False, interactive=False, stop=False, repository=""
):
    order = {"id": number, "target": target, "start": start, "interactive": interactive, "stop": stop}
    return await live.post("/api/detect/adopt", {**order, "repository": repository})


def contract_of(made, answer):
    """The signed form beside the brief, after every check."""
    path = Path(answer["brief"]).with_suffix(".json")
    return verify(path.read_bytes(), load_or_create_key("contract", made.state), session_id=path.stem)


def brief_of(answer):
    """Its text and its mode."""
    path = Path(answer["brief"])
    return path.read_text(), path.stat().st_mode & 0o777


def failures_in(contract):
    """What failed, around the secret that is hidden in it."""
    said = [seen.text for seen in contract.evidence if seen.kind is EvidenceKind.FAILED_ATTEMPT]
    return [(text.partition("[REDACTED")[0], text.rpartition("] ")[2]) for text in said]


def ended_by(pid):
    """The signal that ended a child of this test's; it stays to be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG).si_status


async def test_a_session_goes_on_with_all_that_the_agent_left(made, monkeypatch, home, left):
    """Its transcript as the contract's intent, its uncommitted file in the worktree; and a later agent knows it too."""
    made.script("demo-first", {"append": {"path": "b.py", "text": "b = 2\n"}}, {"limit": {"resetsIn": 3600}})
    status = git(made.root, "status", "--porcelain")
    async with daemon(made, monkeypatch, home) as live:
        answer = await adopt(live, start=True)
        assert (answer["mode"], answer["resumed"], answer["stopped"]) == ("start", False, [])
        assert (await live.until_ended())["sessionState"] == "completed"
        audit = await live.ask("audit", AuditHistory())
    given = contract_of(made, answer)
    assert given.task_goal.startswith("Write a.py and b.py. Use [REDACTED:")
    assert (given.plan, given.tasks_remaining) == (("Write a.py", "Write b.py"), ("Write b.py",))
    assert given.do_not_redo == ("Write a.py", "The a.py part is already tested.")
    assert [item.text for item in given.decisions] == ["b.py imports a.py."]
    assert given.next_action == "Write b.py"
    assert failures_in(given) == [("make test TOKEN=", "ended with exit status 2: no b.py")]
    assert [item.text for item in given.constraints] == ["The user said: Never touch README.md."]
    assert [entry.path for entry in given.file_manifest] == ["a.py", "hub.toml"]
    assert (given.from_provider, given.to_provider, given.version) == ("claude", "demo-first", 2)
    assert made.show(f"{given.snapshot_commit_sha}:a.py") == b"a = 1\n"
    branch = answer["branch"]
    assert made.show(f"{branch}:a.py") + made.show(f"{branch}:b.py") == b"a = 1\nb = 2\n"
    assert git(made.root, "status", "--porcelain") == status  # the folder the agent worked in is as it was
    assert "adopted" in [entry.event for entry in audit]
    handed = json.loads((made.hub / "envelope.json").read_bytes())
    assert handed["tasksRemaining"] == ["Write b.py"]
    assert {entry["path"] for entry in handed["fileManifest"]} == {"a.py", "b.py", "hub.toml"}
    assert [item["text"] for item in handed["constraints"]] == ["The user said: Never touch README.md."]
    assert handed["doNotRedo"] == ["Write a.py", "The a.py part is already tested."]
    assert [item["text"] for item in handed["decisions"]] == ["b.py imports a.py."]
    for path in made.hub.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


async def test_whoever_adopts_it_again_is_told_which_session_has_it(made, monkeypatch, home, left):
    """Bug: with a place left, the second order began a second session on the same work."""
    made.script("demo-first", {"ask": "go on?"}, {"done": "x"})
    made.configure(session="concurrent = 2\n")
    async with daemon(made, monkeypatch, home) as live:
        answers = {}

        async def order(name):
            with suppress(HubError):
                answers[name] = await adopt(live, start=True)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(order, "one")
            nursery.start_soon(order, "two")
        [mine] = [answer["sessionId"] for answer in answers.values()]
        for way in ({"start": True}, {"interactive": True}):
            with refuses(Code.SESSION_ALREADY_RUNNING, f"Session {mine} goes on with it already"):
                await adopt(live, "demo-second", **way)
        await live.until(lambda status: status["needsInput"], "it asks")
        await live.post("/api/session/reply", {"reply": "yes"})
        await live.until_ended()
        again = await adopt(live, start=True)
        assert again["sessionId"] != mine


async def test_a_brief_alone_begins_nothing_and_ends_nothing(made, monkeypatch, home, left):
    with running(made.root.parent, cwd=made.root) as pid:
        register(home, pid, SESSION)
        async with daemon(made, monkeypatch, home) as live:
            answer = await adopt(live)
            assert (await live.status())["sessionState"] == "idle"
            os.kill(pid, 0)
    name = contract_of(made, answer).session_id
    assert (answer["mode"], answer["sessionId"], answer["command"]) == ("brief", "", "")
    assert answer["running"], "who goes on with it must end the agent first"
    text, mode = brief_of(answer)
    assert "hub did not start that agent" in text
    for told in (
        "b.py imports a.py.",
        "The a.py part is already tested.",
        "Never touch README.md.",
        "make test TOKEN=",
    ):
        assert told in text, "what interactive and start mode are given is this text"
    assert f"`.hub/adopted/{name}.json`" in text
    assert mode == 0o600
    assert SECRET not in text


async def test_an_agent_that_runs_is_never_doubled(made, monkeypatch, home, left):
    with running(made.root.parent, cwd=made.root) as pid:
        register(home, pid, SESSION)
        async with daemon(made, monkeypatch, home) as live:
            await refusal(adopt(live, start=True), Code.AGENT_RUNNING)
            await refusal(adopt(live, interactive=True, target="claude"), Code.AGENT_MISSING)
            assert (await live.status())["sessionState"] == "idle"
            answer = await adopt(live, start=True, stop=True)
            assert answer["stopped"] == [pid]
            assert ended_by(pid) == signal.SIGTERM
            await live.until_ended()


async def test_a_server_is_ended_only_where_no_other_session_would_end_with_it(made, monkeypatch, home):
    """Codex's screens share one daemon, which goes on without them: it is the one that is to be ended."""
    place = home.parent / ".codex" / "sessions" / "2026" / "11" / "28"
    place.mkdir(parents=True)
    names = new_session(), new_session()
    files = [place / f"rollout-2026-11-28T15-12-17-{name}.jsonl" for name in names]
    for name, file in zip(names, files, strict=True):
        file.write_text(rollout(name, made.root))
    number = f"codex:{names[0]}"
    with served(made.root.parent, files) as pid:
        async with daemon(made, monkeypatch, home) as live:
            await refusal(adopt(live, number=number, start=True), Code.AGENT_RUNNING)
            also = await refusal(adopt(live, number=number, start=True, stop=True), Code.AGENT_RUNNING)
            assert names[1] in also.detail
            assert psutil.pid_exists(pid)
            with files[1].open("a") as file:
                file.write(json.dumps({"type": "event_msg", "payload": {"type": "turn_aborted"}}) + "\n")
            answer = await adopt(live, number=number, start=True, stop=True)
            assert answer["stopped"] == [pid]
            await live.until_ended()


async def test_what_its_own_daemon_would_start_again_is_not_ended(made, monkeypatch, home, left):
    """A background session of Claude's: two agents worked on its task, for Claude began it anew."""
    with hosted(made.root.parent) as pid:
        register(home, pid, SESSION)
        async with daemon(made, monkeypatch, home) as live:
            for ways in ({"start": True}, {"start": True, "stop": True}, {"stop": True}):
                refused = await refusal(adopt(live, **ways), Code.AGENT_RUNNING)
                assert f"in the background, as process {pid}" in refused.detail
            assert psutil.pid_exists(pid)


@contextmanager
def hosted(base):
    """Claude's daemon and an agent that it has started; the agent's pid."""
    shell = base / "host" / "claude"
    shell.parent.mkdir()
    shutil.copy("/bin/sh", shell)
    script = f"'{program_of(base)}' 1000 & echo $!; read end; kill $!"
    process = subprocess.Popen(
        [str(shell), "-c", script, "daemon", "run"],
        cwd=base / "repo",
        env={**PLAIN, "HOME": str(base / "home")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        yield int(process.stdout.readline())
    finally:
        process.communicate(b"\n")


def rollout(name, folder):
    """A session of Codex in which a turn has begun."""
    records = (
        ("session_meta", {"id": name, "cwd": str(folder)}),
        ("event_msg", {"type": "task_started"}),
        ("event_msg", {"type": "user_message", "message": "Write b.py."}),
    )
    return "".join(json.dumps({"type": kind, "payload": told}) + "\n" for kind, told in records)


@contextmanager
def served(base, files):
    """Codex's daemon, which holds these files open; its pid."""
    shell = base / "bin" / "codex"
    shell.parent.mkdir(exist_ok=True)
    shutil.copy("/bin/sh", shell)
    script = "".join(f"exec {at}>>'{file}'; " for at, file in enumerate(files, 5)) + "echo; read end"
    argv = [str(shell), "-c", script, "app-server", "--listen", "unix://"]
    process = subprocess.Popen(
        argv, cwd=base, env={"HOME": str(base / "home")}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        process.stdout.readline()
        yield process.pid
    finally:
        process.kill()
        process.communicate()


async def test_an_agent_is_not_ended_where_nothing_could_go_on_in_its_place(
    made, monkeypatch, home, left, tmp_path
):
    """What can be refused is refused first; without `stop` nothing is lost, and the answer is the command to type."""
    made.configure(
        f'[providers.claude]\nprogram = "{tmp_path}/bin/claude-code"\n[terminal]\ncommand = ["no-such"]\n'
    )
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "claude-code", "exit 0")
    with running(made.root.parent, cwd=made.root) as pid:
        register(home, pid, SESSION)
        async with daemon(made, monkeypatch, home) as live:
            await refusal(adopt(live, target="claude", interactive=True, stop=True), Code.NO_TERMINAL)
            assert psutil.pid_exists(pid)
            await refusal(adopt(live, target="claude", interactive=True), Code.AGENT_RUNNING)


async def test_an_agent_is_not_ended_for_one_that_is_not_logged_in(made, monkeypatch, home, left, tmp_path):
    """It was ended, and the session in its place failed at once: the login was asked for afterwards."""
    own = f'[providers.claude]\nprogram = "{tmp_path}/claude-code"\n'
    program(tmp_path / "claude-code", "exit 0")
    made.configure(own)
    with running(made.root.parent, cwd=made.root) as pid:
        register(home, pid, SESSION)
        async with daemon(made, monkeypatch, home, IS_SANDBOX="1") as live:
            told = await refusal(adopt(live, target="claude", start=True, stop=True), Code.AUTH_NEEDED)
            assert told.detail == "claude is not logged in; nothing was ended."
            assert told.hint.startswith("Log in: claude auth login")
            assert psutil.Process(pid).status() == psutil.STATUS_SLEEPING


async def test_a_session_that_several_may_work_on_is_nobodys(made, monkeypatch, home, left):
    base = made.root.parent
    with running(base, cwd=made.root), running(base, cwd=made.root):
        os.utime(left)
        async with daemon(made, monkeypatch, home) as live:
            await refusal(adopt(live, start=True, stop=True), Code.AGENT_RUNNING)


async def test_what_cannot_be_adopted_is_refused_with_its_reason(made, monkeypatch, home, left, tmp_path):
    outside = new_session()
    transcript(home, outside, tmp_path / "elsewhere", "Something else.")
    empty = new_session()
    transcript(home, empty, made.root, "")
    with running(made.root.parent, cwd=made.root, HUB_RUN_ID="d-1") as pid:
        async with daemon(made, monkeypatch, home) as live:
            await refusal(adopt(live, number="claude:../../x"), Code.NOT_FOUND)
            await refusal(adopt(live, target="nobody"), Code.INVALID)
            await refusal(adopt(live, interactive=True), Code.INVALID)
            await refusal(adopt(live, number=f"claude:{outside}", start=True), Code.OUTSIDE_PROJECT)
            await refusal(adopt(live, number=f"claude:{empty}"), Code.NOTHING_TO_ADOPT)
            await refusal(adopt(live, number=f"claude:pid:{pid}"), Code.NOTHING_TO_ADOPT)
            brief = await adopt(live, number=f"claude:{outside}")
            assert contract_of(made, brief).snapshot_commit_sha == ""


@pytest.fixture
def elsewhere(tmp_path):
    """Another project, of which this daemon knows nothing."""
    root = repository(tmp_path / "elsewhere")
    (root / "tool.py").write_text("one\ntwo\n")
    return root


async def test_an_agent_outside_the_project_is_adopted_by_naming_its_repository(
    made, monkeypatch, home, elsewhere
):
    """The brief has its files as they are, names its folder, and says nothing twice."""
    transcript(home, SESSION, elsewhere, "Write tool.py")
    status = git(elsewhere, "status", "--porcelain")
    async with daemon(made, monkeypatch, home) as live:
        given = contract_of(made, without := await adopt(live))
        assert (given.file_manifest, given.snapshot_commit_sha) == ((), "")
        answer = await adopt(live, repository=str(elsewhere))
        text, _ = brief_of(answer)
        given = contract_of(made, answer)
        assert [entry.path for entry in given.file_manifest] == ["tool.py"]
        assert git(elsewhere, "show", f"{given.snapshot_commit_sha}:tool.py") == "one\ntwo"
        for told in (text, brief_of(without)[0]):
            assert "## Where it worked\n" in told
            assert f"| - {elsewhere}\n" in told
        assert "| - +2 -0 tool.py\n" in text
        assert text.count("Write tool.py") == 1
    assert git(elsewhere, "status", "--porcelain") == status
    assert not (elsewhere / ".hub").exists()


async def test_only_the_repository_it_works_in_may_be_named(made, monkeypatch, home, elsewhere, tmp_path):
    """Asked politely: what is wrong, and the next step."""
    transcript(home, SESSION, elsewhere, "Write tool.py")
    bare = tmp_path / "no-repository"
    bare.mkdir()
    async with daemon(made, monkeypatch, home) as live:
        await refusal(adopt(live, repository=str(bare)), Code.NOT_A_REPOSITORY)
        await refusal(adopt(live, repository=str(made.root)), Code.OUTSIDE_PROJECT)
        with refuses(Code.OUTSIDE_PROJECT) as caught:
            await adopt(live, start=True, repository=str(elsewhere))
        assert f"hub -C {elsewhere} daemon" in caught.value.hint
        assert (await live.status())["sessionState"] == "idle"


async def test_the_brief_lists_what_the_transcript_says_was_written(made, monkeypatch, home, left):
    """Also a file that git does not show, because it was committed, or is ignored."""
    common = {"sessionId": SESSION, "cwd": str(made.root), "timestamp": "2026-11-21T03:00:02.000Z"}
    write = {
        "type": "tool_use",
        "id": "t-9",
        "name": "Write",
        "input": {"file_path": f"{made.root}/gone.py", "content": "x"},
    }
    done = {"type": "tool_result", "tool_use_id": "t-9", "content": "ok"}
    with left.open("a") as file:
        for role, part in (("assistant", write), ("user", done)):
            message = {"id": f"z-{role}", "role": role, "model": "m", "content": [part]}
            record = {"type": role, "uuid": f"u-z{role}", "message": message, **common}
            file.write(json.dumps(record) + "\n")
    async with daemon(made, monkeypatch, home) as live:
        text, _ = brief_of(await adopt(live))
    wrote = text.split("## Files it says it has written\n", 1)[1].split("\n## ")[0]
    assert "| - gone.py\n" in wrote
    assert f"| - {made.root}\n" in text


async def test_the_agents_own_program_goes_on_with_its_own_session(made, monkeypatch, home, left, tmp_path):
    """In the folder it worked in; another agent's program gets the brief instead."""
    made.configure(
        f'[providers.claude]\nprogram = "{tmp_path}/bin/claude-code"\n'
        f'[providers.gemini]\nprogram = "{tmp_path}/bin/claude-code"\n'
        f'[terminal]\ncommand = ["{tmp_path}/bin/term"]\n'
    )
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "term", '(setsid "$@" < /dev/null > /dev/null 2>&1 &)')
    program(tmp_path / "bin" / "claude-code", 'echo "$PWD $*" >> "$HOME/ran"')

    def ran():
        try:
            return (home.parent / "ran").read_text().splitlines()
        except FileNotFoundError:
            return []

    async def told():
        return ran()

    async with daemon(made, monkeypatch, home) as live:
        own = await adopt(live, "claude", interactive=True)
        assert (own["mode"], own["resumed"], own["terminal"]) == ("interactive", True, "term")
        [line] = await answered(told, bool)
        assert line.startswith(
            f"{made.root} --resume {SESSION} Read the continuation brief in {own['brief']}"
        )
        other = await adopt(live, "gemini", interactive=True)
        assert other["resumed"] is False
        *_, line = await answered(told, lambda lines: len(lines) > 1)
        assert line.startswith(f"{made.root} -i Read the continuation brief in {other['brief']}")


async def test_a_terminal_is_opened_only_for_who_may_work(made, monkeypatch, home, left, tmp_path):
    """It took the active account whatever was known of it, and an agent that the user has turned off."""
    spare = made.state / "accounts" / "claude" / "spare"
    claude = f'[providers.claude]\nprogram = "{tmp_path}/bin/claude-code"\n'
    accounts = (
        f'accounts = [{{label = "default", active = true}}, {{label = "spare", configDir = "{spare}"}}]\n'
    )
    terminal = f'[terminal]\ncommand = ["{tmp_path}/bin/term"]\n'
    made.configure(claude + accounts + terminal)
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "term", '(setsid "$@" < /dev/null > /dev/null 2>&1 &)')
    program(tmp_path / "bin" / "claude-code", 'echo "$CLAUDE_CONFIG_DIR" >> "$HOME/ran"')

    async def told():
        ran = home.parent / "ran"
        return ran.read_text().split() if ran.exists() else []

    def limit(account):
        failure = Failure(FailureClass.USAGE_LIMIT, "used up", resets_at=time.time() + 3600)
        return BreakerFailure("claude", account, failure, f"d-{account}")

    async with daemon(made, monkeypatch, home) as live:
        breakers = live.daemon.app.slots.breakers.ref
        await breakers.call(limit("default"), timeout=5)
        answer = await adopt(live, "claude", interactive=True)
        assert await answered(told, bool) == [str(spare)]
        assert answer["resumed"] is False, "the session is the other account's"
        await breakers.call(limit("spare"), timeout=5)
        await refusal(adopt(live, target="claude", interactive=True), Code.QUOTA_EXHAUSTED)
        await refusal(adopt(live, target="claude", interactive=True, stop=True), Code.QUOTA_EXHAUSTED)
        made.configure(claude + "enabled = false\n" + terminal)
        await refusal(adopt(live, target="claude", interactive=True), Code.INVALID)


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)


async def test_files_of_another_worktree_come_along(made, monkeypatch, home, tmp_path):
    """The agent worked beside the project's own tree, on a branch of its own."""
    other = tmp_path / "beside"
    git(made.root, "worktree", "add", "-q", "-b", "side", str(other))
    (other / "c.py").write_text("c = 3\n")
    transcript(home, SESSION, other, "Write c.py")
    async with daemon(made, monkeypatch, home) as live:
        answer = await adopt(live, start=True)
        await live.until_ended()
    assert made.show(f"{answer['branch']}:c.py") == b"c = 3\n"
    assert not (other / ".hub").exists()
    assert (
        git(made.root, "log", "--format=%s", f"side..{answer['branch']}").splitlines()[-1]
        == "work in progress"
    )
