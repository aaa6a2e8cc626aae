"""Agents that hub only detects, as processes: each is found once, and told with the session of its own store."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import attrs
import pytest

from hub.actors.detector.scanner import Scout
from hub.api.convert import unstructure
from hub.domain.config.reader import Config
from hub.providers import stores
from hub.providers.registry import load_all, signatures
from tests.faults.harness import project
from tests.hub.actors.daemon import daemon_of
from tests.hub.io.agents import PLAIN
from tests.hub.providers.stores import CAPTURES
from tests.waiting import answered, until

SHELL = shutil.which("sh") or "/bin/sh"
RUNS = "read line"
"""What every script does: it waits for its standard input."""
MODULES = "lib/node_modules"


@attrs.frozen
class Program:
    """How an agent's process looks: an executable of this path, run with these words."""

    executable: str
    argv: tuple[str, ...] = ()
    """() = by its path alone, reading what it is to do."""
    scripts: Mapping[str, str] = attrs.field(factory=dict)
    """Scripts by their path, and what they do."""
    processes: int = 1
    touch: str = ""
    """What makes the session of its database new."""


DROID = f"{MODULES}/@factory/cli-linux-x64/bin/droid"
PROGRAMS = {
    "amp": Program(".amp/bin/amp"),
    "antigravity": Program("bin/agy"),
    "cline": Program(f"{MODULES}/@cline/cli-linux-x64/bin/cline"),
    "crush": Program("bin/crush", touch="UPDATE sessions SET updated_at = strftime('%s', 'now')"),
    "cursor": Program(
        "share/cursor-agent/versions/1/node",
        ("cursor-agent", "share/cursor-agent/versions/1/index.js"),
        {"share/cursor-agent/versions/1/index.js": RUNS},
    ),
    "droid": Program(
        "bin/node",
        ("node", f"{MODULES}/@factory/cli/bin/droid"),
        {f"{MODULES}/@factory/cli/bin/droid": f'"$PROGRAMS/{DROID}"; :'},
        processes=2,
    ),
    "goose": Program("bin/goose", touch="UPDATE sessions SET updated_at = datetime('now', '1 minute')"),
    "kilo": Program(
        f"{MODULES}/@kilocode/cli-linux-x64/bin/kilo",
        touch="UPDATE session SET time_updated = strftime('%s', 'now') * 1000",
    ),
    "kimi": Program("bin/node", ("kimi-code",)),
    "pi": Program("bin/node", ("pi",)),
}


def test_every_agent_with_a_process_of_its_own_is_tested():
    assert set(PROGRAMS) == {name for name in stores.DETECTED if name in signatures()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_process_is_told_with_its_session(name, tmp_path):
    program, repo = PROGRAMS[name], tmp_path / "home" / "repo"
    home = store_of(name, tmp_path / "home", program, repo)
    scout = Scout(tmp_path, load_all(), Config(), env={"HOME": str(home)}, home=str(home))
    with running(tmp_path / "programs", program, home, repo) as pid:
        new(home, program)

        def joined():
            found = [one for one in scout.scan(0.0) if one.provider == name and one.work_dir == str(repo)]
            whole = (one for one in found if one.kept and len(one.pids) == program.processes)
            return found if any(whole) else []

        [found] = until(joined, f"{name} is found with its session")
        told = unstructure(scout.shown(found))
    assert (told["pid"], told["running"]) == (pid, True)
    assert (told["detectedVia"], told["confidence"]) == (["process", "transcript"], "likely")
    assert told["displayName"] == stores.DETECTED[name]
    assert str(home) in told["account"]
    assert told["session"]["initialPrompt"].endswith("hello.txt, then check it.")


async def test_the_work_of_an_agent_that_is_only_detected_goes_on(tmp_path, monkeypatch):
    """Pi is ended, and the task its real session tells of is done by an agent that hub runs."""
    pi = PROGRAMS["pi"]
    with project(tmp_path) as made:
        made.script("demo-first", {"write": {"path": "checked.txt", "text": "yes\n"}}, {"done": "x"})
        made.configure()
        home = store_of("pi", tmp_path / "home", pi, made.root)
        with running(tmp_path / "programs", pi, home, made.root) as pid:
            new(home, pi)
            async with daemon_of(made, monkeypatch, HOME=str(home), HUB_AMBIENT="0") as live:

                async def ours():
                    found = await live.get("/api/detect", {"sinceHours": 1})
                    return [one for one in found if one["workDir"] == str(made.root) and one["session"]]

                [found] = await answered(ours, lambda found: [one["pid"] for one in found] == [pid])
                begun = await live.post(
                    "/api/detect/adopt",
                    {"id": found["id"], "target": "demo-first", "start": True, "stop": True},
                )
                assert (await live.until_ended())["sessionState"] == "completed"
        assert begun["stopped"] == [pid]
        assert made.show(f"{begun['branch']}:checked.txt") == b"yes\n"
        assert "Write the file hello.txt, then check it." in brief_of(begun)


def brief_of(answer: Mapping[str, str]) -> str:
    """What the agent that goes on was told."""
    return Path(answer["brief"]).read_text()


def store_of(name: str, home: Path, program: Program, repo: Path) -> Path:
    """The captured store as if its agent had worked in this folder."""
    shutil.copytree(CAPTURES / name / "rich", home)
    repo.mkdir(exist_ok=True)
    for path in [path for path in home.rglob("*") if path.is_file()]:
        text = path.read_text().replace("/home/dev/repo", str(repo))
        path.write_text(text)
        if path.suffix == ".sql":
            with closing(sqlite3.connect(path.with_suffix(""))) as database, database:
                database.executescript(f"PRAGMA synchronous=OFF; {text} {program.touch}")
            database.close()
            path.unlink()
    return home


def new(home: Path, program: Program) -> None:
    """The session is written once more while the agent runs."""
    for path in home.rglob("*"):
        if path.is_file() and not program.touch:
            path.touch()


@contextmanager
def running(base: Path, program: Program, home: Path, repo: Path):
    """The process, a shell under that name, for the length of the block; its pid."""
    for path in {program.executable, DROID}:
        (base / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SHELL, base / path)
    for path, does in program.scripts.items():
        (base / path).parent.mkdir(parents=True, exist_ok=True)
        (base / path).write_text(f"{does}\n")
    words = [str(base / word) if "/" in word else word for word in program.argv]
    process = subprocess.Popen(
        words or [program.executable],
        executable=base / program.executable,
        cwd=repo,
        env={**PLAIN, "HOME": str(home), "PROGRAMS": str(base)},
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process.pid
    finally:
        process.stdin.close()  # what it waits for, and what its child waits for
        process.wait()
