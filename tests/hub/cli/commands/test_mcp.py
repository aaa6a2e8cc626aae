"""`hub mcp install`: one entry goes into the file that a client documents for it.

The clients' own programs are tried in `tests/hub/mcp/test_real_clients.py`.
"""

import json
import subprocess
import tomllib

import pytest

from hub.cli.clients import CLIENTS, edit
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


def test_codex_s_file_gains_and_loses_one_table(repo, env, home):
    """Its file is TOML."""
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    before = '# mine\nmodel = "gpt-5"\n\n[mcp_servers.other]\ncommand = "x" # theirs\n'
    path.write_text(before)
    for _ in range(2):
        command = told(repo, env, "install", "codex")["command"]
    after = path.read_text()
    assert tomllib.loads(after)["mcp_servers"] == {
        "other": {"command": "x"},
        "hub": {"command": command[0], "args": command[1:]},
    }
    assert after.startswith(before.rstrip())
    for _ in range(2):
        told(repo, env, "uninstall", "codex")
    assert path.read_text().strip() == before.strip()


def test_what_a_client_saves_meanwhile_stays(tmp_path):
    """Claude Code writes its file at every turn: an entry was to be added to what it had before."""
    path, saved = tmp_path / "client.json", iter(['{"saved": 1}'])
    path.write_text("{}")

    def change(text):
        path.write_text(next(saved, path.read_text()))
        return text.replace("}", ', "hub": 1}' if "saved" in text else '"hub": 1}')

    edit(path, change)
    assert json.loads(path.read_text()) == {"saved": 1, "hub": 1}


@pytest.mark.parametrize("content", [b"= 1", b"mcp_servers = 1"])
def test_a_broken_toml_file_is_left_as_it_is(repo, env, home, content):
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_bytes(content)
    done = hub("mcp", "install", "codex", cwd=repo, env=env)
    assert (done.returncode, str(path) in done.stderr) == (2, True)
    assert path.read_bytes() == content


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
