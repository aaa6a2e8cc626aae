"""A daemon whose package was replaced under it goes on with what it has loaded, and says so of what it has not."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest

import hub
from hub import installed
from hub.errors import Code
from hub.web.problem import as_hub_error
from tests.faults.harness import PATIENCE, Project, project
from tests.waiting import until

SOURCES = Path(hub.__file__).parents[1]
JSON = {"Content-Type": "application/json"}


@attrs.define
class Installed:
    """A hub of its own, and its daemon."""

    place: Path
    daemon: subprocess.Popen[bytes]
    port: int

    def get(self, path: str) -> tuple[int, str]:
        """What a browser is shown."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request("GET", path, headers={"Accept": "text/html"})
            reply = connection.getresponse()
            return reply.status, reply.read().decode()


def copied(place: Path) -> None:
    """What pip does: the old files go, others come."""
    shutil.rmtree(place, ignore_errors=True)
    for name in ("hub", "supervisors"):
        # pip's files have the time of their installation; a file's number may be given anew at once.
        shutil.copytree(SOURCES / name, place / name, copy_function=shutil.copy)


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Project]:
    with project(tmp_path) as made:
        made.script("demo-first", {"say": "working"}, {"done": "finished"})
        made.configure()
        yield made


@pytest.fixture
def served(work: Project, tmp_path: Path) -> Iterator[Installed]:
    place = tmp_path / "site-packages"
    copied(place)
    env = {**work.environ(), "PYTHONPATH": str(place)}
    words = [sys.executable, "-P", "-m", "hub", "daemon", "--port", "0", "--json"]
    with subprocess.Popen(words, cwd=work.root, env=env, stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout is not None
        found = Installed(place, daemon, json.loads(daemon.stdout.readline())["port"])
        for path in ("/api/config/providers", "/api/detect"):  # its start is over: it has loaded every agent
            assert found.get(path)[0] == 200
        yield found
        if daemon.poll() is None:
            daemon.terminate()
            assert daemon.wait(PATIENCE) == 0, "it ends in order, whatever is installed"


def test_what_was_loaded_goes_on_and_what_was_not_says_what_to_do(work: Project, served: Installed) -> None:
    """`pip install --upgrade` under a daemon: its page answered 500 from then on, "hub made a mistake"."""
    copied(served.place)
    status, shown = served.get("/quota")
    assert status == 503
    assert "Another hub was installed since this one" in shown
    assert f"kill {served.daemon.pid}   Then: hub daemon" in shown
    assert shown.startswith("<!doctype html>"), "for people"
    assert "idle" in work.command("status").stdout
    looks = {one["check"]: one for one in json.loads(work.command("doctor", "--json").stdout)}
    assert looks["daemon"]["detail"].endswith(f" is of an earlier installation of hub {hub.__version__}")
    assert looks["daemon"]["hint"].startswith(f"End that daemon in order: kill {served.daemon.pid} ")
    shutil.rmtree(served.place)
    status, told = served.get("/static/hub.css")
    assert (status, json.loads(told)["code"]) == (503, "outdated")


def test_a_session_whose_agent_the_new_hub_does_not_start_waits_for_the_next_daemon(
    work: Project, served: Installed
) -> None:
    """It failed: the runner is a program on the disk, and the new one's knew nothing of the old one's order."""
    copied(served.place)
    (served.place / "hub" / "io" / "runner" / "main.py").write_text("raise SystemExit(70)\n")
    with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as connection:
        connection.request("POST", "/api/run", json.dumps({"task": "write", "verify": ["true"]}), JSON)
        assert connection.getresponse().status == 202

    def waiting() -> Any:
        return (now := json.loads(served.get("/api/status")[1]))["error"] and now

    told = until(waiting, "it says why it waits")
    assert (told["error"]["code"], told["sessionState"]) == ("outdated", "starting")
    assert told["error"]["hint"].startswith(f"Its sessions go on with the next: kill -9 {served.daemon.pid} ")
    served.daemon.kill()
    served.daemon.wait(PATIENCE)
    work.start()
    record = until(work.ended, "the session goes on with the next daemon, and ends")
    work.stop()
    assert (record["sessionState"], record["verified"]) == ("completed", True)


def test_a_page_that_was_shown_is_whole(served: Installed) -> None:
    """Its files are of one version, all read with the first page."""
    assert served.get("/")[0] == 200
    shutil.rmtree(served.place)
    for path in ("/", "/quota", "/nowhere", "/static/hub.css", "/static/hub.js"):
        assert served.get(path)[0] == (404 if path == "/nowhere" else 200), path


def test_an_error_that_is_not_foreseen_is_said_for_what_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = ModuleNotFoundError("No module named 'hub.x'")
    assert [as_hub_error(error).code for error in (gone, KeyError())] == [Code.INSTALL_BROKEN, Code.INTERNAL]
    monkeypatch.setattr(installed, "_BEGUN", None)
    assert installed.replaced()
    assert [as_hub_error(error).code for error in (gone, KeyError())] == [Code.OUTDATED] * 2
