"""Which files an acceptance command is made of: those it names, and those its tool takes its orders from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.result.acceptance import MOST, orders_of


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("sh check.sh", {"check.sh"}),
        ("./check.sh --fast", {"check.sh"}),
        ("cd web && npm test", {"package.json", "web"}),
        ("/usr/bin/make check", {"Makefile", "makefile", "GNUmakefile", "check"}),
        ("python 'tools//./lint.py'|tee out", {"tools/lint.py", "out"}),
        ("pytest -q tests/test_a.py", {"tests/test_a.py", "conftest.py", "pyproject.toml"}),
    ],
)
def test_named_files_and_settings_are_found(command: str, found: set[str]) -> None:
    assert found <= set(orders_of(command))


@pytest.mark.parametrize(
    "command", ["true /etc/passwd", "true ../x a/../../y", "true ~/x -rf --x=/y", "true a\0b"]
)
def test_nothing_outside_of_the_worktree_is_looked_for(command: str) -> None:
    assert orders_of(command) == ("true",)


@given(st.text())
def test_any_text_gives_a_bounded_list_of_relative_paths(command: str) -> None:
    """What comes out is given to git and to the file system."""
    found = orders_of(command)
    assert len(found) == len(set(found)) <= MOST
    for path in found:
        assert path
        assert not path.startswith(("/", "-"))
        assert not {"", ".", ".."} & set(path.split("/"))
