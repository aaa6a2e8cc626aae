"""`hub help` and `hub version`."""

import json
import re

import pytest
from click.testing import CliRunner

from hub import __version__
from hub.cli.group import cli
from hub.cli.topics import ENVIRONMENT, EXITS
from hub.errors import RULES, Code
from tests.hub.cli.command import ROOT, hub

COMMANDS_PAGE = (ROOT / "docs/commands.md").read_text()
SETTINGS_PAGE = (ROOT / "docs/settings.md").read_text()


@pytest.mark.parametrize("words", [(), ("run",), ("account",), ("account", "add")])
def test_help_is_what_the_option_says(words, repo):
    done = hub("help", *words, cwd=repo)
    assert (done.stdout, done.returncode) == (hub(*words, "--help", cwd=repo).stdout, 0)


def test_a_slip_is_told_what_it_is_near_to(repo):
    done = hub("help", "acount", cwd=repo)
    assert (done.returncode, "Did you mean 'account'?" in done.stderr) == (2, True)
    done = hub("help", "run", "fast", cwd=repo)
    assert (done.returncode, "'run' has no commands of its own" in done.stderr) == (2, True)


def test_a_topic_is_told_as_the_documents_tell_it(repo):
    """The same exit statuses and variables; what the code looks at is checked against the documents elsewhere."""
    for number, words in EXITS.items():
        assert f"| {number} | {words} |" in COMMANDS_PAGE.replace("`", "")
    said = hub("help", "exit-codes", cwd=repo).stdout
    assert all(words.split()[0] in said for words in EXITS.values())
    told = {name for names in ENVIRONMENT for name in names.split(", ") if name.startswith("HUB_")}
    assert told == set(re.findall(r"\bHUB_[A-Z_]*[A-Z]\b", SETTINGS_PAGE))
    assert "HUB_SIGNING_KEY" in hub("help", "environment", cwd=repo).stdout


@pytest.mark.parametrize("code", Code)
def test_every_code_of_an_error_can_be_asked_about(code):
    said = CliRunner().invoke(cli, ["help", code.value]).output
    assert RULES[code].title in said
    assert RULES[code].hint in said


def test_version_says_what_a_report_of_a_fault_needs(repo):
    told = json.loads(hub("version", "--json", cwd=repo).stdout)
    assert told["version"] == __version__
    assert set(told) == {"version", "python", "executable", "system"}
    assert hub("version", cwd=repo).stdout.startswith(f"hub {__version__} (Python {told['python']}")
