"""The scripts that a command runs are read with those that they run, and nothing else is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hub.domain.approval import Action, PermissionRequest
from hub.domain.permission.places import Where
from hub.io.files.scripts import lines_run


def lines(folder: Path, command: str, **context: str) -> list[str]:
    request = PermissionRequest(
        "a-1",
        Action.TOOL,
        "s-1",
        "claude",
        tool="Bash",
        subject=command,
        folder=str(folder),
        context={"command": command, **context},
    )
    return lines_run(request, Where("/p", str(folder / "home")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.sh").write_text("#!/bin/bash\n# rm nothing\n./b.sh x\n")
    (tmp_path / "b.sh").write_text("./a.sh\ntouch done\n")
    (tmp_path / "run").write_text("#!/usr/bin/env python3\nrm = 1\n")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/Makefile").write_text("x: y\n\t./d.sh\ny:\n\trm -r z\n")
    (tmp_path / "home/d.sh").write_text("git push\n")
    (tmp_path / "home/c").write_text("ls\n")
    (tmp_path / "package.json").write_text('{"scripts": {"pretest": "./b.sh", "test": "jest", "x": 1}}')
    return tmp_path


def test_a_script_is_read_with_those_that_it_runs_each_once(folder):
    assert lines(folder, "./a.sh") == ["./b.sh x", "./a.sh\ntouch done"]
    assert lines(folder, "bash a.sh && source ~/c") == ["./b.sh x", "ls", "./a.sh\ntouch done"]
    assert lines(folder, "./c", cwd="home") == ["ls"]
    assert lines(folder, "make -C home x") == ["cd home\n./d.sh\nrm -r z", "git push"]
    assert lines(folder, "npm test") == ["./b.sh", "jest", "./a.sh\ntouch done", "./b.sh x"]


@pytest.mark.parametrize(
    "command", ["ls", "./run", "./nothing", "npm run x", "npm install", "sh -c 'ls'", "cat a.sh", "./\0"]
)
def test_what_is_no_script_of_a_shell_says_nothing(folder, command):
    assert lines(folder, command) == []


def test_what_is_no_short_plain_file_is_not_read(folder):
    os.mkfifo(folder / "pipe")
    (folder / "big").write_text("x" * 100_000)
    (folder / "binary").write_bytes(b"\x7fELF\0\0")
    for command in ("./pipe", "./big", "./binary", "./home"):
        assert lines(folder, command) == []
