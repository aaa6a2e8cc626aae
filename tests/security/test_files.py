"""What hub writes is its user's alone, whatever umask it was started with."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from tests.faults.harness import Project, project, until


def written(made: Project) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything below `.hub/` and the state directory, but for what lies in a worktree: that is the agent's."""
    for top in (made.hub, made.state):
        yield top, top.lstat()
        for folder, folders, files in os.walk(top):
            if Path(folder) == made.hub / "worktrees":
                yield from ((Path(folder, name), Path(folder, name).lstat()) for name in folders)
                folders.clear()
                continue
            yield from ((Path(folder, name), Path(folder, name).lstat()) for name in (*folders, *files))


def open_to_others(made: Project) -> list[str]:
    """What another user could look into."""
    return [
        f"{path}: {found.st_mode:o}" for path, found in written(made) if stat.S_IMODE(found.st_mode) & 0o077
    ]


def test_nothing_is_open_to_others_although_the_umask_is_000(tmp_path: Path) -> None:
    """A whole session with a handoff: while its second agent waits, and when it has ended."""
    with project(tmp_path) as made:
        made.script("demo-first", {"write": {"path": "a", "text": "a"}}, {"limit": {"resetsIn": 3600}})
        made.script("demo-second", {"ask": "go on?"}, {"done": "ok"})
        made.configure()
        before = os.umask(0)
        try:
            api = made.start()
        finally:
            os.umask(before)
        api.post("/api/providers/api-key", {"name": "claude", "value": "sk-ant-not-a-key"})
        api.post("/api/run", {"task": "write"})
        made.says("go on?")
        assert open_to_others(made) == []
        api.post("/api/session/reply", {"reply": "yes"})
        until(made.ended, "the session ends")
        assert made.stop() == 0
        assert open_to_others(made) == []
        names = {path.relative_to(made.hub).parts[0] for path, _ in written(made) if path.is_relative_to(made.hub / "")
                 and path != made.hub}  # fmt: skip
        assert {
            ".env",
            "audit.jsonl",
            "events.db",
            "fsm.json",
            "envelope.json",
            "lock",
            "run",
            "git",
        } <= names
