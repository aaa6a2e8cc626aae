"""A process is an agent's by what cannot be mistaken: registry, open store, executable, script; never by a bare name."""

import pytest

from hub.domain.detection.processes import (
    Process,
    ProcessEvidence,
    RegistryEntry,
    Signature,
    named,
    recognise,
    script_of,
)
from hub.providers.registry import names, signatures
from hub.providers.stores import DETECTED

SIGNATURES = signatures()
UUID = "01a1fe0c-897b-7642-9087-e765bd0c6561"
NODE = "/usr/bin/node"


def process(executable, *argv, script="", **more):
    given = {"pid": 10, "parent": 1, "starttime": 500, "began": 1000.0, "env": {"HOME": "/home/u"}} | more
    return Process(executable=executable, argv=argv, script=script, **given)


@pytest.mark.parametrize(
    ("executable", "script", "provider"),
    [
        ("/x/node_modules/@anthropic-ai/claude-code/bin/claude.exe", "", "claude"),
        ("/home/u/.local/share/claude/versions/2.1.329", "", "claude"),
        ("/x/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", "", "codex"),
        (NODE, "/x/node_modules/@openai/codex/bin/codex.js", "codex"),
        (NODE, "/x/node_modules/@google/gemini-cli/bundle/gemini.js", "gemini"),
        ("/x/node_modules/opencode-ai/bin/opencode.exe", "", "opencode"),
        ("/home/u/.opencode/bin/opencode", "", "opencode"),
        (NODE, "/x/node_modules/@qwen-code/qwen-code/cli.js", "qwen"),
        (NODE, "/x/node_modules/@github/copilot/npm-loader.js", "copilot"),
        ("/usr/bin/python3.11", "/x/bin/aider", "aider"),
        ("/usr/bin/python3.11", "aider", "aider"),
        (NODE, "pi", "pi"),
        (NODE, "kimi-code", "kimi"),
        ("/home/u/.local/share/uv/tools/kimi-cli/bin/python", "/x/bin/kimi", "kimi"),
        (
            "/home/u/.local/share/cursor-agent/versions/1/node",
            "/x/cursor-agent/versions/1/index.js",
            "cursor",
        ),
    ],
)
def test_each_agent_is_known_by_executable_or_script(executable, script, provider):
    """The forms the programs have when npm, pip or their own installer puts them on a machine."""
    found = recognise(process(executable, "x", script=script), SIGNATURES, {})
    assert found.provider == provider


@pytest.mark.parametrize(
    ("executable", "argv"),
    [
        ("/usr/bin/sleep", ("claude", "1000")),
        ("/bin/bash", ("bash", "codex")),
        ("/usr/bin/vim", ("vim", "/x/@google/gemini-cli/bundle/gemini.js")),
        ("/home/u/claude/tool", ("tool",)),
        ("/usr/bin/grep", ("grep", "opencode")),
        ("/usr/bin/python3.11", ("python", "/home/u/pi.py")),
        ("/usr/bin/amp", ("amp", "notes.txt")),
        ("/usr/bin/kilo", ("kilo", "notes.txt")),
    ],
)
def test_a_name_in_the_arguments_is_no_identity(executable, argv):
    """`exec -a claude sleep` and an editor on an agent's file are no agents."""
    script = script_of(executable, argv)
    assert recognise(process(executable, *argv, script=script), SIGNATURES, {}) is None


@pytest.mark.parametrize(
    ("argv", "script"),
    [
        (("node", "--max-old-space-size=8", "/x/gemini"), "/x/gemini"),
        (("node", "-r", "hook.js", "/x/gemini", "-p"), "/x/gemini"),
        (("python", "-m", "aider", "--yes"), "aider"),
        (("node",), ""),
        (("/usr/bin/node",), ""),
        (("pi",), "pi"),
        (("pi", "", ""), "pi"),
        (("node", "--version"), ""),
        (("python", "-X", "utf8", "-c", "import time", "aider"), ""),
        (("python3.13t", "-Bc", "import time", "aider"), ""),
        (("python3", "-Im", "aider", "--yes"), "aider"),
        (("node", "-e", "x/claude", "/x/gemini"), ""),
    ],
)
def test_the_script_is_what_follows_the_interpreters_options(argv, script):
    assert script_of("/usr/bin/python3.13t" if "python" in argv[0] else "/usr/bin/node", argv) == script


