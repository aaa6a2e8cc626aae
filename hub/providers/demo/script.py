"""The demo agent's program: a real child process that does the steps of a script and tells of them.

Owns: doing the steps, from the place where the session stands.
Must not: import anything but the standard library and its neighbours `channel` and `story`, or need
site-packages: it starts in 20 ms.

It is started with the path of a JSON file that holds `dispatchId`, `provider`, `session`, `resume`, `prompt`,
`model`, `store`, and, where given, `envelopePath` and `script` (a path, or an object with `steps`). Failing
steps (limit, overload, refuse, auth, context, crash) count as completed before they are done, so that a
resumed session meets each of them once.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from hub.providers.demo import story
from hub.providers.demo.channel import READ, DemoInput, Interrupted, Progress, emit

VERSION = "1.0"
FAILED = 1
USAGE = 2
UNANSWERED = 3
INTERRUPTED = 130
_OUTPUT_CAP = 8_192
_EXCERPT = 400
_FATAL = frozenset({"limit", "overload", "refuse", "auth", "context", "crash", "done"})
_REPEATABLE = frozenset({"say", "think", "raw", "usage", "quota", "plan", "sleep", "hang"})
"""Steps that may be done again after a kill; all others are noted in the store each time they are done."""

Job = dict[str, Any]


def main() -> int:
    """Runs a job; the exit status tells little, the stream tells all."""
    args = sys.argv[1:]
    if args == ["--version"]:
        sys.stdout.write(f"hub demo agent {VERSION}\n")
        return 0
    if len(args) != 1:
        sys.stderr.write("usage: script.py JOB.json\n")
        return USAGE
    job: Job = json.loads(Path(args[0]).read_text())
    _log_start(job)
    signal.signal(signal.SIGINT, _on_sigint)
    return DemoRun(job).run()


def _log_start(job: Job) -> None:
    """One line in the log of starts; appended in one write, so that two agents never mix."""
    if path := os.environ.get("HUB_DEMO_LOG"):
        log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(log, f"{job['dispatchId']}\n".encode())
        os.close(log)


class ScriptError(Exception):
    """The script is not one."""


def _on_sigint(number: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted


class DemoRun:
    """One run of one job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._inbox = DemoInput()
        self._calls = 0
        self._at = (0, 0)
        self._do: dict[str, Callable[[Any], None]] = {
            "say": lambda text: emit(type="text", text=text),
            "think": lambda text: emit(type="thinking", text=text),
            "plan": lambda plan: emit(type="plan", **plan),
            "usage": lambda usage: emit(type="usage", **usage),
            "quota": self._quota,
            "write": lambda file: self._file("write", file, "w"),
            "append": lambda file: self._file("append", file, "a"),
            "run": self._run,
            "ask": self._ask,
            "approve": self._approve,
            "sleep": self._sleep,
            "raw": self._raw,
            "limit": lambda limit: self._fail("limit", **_reset(limit)),
            "overload": lambda _: self._fail("overload"),
            "refuse": lambda text: self._fail("refusal", text=text),
            "auth": lambda _: self._fail("auth"),
            "context": lambda _: self._fail("context"),
            "crash": _crash,
            "hang": _hang,
            "done": self._done,
        }

    def run(self) -> int:
        """All steps from the place where the session stands."""
        job = self._job
        progress = Progress(Path(job["store"]), job["session"], resume=job["resume"])
        resumed = bool(progress.step or progress.times)
        emit(
            type="start",
            session=job["session"],
            dispatchId=job["dispatchId"],
            model=job["model"],
            resumed=resumed,
            step=progress.step,
        )
        try:
            for place, name, value in self._steps(progress):
                self._at = place
                self._inbox.poll(0.0)
                self._heed()
                self._step(progress, name, value)
        except Interrupted:
            emit(type="interrupted")
            return INTERRUPTED
        except ScriptError as error:
            emit(type="error", text=str(error))
            return USAGE
        self._done("All steps are done.")
        return 0

    def _step(self, progress: Progress, name: str, value: object) -> None:
        step, times = self._at
        if name in _FATAL:
            progress.save(step, times + 1)
        self._do[name](value)
        if name not in _REPEATABLE:
            progress.save(step, times + 1)

    def _steps(self, progress: Progress) -> Iterator[tuple[tuple[int, int], str, object]]:
        """((step, times done), name, value) of each step left, repetitions one by one."""
        steps = self._script()
        for number in range(progress.step, len(steps)):
            name, value, repeat = self._checked(number, steps[number])
            first = progress.times if number == progress.step else 0
            for times in range(first, repeat):
                yield (number, times), name, value
            progress.save(number + 1, 0)

    def _script(self) -> list[Job]:
        script = self._job.get("script") or {}
        if isinstance(script, str):
            try:
                script = json.loads(Path(script).read_text())
            except (OSError, ValueError) as error:
                raise ScriptError(f"the script {script} cannot be read: {error}") from error
        if script:
            return list(script["steps"])
        path = self._job.get("envelopePath")
        envelope = Path(path).read_text() if path else ""
        pace = float(os.environ.get("HUB_DEMO_PACE", "0.15"))
        return story.steps(self._job["provider"], envelope, Path.cwd(), pace)

    def _checked(self, number: int, step: Job) -> tuple[str, object, int]:
        names = [name for name in step if name != "times"]
        if len(names) != 1 or names[0] not in self._do:
            raise ScriptError(f"step {number} is not one of {', '.join(self._do)}: {json.dumps(step)}")
        return names[0], step[names[0]], int(step.get("times", 1))

    def _heed(self) -> None:
        """Notes what the user said meanwhile; an interrupt is obeyed."""
        while (message := self._inbox.take()) is not None:
            if message.get("type") == "reply":
                emit(type="heard", text=message.get("text", ""))

    def _quota(self, quota: Job) -> None:
        emit(type="quota", used=quota["used"], **_reset(quota))

    def _file(self, tool: str, file: Job, mode: str) -> None:
        if not self._may(tool, path=file["path"]):
            return
        call = self._begin(tool, path=file["path"], text=file["text"][:_EXCERPT])
        target = Path(file["path"])
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open(mode, encoding="utf-8") as out:
                out.write(file["text"])
        except OSError as error:
            emit(type="tool_result", id=call, error=True, text=str(error))
            return
        size = len(file["text"])
        emit(type="tool_result", id=call, error=False, text=f"{size} character{'s' * (size != 1)}")

    def _run(self, command: str) -> None:
        if not self._may("run", command=command):
            return
        call = self._begin("run", command=command)
        child = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            text = self._output(child)
            code = child.wait()
        except Interrupted:
            child.kill()
            child.wait()
            emit(type="tool_result", id=call, error=True, text="interrupted")
            raise
        emit(type="tool_result", id=call, error=code != 0, exitCode=code, text=text)

    def _output(self, child: subprocess.Popen[bytes]) -> str:
        """The tail of the command's output; input is heeded meanwhile."""
        kept = b""
        with child.stdout or io.BytesIO() as pipe:
            while True:
                if self._inbox.poll(None, pipe.fileno()):
                    data = os.read(pipe.fileno(), READ)
                    if not data:
                        return kept[-_OUTPUT_CAP:].decode("utf-8", "replace")
                    kept = (kept + data)[-2 * _OUTPUT_CAP :]
                self._heed()

    def _begin(self, tool: str, **given: str) -> str:
        self._calls += 1
        call = f"{self._job['dispatchId']}-{self._calls}"
        emit(type="tool", id=call, tool=tool, **given)
        return call

    def _ask(self, question: str) -> None:
        emit(type="ask", question=question)
        reply = self._inbox.wait("reply")
        if reply is None:
            _leave("nobody is there to answer", UNANSWERED)
        emit(type="heard", text=reply.get("text", ""))

    def _approve(self, action: str) -> None:
        self._asked(action=action)

    def _may(self, tool: str, **about: str) -> bool:
        """Whether a step that does something may be done: asked where hub has rules about tools."""
        if not self._job.get("asks"):
            return True
        return self._asked(action=" ".join((tool, *about.values())), tool=tool, **about)

    def _asked(self, **about: str) -> bool:
        ask = "approval-{}-{}".format(*self._at)
        emit(type="approve", id=ask, **about)
        answer = self._inbox.wait("answer", ask)
        if answer is None:
            _leave("nobody is there to approve", UNANSWERED)
        approved = answer.get("approved") is True
        emit(type="answered", id=ask, approved=approved, text=answer.get("note", ""))
        return approved

    def _sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._inbox.poll(left)
            self._heed()

    def _raw(self, line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def _fail(self, kind: str, **members: object) -> NoReturn:
        emit(type=kind, **members)
        sys.exit(FAILED)

    def _done(self, text: str) -> None:
        emit(type="done", text=text)
        sys.exit(0)


def _reset(told: Job) -> Job:
    """The epoch second of a reset, where the step tells one."""
    return {"resetsAt": int(time.time() + told["resetsIn"])} if "resetsIn" in told else {}


def _crash(code: int) -> NoReturn:
    sys.stderr.write(f"demo agent: crash {code}\n")
    sys.stderr.flush()
    if code < 0:
        os.kill(os.getpid(), -code)
        signal.pause()
    os._exit(code)


def _hang(how: Job) -> NoReturn:
    """Says nothing more. With `stubborn` it ignores the signals that ask, and only SIGKILL ends it."""
    if how.get("stubborn"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()


def _leave(why: str, code: int) -> NoReturn:
    sys.stderr.write(f"demo agent: {why}\n")
    sys.exit(code)
