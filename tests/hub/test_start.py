"""What a daemon imports before it answers. A structure and no clock: `tests/bench/bench_start.py` measures."""

import subprocess
import sys

import pytest

LOADED = subprocess.run(
    [sys.executable, "-c", "import sys, hub.cli.daemon, hub.cli.serve, hub.daemon; print(*sys.modules)"],
    capture_output=True,
    text=True,
    check=True,
).stdout.split()


@pytest.mark.parametrize(
    "module",
    [
        "hub.actors.adapter",
        "hub.actors.approvals.actor",
        "hub.actors.models.actor",
        "hub.actors.pipelines.actor",
        "hub.actors.quota.actor",
        "hub.actors.session.crew",
        "hub.actors.settings.actor",
        "hub.domain.contract",
        "hub.domain.redaction",
        "hub.io.child",
        "hub.io.git",
        "hub.messages.settings",
        "hub.providers.base",
        "httpx2",
        "mcp",
        "psutil",
        "quart",
        "tomlkit",
        "werkzeug",
        "zoneinfo",
    ],
)
def test_the_first_answer_waits_for_no_import_it_does_not_need(module):
    assert module not in LOADED


def test_what_is_looked_for_could_be_found():
    """Were the list of the modules empty, the test above would pass for nothing."""
    assert {"hub.daemon", "hub.actors.session.actor", "hypercorn", "hub.messages.session"} <= set(LOADED)