def test_only_an_interpreter_runs_a_script():
    assert script_of("/usr/bin/vim", ("vim", "/x/gemini")) == ""


def test_the_registry_comes_first_and_names_the_session():
    """Claude writes `sessions/<pid>.json`; with the process's own start time it is proof, whatever the program is called."""
    entry = RegistryEntry(pid=10, starttime=500, session_id=UUID, surface="claude-vscode")
    found = recognise(process("/opt/renamed", "renamed"), SIGNATURES, {"claude": entry})
    assert (found.evidence, found.session_id, found.surface) == (ProcessEvidence.REGISTRY, UUID, "editor")


def test_a_registry_file_that_outlived_its_process_proves_nothing():
    """The number was given to another process since (herdr#3414)."""
    entry = RegistryEntry(pid=10, starttime=499, session_id=UUID)
    assert recognise(process("/usr/bin/sleep", "sleep"), SIGNATURES, {"claude": entry}) is None
    claude = recognise(process("/x/claude", "claude"), SIGNATURES, {"claude": entry})
    assert (claude.evidence, claude.session_id) == (ProcessEvidence.EXECUTABLE, "")


def test_an_open_rollout_names_home_and_session():
    """Codex holds its rollout and its database open."""
    files = (
        "/dev/null",
        f"/a/codex/sessions/2026/11/21/rollout-2026-11-21T03-01-09-{UUID}.jsonl",
        "/a/codex/state_5.sqlite",
    )
    found = recognise(process("/x/codex", "codex", open_files=files), SIGNATURES, {})
    assert (found.evidence, found.home, found.session_id) == (ProcessEvidence.OPEN_FILE, "/a/codex", UUID)


@pytest.mark.parametrize(
    ("argv", "server"),
    [
        (("codex", "app-server", "--listen", "unix://", "--managed-daemon"), True),
        (("codex", "app-server", "daemon", "pid-update-loop"), True),
        (("codex", "-c", "a=b", "app-server", "--listen", "unix://"), True),
        (("codex", "app-server"), False),
        (("codex", "exec", "--listen"), False),
    ],
)
def test_a_daemon_that_works_for_the_screens_of_codex_is_a_server(argv, server):
    """Since 0.169 they share one; what an editor starts works for that editor alone."""
    found = recognise(process("/x/codex", *argv), SIGNATURES, {})
    assert (found.server, found.helper) == (server, False)
    assert found.surface == ("editor" if argv == ("codex", "app-server") else "command-line")


@pytest.mark.parametrize(
    ("argv", "server", "claimed"),
    [
        (("/x/claude.exe", "daemon", "run", "--origin", "transient"), True, False),
        (("claude bg-pty-host", "--bg-pty-host", "/tmp/a.sock", "--", "/x/claude.exe"), True, False),
        (("claude bg-spare", "--bg-spare", "/tmp/a.sock"), True, False),
        (("claude bg-spare", "--bg-spare", "/tmp/a.sock"), False, True),
        (("claude", "-p", "daemon run"), False, False),
    ],
)
def test_a_background_session_of_claude_is_an_agent_once_the_registry_has_it(argv, server, claimed):
    """As 2.1.329 runs them: a process waits, below a host below a daemon, until a session is given to it."""
    entries = {"claude": RegistryEntry(pid=10, starttime=500, session_id=UUID)} if claimed else {}
    found = recognise(process("/x/claude.exe", *argv), SIGNATURES, entries)
    assert (found.server, found.helper, found.session_id) == (server, False, UUID if claimed else "")


def test_a_server_of_codex_holds_the_rollouts_of_all():
    other = UUID.replace("0", "1")
    files = [f"/a/codex/sessions/2026/11/21/rollout-2026-11-21T03-01-09-{one}.jsonl" for one in (UUID, other)]
    argv = ("codex", "app-server", "--listen", "unix://")
    found = recognise(process("/x/codex", *argv, open_files=(*files, files[0])), SIGNATURES, {})
    assert (found.home, found.held) == ("/a/codex", (UUID, other))


