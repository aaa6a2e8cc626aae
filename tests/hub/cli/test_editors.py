"""`hub acp install`: one entry in the editor's own file, and nothing else moves."""

import json
import shlex

import pytest

from hub.cli.editors import EDITORS, ByHand
from hub.io.files.jsonc import put
from tests.hub.cli.command import hub

ZED = """{
  // mine
  "theme": "One Dark",
  "agent_servers": {
    "mine": {"type": "custom", "command": "/bin/mine", "args": []},
  },
}
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def told(home, *words, **options):
    done = hub("acp", *words, "--json", cwd=home, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_zed_gets_an_entry_beside_what_is_there(home):
    file = home / ".config/zed/settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(ZED)
    answer = told(home, "install", "zed")
    assert (answer["installed"], answer["file"]) == (True, str(file))
    text = file.read_text()
    assert "// mine" in text
    assert '"mine": {"type": "custom", "command": "/bin/mine", "args": []}' in text
    entry = json.loads(answer["snippet"])["agent_servers"]["hub"]
    assert entry["type"] == "custom"
    assert entry["args"][-1] == "acp"
    assert put(text, ("agent_servers", "hub"), entry) == text, "it is there already"
    told(home, "install", "zed")
    assert file.read_text() == text, "doing it again changes nothing"
    told(home, "uninstall", "zed")
    assert file.read_text() == ZED


def test_jetbrains_has_a_file_made(home):
    told(home, "install", "jetbrains")
    made = json.loads((home / ".jetbrains/acp.json").read_text())
    assert made["agent_servers"]["hub"]["args"][-1] == "acp"


def test_a_folder_of_settings_elsewhere_is_used(home, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "elsewhere"))
    assert told(home, "install", "zed")["file"] == str(home / "elsewhere/zed/settings.json")


def test_print_changes_nothing(home):
    answer = told(home, "install", "zed", "--print")
    assert not answer["installed"]
    assert not (home / ".config").exists()


@pytest.mark.parametrize("name", [name for name, one in EDITORS.items() if isinstance(one, ByHand)])
def test_what_hub_cannot_write_is_shown(home, name):
    answer = told(home, "install", name)
    assert not answer["installed"]
    assert "acp" in answer["snippet"]
    done = hub("acp", "uninstall", name, cwd=home)
    assert done.returncode == 2
    assert answer["file"] in done.stderr


def test_toad_is_given_one_word(home):
    words = shlex.split(told(home, "install", "toad")["snippet"])
    assert words[:2] == ["toad", "acp"]
    assert len(words) == 3
    assert shlex.split(words[2])[-1] == "acp"


def test_a_project_that_is_named_is_in_the_command(home):
    done = hub("--project", str(home), "acp", "install", "zed", "--print", "--json", cwd=home)
    command = json.loads(done.stdout)["command"]
    assert command[-3:] == ["--project", str(home), "acp"]
