"""A Gemini CLI that plays a recorded session again: its output as it was, its store beside it, then a used-up quota.

Owns: that program, and the project that has it in its chain.
Must not: make anything up; what it says and keeps is what the real one said and kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

import attrs

from hub.evals.recording import load
from tests.faults.harness import Project

SUITE = Path(__file__).resolve().parents[2] / "hub" / "evals" / "golden" / "gemini"
LIMIT = '{"code": 429, "message": "You have exhausted your daily quota on this model."}'
BUSY = '{"code": 503, "message": "The model is overloaded. Please try again later."}'
_PROGRAM = """#!{python}
import os, shutil, sys
shutil.copytree({store!r}, os.environ["GEMINI_CLI_HOME"], copy_function=shutil.copyfile, dirs_exist_ok=True)
sys.stdout.write(open({stream!r}).read())
sys.stdout.flush()
sys.stdin.read()
"""


@attrs.frozen
class Replayed:
    """The recorded session, cut at one of its moments."""

    store: Path
    """What it will have kept."""
    home: Path
    """Its account's directory."""

    @property
    def session(self) -> Path:
        """The session's file."""
        return max(self.store.rglob("session-*.jsonl"), key=lambda path: path.stat().st_size)


def replayed(
    made: Project, *, moment: int, recording: str = "limit", error: str = LIMIT, extra: str = ""
) -> Replayed:
    """Puts it first in the chain of a project whose second agent is scripted."""
    folder = made.root.parent / "replayed"
    found = load(SUITE / recording / "facts.toml")
    cut = found.moments[moment - 1]
    store, stream, home = (folder / name for name in ("store", "stream.jsonl", "account"))
    home.mkdir(parents=True, mode=0o700)
    found.lay_out(cut, store)
    lines = [line.decode() for line in found.stream[: cut.lines]]
    stream.write_text("\n".join([*lines, f'{{"jsonrpc": "2.0", "id": "turn-1", "error": {error}}}', ""]))
    program = made.program(
        "gemini", _PROGRAM.format(python=sys.executable, store=str(store), stream=str(stream))
    )
    made.put("stamp.json", b'{"madeBy":"hub"}')
    (made.hub / ".env").write_text("GEMINI_API_KEY=replayed\n")  # or who has a login comes first
    made.configure(
        f'[providers.gemini]\nenabled = true\nprogram = "{program}"\n'
        f'[[providers.gemini.accounts]]\nlabel = "default"\nconfigDir = "{home}"\n{extra}'
    )
    config = made.root / "hub.toml"
    config.write_text(config.read_text().replace('"demo-first"', '"gemini"', 1))
    return Replayed(store, home)
