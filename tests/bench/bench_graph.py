"""Retrieval: how fast code is indexed and asked for, and whether the answer is right.

Peer: for the index, a plain FTS5 table of the same chunks; for a question, ripgrep over the same files (`rg` on the path;
without it there is no peer); for the answers, both: ripgrep's chunks with the most different words of the question first,
and a plain FTS5 table asked for any of the words, ranked by bm25.

Speed is measured on the Python that runs this, its library and its packages; quality on two packages from PyPI, downloaded
anew each time, with the questions of `graph_questions`. An answer is right when its chunk holds the line where the thing
asked for is defined.

Pages of 8 kB and a checkpoint every 4,000 pages took chunks and text from 23 to 28-31 MB/s and the database from 230 to
184 MB. A word of more than 250 chunks is asked of a second, small index of paths and names: 1.3 -> 0.4 ms. What an import
means is found once per folder: 11,000 files after any change 3.5 -> 2.0 s of processor time.

Tried and left: statements of many rows, and a thread that reads the next files meanwhile: 20 instead of 17.5 MB per second of
processor time, and beside other work (load 8 on 2 cores) no more of the clock's: 10.8-12.9 instead of 9.5-12.4 MB/s.
Larger batches (no faster), rows as JSON (two fifths slower), `detail=column` (no faster), no stems (a tenth
faster, but `parsing` would not find `parse`), `apsw` (decision 0031), a thread that meanwhile reads the log (nothing where
files are redacted), transactions of 4 MB (5-8 % faster, 25 MB more memory), `secure_delete=OFF`, `synchronous=OFF`, pages
of 16 kB and a larger hash of FTS5 (a tenth or less, within the noise).
"""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import attrs

from hub.domain.graph.terms import any_of, spaced, terms
from hub.domain.redaction.lines import hidden_in_place
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.io.graph.code_scan import Scanned, scan
from hub.io.graph.intake import Intake
from hub.io.graph.search import search
from hub.io.graph.store import GraphStore
from tests.bench.graph_questions import PACKAGES, questions
from tests.bench.table import Row, at_least, percentile, run

SIZE = 120_000_000
ASKED = 300
RG_ASKED = 9
TOP = 10
LINES = 60
TURNS = 3
SWITCH = 0.0002
"""Seconds after which a thread gives up the interpreter to another: the daemon's."""
WORD = re.compile(r"(?<![a-z\d])[a-z]{4,20}(?![a-z\d])")
T = TypeVar("T")
Place = tuple[str, int]
"""A path, and the line a chunk begins with."""


def corpus(root: Path, size: int) -> None:
    """A copy of so many bytes of this Python's own code."""
    source = Path(sysconfig.get_path("stdlib"))
    for file in sorted(source.rglob("*.py")):
        if (left := file.stat().st_size) < 1 << 20 and not file.is_symlink():
            target = root / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)  # with its time: a young file would be read again
            size -= left
        if size <= 0:
            break


def paths(root: Path) -> list[bytes]:
    """All files below a folder, relative."""
    return sorted(str(path.relative_to(root)).encode() for path in root.rglob("*") if path.is_file())


def timed(act: Callable[[], T]) -> tuple[float, T]:
    """Seconds and what came of it."""
    begun = time.perf_counter()
    found = act()
    return time.perf_counter() - begun, found


