"""How many files of hub the walks of `design/architecture.md` pass: `python -m tests.walks` prints its table.

Owns: a daemon that notes the file of every function it enters, in all of its threads, and what is made to happen there.
Must not: count what is only imported, or what a look for other agents passes, which comes whether anything happens or not.

A signal asks the daemon for what it has passed since it was asked last. It rests when some looks in a row find nothing.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType

import hub
from hub.cli.main import main
from hub.client.quick import Api
from tests.faults.harness import Project, project, until
from tests.forks import import_all
from tests.stories.said import Frames, frames

HUB = f"{Path(hub.__file__).parent}{os.sep}"
LOOKS = 10
"""That find nothing: a second."""
QUIET = {"sleep": 5}
"""The agent's, around the one line that is looked at."""


def daemon(told: Path) -> None:
    """`hub daemon`, which writes the files that it has passed whenever it gets the signal."""
    import_all()
    passed: set[str] = set()

    def enters(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # The body of a module or a class is no function: it is what an import runs.
        if event == "call" and code.co_flags & CO_OPTIMIZED and code.co_filename.startswith(HUB):
            passed.add(code.co_filename)

    def tell(*_: object) -> None:
        now, beside = sorted(passed), told.with_suffix(".tmp")
        passed.clear()
        beside.write_text(json.dumps(now))
        beside.rename(told)

    signal.signal(signal.SIGUSR1, tell)
    threading.setprofile(enters)
    sys.setprofile(enters)
    sys.argv = ["hub", "daemon", "--port", "0"]
    main()


class Watched:
    """The project's daemon, and what it passes."""

    def __init__(self, made: Project) -> None:
        self._made = made
        self._told = made.root.parent / "passed.json"

    def start(self) -> Api:
        """A daemon under watch."""
        words = [sys.executable, "-m", "tests.walks", str(self._told)]
        with (self._made.root.parent / "daemon.log").open("ab") as out:
            now = subprocess.Popen(
                words, cwd=self._made.root, env=self._made.environ(), stdout=out, stderr=out
            )
        self._made.daemon = now
        until(lambda: self._made.announced() == now.pid, "it says where it listens")
        self._made.port = json.loads((self._made.hub / "daemon.json").read_bytes())["port"]
        return Api(self._made.port, 60)

    def passed(self) -> set[str]:
        """Since this was asked last."""
        assert self._made.daemon is not None
        self._told.unlink(missing_ok=True)
        self._made.daemon.send_signal(signal.SIGUSR1)
        until(self._told.exists, "it tells what it has passed")
        return set(json.loads(self._told.read_text()))

    def rest(self) -> set[str]:
        """What it passes until it rests."""
        all_, idle = set[str](), 0

        def rests() -> bool:
            nonlocal idle
            now = self.passed()
            all_.update(now)
            idle = 0 if now else idle + 1
            return idle >= LOOKS

        until(rests, "it rests")
        return all_


def says(heard: Frames, text: str) -> bool:
    """Whether those who follow the log have heard it."""
    return any(text in event["msg"] for event in list(heard.heard.values()))


def walks(folder: Path) -> dict[str, int]:
    """Each walk's files."""
    with project(folder) as made:
        made.script("demo-first", {"say": "I begin."}, QUIET, {"say": "A line."}, QUIET, {"ask": "First?"})
        made.script("demo-second", {"ask": "Second?"})
        made.configure("\n[detect]\nambient = false\ninterval = 3600\n")
        watched, found = Watched(made), {}
        api = watched.start()
        watched.rest()
        api.get("/api/status")
        watched.rest()  # the first request of a daemon makes what the others find
        api.get("/api/status")
        found["`GET /api/status`, connection and guard included"] = watched.rest()
        with frames(made) as heard:
            api.post("/api/run", {"task": "x"})
            until(lambda: says(heard, "I begin."), "the agent begins")
            watched.rest()
            assert not says(heard, "A line."), (
                "the machine is too busy: the daemon did not rest before the line"
            )
            until(lambda: says(heard, "A line."), "the line is heard")
            found["a line of an agent, to all who follow the log"] = watched.rest()
            assert not says(heard, "First?"), (
                "the machine is too busy: the daemon did not rest behind the line"
            )
            until(lambda: says(heard, "First?"), "the agent asks")
            watched.rest()
            api.post("/api/handoff")
            handoff = watched.passed()
            found["`POST /api/handoff`, until it is on record"] = handoff
            until(lambda: says(heard, "Second?"), "the receiver asks")
            found["a breach, from the order to the receiver's first question"] = handoff | watched.passed()
            watched.rest()
        made.kill()
        watched.start()
        found["a start after a crash, until the session goes on"] = watched.rest()
    return {walk: len(files) for walk, files in found.items()}


if __name__ == "__main__":
    if sys.argv[1:]:
        daemon(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as place:
            print("\n".join(f"| {walk} | {files} |" for walk, files in walks(Path(place)).items()))
