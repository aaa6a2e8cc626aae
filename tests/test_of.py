"""Every module has tests that can be found from its name: a contributor runs those, and not all of them."""

import subprocess
import sys

from tests.of import ROOT, own_paths, paths_of

MODULES = [
    path
    for room in ("hub", "supervisors")
    for path in sorted((ROOT / room).rglob("*.py"))
    if path.name != "__init__.py"
]
MANY = {"hub", "hub/actors", "hub/domain", "hub/domain/redaction", "hub/io", "hub/providers"}
"""Folders of many subjects: all of their tests are too many for one of their modules."""


def test_every_module_has_tests_that_are_found():
    """A file of its name, or a line at its head or its package's, or the folder's."""
    for module in MODULES:
        name = module.relative_to(ROOT).as_posix()
        found = own_paths(module) if module.parent.relative_to(ROOT).as_posix() in MANY else paths_of(module)
        assert found, f"{name} needs a test file of its name, or `Tests: <path>` at its head"
        assert not [test for test in found if not (ROOT / test).exists()], name


def test_every_folder_of_tests_mirrors_one_of_modules():
    """A test of a folder that is gone is a test that nobody finds."""
    folders = {
        path.parent.relative_to(ROOT / "tests")
        for room in ("hub", "supervisors")
        for path in (ROOT / "tests" / room).rglob("test_*.py")
    }
    assert len(folders) > 20
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []


def test_the_tests_of_a_module_are_run_by_its_name():
    """The command of CONTRIBUTING.md, with an option of pytest."""
    argv = [sys.executable, "-m", "tests.of", "hub/domain/wallclock.py", "--collect-only"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "tests/hub/domain/test_wallclock.py::" in done.stdout
    assert "test_retry" not in done.stdout


def test_a_command_without_a_module_says_what_is_wanted():
    done = subprocess.run(
        [sys.executable, "-m", "tests.of"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "python -m tests.of hub/domain/retry.py" in done.stderr
