"""A scan of source code: MB a second, a second scan, and the definitions that it misses; of each language that is there.

Peer: universal-ctags, where `ctags` is on PATH, and tree-sitter, where its wheels are (`pip install --group bench`), on
the same files, in processor time; reading and stat of the files, the least that anybody could do.

`HUB_BENCH_SOURCES` names folders of source code, with `:` between them; else this Python's own library is read.
Only what people wrote counts, so a file that says that a tool wrote it is left out.

The kept figures are of the unpacked sources of Go 1.19, OpenJDK 17, Ruby 3.1 and Rails, winapi, tokio, syn and other
crates, effect, three, react-native, eslint and other packages of npm, and site-packages: 6 MB of each language, 68,000
definitions. In times of universal-ctags: TypeScript 8.1-10, Ruby 6.0-9.4, Java 4.5-5.0, Python 3.0-4.0, JavaScript 1.5-3.7,
Go 1.7-1.8, Rust 1.1-1.3. Go's own test programs and winapi's tables have up to 6,000 definitions a megabyte; there the
definitions take the time, 2-3 us each, and ctags is faster. Missed are 0-0.21 % of the definitions, of Java 0.45 % (1 of
223).

A find is a plain tuple: a named one took three times as long, `tuple.__new__` makes it. Kinds are known by a group's
number, a declaration without a comma is not searched for more names, a script's braces are counted in templates only, marks
of strings and comments from the first one on. A file is searched for a tool's own words only if its head has `generated`.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from hub.domain.code.mark import mark
from hub.domain.code.table import LANGUAGES, declared, language_of
from hub.io.graph.code_scan import MAX_BYTES, Scanned, scan, walk
from tests.bench.table import Row, at_least, run
from tests.bench.treesitter import definitions, parser

BYTES = 6_000_000
"""Of each language."""
ROUNDS = 3
Corpus = dict[str, dict[bytes, bytes]]
"""Of each language the files' content, by the path in the measured folder."""


def processor(act: Callable[[], object]) -> float:
    """Seconds of the processor, those of the programs that it waited for included: other work does not count."""
    before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    act()
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(before, after, strict=True))


def in_turns(*acts: Callable[[], object]) -> list[float]:
    """Of each its fastest round."""
    return [
        min(times) for times in zip(*([processor(act) for act in acts] for _ in range(ROUNDS)), strict=True)
    ]


def sources() -> list[Path]:
    """The folders that are read."""
    named = os.environ.get("HUB_BENCH_SOURCES") or os.pathsep.join(
        sysconfig.get_path(part) for part in ("stdlib", "purelib")
    )
    return [Path(folder) for folder in named.split(os.pathsep)]


def gathered(folder: Path, size: int) -> Corpus:
    """So many bytes of each language, drawn from all folders and put into one, that all may read them alike."""
    files = [root / os.fsdecode(path) for root in sources() for path in walk(root)]
    random.Random(5).shuffle(files)
    corpus: Corpus = {}
    left = Counter(dict.fromkeys(LANGUAGES, size))
    for number, file in enumerate(files):
        language = language_of(file.name)
        if language is None or left[language] <= 0 or file.suffix[1:] != LANGUAGES[language].suffixes[0]:
            continue
        body = file.read_bytes()
        if len(body) > MAX_BYTES or b"\0" in body or mark(file.name, body):
            continue
        left[language] -= len(body)
        name = f"{language}/{number}{file.suffix}"
        corpus.setdefault(language, {})[name.encode()] = body
        (folder / language).mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    return corpus


def read(folder: Path, paths: list[bytes]) -> None:
    for path in paths:
        (folder / os.fsdecode(path)).read_bytes()


def looked_at(folder: Path, paths: list[bytes]) -> None:
    for path in paths:
        (folder / os.fsdecode(path)).stat()


def symbols_of(folder: Path, paths: list[bytes]) -> None:
    """What ctags does and no more: no chunks, no marks."""
    for path in paths:
        name = os.fsdecode(path)
        declared(language_of(name) or "", (folder / name).read_bytes())


def tags(folder: Path, paths: list[bytes]) -> None:
    """What ctags does at the least: its own choice of definitions, unsorted, written nowhere."""
    listed = b"\n".join(paths)
    command = ["ctags", "--sort=no", "-f", "/dev/null", "-L", "-"]
    subprocess.run(command, cwd=folder, input=listed, check=True, capture_output=True)