def plain(path: Path, found: Sequence[Scanned]) -> sqlite3.Connection:
    """The least there could be: one FTS5 table, one transaction."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("CREATE VIRTUAL TABLE t USING fts5 (body, path UNINDEXED, start UNINDEXED)")
    db.execute("BEGIN")
    rows = ((chunk.body, file.path, chunk.start_line) for file in found for chunk in file.chunks)
    db.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    db.execute("COMMIT")
    return db


def taken(path: Path, root: Path, listed: Sequence[bytes], found: Sequence[Scanned]) -> float:
    """Seconds to store and index files that are in memory already. The imports are not followed."""
    store = GraphStore.open(path)
    with patch("hub.io.graph.intake.scan", lambda *_: iter(found)):
        intake = Intake(store, root, listed, str, "")
    with patch("hub.io.graph.intake.link", lambda *_: None):
        seconds, _ = timed(lambda: list(iter(intake.batch, False)))
    store.close()
    return seconds


def parts(folder: Path, root: Path, listed: Sequence[bytes]) -> tuple[float, float, float, float]:
    """MB, and the seconds for the chunks, for all there is of them, and for a plain table: the least of some turns."""
    found = [entry for entry in scan(root, {}, listed) if isinstance(entry, Scanned)]
    bare = [attrs.evolve(entry, symbols=[], imports=[]) for entry in found]
    turns = []
    for number in range(TURNS):
        chunks, whole = (
            taken(folder / f"{name}{number}.db", root, listed, files)
            for name, files in (("chunks", bare), ("whole", found))
        )
        theirs, db = timed(lambda: plain(folder / f"plain{number}.db", found))  # noqa: B023  # called at once
        db.close()
        turns.append((chunks, whole, theirs))
    return (sum(entry.size for entry in found) / 1e6, *map(min, zip(*turns, strict=True)))


def build_rows(folder: Path, root: Path) -> Iterator[Row]:
    """Making the index, in parts and whole, and making it again when nothing has changed."""
    listed = paths(root)
    size, chunks, all_of_it, theirs = parts(folder, root, listed)
    yield Row("graph: chunks stored and indexed", size / chunks, "MB/s", ">= 10", "plain FTS5", size / theirs)
    yield Row("graph: with modules, symbols and imports", size / all_of_it, "MB/s", ">= 10")
    store = GraphStore.open(folder / "graph.db")
    scrub = partial(hidden_in_place, Redactor(KnownSecrets(), b"key"))
    intake = Intake(store, root, listed, scrub, "")
    whole, _ = timed(lambda: list(iter(intake.batch, False)))
    yield Row("graph: read, redacted, cut and indexed", size / whole, "MB/s")
    again, intake = timed(lambda: Intake(store, root, listed, scrub, ""))
    more, _ = timed(intake.batch)
    assert intake.files == 0
    yield Row(f"graph: {len(listed):,} files that have not changed", (again + more) * 1000, "ms")
    store.close()
    stored = (folder / "graph.db").stat().st_size / 1e6
    yield Row("graph: size of the database beside the code", stored / size, "x")


def drawn(store: GraphStore, many: int, words: int) -> Iterator[str]:
    """Questions whose words stand together in some chunk."""
    draw = random.Random(words)
    last = store.read(lambda db: db.execute("SELECT max(rowid) FROM chunks").fetchone()[0])
    while many:
        at = draw.randrange(last)
        body = store.read(
            lambda db, at: db.execute("SELECT body FROM chunks WHERE rowid >= ? LIMIT 1", (at,)).fetchone()[
                0
            ],
            at,
        )
        if len(found := sorted(set(WORD.findall(spaced(body).lower())))) >= words:
            yield " ".join(draw.sample(found, words))
            many -= 1


def query_rows(folder: Path, root: Path, asked: int) -> Iterator[Row]:
    """Questions of one, two and three words that stand together in some chunk: its first answer holds them all.

    Where twenty answers are wanted and fewer chunks hold every word, some of the words are looked for too.
    """
    store = GraphStore.open(folder / "graph.db")
    rg = shutil.which("rg")
    for words in (1, 2, 3):
        known = list(drawn(store, asked, words))
        first, twenty = (times(store, known, limit) for limit in (1, 20))
        name = f"graph: {words} words,"
        peer, theirs = "", 0.0
        if rg and words == 1:
            grep = [
                partial(subprocess.run, [rg, "-lFw", word, root], capture_output=True)
                for word in known[:RG_ASKED]
            ]
            peer, theirs = "`rg -lFw`", percentile([1000 * timed(act)[0] for act in grep], 0.5)
        yield Row(
            f"{name} first answer, p50", percentile(first, 0.5), "ms", peer and "<= 0.01 x", peer, theirs
        )
        yield Row(f"{name} first answer, p99", percentile(first, 0.99), "ms", "<= 10")
        yield Row(f"{name} 20 answers, p50", percentile(twenty, 0.5), "ms")
        yield Row(f"{name} 20 answers, p99", percentile(twenty, 0.99), "ms")
    store.close()


def times(store: GraphStore, known: Iterable[str], limit: int) -> list[float]:
    """Milliseconds of each question."""
    out = []
    for question in known:
        seconds, found = timed(partial(store.read, search, Path("/"), question, limit))
        assert found
        out.append(seconds * 1000)
    return out


def asked_rg(rg: str, root: Path, question: str) -> list[Place]:
    """Chunks with the most different words first, then with the most lines that hold one."""
    words = sorted({word for term in terms(question) for word in term})
    patterns = [part for word in words for part in ("-e", word)]
    done = subprocess.run(
        [rg, "-inoF", "--no-heading", *patterns, "."], cwd=root, capture_output=True, text=True, check=False
    )
    seen: dict[Place, Counter[str]] = defaultdict(Counter)
    for line in done.stdout.splitlines():
        path, number, word = line.split(":", 2)
        seen[path.removeprefix("./"), (int(number) - 1) // LINES * LINES + 1][word.lower()] += 1
    return sorted(seen, key=lambda place: (-len(seen[place]), -seen[place].total(), place))[:TOP]


def asked_plain(db: sqlite3.Connection, question: str) -> list[Place]:
    """Any of the words, the best by bm25."""
    query = any_of([(word,) for term in terms(question) for word in term])
    return list(db.execute("SELECT path, start FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (query, TOP)))


def asked_hub(store: GraphStore, question: str) -> list[Place]:
    """What an agent is given."""
    return [(chunk.path, chunk.start_line) for chunk in store.read(search, Path("/"), question, TOP)]


def quality_rows(folder: Path) -> Iterator[Row]:
    """How many of the questions have their answer among the first ten; none of it where PyPI is out of reach."""
    get = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary=:all:",
        "-d",
        folder,
        *PACKAGES,
    ]
    if subprocess.run(get, capture_output=True, check=False).returncode:
        print("PyPI is out of reach: the answers' quality is not measured", file=sys.stderr)
        return
    root = folder / "packages"
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(root)
    store = GraphStore.open(folder / "quality.db")
    intake = Intake(store, root, paths(root), str, "")
    while intake.batch():
        pass
    db = plain(
        folder / "plain-quality.db", [e for e in scan(root, {}, paths(root)) if isinstance(e, Scanned)]
    )
    known = list(questions(root))

    def right(ask: Callable[[str], list[Place]], top: int = TOP) -> float:
        hits = sum(
            any((path, (line - 1) // LINES * LINES + 1) in ask(question)[:top] for path, line in answers)
            for question, answers in known
        )
        return 100 * hits / len(known)

    ours = right(partial(asked_hub, store))
    what = f"graph: {len(known)} questions, answer in the first"
    yield Row(f"{what} {TOP}", ours, "%", ">= 85", "plain FTS5", right(partial(asked_plain, db)))
    if rg := shutil.which("rg"):
        yield Row(f"{what} {TOP}", ours, "%", ">= 85", "ripgrep", right(partial(asked_rg, rg, root)))
    yield Row(
        f"{what} 1",
        right(partial(asked_hub, store), 1),
        "%",
        "",
        "plain FTS5",
        right(partial(asked_plain, db), 1),
    )
    store.close()
    db.close()


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """The index, the questions, the answers."""
    sys.setswitchinterval(SWITCH)
    root = folder / "code"
    corpus(root, at_least(1_000_000, SIZE, scale))
    yield from build_rows(folder, root)
    yield from query_rows(folder, root, at_least(20, ASKED, scale))
    yield from quality_rows(folder)


if __name__ == "__main__":
    run(rows)
