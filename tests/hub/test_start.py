"""What a daemon imports before it answers. A structure and no clock: `tests/bench/bench_start.py` measures."""

import subprocess
import sys

import pytest

from tests.faults.harness import project

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
        "hub.io.child",
        "hub.providers.base",
        "httpx2",
        "mcp",
        "psutil",
        "tomlkit",
        "zoneinfo",
    ],
)
def test_the_first_answer_waits_for_no_import_it_does_not_need(module):
    assert module not in LOADED


def test_what_is_looked_for_could_be_found():
    """Were the list of the modules empty, the test above would pass for nothing."""
    assert {"hub.daemon", "hub.actors.session.actor", "hypercorn", "hub.messages.session"} <= set(LOADED)


IMPORTING = """
import sys, threading, attrs, trio
from functools import partial
from pathlib import Path
import hub.daemon
from hub.cli.serve import order_for
from hub.client.quick import Api

hub.daemon._SETTLED = 3600.0  # whoever starts a session may be quicker than the thread that imports the rest
kept_waiting = []

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            kept_waiting.append(name)

async def main():
    async with trio.open_nursery() as nursery:
        daemon = await nursery.start(hub.daemon.run_daemon, order_for(Path.cwd(), flags={"port": 0}))
        sys.meta_path.insert(0, Finder)
        api = Api(daemon.port)
        await trio.to_thread.run_sync(partial(api.post, "/api/run", {"task": "write"}))
        await trio.to_thread.run_sync(partial(api.get, "/api/providers"))
        await trio.to_thread.run_sync(partial(api.get, "/api/config/providers"))
        sys.meta_path.remove(Finder)
        daemon.request_stop()
    print(*sorted(name for name in kept_waiting if name.startswith("hub.")))

trio.run(main)
"""


def test_the_first_session_is_not_imported_on_the_event_loop(tmp_path):
    """The providers take a tenth of a second, in which nobody else was answered."""
    with project(tmp_path) as made:
        made.script("demo-first", {"done": "nothing to do"})
        made.configure()
        done = made.python(IMPORTING)
    assert done.returncode == 0, done.stderr
    heavy = (
        "hub.providers.",
        "hub.domain.redaction",
        "hub.actors.adapter",
        "hub.actors.session.crew",
    )
    assert [name for name in done.stdout.split() if name.startswith(heavy)] == []