def universal_ctags() -> bool:
    """Whether it is there; BSD's program of the same name reads no list."""
    if shutil.which("ctags") is None:
        return False
    told = subprocess.run(["ctags", "--version"], check=False, capture_output=True)
    return b"Universal Ctags" in told.stdout


def rates(folder: Path, what: str, paths: list[bytes], size: int, *, ctags: bool) -> Iterator[Row]:
    """A first scan of these files."""

    def first() -> None:
        assert sum(1 for _ in scan(folder, {}, paths)) == len(paths)

    name = f"code scan, {what}"
    acts = [first, lambda: symbols_of(folder, paths), lambda: read(folder, paths)]
    times = in_turns(*acts, *([lambda: tags(folder, paths)] if ctags else []))
    hub, alone, least, *other = [size / 1e6 / taken for taken in times]
    yield Row(f"{name}, {len(paths):,} files", hub, "MB/s", ">= 0.33 x", "reading them", least)
    if other:
        yield Row(name, hub, "MB/s", "", "universal-ctags", other[0])
        yield Row(f"{name}, without chunks and marks", alone, "MB/s", ">= 4 x", "universal-ctags", other[0])


def again(folder: Path, paths: list[bytes]) -> Iterator[Row]:
    """A scan after which nothing has changed."""
    for path in paths:
        os.utime(folder / os.fsdecode(path), (1e9, 1e9))  # a young file would be read again
    known = {
        each.path: (each.size, each.mtime_ns) for each in scan(folder, {}, paths) if isinstance(each, Scanned)
    }

    def second() -> None:
        assert list(scan(folder, known, paths)) == []

    ours, least = in_turns(second, lambda: looked_at(folder, paths))
    yield Row(
        "code scan, nothing has changed",
        len(paths) / ours,
        "files/s",
        "",
        "`stat` of them",
        len(paths) / least,
    )


def beside_a_parser(language: str, files: dict[bytes, bytes]) -> Iterator[Row]:
    """Time, what is missed and what is found beside it, by (file, name), of the files that it reads without an error."""
    parse = parser(language)
    if parse is None:
        return
    trees = [(body, tree) for body in files.values() if not (tree := parse(body)).root_node.has_error]
    if not trees:
        return
    wanted = [set(definitions(language, tree.root_node)) for _, tree in trees]
    had = [{each.name for each in declared(language, body).symbols} for body, _ in trees]
    all_, ours = sum(map(len, wanted)), sum(map(len, had))
    both = sum(len(want & have) for want, have in zip(wanted, had, strict=True))
    name = f"code scan, {language}"
    bodies = [body for body, _ in trees]
    hub, peer = in_turns(
        lambda: [declared(language, body).symbols for body in bodies],
        lambda: [list(definitions(language, parse(body).root_node)) for body in bodies],
    )
    size = sum(map(len, bodies)) / 1e6
    yield Row(f"{name}, symbols alone", size / hub, "MB/s", ">= 7 x", "tree-sitter", size / peer)
    yield Row(f"{name}, missed of tree-sitter's {all_:,}", 100 * (1 - both / max(all_, 1)), "%", "<= 1")
    yield Row(f"{name}, found beside them", 100 * (1 - both / max(ours, 1)), "%")


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """All languages together, a second time, and each beside a parser."""
    corpus = gathered(folder, at_least(100_000, BYTES, scale))
    assert corpus, "no source code in HUB_BENCH_SOURCES"
    ctags = universal_ctags()
    if not ctags:
        print("no universal-ctags on PATH: its rows are left out", flush=True)
    paths = sorted(path for files in corpus.values() for path in files)
    whole = sum(len(body) for files in corpus.values() for body in files.values())
    yield from rates(folder, "all", paths, whole, ctags=ctags)
    yield from again(folder, paths)
    for language, files in sorted(corpus.items()):
        yield from rates(folder, language, sorted(files), sum(map(len, files.values())), ctags=ctags)
        yield from beside_a_parser(language, files)
    if parser("python") is None:
        print("no tree-sitter here (`pip install --group bench`): its rows are left out", flush=True)


if __name__ == "__main__":
    run(rows)
