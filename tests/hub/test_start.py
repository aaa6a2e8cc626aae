"""What a daemon imports after it answers: the agents, in a thread, whatever else is the matter."""

import errno
import threading

import pytest
import trio

from hub.daemon import imported
from tests.faults.harness import project
from tests.waiting import eventually

IMPORTING = """
import sys, threading, attrs, trio
from functools import partial
from pathlib import Path
import hub.daemon
from hub.cli.local.serve import order_for
from hub.client.quick import Api

async def never(app):  # whoever starts a session may be quicker than the thread that imports the agents
    pass

hub.daemon._load_agents = never
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
    heavy = ("hub.providers.", "hub.domain.redaction", "hub.actors.")
    assert [name for name in done.stdout.split() if name.startswith(heavy)] == []


async def test_code_for_which_no_file_can_be_opened_is_waited_for(monkeypatch):
    """The import failed with EMFILE, was made again without a pause, and the daemon ended within a millisecond."""
    monkeypatch.setattr("hub.daemon._BREATH", 0.001)
    threads, full = [], True

    def load():
        threads.append(threading.current_thread())
        if full:
            raise OSError(errno.EMFILE, "Too many open files")
        return "loaded"

    found = []

    async def keep():
        found.append(await imported(load))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep)
        await eventually(lambda: len(threads) > 10)
        assert found == []
        full = False
    assert found == ["loaded"]
    assert threading.main_thread() not in threads


async def test_another_error_of_an_import_is_not_waited_for():
    def load():
        raise OSError(errno.EACCES, "Permission denied")

    with pytest.raises(PermissionError):
        await imported(load)
