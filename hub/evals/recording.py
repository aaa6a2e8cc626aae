"""A recorded session: the agent's own output, its own store, and how far both had come at each moment.

Owns: the form of a recording's folder, and the store as it was at a moment, laid out as files again.
Must not: read a session (the providers do), or write into the suite.

A folder `<suite>/<provider>/<name>/` has:
- `facts.toml`: what the session was, and its facts (`hub.evals.labels`).
- `stream.jsonl`: the lines of the agent's standard output. Without it the way over events is not measured.
- `store/`: the files of its store. Without it the way over the store is not measured. A database is a script of SQL
  statements, `<name>.sql`, that only grows.
- `moments.json`: for each moment how many lines of output there were, and for each file of the store which of its lines
  it had: `{"stream": 7, "store": {"<path>": [0, 29]}}`. A file that was written anew has its versions one after the
  other. Without `moments.json` the files are cut into twelve equal parts.
"""

from __future__ import annotations

import json
import sqlite3
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs

from hub.errors import Code, HubError
from hub.evals.labels import LabelledFact, fact

LABELS = "facts.toml"
CUTS = 12
"""Moments of a recording that does not say its own."""
_SQL = ".sql"


@attrs.frozen
class Moment:
    """A point at which the session is cut."""

    lines: int
    """Lines of output so far."""
    files: Mapping[str, tuple[int, int]]
    """Of each file of the store: the lines it had, from and to."""


@attrs.frozen(kw_only=True)
class Recording:
    """One recorded session.

    Attributes:
        provider: The agent's name.
        name: The recording's own.
        task: What the user asked for.
        model: The model the agent was started with.
        worktree: The folder the agent worked in, as its records name it.
        args: More arguments that the agent was started with.
        env: Where its environment put its store, relative to the store's folder.
        stream: Its output; () = not recorded.
        files: Its store, each file as lines; empty = not recorded.
        moments: The cuts, oldest first.
        facts: The labels.
    """

    provider: str
    name: str
    task: str
    model: str
    worktree: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str]
    stream: tuple[bytes, ...]
    files: Mapping[str, tuple[str, ...]]
    moments: tuple[Moment, ...]
    facts: tuple[LabelledFact, ...]

    def lay_out(self, moment: Moment, folder: Path) -> None:
        """The store as it was then, as files below an empty folder."""
        for name, (start, end) in moment.files.items():
            path, text = folder / name, "".join(f"{line}\n" for line in self.files[name][start:end])
            path.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith(_SQL):
                with closing(sqlite3.connect(path.with_suffix(""))) as database:
                    database.executescript(f"BEGIN;{text}COMMIT;")
            else:
                path.write_text(text)


def suite(folder: Path, provider: str = "") -> Iterator[Recording]:
    """The recordings of a suite, by name.

    Raises:
        HubError: There is none, or one of them cannot be read.
    """
    found = sorted(folder.glob(f"{provider or '*'}/*/{LABELS}"))
    if not found:
        of = f" of {provider}" if provider else ""
        raise HubError(
            Code.NOT_FOUND,
            f"There is no recording{of} in {folder}.",
            hint=f"A recording is a folder <provider>/<name> with {LABELS}.",
        )
    yield from map(load, found)


def load(labels: Path) -> Recording:
    """The recording of these labels.

    Raises:
        HubError: A file of it is missing or malformed; the text says which and how.
    """
    try:
        return _load(labels)
    except (OSError, KeyError, ValueError, TypeError, AttributeError) as error:
        missing = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise HubError(
            Code.INVALID, f"{labels}: {missing}.", hint="Its form is told in docs/golden-suite.md."
        ) from error


def _load(labels: Path) -> Recording:
    folder = labels.parent
    value = tomllib.loads(labels.read_text())
    told = value["recording"]
    output = folder / "stream.jsonl"
    stream = tuple(output.read_bytes().splitlines()) if output.exists() else ()
    store = folder / "store"
    files = {
        str(path.relative_to(store)): tuple(path.read_text().split("\n")[:-1])
        for path in sorted(store.rglob("*"))
        if path.is_file()
    }
    if not stream and not files:
        raise ValueError("it has neither stream.jsonl nor store/")
    moments = _moments(folder / "moments.json", stream, files)
    return Recording(
        provider=folder.parent.name,
        name=folder.name,
        task=str(told["task"]),
        model=str(told.get("model", "")),
        worktree=str(told["worktree"]),
        args=tuple(map(str, told.get("args", ()))),
        env={str(name): str(place) for name, place in dict(told.get("env", {})).items()},
        stream=stream,
        files=files,
        moments=moments,
        facts=tuple(fact(one, len(moments)) for one in value.get("facts", ())),
    )


def _moments(
    path: Path, stream: tuple[bytes, ...], files: Mapping[str, tuple[str, ...]]
) -> tuple[Moment, ...]:
    if path.exists():
        return tuple(_moment(one, stream, files) for one in json.loads(path.read_text()))

    def part(whole: int, cut: int) -> int:
        return -(-whole * cut // CUTS)

    return tuple(
        Moment(part(len(stream), cut), {name: (0, part(len(lines), cut)) for name, lines in files.items()})
        for cut in range(1, CUTS + 1)
    )


def _moment(value: Any, stream: tuple[bytes, ...], files: Mapping[str, tuple[str, ...]]) -> Moment:
    windows = {str(name): (int(start), int(end)) for name, (start, end) in value.get("store", {}).items()}
    for name, (start, end) in windows.items():
        if name not in files or not 0 <= start <= end <= len(files[name]):
            raise ValueError(f"moments.json names lines {start} to {end} of {name}, which it does not have")
    return Moment(min(int(value.get("stream", 0)), len(stream)), windows)
