"""design/supervision.md accounts for every rule and every case of OTP's suite, and names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
DESIGN = HERE.parent.parent / "design" / "supervision.md"
TESTS = {
    f"{path.stem}::{node.name}"
    for path in HERE.glob("test_*.py")
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
}
NOT_APPLICABLE = {
    *("code_change", "code_change_map", "code_change_simple", "code_change_simple_map"),
    *(
        f"significant_upgrade_{a}_{b}"
        for a in ("never", "any", "all")
        for b in ("never", "any", "all")
        if a != b
    ),
    "significant_upgrade_child",
    "get_callback_module",
}


def table(heading: str) -> list[list[str]]:
    """The rows of the table under a heading, without its head."""
    section = DESIGN.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def named(cell: str) -> list[str]:
    return re.findall(r"`(\w+::\w+)`", cell)


def test_all_88_cases_are_accounted_for() -> None:
    rows = table("OTP's own suite")
    cases = [row[0].strip("`") for row in rows]
    assert len(cases) == len(set(cases)) == 88
    for case, test, note in ((row[0].strip("`"), row[1], row[2]) for row in rows):
        if case in NOT_APPLICABLE:
            assert (test, bool(note)) == ("not applicable", True), case
        else:
            assert len(named(test)) == 1, case
    assert set(cases) >= NOT_APPLICABLE
    assert len(NOT_APPLICABLE) == 12


def test_all_32_rules_have_tests() -> None:
    rows = table("Rules and their tests")
    assert [int(row[0]) for row in rows] == list(range(1, 33))
    assert all(named(row[2]) for row in rows)


def test_every_test_that_is_named_exists() -> None:
    names = set(re.findall(r"`(test_\w+::test_\w+)`", DESIGN.read_text()))
    assert len(names) > 90
    assert sorted(names - TESTS) == []


def test_what_others_test_is_named() -> None:
    assert {row[0] for row in table("From others")} == {"OTP, later", "Elixir", "Akka", "ractor", "triotp"}
    assert all(named(row[2]) for row in table("From others"))
