"""`hub help` and `hub version`."""

from __future__ import annotations

import json

import pytest

from hub import __version__
from tests.hub.cli.kit import hub


@pytest.mark.parametrize("words", [(), ("run",), ("account",), ("account", "add")])
def test_help_is_what_the_option_says(words, repo):
    done = hub("help", *words, cwd=repo)
    assert (done.stdout, done.returncode) == (hub(*words, "--help", cwd=repo).stdout, 0)


def test_a_slip_is_told_what_it_is_near_to(repo):
    done = hub("help", "acount", cwd=repo)
    assert (done.returncode, "Did you mean 'account'?" in done.stderr) == (2, True)
    done = hub("help", "run", "fast", cwd=repo)
    assert (done.returncode, "'run' has no commands of its own" in done.stderr) == (2, True)


def test_version_says_what_a_report_of_a_fault_needs(repo):
    told = json.loads(hub("version", "--json", cwd=repo).stdout)
    assert told["version"] == __version__
    assert set(told) == {"version", "python", "executable", "system"}
    assert hub("version", cwd=repo).stdout.startswith(f"hub {__version__} (Python {told['python']}")
