"""Everything a developer or CI runs: `nox` alone runs lint, types and all tests; `nox -s bench` measures."""

import os
import re
import shutil
import tomllib
from pathlib import Path

import nox

nox.options.sessions = ["lint", "types", "tests", "e2e"]
nox.options.default_venv_backend = "virtualenv"  # pip reads pip.conf (mirrors, certificates); uv does not
nox.options.reuse_venv = "yes"
nox.options.stop_on_first_error = False
nox.options.allow_parallel = True  # no session needs another: with `nox -j 2` one works while the other waits
nox.needs_version = ">=2026.10"

FULLY_COVERED = ("supervisors", "hub/domain")
COVERING = ("tests/supervisors", "tests/hub/domain")
"""The tests of the parts that must be covered in full. They do it without the others' help, and the others run
unmeasured: measuring takes them a quarter longer, and those that only compute twice as long. So those of these that
compute for seconds over lines that other ones cover are marked `no_cover`.
"""
PARALLEL = ("-n", str(1 + min(os.cpu_count() or 1, 4)), "--dist=worksteal")
"""One more than there are processors: a test of a fault waits for two fifths of its time, one of a real agent for half.
Tests share no port, directory or process; `nox -s tests -- -n 0 ...` runs them in turn."""

LIBRARIES = (
    *("web", "mcp", "client", "test_daemon.py", "test_start.py", "test_installation.py"),
    *(
        f"io/{part}.py"
        for part in (
            "config/test_patch",
            "events/test_store",
            "models/test_prices",
            "processes/test_control",
            "secrets/test_dotenv",
            "secrets/test_kingfisher",
        )
    ),
)
"""Where `hub` meets the libraries that it is built on: the tests of these say whether another version of one fits."""


def _install(session: nox.Session, *groups: str, project: bool = True) -> None:
    session.install("-q", "pip>=25.1")  # the first that knows groups
    # Tests keep bytecode in a place of their own, and all of a venv's is a quarter of a minute's work.
    session.install(
        "--no-compile", *(["-e", "."] if project else []), *(f"--group={group}" for group in groups)
    )


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff: every rule, and the formatter."""
    _install(session, "lint", project=False)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Mypy, strict."""
    _install(session, "lint", "test")
    session.run("mypy")
    session.run("mypy", "tests/supervisors/test_call.py")


@nox.session
def tests(session: nox.Session) -> None:
    """All tests but those with real agent programs; full branch coverage of the pure parts."""
    _install(session, "test")
    few = {"HUB_TEST_FUZZ_EXAMPLES": "2"}  # some 1,500 generated requests; `fuzz` makes more
    pytest = ["pytest", *PARALLEL, "-m", "not agents and not bench"]
    if session.posargs:
        session.run(*pytest, *session.posargs, env=few)
        return
    session.run(*pytest, "--cov", "--cov-branch", "--cov-report=", *COVERING)
    session.run(*pytest, *(f"--ignore={part}" for part in COVERING), env=few)
    for part in FULLY_COVERED:
        session.run("coverage", "report", f"--include={part}/*", "--fail-under=100", "--skip-covered")


@nox.session
def e2e(session: nox.Session) -> None:
    """The tests that drive the real agent programs against a model server on loopback."""
    _install(session, "test", "agents")
    # The session's own Node and npm come first on PATH; `external` is off, so another one would be an error.
    session.run("npm", "--version")
    session.run("pytest", *PARALLEL, "-m", "agents", *(session.posargs or _marked("agents")))


def _marked(name: str) -> list[str]:
    """The files in which a mark stands: to collect all tests for two hundred of them takes each worker half a minute."""
    return [
        str(path) for path in sorted(Path("tests").rglob("test_*.py")) if f"mark.{name}" in path.read_text()
    ]


@nox.session
def lowest(session: nox.Session) -> None:
    """Every dependency at its lower bound: the tests of what touches them. `-- tests` runs all."""
    constraints = (
        Path(session.virtualenv.location) / "lowest.txt"
    )  # a temporary folder would be everybody's TMPDIR
    constraints.write_text("".join(f"{line}\n" for line in _lower_bounds()))
    session.install("-q", "pip>=25.1")
    session.install("--no-compile", "-e", ".", "--group=test", f"--constraint={constraints}")
    _test_libraries(session)


