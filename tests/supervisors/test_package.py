"""The package: its worked example runs, it keeps to itself, every module says what it owns."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from inspect import ismodule
from pathlib import Path

import supervisors

MODULES = sorted(Path(supervisors.__file__).parent.glob("*.py"))
MAY_IMPORT = {"attrs", "outcome", "supervisors", "trio", *sys.stdlib_module_names}


def test_the_worked_example_runs() -> None:
    """The docstring of the package is a program: what it asserts holds."""
    blocks = re.findall(
        r"^    import attrs$.*?^    trio\.run\(main\)$", supervisors.__doc__, re.MULTILINE | re.DOTALL
    )
    assert len(blocks) == 1
    source = textwrap.dedent(blocks[0])
    assert source.count("assert ") >= 4
    exec(compile(source, "supervisors.__doc__", "exec"), {"__name__": "example"})


def test_a_module_imports_only_what_the_package_may() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module]
            assert {name.partition(".")[0] for name in names} <= MAY_IMPORT, path


def test_a_module_says_what_it_owns() -> None:
    for path in MODULES:
        docstring = ast.get_docstring(ast.parse(path.read_text()))
        assert "Owns: " in docstring, path
        assert "Must not: " in docstring, path


def test_every_public_name_is_there_and_documented() -> None:
    public = {
        name: value for name, value in vars(supervisors).items() if name[0].isalpha() and not ismodule(value)
    }
    assert {"Actor", "Ref", "Supervisor", "run_root"} <= public.keys()
    assert [name for name, value in public.items() if not value.__doc__ and name != "BRUTAL_KILL"] == []