def test_copilot_holds_a_file_of_its_session():
    """As the real one does, version 1.0.102."""
    files = (
        "/home/u/.copilot/session-store.db",
        "/home/u/.cache/copilot/pkg/linux-x64/1.0.102/inuse.12.hold",
        f"/a/copilot/session-state/{UUID}/inuse.12.hold",
    )
    found = recognise(
        process("/x/@github/copilot-linux-x64/copilot", "copilot", open_files=files), SIGNATURES, {}
    )
    assert (found.evidence, found.home, found.session_id) == (ProcessEvidence.OPEN_FILE, "/a/copilot", UUID)


def test_somebody_who_reads_a_store_is_no_agent():
    files = ("/a/codex/state_5.sqlite",)
    assert recognise(process("/usr/bin/sqlite3", "sqlite3", open_files=files), SIGNATURES, {}) is None


@pytest.mark.parametrize(
    ("provider", "env", "home"),
    [
        ("claude", {"CLAUDE_CONFIG_DIR": "/a/c"}, "/a/c"),
        ("claude", {"HOME": "/home/u"}, "/home/u/.claude"),
        ("gemini", {"GEMINI_CLI_HOME": "/a/g"}, "/a/g/.gemini"),
        ("opencode", {"XDG_DATA_HOME": "/a/data"}, "/a/data/opencode"),
        ("claude", {}, ""),
        ("aider", {"HOME": "/home/u"}, ""),
    ],
)
def test_the_environment_tells_where_sessions_are_kept(provider, env, home):
    assert SIGNATURES[provider].home_of(env) == home


@pytest.mark.parametrize(
    ("executable", "script", "argv"),
    [
        ("/x/claude", "", ("claude", "mcp", "serve")),
        ("/x/claude", "", ("claude", "--version")),
        ("/x/codex", "", ("codex", "-c", "a=b", "mcp-server")),
        (NODE, "/x/@google/gemini-cli/g.js", ("node", "/x/@google/gemini-cli/g.js", "mcp", "list")),
        ("/x/bin/goose", "", ("goose", "postgres", "host=db", "up")),
        ("/x/bin/goose", "", ("goose", "-dir", "migrations", "status")),
    ],
)
def test_what_only_serves_or_asks_is_a_helper(executable, script, argv):
    found = recognise(process(executable, *argv, script=script), SIGNATURES, {})
    assert found.helper


def test_a_prompt_that_is_named_like_a_command_makes_no_helper():
    found = recognise(process("/x/claude", "claude", "-p", "--model", "m", "say mcp"), SIGNATURES, {})
    assert not found.helper


def test_the_session_it_was_told_to_go_on_with_is_taken_from_its_arguments():
    found = recognise(process("/x/claude", "claude", "--resume", UUID), SIGNATURES, {})
    assert recognise(process("/x/claude", "claude", f"--resume={UUID}"), SIGNATURES, {}).session_id == UUID
    assert found.session_id == UUID
    named_one = recognise(process("/x/claude", "claude", "--resume", "--print"), SIGNATURES, {})
    assert named_one.session_id == ""


def test_the_way_it_was_started_is_told():
    assert recognise(process("/x/codex", "codex", "app-server"), SIGNATURES, {}).surface == "editor"  # type: ignore[union-attr]
    assert recognise(process("/x/codex", "codex", "exec"), SIGNATURES, {}).surface == "command-line"  # type: ignore[union-attr]


def test_a_name_without_a_package_counts_least():
    """Of two that fit, the better evidence decides."""
    loose = Signature(program="thing")
    strict = Signature(packages=("@acme/thing",))
    both = {"loose": loose, "strict": strict}
    found = recognise(process(NODE, "node", script="/x/@acme/thing/thing.js"), both, {})
    assert (found.provider, found.evidence) == ("strict", ProcessEvidence.SCRIPT)
    assert named(NODE, "/x/thing.py", loose) is ProcessEvidence.NAME
    assert named("thing", "", Signature(executables=("thing",))) is ProcessEvidence.EXECUTABLE


def test_every_agent_has_a_signature():
    """Adding an agent means saying how its processes look."""
    driven = {name for name in names() if not name.startswith("demo-")}
    assert set(SIGNATURES) == driven | (set(DETECTED) - {"roo"})  # which is an editor's extension alone
