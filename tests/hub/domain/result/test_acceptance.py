"""Which files an acceptance command is made of: those it names, and those its tool takes its orders from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.result.acceptance import MOST, orders_of, program_of


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


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("make test", "make"),
        ("  pytest -q && mypy", "pytest"),
        ("npm;true", "npm"),
        ("python3.11 -m pytest", "python3.11"),
        ("g++ a.cc", "g++"),
        ("CI=1 LANG=C npm test", "npm"),
        ("CI= cargo test", "cargo"),
        ("env CI=1 cargo test", "env"),
        ("pytest", "pytest"),
        ("ruff>out", "ruff"),
    ],
)
def test_the_program_that_is_looked_for_on_path(command: str, program: str) -> None:
    assert program_of(command) == program


SHELLS = """
cd web && npm test
./check.sh
bin/check
/usr/bin/make
~/check
test -f x
true
! make
[ -f x ]
. ./env
(make)
{ make; }
$MAKE test
`which make`
'make' x
ma\\ke
A=$(b) make
A=1
if make; then true; fi
make() { true; }; make
m\u00e4ke

"""


@pytest.mark.parametrize("command", SHELLS.splitlines())
def test_of_anything_else_nothing_is_said(command: str) -> None:
    """A word of the shell's own, a path that an agent may yet make, or what only a shell can read."""
    assert program_of(command) == ""
