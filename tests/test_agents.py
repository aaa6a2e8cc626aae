"""No agent goes without a test of its real program, and none of these tests is left out unseen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hub.providers import registry
from tests import agents
from tests.agents import CHECKERS, PROGRAMS, ROOT, Program

MARK = re.compile(r"^pytestmark = pytest\.mark\.agents$", re.MULTILINE)
ADAPTERS = [name for name in registry.names() if not name.startswith("demo-")]
"""Those that drive a program of their own; the one for agents of the user's own is tested on its wire."""


def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installer: str) -> Path:
    """An agent whose npm is a script of ours; returns the folder it would be installed in."""
    program = Program("fake", "fake-agent", "1.2.3", "fake", url="openai_url", model="m", key="KEY")
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    if installer:
        (bin_dir / "npm").write_text(f"#!/bin/sh\n{installer}\n")
        (bin_dir / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(bin_dir))
    monkeypatch.setenv("HUB_TEST_AGENTS", str(tmp_path / "agents"))
    monkeypatch.setitem(PROGRAMS, "fake", program)
    return tmp_path / "agents" / "fake"


INSTALLS = (
    'while [ "$1" != --prefix ]; do shift; done\n'
    'PATH=/usr/bin:/bin; cd "$2" && mkdir -p node_modules/.bin && echo x >>count && : >node_modules/.bin/fake'
)


@pytest.mark.parametrize("name", ADAPTERS)
def test_each_adapter_is_tested_with_its_real_program(name: str) -> None:
    """An adapter is a promise about a program of somebody else's; only that program can prove it."""
    program = PROGRAMS[name]
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", program.version), "a version that moves is no pin"
    path = ROOT / "tests" / "hub" / "providers" / name / f"test_real_{name}.py"
    assert MARK.search(path.read_text())


@pytest.mark.parametrize("name", CHECKERS)
def test_each_checker_is_pinned_and_used(name: str) -> None:
    """The protocol's own people check the tool server, with versions whose expected failures are known."""
    assert re.fullmatch(r"\d+\.\d+\.\d+(-[a-z]+\.\d+)?", CHECKERS[name].version)
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if MARK.search(path.read_text())]
    assert any(f'program_path("{name}")' in path.read_text() for path in marked)


def test_nobody_but_the_table_leaves_a_real_agents_test_out() -> None:
    """`agents.py` fails under CI=true; a skip of its own in a test would pass there, unseen."""
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if MARK.search(path.read_text())]
    assert len(marked) >= 4
    for path in marked:
        assert not re.search(r"pytest\.(skip|importorskip|xfail)|mark\.xfail", path.read_text()), path


def test_a_program_is_installed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = fake(tmp_path, monkeypatch, INSTALLS)
    assert (
        agents.program_path("fake")
        == agents.program_path("fake")
        == prefix / "node_modules" / ".bin" / "fake"
    )
    assert (prefix / "count").read_text() == "x\n"


def test_an_installation_that_was_broken_off_or_is_of_another_version_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = fake(tmp_path, monkeypatch, INSTALLS)
    (prefix / "node_modules" / ".bin").mkdir(parents=True)
    (prefix / "node_modules" / ".bin" / "fake").touch()
    agents.program_path("fake")
    (prefix / agents.STAMP).write_text("fake-agent@1.2.2")
    agents.program_path("fake")
    assert (prefix / "count").read_text() == "x\nx\n"


@pytest.mark.parametrize("installer", ["", "echo no network >&2; exit 1"], ids=["no-npm", "npm-fails"])
def test_a_program_that_cannot_be_had_skips_its_tests_but_never_in_ci(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    prefix = fake(tmp_path, monkeypatch, installer)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"fake-agent@1\.2\.3"):
        agents.program_path("fake")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"fake-agent@1\.2\.3"):
        agents.program_path("fake")
    assert not (prefix / agents.STAMP).exists()
