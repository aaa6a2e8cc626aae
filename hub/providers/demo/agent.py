"""The two scripted agents that ship with hub: real child processes, no network, no account.

Owns: argv, job file and capabilities of `demo-first` and `demo-second`.
Must not: run anything itself (`script.py` is the child).

The script is the option `script` (a path, or a table with `steps`), else the path in `HUB_DEMO_SCRIPT`, else
the story of `story.py`. A resumed session goes on after its last completed step; its store lies in the
account's directory, else beside the run directories.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs

from hub.providers import jsonline
from hub.providers.base import Assignment, Capabilities, Launch, Stdin, Stream
from hub.providers.demo.stream import DemoStream
from hub.providers.provider import CONVERSES, Provider

JOB_FILE = "job.json"
SCRIPT_ENV = "HUB_DEMO_SCRIPT"
PASSED_ENV = ("HUB_DEMO_LOG", "HUB_DEMO_PACE")
STORE = ".demo-sessions"
MODEL = "demo-1"
_COMMAND = (sys.executable, "-I", "-S", str(Path(__file__).resolve().parent))
"""Isolated and without site-packages: it starts in 20 ms and no user's Python setting reaches it."""


@attrs.frozen(kw_only=True)
class Demo(Provider):
    """A provider of the demo pair."""

    stream: Callable[[Assignment], Stream] = DemoStream
    program: str = sys.executable
    capabilities: Capabilities = attrs.field(default=attrs.evolve(CONVERSES, quota=True))
    version_args: Sequence[str] = (*_COMMAND[1:], "--version")
    silent_after: float = 60.0
    environ: Mapping[str, str] = attrs.field(default=os.environ, repr=False)
    """Where `HUB_DEMO_*` is looked up."""

    def launch(self, assignment: Assignment) -> Launch:
        """The command line; what it is to do stands in a file."""
        files = {JOB_FILE: json.dumps(self._job(assignment)).encode()}
        argv = [*_COMMAND, str(assignment.run_dir / JOB_FILE)]
        if assignment.program:
            argv[0] = assignment.program
        env = {name: self.environ[name] for name in PASSED_ENV if name in self.environ}
        return Launch(argv, {**env, **assignment.account.env}, assignment.worktree, Stdin.PIPE, files)

    def _job(self, assignment: Assignment) -> dict[str, object]:
        session = assignment.resume_id or assignment.native_id or f"demo-{assignment.dispatch_id}"
        place = assignment.account.config_dir or str(assignment.run_dir.parent / STORE)
        job: dict[str, object] = {
            "dispatchId": assignment.dispatch_id,
            "provider": self.name,
            "session": re.sub(r"[^A-Za-z0-9-]", "-", session)[:128],
            "resume": bool(assignment.resume_id),
            "prompt": assignment.prompt,
            "model": assignment.model or MODEL,
            "store": place,
            "asks": assignment.asks,
        }
        if assignment.envelope_path is not None:
            job["envelopePath"] = str(assignment.envelope_path)
        if script := self._script(assignment):
            job["script"] = script
        return job

    def _script(self, assignment: Assignment) -> object:
        given = assignment.options.get("script") or self.environ.get(SCRIPT_ENV)
        if given and isinstance(given, str):
            return str(Path(given).absolute())
        return jsonline.mapping(given) or None


FIRST = Demo(name="demo-first")
SECOND = Demo(name="demo-second")
