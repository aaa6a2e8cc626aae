"""What is shipped is what is declared: imports, dependencies, the command, and the scripts that CI runs."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import hub
from hub.cli.main import main

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MODULES = {
    "agent-client-protocol": "acp",
    "markdown-it-py": "markdown_it",
    "tomli-w": "tomli_w",
    "genai-prices": "genai_prices",
    "google-re2": "re2",
    "openapi-spec-validator": "openapi_spec_validator",
    "kingfisher-secret-scanner": "kingfisher_sdk",
    "python-dotenv": "dotenv",
    "quart-trio": "quart_trio",
    "trio-websocket": "trio_websocket",
}
BOUNDED = {"flask"}
"""Not imported: a dependency of a dependency that is named for its bounds alone."""
SCRIPTS = ("run", "test", "setup", "demo", "readme", "fresh")


def name_of(requirement):
    """`quart>=0.22` -> `quart`."""
    return re.match(r"[\w.-]+", requirement)[0].lower()


def imported(*folders):
    """The top-level modules that are imported anywhere in these folders, lazily too."""
    found = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"hub", "supervisors", "tests"}


def test_every_dependency_is_imported_and_every_import_declared():
    """Neither a dependency that nobody uses, nor an import that only works because somebody else installed it."""
    project = PROJECT["project"]
    extras = [text for texts in project["optional-dependencies"].values() for text in texts]
    declared = {name_of(text) for text in [*project["dependencies"], *extras]} - BOUNDED
    assert imported("hub", "supervisors") == {MODULES.get(name, name) for name in declared}


def test_tests_import_only_what_their_group_installs():
    """The group `test` is enough to run the tests."""
    groups = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["test"]
    declared = {MODULES.get(name_of(text), name_of(text)) for text in groups}
    assert imported("tests") - {"pytest_trio"} <= declared


def test_supervisors_could_be_a_package_of_its_own():
    """It knows nothing of hub."""
    assert imported("supervisors") <= {"trio", "attrs", "outcome"}
    for path in (ROOT / "supervisors").rglob("*.py"):
        assert not re.search(r"^\s*(from|import) hub\b", path.read_text(), re.MULTILINE), path


def test_the_command_is_declared():
    """`hub` is main; the version is the package's."""
    script = PROJECT["project"]["scripts"]["hub"]
    assert script == f"{main.__module__}:{main.__name__}"
    assert re.fullmatch(r"\d+\.\d+\.\d+", hub.__version__)


def test_python_dash_m_is_the_same_command():
    """For whoever has no PATH."""
    done = subprocess.run(
        [sys.executable, "-m", "hub", "--version"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"hub {hub.__version__}\n"


def test_types_are_shipped():
    """Both packages tell type checkers that they are typed."""
    assert all((ROOT / package / "py.typed").exists() for package in ("hub", "supervisors"))


def test_the_pages_files_are_shipped():
    """The wheel has what lies in its packages and is not ignored; a page needs its templates and files."""
    page = ROOT / "hub/web/page"
    files = [*page.glob("templates/*.html"), *page.glob("static/*")]
    assert {path.suffix for path in files} == {".html", ".css", ".js", ".svg"}
    ignored = subprocess.run(
        ["git", "check-ignore", *files], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ignored.stdout == ""
    targets = PROJECT["tool"]["hatch"]["build"]["targets"]
    pages = {"docs/man": "share/man/man1"}
    assert targets["wheel"] == {"packages": ["hub", "supervisors"], "shared-data": pages}
    shipped = targets["sdist"]["only-include"]
    assert {"hub", "supervisors"} <= set(shipped)
    assert "tests" not in shipped, "recordings of agents are for the tests alone"
    assert all((ROOT / name).exists() for name in shipped)


def test_each_ignored_rule_has_its_reason():
    """Ruff ALL, with a sentence beside every exception."""
    text = (ROOT / "pyproject.toml").read_text()
    section = text[text.index("[tool.ruff.lint]") : text.index("[tool.ruff.lint.pydocstyle]")]
    bare = [line for line in section.splitlines() if re.match(r'\s+"[A-Z]+\d*",?', line) and "#" not in line]
    assert not bare
    assert PROJECT["tool"]["ruff"]["lint"]["select"] == ["ALL"]
    assert PROJECT["tool"]["mypy"]["strict"] is True
    assert PROJECT["tool"]["pytest"]["ini_options"]["filterwarnings"] == ["error"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_of_ci_are_sound(name):
    """They parse in the shell that their first line names, and stop at the first error."""
    path = ROOT / ".ci" / name
    shell = path.read_text().splitlines()[0].removeprefix("#!").split()[-1].rpartition("/")[2]
    assert shell in {"sh", "bash"}
    assert re.search(r"^set -eu", path.read_text(), re.MULTILINE)
    subprocess.run([shell, "-n", path], check=True)
    assert os.access(path, os.X_OK)


def test_nox_installs_with_pip():
    """uv reads neither pip.conf nor the system's certificates, so a fresh clone behind a mirror could not be tested."""
    assert 'default_venv_backend = "virtualenv"' in (ROOT / "noxfile.py").read_text()
    assert not re.search(r"\buv\b", str(PROJECT["dependency-groups"]))


def test_the_changelog_knows_the_version():
    """A release is told of."""
    assert f"## {hub.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_dependencies_that_are_installed_are_within_their_bounds():
    """What runs here is what is declared. Quart 0.23 came to a fresh machine by itself, and no request was answered."""
    for text in PROJECT["project"]["dependencies"]:
        wanted = Requirement(text)
        if wanted.marker is None or wanted.marker.evaluate():
            assert wanted.specifier.contains(distribution(wanted.name).version), text


def closure():
    """Every package that an installation brings, hub itself left out; of extras those that somebody asks for."""
    wanted = [(Requirement(text), {""}) for text in PROJECT["project"]["dependencies"]]
    found, seen = {}, set()
    while wanted:
        one, extras = wanted.pop()
        key = (canonicalize_name(one.name), *sorted(one.extras))
        if key in seen or (one.marker and not any(one.marker.evaluate({"extra": each}) for each in extras)):
            continue
        seen.add(key)
        found[key[0]] = distribution(one.name)
        wanted += [(Requirement(text), {"", *one.extras}) for text in found[key[0]].requires or ()]
    return found


def test_an_installation_is_as_small_as_the_readme_says():
    """At most 45 packages and 90 MB, without any extra; it was 60 and 147 once, and nobody had looked."""
    packages = closure()
    files = [
        path.locate() for told in packages.values() for path in told.files or () if path.suffix != ".pyc"
    ]
    own = [path for folder in ("hub", "supervisors") for path in (ROOT / folder).rglob("*")]
    size = sum(
        path.stat().st_size for path in {*map(Path, files), *own} if path.is_file() and path.suffix != ".pyc"
    )
    told = re.search(r"Installed it is (\d+) packages and (\d+) MB", (ROOT / "README.md").read_text())
    assert len(packages) == int(told[1]) <= 45
    assert abs(size / 1e6 - int(told[2])) < 4
    assert size < 90e6


def test_every_dependency_is_bounded_on_both_sides():
    """A fresh install is like the one that was tested; only where versions are years is there nothing to foresee."""
    for text in PROJECT["project"]["dependencies"]:
        kinds = {part.operator for part in Requirement(text).specifier}
        assert "==" in kinds or {">=", "<"} <= kinds or name_of(text) == "attrs", text
