"""What the protocol's own people check: their inspector over stdio, their conformance suite over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from hub.mcp.tools import TOOLS
from tests.agents import program_path
from tests.faults.harness import project

pytestmark = pytest.mark.agents
PATIENCE = 180.0
FROZEN = tomllib.loads(Path(__file__).with_name("conformance.toml").read_text())["expected"]
EXPECTED = {check for group in FROZEN for check in group["checks"]}
REVISIONS = (("--spec-version", "2025-11-25"), ("--requirements", "2026-07-28"))


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A project with a daemon that has nothing to do, and after all of these tests has had nothing to do."""
    with project(tmp_path_factory.mktemp("checked")) as made:
        made.configure()
        made.start()
        yield made


def inspect(work, *args: str):
    """What the inspector says of `hub mcp`."""
    settings = [
        f"{name}={value}" for name, value in work.environ().items() if name.startswith(("HUB_", "PYTHONPATH"))
    ]
    argv = [
        str(program_path("inspector")),
        "--cli",
        "--connect-timeout",
        "60000",
        "env",
        *settings,
        sys.executable,
        "-m",
        "hub",
        "mcp",
        *args,
    ]
    done = subprocess.run(
        argv,
        cwd=work.root,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.stdout, done.stderr
    return json.JSONDecoder().raw_decode(done.stdout)[0], done.returncode


def test_the_inspector_lists_the_tools(work):
    told, status = inspect(work, "--method", "tools/list")
    assert [tool["name"] for tool in told["tools"]] == [tool.name for tool in TOOLS]
    assert status == 0


def test_the_inspector_calls_a_tool(work):
    """It validates the structured answer against the output schema."""
    told, status = inspect(work, "--method", "tools/call", "--tool-name", "hub_status")
    assert told["structuredContent"]["sessionState"] == "idle"
    assert status == 0


def test_the_inspector_is_told_what_went_wrong(work):
    told, _ = inspect(work, "--method", "tools/call", "--tool-name", "hub_pause", "--tool-arg", "pause=true")
    assert told["isError"]
    assert told["content"][0]["text"].startswith("no_active_session: ")


def failures(work, out: Path, option: str, revision: str) -> tuple[set[str], int]:
    """The checks that failed, and how many passed."""
    url = f"http://127.0.0.1:{work.port}/mcp"
    argv = [str(program_path("conformance")), "server", "--url", url, option, revision, "-o", str(out)]
    done = subprocess.run(
        argv, capture_output=True, text=True, timeout=PATIENCE, env=dict(os.environ), check=False
    )
    found = [check for path in out.glob("*/checks.json") for check in json.loads(path.read_text())]
    assert found, done.stdout + done.stderr
    failed = {check["id"] for check in found if check["status"] == "FAILURE"}
    return failed, sum(check["status"] == "SUCCESS" for check in found)


def test_conformance_fails_only_where_it_is_known_why(work, tmp_path):
    """Both eras of the protocol."""
    failed = set()
    for option, revision in REVISIONS:
        found, passed = failures(work, tmp_path / revision, option, revision)
        assert passed >= 30
        failed |= found
    assert failed == EXPECTED