@nox.session
def newest(session: nox.Session) -> None:
    """Every dependency at the newest version within its bounds, whatever this environment had before: the same tests.

    CI needs it not: on a fresh clone `tests` has no other versions.
    """
    session.install("-q", "pip>=25.1")
    session.install("-e", ".", "--group=test", "--upgrade", "--upgrade-strategy=eager")
    _test_libraries(session)


def _test_libraries(session: nox.Session) -> None:
    parts = session.posargs or [f"tests/hub/{part}" for part in LIBRARIES]
    session.run("pytest", *PARALLEL, "-m", "not agents and not bench and not browser", *parts)


def _lower_bounds() -> list[str]:
    """`click>=8.4,<9` -> `click==8.4`, `quart==0.22.*` -> `quart==0.22.0`; pip itself knows only the newest."""
    dependencies = tomllib.loads(Path("pyproject.toml").read_text())["project"]["dependencies"]
    return [re.sub(r"^([\w-]+)(?:>=|==)([^,;*]+)(\*?)[^;]*", _lower_bound, text) for text in dependencies]


def _lower_bound(found: re.Match[str]) -> str:
    return f"{found[1]}=={found[2]}{'0' if found[3] else ''} "


@nox.session(venv_backend="none")
@nox.parametrize("suite", ["bookworm", "trixie"])
def fresh(session: nox.Session, suite: str) -> None:
    """README's commands as it has them, on a minimal Debian 12 (Python 3.11) and 13 (3.13); `-- test`: the other one."""
    session.run("sh", ".ci/fresh", suite, *(session.posargs or ["readme"]), external=True)


@nox.session
def fuzz(session: nox.Session) -> None:
    """More than 10,000 generated requests against a real daemon; `-- -s` shows the tally."""
    _install(session, "test")
    session.run("pytest", "-s", "tests/fuzz", *session.posargs, env={"HUB_TEST_FUZZ_EXAMPLES": "340"})


@nox.session
def mutants(session: nox.Session) -> None:
    """Change the pure parts in thousands of small ways: does a test fail each time? `-- 'hub.domain.trust.*'`: one part."""
    _install(session, "test", "mutants")
    session.run("mutmut", "run", *session.posargs)
    session.run(
        "mutmut", "results"
    )  # those that no test found; `.nox/mutants/bin/mutmut show NAME` shows one


@nox.session
def stories(session: nox.Session) -> None:
    """What every route, command and frame says of ten stories, beside what is kept; `-- --write` keeps what is said now."""
    _install(session, "test")
    session.run("python", "-m", "tests.stories", *session.posargs)


@nox.session
def prices(session: nox.Session) -> None:
    """Make the list of prices that hub ships anew from the newest genai-prices; a test compares every one of them."""
    _install(session, "test")
    session.install("--upgrade", "genai-prices")
    session.run("python", "-m", "tests.prices")


@nox.session
def pictures(session: nox.Session) -> None:
    """Draw the documents' pictures from the running program; a test says when they are older than its screens."""
    _install(session, "test")
    session.run("python", "-m", "tests.pictures")


@nox.session
def bench(session: nox.Session) -> None:
    """The table of all measurements beside their peers; never fails on a clock. `-- --scale 0.01`: do they work?"""
    _install(session, "test", "bench")
    session.run("python", "-m", "tests.bench.report", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """The documents as a site, in build/site; a link that leads nowhere fails it. `-- serve` shows it on loopback."""
    _install(session, "docs", project=False)
    # The site has the folders of the project, so that a link leads to the same page there and on a code host.
    pages = Path("build/pages")
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    for page in Path().glob("*.md"):
        shutil.copy(page, pages)
    for folder in ("docs", "design"):
        shutil.copytree(folder, pages / folder)
    session.run("mkdocs", *(session.posargs or ["build"]), "--strict", env={"NO_MKDOCS_2_WARNING": "1"})
