"""Processes that look like agents: real ones, of a program that only sleeps.

Owns: such a program, its session store, and its end.
Must not: be taken for the agents themselves; the tests marked `agents` start those.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hub.io.runner.proc import starttime

PLAIN = {"PATH": os.environ["PATH"]}
SLEEP = shutil.which("sleep") or "/bin/sleep"


def new_session() -> str:
    """An id that no other run has: the stores of all agents that run are searched, those of other tests' too, and of
    two sessions with one id only the one written last is told.
    """
    return str(uuid.uuid4())


def program(base: Path, name: str = "claude") -> Path:
    """An executable of that name."""
    path = base / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        shutil.copy(SLEEP, path)
    return path


@contextmanager
def running(
    base: Path, *args: str, name: str = "claude", cwd: Path | None = None, **env: str
) -> Iterator[int]:
    """One that runs for the length of the block; its pid. Its executable is its own when this is entered."""
    argv = [str(program(base, name)), *(args or ("1000",))]
    process = subprocess.Popen(
        argv, cwd=cwd or base, env={**PLAIN, "HOME": str(base / "home"), **env}, start_new_session=True
    )
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def register(home: Path, pid: int, session_id: str, **more: object) -> None:
    """What Claude writes about a process of its own."""
    entry = {
        "pid": pid,
        "sessionId": session_id,
        "procStart": str(starttime(pid)),
        "entrypoint": "cli",
        **more,
    }
    (home / "sessions").mkdir(parents=True, exist_ok=True)
    (home / "sessions" / f"{pid}.json").write_text(json.dumps(entry))


def transcript(
    home: Path, session_id: str, cwd: Path, prompt: str, *, said: str = "I write it.", file: str = "a.py"
) -> Path:
    """A session as Claude keeps it: a prompt, an answer with a tool call, its result."""
    common = {
        "sessionId": session_id,
        "cwd": str(cwd),
        "version": "2.1.329",
        "timestamp": "2026-11-21T03:00:00.000Z",
    }
    usage = {"input_tokens": 100, "output_tokens": 20}
    call = {
        "type": "tool_use",
        "id": "t-1",
        "name": "Write",
        "input": {"file_path": str(cwd / file), "content": "x"},
    }
    answer = {"id": "m-1", "role": "assistant", "model": "claude-sonnet-5-5", "usage": usage}
    answer["content"] = [{"type": "text", "text": said}, call]
    ended = [{"type": "tool_result", "tool_use_id": "t-1", "content": "File created successfully"}]
    records = [
        {"type": "user", "uuid": "u-1", "message": {"role": "user", "content": prompt}, **common},
        {"type": "assistant", "uuid": "u-2", "parentUuid": "u-1", "message": answer, **common},
        {
            "type": "user",
            "uuid": "u-r",
            "parentUuid": "u-2",
            "message": {"role": "user", "content": ended},
            **common,
        },
    ]
    folder = home / "projects" / "".join(char if char.isalnum() else "-" for char in str(cwd))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session_id}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
