"""SECURITY.md promises nothing that no test holds: each test it names is there."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "SECURITY.md").read_text()
NAMED = re.compile(r"`(?P<file>[\w/]*\w+\.py)?(?:::(?P<test>\w+))?`")
ATTACKS = re.compile(r"^\| ([\d, ]*) \| ", re.MULTILINE)
TEST = re.compile(r"^\s*(?:async )?def (test_\w+)\(", re.MULTILINE)
ROW = re.compile(r"^\| (?!Row|Against|Promise|---)(?P<cells>.+) \|$", re.MULTILINE)


def _tests_by_file() -> dict[str, set[str]]:
    """The tests of each file name; files of one name in different folders count as one."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "tests").rglob("test_*.py"):
        found[path.name].update(TEST.findall(path.read_text()))
    return found


def named(row: str) -> list[tuple[str, str]]:
    """File and test of each mention in a row; a mention without a file means the file before it."""
    found, file = [], ""
    for mention in NAMED.finditer(row):
        file = mention["file"] or file
        if mention["file"] or mention["test"]:
            found.append((file, mention["test"] or ""))
    return found


ROWS = [match["cells"] for match in ROW.finditer(TEXT)]


def test_every_promise_names_tests_that_exist() -> None:
    """A test that was renamed takes its promise along, and a promise without a test is none."""
    tests = _tests_by_file()
    for row in ROWS:
        last = row.rpartition(" | ")[2]
        if last == "see below":
            continue
        mentions = named(last)
        assert mentions, f"no test is named: {row}"
        for file, test in mentions:
            assert "/" not in file or (ROOT / file).is_file(), file
            assert Path(file).name in tests, file
            assert not test or test in tests[Path(file).name], f"{file}::{test}"


def test_the_tables_are_read() -> None:
    """Three tables, and no row that the pattern passes by."""
    assert len(ROWS) == sum(line.startswith("| ") for line in TEXT.splitlines()) - 3
    assert len(ROWS) > 40


def test_no_attack_is_left_out() -> None:
    """Each of the 45 attacks of the threat model has its row, by the number that tests cite."""
    numbers = [int(number) for cell in ATTACKS.findall(TEXT) for number in cell.split(", ") if number]
    assert sorted(numbers) == list(range(1, 46))
