"""`hub mcp install`: one entry goes into a client's file, by the client's own command where it has one.

The clients' own programs are tried in `tests/hub/mcp/test_real_clients.py`.
"""

import json
import subprocess
import tomllib

import pytest

from hub.cli.clients import CLIENTS
from hub.mcp.tools import BY_NAME
from tests.hub.cli.command import environ, hub
from tests.hub.mcp.kit import served


@pytest.fixture
def home(tmp_path):
    """A home without any client; `hub` itself is not on PATH either."""
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def env(home, tmp_path):
    return environ(tmp_path, HOME=str(home), PATH="/usr/bin:/bin")


def told(repo, env, *args):
    return json.loads(hub("mcp", *args, "--json", cwd=repo, env=env).stdout)


@pytest.mark.parametrize("name", CLIENTS)
def test_what_would_be_written_is_shown_and_nothing_is_written(repo, env, home, name):
    found = told(repo, env, "install", name, "--print")
    read = tomllib.loads if found["file"].endswith(".toml") else json.loads
    entry = read(found["snippet"])
    for key in CLIENTS[name].path:
        entry = entry[key]
    words = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert words == found["command"]
    assert words[-1] == "mcp"
    assert found["file"].startswith(str(home))
    assert not found["installed"]
    assert list(home.iterdir()) == []


def test_the_server_takes_no_module_from_the_folder_it_is_started_in(repo, env):
    """Where `hub` is not on PATH the interpreter is written down, and a client starts it in any project."""
    command = told(repo, env, "install", "codex", "--print")["command"]
    for name in ("hub/__init__.py", "json.py", "trio.py"):
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text("open('canary', 'w').close()\n")
    done = subprocess.run([*command, "--help"], cwd=repo, env=env, capture_output=True, text=True, check=True)
    assert "Usage: hub mcp" in done.stdout
    assert not (repo / "canary").exists()


def test_a_named_project_is_meant_wherever_the_client_works(repo, env):
    done = hub("-C", str(repo), "mcp", "install", "codex", "--print", "--json", cwd=repo.parent, env=env)
    assert json.loads(done.stdout)["command"][-3:] == ["--project", str(repo), "mcp"]


@pytest.mark.parametrize("name", [name for name in CLIENTS if CLIENTS[name].program])
def test_a_client_that_is_not_there_is_told(repo, env, name):
    done = hub("mcp", "install", name, cwd=repo, env=env)
    assert done.returncode == 1
    assert f"{name} is not on PATH" in done.stderr
    assert "--print" in done.stderr


def test_what_a_client_refuses_is_told_without_its_traces(repo, env, home, tmp_path):
    """The end of a stack trace was all that was shown; what was wrong with which file stood before it."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "qwen"
    trace = [
        "    at run (file:///x.js:1:2)",
        "Stack backtrace:",
        "   0: <unknown>",
        "    at node:internal/x:1:2",
    ]
    program.write_text(
        "#!/bin/sh\ncat >&2 <<E\nYour file is broken.\n" + "\n".join(trace * 50) + "\nE\nexit 7\n"
    )
    program.chmod(0o755)
    env = {**env, "PATH": f"{tmp_path}/bin:{env['PATH']}"}
    put, taken = (hub("mcp", verb, "qwen", cwd=repo, env=env) for verb in ("install", "uninstall"))
    assert (put.returncode, taken.returncode) == (1, 1)
    for done in (put, taken):
        assert done.stderr.splitlines()[0] == "hub: qwen mcp ended with 7: Your file is broken."
        assert f"Correct {home}/.qwen/settings.json" in done.stderr
    assert "--print" in put.stderr
    assert "--print" not in taken.stderr, "there is nothing to print for who takes it out"


def test_an_unknown_client_is_told_which_there_are(repo, env):
    done = hub("mcp", "install", "emacs", cwd=repo, env=env)
    assert done.returncode == 2
    assert "cursor" in done.stderr


def test_cursors_file_gains_and_loses_one_entry(repo, env, home):
    """It has no command for it. What people wrote into the file stays."""
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{\n  // mine\n  "mcpServers": {\n    "other": {"command": "x"},\n  },\n}\n')
    before = path.read_text()
    for _ in range(2):
        assert told(repo, env, "install", "cursor")["installed"]
    after = path.read_text()
    assert after.count('"hub": {') == 1
    assert "// mine" in after
    assert '"other": {"command": "x"},' in after
    for _ in range(2):
        assert not told(repo, env, "uninstall", "cursor")["installed"]
    assert path.read_text().split() == before.split()


def test_what_cursors_file_says_starts_a_server_of_the_tools(repo, env, home):
    """Cursor is no program of a terminal; its file is read as its documentation says, and the command is run."""
    told(repo, env, "install", "cursor")
    [(name, entry)] = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"].items()
    command = [entry["command"], *entry["args"]]
    with served(repo, env, command=command) as client:
        assert client.hello()["serverInfo"]["name"] == name
        assert [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]] == list(BY_NAME)


def test_a_link_to_the_file_stays_a_link(repo, env, home, tmp_path):
    """People keep such files under version control."""
    (home / ".cursor").mkdir()
    (tmp_path / "mine.json").write_text("{}")
    (home / ".cursor" / "mcp.json").symlink_to(tmp_path / "mine.json")
    told(repo, env, "install", "cursor")
    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert "hub" in (tmp_path / "mine.json").read_text()


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b'{"mcpServers": 1}'])
def test_a_broken_file_is_left_as_it_is(repo, env, home, content):
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(content)
    done = hub("mcp", "install", "cursor", cwd=repo, env=env)
    assert done.returncode == 2
    assert str(path) in done.stderr
    assert path.read_bytes() == content
